"""The addresses of a lowered kernel's variables, and their initial values."""

import re

import pytest
from ptxplus_selection import HEAD, kernel, lower

from ptxtool.parse import parse
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.places import ModuleVariables, initial_bytes, most_threads


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        (".u16 x[4] = {1, 0x203}", "0100 0302 0000 0000"),
        (".u8 x[2][3] = {{1, 2}, {3}}", "010200 030000"),
        (".f32 x = 1.0", "0000803f"),
        (".s8 x[] = {-1, -2}", "fffe"),
        (".v2 .u16 x[2] = {{1, 2}, {3, 4}}", "01000200 03000400"),
    ],
)
def test_initial_values_in_little_endian_order(declaration: str, expected: str) -> None:
    (found,) = parse(f"{HEAD}.global {declaration};\n").declarations()
    assert initial_bytes(found, found.declarators[0]) == bytes.fromhex(expected)


def test_an_address_as_initial_value_is_refused() -> None:
    module = parse(f"{HEAD}.global .u32 y; .global .u64 x = y;\n")
    with pytest.raises(Refusal, match="the initial value of 'x' is an address"):
        ModuleVariables(module).find("x")


def test_shared_variables_follow_the_parameters_and_dynamic_ones_come_last() -> None:
    """The parameters end at 0x10 + 8 + 2, rounded up to 0x1c; `b` begins at the next multiple of 8."""
    text = lower(
        "st.shared.u32 [dynamic], %r1; st.shared.u32 [a], %r1; st.shared.u32 [b], %r1;",
        before=".extern .shared .u8 dynamic[]; .shared .u32 a; .shared .u32 unused; .shared .u64 b;\n",
        parameters=".param .u64 p, .param .u16 q",
    )
    assert re.findall(r"s\[(\w+)\]", text) == ["0x0028", "0x001c", "0x0020"]
    assert re.findall(r"__shared_\w+\[\d*\]", text) == [
        "__shared_a[4]",
        "__shared_b[8]",
        "__shared_dynamic[]",
    ]


@pytest.mark.parametrize(
    ("directive", "threads"),
    [("", 1024), (".maxntid 64, 2, 1", 128), (".reqntid 8", 8), (".maxntid 4096", 1024)],
)
def test_the_most_threads_of_a_block(directive: str, threads: int) -> None:
    module = parse(HEAD + kernel("").replace(")\n{", f")\n{directive}\n{{"))
    assert most_threads(module.kernels["k"]) == threads


def test_parameters_are_aligned_each_to_its_own_size() -> None:
    text = lower(
        "ld.param.u8 %h1, [a]; ld.param.u64 %d1, [b]; ld.param.u16 %h2, [c]; ld.param.f32 %f1, [d];"
        "st.global.u8 [%d1], %h1; st.global.u16 [%d1+2], %h2; st.global.f32 [%d1+4], %f1;",
        parameters=".param .u8 a, .param .u64 .ptr .global .align 4 b, .param .u16 c, .param .f32 d",
    )
    assert re.findall(r"s\[(\w+)\]", text) == ["0x0010", "0x0018", "0x0020", "0x0024"]
    assert re.findall(r"\.param  (\.\w+ \w+)", text) == [
        *(".u8 __cudaparm_k_a", ".u64 __cudaparm_k_b", ".u16 __cudaparm_k_c", ".f32 __cudaparm_k_d")
    ]


def test_an_external_variable_that_the_file_defines() -> None:
    outside = ".extern .global .u32 g; .extern .const .u32 c;\n"
    inside = ".visible .global .u32 g = 7; .visible .const .u32 c = 9;\n"
    body = "ld.global.u32 %r1, [g]; ld.const.u32 %r2, [c]; st.global.u32 [g], %r2;"
    for before in (outside + inside, inside + outside):
        text = lower(body, before=before)
        assert text.count(".global .align 4 .u32 g[1] = {0x00000007};") == text.count("\n.global") == 1
        assert text.count(".const .b8 c[4];") == text.count(".constptr c") == 1
        assert "0x00000009" in text
