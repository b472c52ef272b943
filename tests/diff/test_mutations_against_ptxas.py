"""`check` and ptxas on wrong files: kernels with a token changed are refused by both, at the same line, or by neither.

The kernels are small ones of the corpus and of the project's samples, each alone with the declarations of its file; see
`ptx_mutations` for the changes. ptxas names errors in the order in which it finds them; the first is compared with the
first of ours in the order of the text. Where it names no line (a limit of the machine) only the verdict is compared.

Not agreed on: what the file's `.version` or `.target` lacks (a warning here), a module's variable named like a label,
`%r07` for `%r7`, a prototype without its semicolon, and packed integers as parameters of functions, `.param .s16x2`
(which ptxas takes, though it says elsewhere that such a type "may only be used as an instruction type").
"""

import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from conftest import CHECKOUT, corpus_files
from ptx_mutations import KINDS, Mutation, Subject, kernels, mutate
from ptxas import needs_ptxas, ptxas_errors

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse
from ptxtool.sema.module import check_module

N_MUTATIONS, SEED = 1300, 2026
MOST_LINES, MOST_OF_A_FILE = 90, 4
ARCHITECTURES = re.compile(r"\.target\s+sm_(75|80|86|89|90a?|100a?|120a?)\b")
OLDEST = "sm_75"
PACKED_PARAMETER = re.compile(r"'\.[us](16x2|8x4)' is no type of a variable$")


@dataclass(frozen=True)
class Result:
    """A mutation, the errors of ptxas by line in its order, and ours in that of the text."""

    mutation: Mutation
    theirs: dict[int, list[str]]
    ours: list[Diagnostic]

    @property
    def lines(self) -> tuple[int, int | None]:
        """The line of ptxas's first error (0: it names none), and of ours."""
        return next((line for line in self.theirs if line), 0), self.ours[0].line if self.ours else None

    def __str__(self) -> str:
        ours = [f"{d.line}: {d.message}" for d in self.ours[:2]]
        return f"\n{self.mutation}\n    ptxas {dict(list(self.theirs.items())[:2])}\n    check {ours}"


def architecture(text: str, default: str = OLDEST) -> str:
    """The one that a file names if ptxas still has it."""
    found = ARCHITECTURES.search(text)
    return f"sm_{found[1]}" if found else default


def errors(text: str) -> list[Diagnostic]:
    try:
        found = check_module(parse(text))
    except PtxError as problem:
        found = problem.diagnostics
    return sorted((d for d in found if d.is_error), key=lambda d: d.start)


def subjects() -> Iterator[Subject]:
    """Small kernels, a few of every file, that ptxas accepts."""
    samples = sorted(Path(CHECKOUT, "samples").glob("*/*.ptx"))
    for path in (*samples, *(p for p in corpus_files() if p.suffix == ".ptx")):
        found = list(kernels(path.read_text(encoding="utf-8"), path.name, MOST_LINES))
        for subject in random.Random(path.name).sample(found, min(len(found), MOST_OF_A_FILE)):
            if not ptxas_errors(subject.text, architecture(subject.text), relocatable=True):
                yield subject


@cache
def results() -> tuple[Result, ...]:
    rng = random.Random(SEED)
    chosen = list(subjects())
    kinds = sorted(KINDS)
    mutations: list[Mutation] = []
    while len(mutations) < N_MUTATIONS:
        made = mutate(rng.choice(chosen), rng.choice(kinds), rng)
        mutations += [made] if made is not None else []
    with ThreadPoolExecutor(2) as pool:  # the processes run beside each other
        theirs = pool.map(_asked, mutations)
        return tuple(Result(m, found, errors(m.text)) for m, found in zip(mutations, theirs, strict=True))


def _asked(mutation: Mutation) -> dict[int, list[str]]:
    default = architecture(mutation.subject.text)
    return ptxas_errors(mutation.text, architecture(mutation.text, default), relocatable=True)


def shown(found: list[Result]) -> str:
    return f"{len(found)}: {''.join(map(str, found[:40]))}"


@needs_ptxas
def test_there_are_a_thousand_that_ptxas_refuses() -> None:
    assert sum(bool(r.theirs) for r in results()) >= 1000


@needs_ptxas
def test_what_ptxas_refuses_is_refused() -> None:
    refused = [r for r in results() if r.theirs]
    missed = [r for r in refused if not r.ours]
    assert len(missed) <= 0.02 * len(refused), shown(missed)


@needs_ptxas
def test_the_first_error_has_the_same_line() -> None:
    placed = [r for r in results() if r.ours and r.lines[0]]
    elsewhere = [r for r in placed if r.lines[0] != r.lines[1]]
    assert len(elsewhere) <= 0.03 * len(placed), shown(elsewhere)


@needs_ptxas
def test_what_ptxas_accepts_has_no_errors() -> None:
    accepted = [r for r in results() if not r.theirs]
    alarms = [r for r in accepted if [d for d in r.ours if not PACKED_PARAMETER.match(d.message)]]
    assert len(alarms) <= 0.015 * len(accepted), shown(alarms)


def test_every_kind_changes_something() -> None:
    body = "\t.reg .b32 %r<3>;\nL0:\n\tadd.sat.s32 %r1, %r1, 2;\n\tmul.lo.s32 %r2, %r1, %r1;\n"
    text = f".version 8.0\n.target sm_80\n.entry k()\n{{\n{body}}}\n"
    rng = random.Random(1)
    for kind in KINDS:
        made = [m for _ in range(20) if (m := mutate(Subject("k", text), kind, rng)) is not None]
        assert made, kind
        for m in made:
            assert m.text == text[: m.start] + m.new + text[m.start + len(m.old) :] != text


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (
            "@!%p1 add.sat.s32 %r1, %r2, -0x1f;",
            "mark mark register opcode modifier type register mark register mark mark number mark",
        ),
        ('.pragma "a b"; // c', "directive string mark"),
        (
            "ld.shared::cta.v2.f32 {%f1, x}, [a+4];",
            "opcode modifier modifier type mark register mark name mark mark mark name mark number mark mark",
        ),
    ],
)
def test_tokens(text: str, kinds: str) -> None:
    assert " ".join(t.kind for t in Subject("x", text).tokens) == kinds
