"""A document reports after every edit what a fresh one reports of the same text."""

from itertools import chain
from pathlib import Path

import pytest
from lsp_texts import PTX, PTXPLUS, at
from random_edits import edits, typed

from ptxtool.base.diag import PtxError, by_place
from ptxtool.lsp.document import MOST_AT_ONCE, Document
from ptxtool.parse import parse
from ptxtool.parse.broken import SyntaxErrors
from ptxtool.sema.module import check_module
from ptxtool.sema.recovered import check_recovered

HAND = Path(__file__).parents[2] / "hand"


def whole(text: str) -> tuple[object, ...]:
    """What `ptxtool check` reports of a text."""
    try:
        return check_module(parse(text, "k.ptx"))
    except PtxError as problem:
        more = check_recovered(problem) if isinstance(problem, SyntaxErrors) else ()
        return tuple(by_place((*problem.diagnostics, *more)))


@pytest.mark.parametrize("text", [PTX, PTXPLUS, (HAND / "calls.ptx").read_text(encoding="utf-8")])
def test_edits_end_with_the_state_of_a_fresh_text(text: str) -> None:
    document = Document("k.ptx", text)
    for changed in chain(edits(text, 40, seed=1), typed(text, 3, seed=1)):
        document.change(changed)
        assert document.diagnostics().diagnostics == whole(changed)
        fresh = Document("k.ptx", changed)
        assert document.parsed.module == fresh.parsed.module
        assert document.parsed.errors == fresh.parsed.errors


def long_kernel(n: int) -> str:
    lines = "\n".join("\tadd.u32 %r1, %r1, 1;" for _ in range(n))
    head = ".version 7.5\n.target sm_75\n.address_size 64\n.entry k()\n{\n\t.reg .u32 %r<2>;\n\tmov.u32 %r1, 0;\n"
    return f"{head}{lines}\n\tret;\n}}\n"


def test_much_to_check_is_put_off() -> None:
    text = long_kernel(MOST_AT_ONCE + 1)
    document = Document("k.ptx", text)
    assert document.diagnostics().final
    place = at(text, "\tret;")
    document.change(text[:place] + "\tadd.u32 %r7, %r1, 1;\n" + text[place:])
    assert document.diagnostics(wait=True) == ((), False)
    found = document.diagnostics()
    assert found.final
    assert [d.code for d in found.diagnostics] == ["E201"]
    # one line above it: the diagnostic of before moves with its text
    document.change(document.text.replace("\tmov.u32 %r1, 0;\n", "\tmov.u32 %r1, 0;\n\n"))
    waiting = document.diagnostics(wait=True)
    assert [d.line for d in waiting.diagnostics] == [found.diagnostics[0].line + 1]  # type: ignore[operator]


def test_places() -> None:
    document = Document("k.ptx", PTX)
    function = document.function_at(at(PTX, "mov.u32 %r2, %tid.x"))
    assert function is not None
    assert function.name == "k"
    assert document.function_at(at(PTX, ".global")) is None
    statement = document.statement_at(at(PTX, "@%p1 bra"))
    assert statement is not None
    assert PTX[statement.start : statement.end] == "@%p1 bra LOOP;"


def test_pressure_is_none_where_a_label_is_missing() -> None:
    text = PTX.replace("LOOP:\n", "")
    document = Document("k.ptx", text)
    function = document.function_at(at(text, "@%p1 bra"))
    assert function is not None
    assert document.pressure(function) is None
