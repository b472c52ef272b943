"""What the rules share: registers for values, guards, operands, remarks."""

import pytest
from ptxplus_selection import HEAD, kernel, refusals, virtual

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite


def test_a_wide_value_is_a_pair_and_a_narrow_one_a_word() -> None:
    """Only the low word of an address is read."""
    assert virtual("add.f64 %x1, %x2, %x3; st.global.f64 [%d1], %x1;") == [
        "add.ff64 {$v0,$v1}, {$v2,$v3}, {$v4,$v5};",
        "st.global.v2.u32 [$v6], {$v0,$v1};",
        "exit;",
    ]


def test_the_result_alone_is_guarded() -> None:
    found = virtual("@!%p1 bfind.u32 %r1, %r2;")
    assert found[:2] == ["clz.b32 $v2, $v1;", "@$p0.equ sub.u32 $v0, 0x0000001f, $v2;"]


@pytest.mark.parametrize(
    ("operand", "text"),
    [
        ("WARP_SZ", "0x00000020"),
        ("(2 + 3) * 4", "0x00000014"),
        ("-7", "0xfffffff9"),
        ("%nctaid.z", "%nctaid.z"),
        ("%laneid", "%laneid"),
    ],
)
def test_operands(operand: str, text: str) -> None:
    assert virtual(f"mov.u32 %r1, {operand};")[0] == f"mov.u32 $v0, {text};"


def test_products_by_powers_of_two_are_shifts() -> None:
    """The constant may be either operand; 0 is no power of two."""
    assert virtual("mul.lo.u32 %r1, 8, %r2;")[0] == "shl.u32 $v0, $v1, 0x00000003;"
    assert virtual("mul.lo.u32 %r1, %r2, 0;")[0].startswith("mul.lo.u32 ")
    assert virtual("mul.lo.u32 %r1, %r2, -2147483648;")[0] == "shl.u32 $v0, $v1, 0x0000001f;"


def test_values_of_128_bits_are_refused() -> None:
    ((_, reason),) = refusals(
        HEAD.replace("75", "90").replace("8.0", "8.3") + kernel(".reg .b128 %q; mov.b128 %q, %q;")
    )
    assert reason == "values of 128 bits have no counterpart in PTXPlus"


def test_an_external_variable_of_another_file_is_reported() -> None:
    body = "ld.const.u32 %r1, [c+4]; ld.const.u32 %r2, [c]; st.shared.u32 [s], %r2;"
    before = ".extern .const .u32 c[4]; .extern .shared .u32 s[];\n"
    result = rewrite(parse(HEAD + before + kernel(body), "k.ptx"), "lower-ptxplus")
    reported = [r.message for r in result.remarks[1:]]
    assert reported == ["'c' is defined in another file: it is zeros unless the launch fills it"]


def test_registers_of_vector_type_are_refused_alike() -> None:
    lines = (
        ".reg .v4 .b32 %v, %w; ld.param.u64 %d1, [p];",
        "ld.global.v4.b32 %v, [%d1];",
        "add.u32 %v.x, %r1, %r2;",
        "add.u32 %r1, %v.y, %r2;",
        "mov.v4.b32 %w, %v;",
        "st.global.v4.b32 [%d1], %v;",
    )
    found = refusals(HEAD + kernel("\n".join(lines)))
    reported = "is a register of vector type: declare its elements as registers"
    assert [(line - found[0][0], reason[-len(reported) :]) for line, reason in found] == [
        (k, reported) for k in range(5)
    ]
