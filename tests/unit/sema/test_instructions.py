"""Instructions against the table: what an operand is in its scope, and which instruction is reported how."""

import pytest
from diagnosed import HEAD, REGISTERS, in_kernel

from ptxtool.parse import parse
from ptxtool.sema.module import check_module


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("add.u32 %r1, %r2, 3;", []),
        ("add.u32 %r1, %f2, 3;", [(1, "E207", "%f2")]),
        ("add.u33 %r1, %r2, 3;", [(1, "E203", ".u33")]),
        ("add.f32 %r1, %f1, 1;", [(1, "E207", "1")]),
        ("ld.global.u32 %r1, [%r2];", [(1, "E207", "[%r2]")]),
        ("st.global.u32 %r1, [%rd1];", [(1, "E206", "%r1, [%rd1]")]),
        ("add.u32 %f1, %f2, %f3;", [(1, "E207", ".u32")]),
        ("mov.u32 %r1, %tid.x;", []),
        ("mov.u32 %r1, %tid.w;", []),
        ("mov.u64 %rd1, %tid.x;", [(1, "E207", "%tid.x")]),
        ("mov.u32 %r1, WARP_SZ;", []),
        ("bar.sync 16;", [(1, "E209", "16")]),
        ("bar.sync 8 + 8;", [(1, "E209", "8 + 8")]),
        ("ld.param.u32 %r1, [n]; st.param.u32 [n], %r1;", [(1, "E206", "[n]")]),
    ],
)
def test_one_instruction(body: str, found: list[tuple[int, str, str]]) -> None:
    assert [one for one in in_kernel(f"{body} ret;") if one[1][0] == "E"] == found


def test_a_name_means_what_it_does_in_its_block() -> None:
    """The same operand is seen anew in each block."""
    body = "{ .reg .f32 %r1;\nadd.f32 %r1, %r1, %r1;\nadd.u32 %r2, %r1, 1;\n}\nadd.u32 %r2, %r1, 1;\nret;"
    errors = [one for one in in_kernel(body) if one[1][0] == "E"]
    assert errors == [(3, "E207", "%r1")]


def test_elements_of_vector_registers() -> None:
    body = (
        ".reg .v4 .f32 %v;\nmov.f32 %v.x, 0f00000000;\nadd.f32 %f1, %v.x, %v.x;\nadd.f32 %f1, %v, %v.x;\nret;"
    )
    errors = [one for one in in_kernel(body) if one[1][0] == "E"]
    assert errors == [(4, "E210", "%v")]


def test_an_index_needs_an_array() -> None:
    body = ".shared .u32 a[4]; .shared .u32 b;\nld.shared.u32 %r1, a[1];\nld.shared.u32 %r1, b[1];\nret;"
    assert [(line, code) for line, code, _ in in_kernel(body) if code[0] == "E"] == [(3, "E206")]


def test_a_missing_comma_before_an_index() -> None:
    module = parse(f"{HEAD}.entry k()\n{{\n{REGISTERS}\nadd.u32 %r1[0], 1;\nret;\n}}\n")
    (found,) = (d for d in check_module(module) if d.code == "E203")
    assert found.help == "is a ',' missing after '%r1'?"
