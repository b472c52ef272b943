"""What ptxas and what `check` say about single instructions, many at a time.

For tests that hold the instruction table against ptxas. Each instruction stands on a line of its own in files of some
hundred, which end in an error so that ptxas stops before it compiles; where a syntax error or a crash stops it earlier,
the file is cut in halves.
"""

from collections.abc import Iterable
from typing import NamedTuple

from form_text import kernel
from ptxas import ptxas_errors

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.sema.module import check_module

CHUNK = 1000
POISON = "add.s32 %predr0, %predr1, %predr2;"


class Verdict(NamedTuple):
    """An instruction on an architecture, and the errors of ptxas and ours."""

    text: str
    arch: str
    theirs: list[str]
    ours: list[str]

    @property
    def crashed(self) -> bool:
        """Whether ptxas died of it and so says nothing (13.0 does of `atom.shared.add.noftz.f16 _, [a], b;`)."""
        return any(message.startswith("exit code -") for message in self.theirs)


def verdicts(items: Iterable[tuple[str, str]], version: str = "9.0", program: str = "") -> list[Verdict]:
    """The verdict on every (instruction, architecture), in files of a version, by a ptxas (the usual one)."""
    by_arch: dict[str, list[str]] = {}
    for text, arch in items:
        by_arch.setdefault(arch, []).append(text)
    return [
        verdict
        for arch, texts in sorted(by_arch.items())
        for at in range(0, len(texts), CHUNK)
        for verdict in _verdicts(texts[at : at + CHUNK], arch, version, program)
    ]


def _verdicts(texts: list[str], arch: str, version: str, program: str) -> list[Verdict]:
    theirs = asked(texts, arch, version, program=program)
    ours = _ours(texts, arch, version)
    return [Verdict(*row) for row in zip(texts, [arch] * len(texts), theirs, ours, strict=True)]


def asked(
    texts: list[str], arch: str, version: str = "9.0", target: str = "", program: str = ""
) -> list[list[str]]:
    """What ptxas says about every instruction before it compiles; for an architecture, or a file's older target."""
    source, first = kernel([*texts, POISON], target or arch, version)
    theirs = ptxas_errors(source, arch, program=program)
    if first + len(texts) in theirs:
        return [theirs.get(first + k, []) for k in range(len(texts))]
    if len(texts) == 1:
        return [[message for messages in theirs.values() for message in messages]]
    half = len(texts) // 2
    parts = texts[:half], texts[half:]
    return [said for part in parts for said in asked(part, arch, version, target, program)]


def _ours(texts: list[str], arch: str, version: str) -> list[list[str]]:
    source, first = kernel([*texts, POISON], arch, version)
    try:
        diagnostics = check_module(parse(source))
    except PtxError as problem:
        diagnostics = problem.diagnostics
    found: dict[int, list[str]] = {}
    for d in diagnostics:
        if d.is_error and d.line is not None:
            found.setdefault(d.line, []).append(d.message)
    return [found.get(first + k, []) for k in range(len(texts))]


def compiles(text: str, arch: str) -> bool:
    """Whether ptxas makes machine code of a kernel with this instruction alone."""
    return not ptxas_errors(kernel([text], arch)[0], arch)
