"""What to do about an undeclared name: the likeliest reason comes first."""

import pytest

from ptxtool.parse import parse
from ptxtool.sema.module import check_module

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 n)\n{\n"


def helps(body: str) -> list[str]:
    """The next steps of undeclared names and labels, line 6 is the first one of the body."""
    found = check_module(parse(f"{HEAD}{body}\nret;\n}}\n"))
    return [d.help or "" for d in found if d.code in ("E201", "E202")]


REGISTERS = ".reg .b32 %r<8>; .reg .b64 %d<2>;"


@pytest.mark.parametrize(
    ("body", "help"),
    [
        (f"{REGISTERS}\nmov.u32 %r8, 1;", "'%r<8>' in line 6 ends at '%r7': raise it to '%r<9>'?"),
        (f"{REGISTERS}\nmov.u32 %r12, 1;", "'%r<8>' in line 6 ends at '%r7': raise it to '%r<13>'?"),
        (
            f"{REGISTERS}\nmov.u32 x, 1;\n.reg .b32 x;",
            "it is declared below, in line 8: move that before its use",
        ),
        (
            f"{REGISTERS}\n{{ .reg .b32 x; }}\nmov.u32 x, 1;",
            "its declaration in line 7 stands in a '{ }' block that this place is not in",
        ),
        (".reg .b32 counter;\nmov.u32 countr, 1;", "did you mean 'counter'?"),
        (
            f"{REGISTERS}\nld.shared.u32 %r1, [zqxv];",
            "add a declaration, such as '.shared .b32 zqxv[64];'",
        ),
        (
            f"{REGISTERS}\nld.param.u32 %r1, [zqxv];",
            "add it to the parameters of the function: '.param .b32 zqxv'",
        ),
        (f"{REGISTERS}\nmov.u32 %r1, zqxv;", "add a declaration, such as '.reg .u32 zqxv;'"),
        ("call zqxv;", "declare the function before it, such as '.extern .func zqxv;'"),
    ],
)
def test_the_next_step(body: str, help: str) -> None:
    assert helps(body) == [help]


def test_a_family_of_registers_is_reported_once_with_all_that_is_used() -> None:
    """`%rd` is declared for the highest number in the function; words that contain its names do not count."""
    body = (
        ".reg .b64 x;\nadd.s64 %rd1, %rd9, x;\nadd.s64 %rd4, %rd1, %rd9;\n// %rd10x y%rd70\nmov.pred %p2, 1;"
    )
    assert helps(body) == [
        "declare it and its like: '.reg .b64 %rd<10>;'",
        "declare it and its like: '.reg .pred %p<3>;'",
    ]


def test_a_family_with_a_declared_member_is_none() -> None:
    (help,) = helps(".reg .b64 %rd1;\nmov.u64 %rd2, 1;")
    assert "and its like" not in help
