"""Loads, stores and atomics: their form in each space, addresses, fences; what is refused."""

import pytest
from ptxplus_selection import HEAD, kernel, refusals, virtual


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("st.shared.v4.u32 [%r1], {%r2, %r3, %r4, %r5};", ["mov.bb128 s[$v4], {$v0,$v1,$v2,$v3};"]),
        (
            "st.global.v2.u32 [%d1], {%r2, 7};",
            ["mov.u32 $v2, 0x00000007;", "st.global.v2.u32 [$v1], {$v0,$v2};"],
        ),
        ("ld.volatile.global.u32 %r1, [%d1];", ["ld.volatile.global.u32 $v0, [$v1];"]),
        # of a vector, what nothing takes is not loaded
        ("ld.global.v4.u32 {_, _, %r1, _}, [%d1+16];", ["ld.global.u32 $v0, [$v1+0x0018];"]),
        # a register wider than what is loaded
        ("ld.global.s16 %r1, [%d1];", ["ld.global.u16 $v0, [$v1];", "cvt.s32.s16 $v0, $v0;"]),
        ("ld.acquire.cta.global.u32 %r1, [%d1];", ["ld.global.u32 $v0, [$v1];", "membar.cta;"]),
        ("st.release.gpu.global.u32 [%d1], %r1;", ["membar.gl;", "st.global.u32 [$v1], $v0;"]),
        (
            "atom.acq_rel.sys.global.exch.b32 %r1, [%d1], %r2;",
            ["membar.sys;", "atom.global.exch.b32 $v0, [$v1], $v2;", "membar.sys;"],
        ),
        ("red.shared.max.s32 [%r1+-4], %r2;", ["atom.shared.max.s32 _, [$v0+-4], $v1;"]),
        ("ld.global.u32 %r1, [%d1+4+8];", ["ld.global.u32 $v0, [$v1+0x000c];"]),
    ],
)
def test_code(code: str, expected: list[str]) -> None:
    assert virtual(code) == [*expected, "exit;"]


def test_a_signed_word_fills_a_register_of_64_bits() -> None:
    assert virtual("ld.global.s32 %d2, [%d1]; st.global.u64 [%d1], %d2;")[:2] == [
        *("ld.global.s32 $v0, [$v2];", "shr.s32 $v1, $v0, 0x0000001f;")
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "atom.global.add.u64 %d1, [%d2], %d3;",
            "its atomics have 32 bits",
        ),
        (
            "atom.global.cas.b16 %h1, [%d2], %h2, %h3;",
            "its atomics have 32 bits",
        ),
        (
            "ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d5]; st.global.v2.u64 [%d5], {%d3, %d4};",
            "a vector of more than 128 bits",
        ),
        ("st.param.u32 [p], %r1;", "a store to the param space"),
    ],
)
def test_refused(code: str, reason: str) -> None:
    assert reason in [
        found for _, found in refusals(HEAD.replace("75", "100").replace("8.0", "8.8") + kernel(code))
    ]


def test_a_sign_is_not_left_to_the_load() -> None:
    """GPGPU-Sim loads signed bytes without their sign."""
    assert virtual("ld.global.s8 %h1, [%d1];")[:2] == ["ld.global.u8 $v0, [$v1];", "cvt.s32.s8 $v0, $v0;"]
