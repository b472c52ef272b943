"""Items of a module before and after a pass: bodies go to a check of their own, all else stays as it was."""

import pytest

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.validate.functions import compare_functions, same_statement, wrong

TEXT = (
    """.version 7.0\n.target sm_70\n.global .u32 x;\n.func f();\n.entry k()\n{\n\t.loc 1 2 3\n\tret;\n}\n"""
)


def problems(after: str) -> list[str]:
    def compare(old: Function, new: Function) -> list[Diagnostic]:
        return [wrong(f"compared {old.name}", new.source, new)]

    found = compare_functions(parse(TEXT), parse(after), compare)
    assert {d.code for d in found} == {"E303"}
    return [d.message for d in found]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ret;", "exit;", ["compared k"]),
        (".global .u32 x;", ".global  .u32\nx;", ["compared k"]),
        (".u32 x;", ".s32 x;", ["text outside functions changed", "compared k"]),
        (".func f();", ".func g();", ["text outside functions changed", "compared k"]),
        (".func f();", ".func f() { ret; }", ["text outside functions changed", "compared k"]),
        (".func f();\n", "", ["5 items became 4"]),
    ],
)
def test_items_are_compared_as_words(old: str, new: str, expected: list[str]) -> None:
    assert problems(TEXT.replace(old, new)) == expected


def test_statements_may_differ_in_their_offsets() -> None:
    def statements(text: str) -> list[object]:
        return list(parse(text).kernels["k"].body or ())

    one, two = statements(TEXT)
    moved = statements(TEXT.replace("\t.loc 1 2 3", "\n\n .loc  1 2  3"))
    assert same_statement(one, moved[0])  # type: ignore[arg-type]
    assert same_statement(two, moved[1])  # type: ignore[arg-type]
    assert not same_statement(one, two)  # type: ignore[arg-type]
    assert not same_statement(one, statements(TEXT.replace("2 3", "2 4"))[0])  # type: ignore[arg-type]
