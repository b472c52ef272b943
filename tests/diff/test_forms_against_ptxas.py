"""The instruction table against ptxas: what its rows promise is accepted, and a step away both agree.

Each instruction stands on a line of its own in files of some hundred, which end in an error so that ptxas stops before
it compiles.
"""

import random
from collections.abc import Iterable

import pytest
from form_text import arch_of, instruction_texts, kernel, near_misses
from ptxas import needs_ptxas, ptxas_errors

from ptxtool.base.diag import PtxError
from ptxtool.check.module import check_module
from ptxtool.isa.table import Match, table
from ptxtool.parse import parse

CHUNK = 1000
POISON = "add.s32 %predr0, %predr1, %predr2;"
FAMILIES = sorted(table().titles)
# What ptxas lets pass although nothing can be meant by it: `.sat` twice, a constant as the destination of a video
# instruction, a predicate as the address of a tensor copy, a vector as the level of a texture.
PASSED_BY_PTXAS = {"asynchronous": 0.06, "video": 0.04, "control": 0.08}


def verdicts(items: Iterable[tuple[str, str]]) -> list[tuple[str, str, list[str], list[str]]]:
    """(instruction, architecture) -> the same with the messages of ptxas and ours."""
    by_arch: dict[str, list[str]] = {}
    for text, arch in items:
        by_arch.setdefault(arch, []).append(text)
    found: list[tuple[str, str, list[str], list[str]]] = []
    for arch, texts in sorted(by_arch.items()):
        for at in range(0, len(texts), CHUNK):
            found += _judge(texts[at : at + CHUNK], arch)
    return found


def _judge(texts: list[str], arch: str) -> list[tuple[str, str, list[str], list[str]]]:
    source, first = kernel([*texts, POISON], arch)
    theirs = ptxas_errors(source, arch)
    if first + len(texts) not in theirs and len(texts) > 1:  # a syntax error stopped it
        half = len(texts) // 2
        return _judge(texts[:half], arch) + _judge(texts[half:], arch)
    ours: dict[int, list[str]] = {}
    try:
        diagnostics = check_module(parse(source))
    except PtxError as problem:
        diagnostics = problem.diagnostics
    for d in diagnostics:
        if d.is_error and d.line is not None:
            ours.setdefault(d.line, []).append(d.message)
    return [(t, arch, theirs.get(first + k, []), ours.get(first + k, [])) for k, t in enumerate(texts)]


def promised(family: str, limit: int) -> list[tuple[str, Match]]:
    forms = [
        f for forms in table().forms.values() for f in forms if f.family == family and f.dialect != "ptxplus"
    ]
    return [item for form in forms for item in instruction_texts(form, limit=limit)]


@needs_ptxas
@pytest.mark.parametrize("family", FAMILIES)
def test_ptxas_accepts_what_the_rows_promise(family: str) -> None:
    items = [(text, arch_of(match.form, match)) for text, match in promised(family, limit=60)]
    wrong = [(t, arch, theirs, ours) for t, arch, theirs, ours in verdicts(items) if theirs or ours]
    assert wrong == []


@needs_ptxas
@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_away_both_agree(family: str) -> None:
    rng = random.Random(family)
    made = promised(family, limit=8)
    items = [(near, arch_of(m.form, m)) for text, m in made for near in near_misses(text, m, rng)]
    results = verdicts(rng.sample(items, min(len(items), 1200)))
    too_strict = [r for r in results if r[3] and not r[2]]
    too_lax = [r for r in results if r[2] and not r[3]]
    assert len(too_strict) <= PASSED_BY_PTXAS.get(family, 0.02) * len(results), too_strict[:20]
    assert len(too_lax) <= 0.02 * len(results), too_lax[:20]
