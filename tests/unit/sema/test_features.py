"""Opcodes that are newer or older than the module, and modifiers that mean nothing."""

import pytest
from diagnosed import in_kernel


def for_machine(body: str, version: str, target: str) -> list[tuple[int, str, str]]:
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return in_kernel(f"{body}\nret;", head=head)


@pytest.mark.parametrize(
    ("body", "version", "target", "expected"),
    [
        # PTX ISA 9.7.1: bfind from 2.0 on sm_20, dp4a from 5.0 on sm_61, lop3 from 4.3 on sm_50
        ("dp4a.u32.u32 %r1, 1, 2, 3;", "5.0", "sm_61", []),
        ("dp4a.u32.u32 %r1, 1, 2, 3;", "4.3", "sm_50", [(1, "W205", "dp4a.u32.u32")]),
        ("dp4a.u32.u32 %r1, 1, 2, 3;", "5.0", "sm_60", [(1, "W205", "dp4a.u32.u32")]),
        ("lop3.b32 %r1, 1, 2, 3, 0x80;", "4.3", "sm_50", []),
        ("lop3.b32 %r1, 1, 2, 3, 0x80;", "4.2", "sm_50", [(1, "W205", "lop3.b32")]),
        # votes of the active threads ended with sm_70 and PTX 6.4; '.sync' replaces them
        ("vote.ballot.b32 %r1, 1;", "6.4", "sm_70", [(1, "E203", "vote.ballot.b32")]),
        ("vote.ballot.b32 %r1, 1;", "6.0", "sm_60", []),
    ],
)
def test_versions_and_targets(
    body: str, version: str, target: str, expected: list[tuple[int, str, str]]
) -> None:
    assert for_machine(body, version, target) == expected


def test_an_opcode_is_reported_once() -> None:
    twice = "dp4a.u32.u32 %r1, 1, 2, 3;\ndp4a.u32.u32 %r2, 1, 2, 3;"
    assert for_machine(twice, "5.0", "sm_60") == [(1, "W205", "dp4a.u32.u32")]


def test_a_modifier_that_stands_twice() -> None:
    assert for_machine("add.sat.sat.f32 %f1, 0f00000000, 0f00000000;", "7.0", "sm_70") == [
        (1, "W208", ".sat")
    ]
