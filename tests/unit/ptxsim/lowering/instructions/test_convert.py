"""Moves and conversions: vectors taken apart and put together, saturation, generic addresses; refusals."""

import numpy as np
import pytest
from small_lowering import PTX, PTXPLUS, constant, fields, lowered, refusal, steps
from three_ways import kernel_text, words

import ptxsim
from ptxsim.execute import codes
from ptxtool.parse import parse


def test_halves_become_a_word_the_first_the_lower() -> None:
    assert words("mov.b16 %h1, 0x1234; mov.b16 %h2, 0x5678; mov.b32 %r6, {%h1, %h2};", 1) == [0x56781234]


def test_a_word_s_halves() -> None:
    body = "mov.b32 {%h1, %h2}, 0x56781234; cvt.u32.u16 %r6, %h2;"
    assert words(body, 1) == [0x5678]


@pytest.mark.parametrize(
    ("conversion", "source", "expected"),
    [
        ("cvt.sat.u8.s32", 0xFFFFFFFF, 0),  # -1
        ("cvt.sat.u8.s32", 300, 255),
        ("cvt.sat.s8.u32", 0xFFFFFFFF, 127),
        ("cvt.sat.s8.s32", 0xFFFFFF00, 0xFFFFFF80),  # -256 becomes -128
        ("cvt.s8.s32", 0x180, 0xFFFFFF80),  # cut, and extended to the register
        ("cvt.u8.s32", 0x1FF, 0xFF),
    ],
)
def test_integers_to_integers(conversion: str, source: int, expected: int) -> None:
    assert words(f"ld.global.u32 %r5, [%d5]; {conversion} %r6, %r5;", 1, [source]) == [expected]


@pytest.mark.parametrize(
    ("conversion", "expected"),
    [
        ("cvt.rzi.s32.f32", 0),  # a NaN
        ("cvt.rzi.u32.f32", 0),
        ("cvt.rzi.s64.f32", 0x80000000),  # where a side has 64 bits, the upper bit alone
    ],
)
def test_a_nan_as_an_integer(conversion: str, expected: int) -> None:
    to = "%d6" if "64" in conversion else "%r6"
    upper = "shr.u64 %d6, %d6, 32; cvt.u32.u64 %r6, %d6;" if "64" in conversion else ""
    assert words(f"{conversion} {to}, 0f7FC00000; {upper}", 1) == [expected]


def test_two_saturated_numbers_are_packed_into_a_word() -> None:
    """The first source becomes the upper half, the third what lies above in the word of four bytes."""
    assert words("cvt.pack.sat.s16.s32 %r6, 70000, -70000;", 1) == [0x7FFF8000]
    assert words("cvt.pack.sat.u8.s32.b32 %r6, 300, -5, 0xABCD;", 1) == [0xABCDFF00]


@pytest.mark.parametrize(
    ("space", "window"), [("shared", codes.SHARED_WINDOW), ("local", codes.LOCAL_WINDOW)]
)
def test_cvta_moves_into_the_window_of_a_space_and_back(space: str, window: int) -> None:
    for text, operation in ((f"cvta.{space}.u64", "add_u64"), (f"cvta.to.{space}.u64", "sub_u64")):
        program = lowered(f"{text} %rd1, %rd2;")
        assert steps(program) == [operation]
        assert constant(program, fields(program, "b")[0], 64) == window
    assert steps(lowered("cvta.to.global.u64 %rd1, %rd2;")) == ["mov_u64"]


@pytest.mark.parametrize(
    ("space", "address", "expected"),
    [
        ("global", 0x1000, 1),
        ("global", 0x1_0000_0000, 1),  # above the windows too
        ("global", codes.SHARED_WINDOW, 0),
        ("shared", codes.SHARED_WINDOW, 1),
        ("shared", codes.SHARED_WINDOW + (1 << codes.CLUSTER_SHIFT) - 1, 1),
        ("shared", codes.SHARED_WINDOW + (1 << codes.CLUSTER_SHIFT), 0),
        ("shared::cluster", codes.SHARED_WINDOW + codes.WINDOW_BYTES - 1, 1),
        ("shared", codes.WINDOWS_END, 0),
        ("local", codes.SHARED_WINDOW, 0),
        ("const", codes.LOCAL_WINDOW - 1, 1),
    ],
)
def test_isspacep(space: str, address: int, expected: int) -> None:
    """The windows are the simulator's own: PTX does not say where they lie."""
    body = f"mov.u64 %d6, {address}; isspacep.{space} %p1, %d6; selp.u32 %r6, 1, 0, %p1;"
    out = np.full(1, 9, np.uint32)
    ptxsim.run(parse(kernel_text(body)).kernels["k"], 1, 1, [out, np.zeros(1, np.uint32)])
    assert out[0] == expected


def test_a_number_moved_to_a_predicate_of_ptxplus_becomes_its_flags() -> None:
    assert [op for op in steps(lowered("mov.pred $p1, $r2;", PTXPLUS)) if op == "ebit_u32"] == [
        "ebit_u32"
    ] * 4


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("mov.b32 %r1, {%h1, %h2, %h3};", PTX, "a vector of this shape"),
        ("mov.v2.b32 {%r1, %r2}, %r3;", PTX, "this operand as a vector of 2"),
    ],
)
def test_moves_that_are_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
