"""Names of physical registers, beside whatever the text names already."""

import pytest
from kernels import ptxplus

from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.regalloc.physical_names import DeclaredNames, PhysicalNames, Spelling, local_names


def kernel(body: str = "", before: str = "", parameters: str = "") -> Function:
    text = (
        f".version 7.0\n.target sm_70\n.address_size 64\n{before}.entry k({parameters})\n{{\n{body}ret;\n}}\n"
    )
    return parse(text).kernels["k"]


@pytest.mark.parametrize(
    ("file", "bits", "unit", "name"),
    [
        ("general", 32, 5, "%r5"),
        ("general", 16, 5, "%rs5"),
        ("general", 8, 5, "%rb5"),
        ("general", 64, 4, "%rd2"),
        ("general", 128, 8, "%rq2"),
        ("predicate", 1, 3, "%p3"),
    ],
)
def test_a_name_is_the_inverse_of_its_units(file: str, bits: int, unit: int, name: str) -> None:
    assert PhysicalNames(kernel()).of(file, bits, unit) == name


def test_names_of_ptxplus() -> None:
    names = PhysicalNames(ptxplus("exit;"))
    assert [names.of(file, 32, 2) for file in ("general", "address", "predicate")] == ["$r2", "$ofs2", "$p2"]


def test_a_prefix_that_something_else_has_is_left_to_it() -> None:
    names = PhysicalNames(kernel("%r7: ", ".global .u32 %rd1, %rd_2;\n", ".param .u32 %p"))
    assert names.of("general", 32, 5) == "%r_5"
    assert names.of("general", 64, 4) == "%rd__2"
    assert names.of("predicate", 1, 0) == "%p0"  # `%p` has no number
    assert names.of("general", 16, 1) == "%rs1"
    assert names.declarations({64: 3, 32: 2, 1: 0}) == [".reg .b32 %r_<2>;", ".reg .b64 %rd__<3>;"]


def test_local_names_are_no_registers_of_the_body() -> None:
    body = ".reg .b32 %r<3>; .shared .b32 tile; L: "
    function = kernel(body, ".global .u32 g;\n.func f();\n", ".param .u32 n")
    assert sorted(local_names(function)) == ["L", "n", "tile"]


def test_the_units_of_declared_names_are_their_indices() -> None:
    assert DeclaredNames(kernel(".reg .b32 a, b<2>, c;")).of("general", 32, 2) == "b1"


def test_declared_are_the_names_up_to_the_highest_looked_up() -> None:
    spelling = Spelling(PhysicalNames(kernel()), "general", 64)
    assert spelling.n_names == 0
    assert (spelling[6], spelling[2]) == ("%rd3", "%rd1")
    assert spelling.n_names == 4
