"""Statements of a body: what is called, lists of targets, line directives, names declared twice."""

import pytest
from diagnosed import in_kernel

BEFORE = ".func f() { ret; }\n.global .u32 g;\n.entry other() { ret; }\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("call f;", []),
        ("call other;", [(1, "E211", "other")]),
        ("call g;", [(1, "E211", "g")]),
        ("mov.u64 %rd1, f;\ncall %rd1;", [(2, "E211", "%rd1")]),  # no prototype
        ("P: .callprototype _ ();\nmov.u64 %rd1, f;\ncall %rd1, (), P;", []),
        ("T: .calltargets f;\nmov.u64 %rd1, f;\ncall %rd1, (), T;", []),
        ("T: .calltargets f, other;\nmov.u64 %rd1, f;\ncall %rd1, (), T;", [(1, "E211", "other")]),
        ("L: mov.u64 %rd1, f;\ncall %rd1, (), L;", [(2, "E211", "L")]),  # a label that is no prototype
    ],
)
def test_what_is_called(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert in_kernel(f"{body}\nret;", BEFORE) == expected


def test_targets_of_an_indirect_branch() -> None:
    right = "T: .branchtargets A, B;\nbrx.idx 0, T;\nA: ret;\nB: ret;"
    assert in_kernel(right) == []
    assert in_kernel("brx.idx 0, A;\nA: ret;") == [(1, "E206", "A")]


def test_lines_are_whole_numbers_of_32_bits() -> None:
    file = '.file 1 "a.cu"\n'
    assert in_kernel(".loc 1 4294967295 0\nret;", file) == []
    assert in_kernel(".loc 1 4294967296 0\nret;", file) == [(1, "E213", "4294967296")]


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (".reg .b32 t; .local .b32 t; ret;", ["E204"]),
        ("t: .reg .b32 t; ret;", ["E204"]),
        (".reg .b32 t; { .local .b32 t; } ret;", []),  # another scope
    ],
)
def test_a_name_of_two_things(body: str, codes: list[str]) -> None:
    assert [code for _, code, _ in in_kernel(body)] == codes
