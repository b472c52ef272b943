"""The size and the alignment of a variable, by its declaration (PTX ISA, section 5.4)."""

import pytest

from ptxtool.ir.variables import alignment_of, declared_size, round_up
from ptxtool.parse import parse

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


@pytest.mark.parametrize(
    ("text", "size", "alignment"),
    [
        (".global .u16 v;", 2, 2),
        (".global .u16 v[3][5];", 30, 2),
        (".global .v4 .f32 v[2];", 32, 16),
        (".global .align 16 .b8 v[6];", 6, 16),
        (".global .f64 v[] = {1.0, 2.0, 3.0};", 24, 8),
        (".global .u8 v[][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};", 8, 1),
        (".extern .shared .align 8 .b8 v[];", 0, 8),
        (".global .texref v;", 8, 8),  # a handle of 64 bits
    ],
)
def test_size_and_alignment(text: str, size: int, alignment: int) -> None:
    declaration = parse(HEAD + text).variables["v"]
    assert declared_size(declaration, declaration.declarators[0]) == size
    assert alignment_of(declaration) == alignment


def test_the_alignment_after_ptr_is_not_that_of_the_pointer() -> None:
    kernel = parse(f"{HEAD}.entry k(.param .u32 .ptr .global .align 16 p) {{ ret; }}").kernels["k"]
    assert alignment_of(kernel.params[0]) == 4


def test_rounding_up() -> None:
    assert [round_up(n, 8) for n in (0, 1, 8, 9)] == [0, 8, 8, 16]
