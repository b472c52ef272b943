"""Declarations: where a variable may stand, its type and size, its initial value; constants of a whole module."""

import pytest
from diagnosed import in_kernel, reported

from ptxtool.sema.fixes import fix_text

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.mark.parametrize(
    ("declaration", "marked"),
    [
        (".global .u32 x = 7;", ""),
        (".global .u32 x = 1.0;", "x"),
        (".global .f32 x = 1;", "x"),
        (".global .b32 x = 0f3f800000;", ""),
        (".global .u32 x[2] = {1, 2, 3};", "x"),
        (".global .u32 x[2] = {1};", ""),
        (".global .u32 x[2] = 1;", "x"),
        (".global .u32 x = {1};", "x"),
        (".global .u32 x[] = {1, 2};", ""),
        (".global .u32 x[];", "x"),
        (".extern .shared .u32 x[];", ""),
        (".global .u32 x[2][0];", "x"),
        (".global .v2 .u32 x = {1, 2};", ""),
        (".global .v2 .u32 x = {1};", "x"),
        (".shared .u32 x = 1;", "x"),
        (".extern .global .u32 x = 1;", "x"),
        (".global .f16 x = 1.0;", "x"),
        (".global .u32 x = 1 / 0;", "x"),
        (".global .u32 x = WARP_SZ + 1;", ""),
        (".global .align 3 .u32 x;", ".align"),
        (".global .align 16 .u32 x;", ""),
        (".global .v4 .u64 x;", "x"),
        (".global .pred x;", ".pred"),
        (".param .u32 x;", "x"),
        (".shared .texref x;", "x"),
        (".common .shared .u32 x;", "x"),
    ],
)
def test_variables_of_a_module(declaration: str, marked: str) -> None:
    found = [(code, text) for _, code, text in reported(f"{HEAD}{declaration}\n")]
    assert found == ([("E212", marked)] if marked else [])


@pytest.mark.parametrize(
    ("before", "value", "marked"),
    [
        (".global .u32 y;", "y", ""),
        (".global .u32 y;", "generic(y)", ""),
        (".shared .u32 y;", "y", "y"),
        ("", "%tid", "%tid"),
    ],
)
def test_addresses_as_initial_values(before: str, value: str, marked: str) -> None:
    found = [(code, text) for _, code, text in reported(f"{HEAD}{before}\n.global .u64 x = {value};\n")]
    assert found == ([("E212", marked)] if marked else [])


def test_an_address_of_what_stands_below() -> None:
    assert reported(f"{HEAD}.global .u64 x = y;\n.global .u32 y;\n") == [(4, "E212", "y")]


@pytest.mark.parametrize(("size", "fits"), [(16380, True), (16381, False)])
def test_constants_of_64_kilobytes(size: int, fits: bool) -> None:
    """4 * 16380 and 16 bytes are 65536."""
    text = f"{HEAD}.const .u32 a[{size}];\n.const .v4 .u32 b;\n"
    assert reported(text) == ([] if fits else [(5, "E212", "b")])


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        (".extern .global .u32 x;", ".visible .global .u32 x;", ""),
        (".extern .global .u32 x;", ".global .u32 x;", "x"),
        (".extern .global .u32 x;", ".visible .global .s32 x;", "x"),
        (".extern .global .u32 x[4];", ".visible .global .u32 x[5];", "x"),
        (".extern .global .u32 x[];", ".visible .global .u32 x[5];", ""),
    ],
)
def test_a_definition_agrees_with_what_was_declared_before(first: str, second: str, marked: str) -> None:
    found = [(line, code, text) for line, code, text in reported(f"{HEAD}{first}\n{second}\n")]
    assert found == ([(5, "E212", marked)] if marked else [])


@pytest.mark.parametrize("type_", [".texref", ".surfref", ".samplerref"])
@pytest.mark.parametrize(("version", "lacks"), [("1.4", True), ("1.5", False)])
def test_opaque_types_came_with_1_5(type_: str, version: str, lacks: bool) -> None:
    """As ptxas 13 reports: "Feature 'opaque type' requires PTX ISA .version 1.5 or later"."""
    head = f".version {version}\n.target sm_10{'' if lacks else ', texmode_independent'}\n"
    texts = (f"{head}.global {type_} t;\n", f"{head}.entry k(.param {type_} t) {{ ret; }}\n")
    for text in texts:
        assert reported(text) == ([(3, "W205", type_)] if lacks else [])
        assert fix_text(text, "k.ptx").text == text.replace("1.4", "1.5" if type_ != ".samplerref" else "1.4")


def test_variables_of_a_body() -> None:
    assert in_kernel(".reg .b32 x[4]; ret;") == [(1, "E212", "x")]
    assert in_kernel(".global .texref t; ret;") == [(1, "E212", "t")]
    assert in_kernel(".local .u32 x = 1; ret;") == [(1, "E212", "x")]
    assert in_kernel(".local .u32 x; .shared .u32 y; ret;") == []
