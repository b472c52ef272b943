"""Texture fetches: the texture's name, coordinates, the components that something reads; what is refused."""

import re

import pytest
from ptxplus_selection import HEAD, kernel, lower, refusals

BEFORE = ".global .texref image; .global .texref other; .global .samplerref sampler;\n"
PARAMETERS = ".param .u64 t, .param .u64 u, .param .texref r, .param .align 8 .b8 s[16]"
END = "st.global.f32 [%d5], %f0;"


def fetches(body: str) -> list[str]:
    """The fetches of the lowered text, their registers numbered as they appear."""
    text = lower(body, before=BEFORE, parameters=PARAMETERS)
    found = [line.strip() for line in text.split("\n") if "tex." in line]
    numbers = [dict[str, str]() for _ in found]
    return [
        re.sub(r"\$[rp]\d+", lambda name, known=known: known.setdefault(name[0], f"${len(known)}"), line)
        for line, known in zip(found, numbers, strict=True)
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # what nothing reads goes nowhere; one coordinate stands in four
        (
            f"tex.1d.v4.f32.s32 {{%f0, %f1, %f2, %f3}}, [image, {{%r1}}]; {END}",
            "tex.1d.v4.f32.s32 {$0,_,_,_}, image, {$1,_,_,_};",
        ),
        # PTX 1.4 to 2.x writes four coordinates, of which two count
        (
            f"tex.2d.v4.f32.f32 {{_, %f3, %f0, %f3}}, [image, {{%f1, %f2, %f1, %f1}}]; {END}",
            "tex.2d.v4.f32.f32 {_,_,$0,_}, image, {$1,$2};",
        ),
        (
            "tex.3d.v4.s32.f32 {%r0, %r1, %r2, %r3}, [r, {%f1, %f2, %f3, %f3}];"
            "st.global.v4.u32 [%d5], {%r0, %r1, %r2, %r3};",
            "tex.3d.v4.s32.f32 {$0,$1,$2,$3}, __cudaparm_k_r, {$0,$1,$2};",
        ),
        (
            f"ld.param.u64 %d1, [u]; mov.u64 %d2, %d1; tex.1d.v4.f32.s32 {{%f0, _, _, _}}, [%d2, {{7}}]; {END}",
            "tex.1d.v4.f32.s32 {$0,_,_,_}, __cudaparm_k_u, {$0,_,_,_};",
        ),
        (
            f"setp.eq.u32 %p1, %r1, 0; @%p1 tex.1d.v4.f32.f32 {{%f0, _, _, _}}, [image, {{%f1}}]; {END}",
            "@$0.ne tex.1d.v4.f32.f32 {$1,_,_,_}, image, {$2,_,_,_};",
        ),
    ],
)
def test_a_fetch(body: str, expected: str) -> None:
    (found,) = fetches(body)
    assert found == expected


def test_textures_are_declared_and_handles_are_not_loaded() -> None:
    """All of the module, so that a launch file may have each."""
    body = f"ld.param.u64 %d1, [t]; tex.1d.v4.f32.s32 {{%f0, _, _, _}}, [%d1, {{%r1}}]; {END}"
    body += f"tex.1d.v4.f32.s32 {{%f0, _, _, _}}, [other, {{%r1}}]; {END}"
    text = lower(body, before=BEFORE, parameters=PARAMETERS)
    assert [line for line in text.split("\n") if line.startswith(".tex")] == [
        ".tex .u64 image;",
        ".tex .u64 other;",
    ]
    assert "s[0x" not in text
    assert ".param  .u64 __cudaparm_k_t ," in text
    assert ".param  .u64 __cudaparm_k_r ," in text


def test_a_handle_that_something_else_reads_is_loaded() -> None:
    body = f"ld.param.u64 %d1, [t]; tex.1d.v4.f32.s32 {{%f0, _, _, _}}, [%d1, {{%r1}}]; {END} st.global.u64 [%d5], %d1;"
    text = lower(body, parameters=PARAMETERS)
    assert "s[0x0010]" in text
    assert "s[0x0014]" in text


UNKNOWN = "PTXPlus names its textures, and this may be any: no variable or parameter of its own"
AXES = "PTXPlus fetches 32-bit texels of 1 to 3 axes, by their coordinates alone"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("ld.global.u64 %d1, [%d2]; tex.1d.v4.f32.s32 {%f0, _, _, _}, [%d1, {%r1}];", UNKNOWN),
        ("ld.param.u64 %d1, [s]; tex.1d.v4.f32.s32 {%f0, _, _, _}, [%d1, {%r1}];", UNKNOWN),
        (
            "ld.param.u64 %d1, [t]; @%p1 ld.param.u64 %d1, [u]; tex.1d.v4.f32.s32 {%f0, _, _, _}, [%d1, {%r1}];",
            UNKNOWN,
        ),
        (
            "tex.2d.v4.f32.f32 {%f0, _, _, _}, [image, sampler, {%f1, %f2}];",
            "PTXPlus has no samplers apart from textures",
        ),
        ("tex.a1d.v4.f32.s32 {%f0, _, _, _}, [image, {%r1, %r2}];", AXES),
        ("tex.cube.v4.f32.f32 {%f0, _, _, _}, [image, {%f1, %f2, %f3, %f3}];", AXES),
        ("tex.1d.v4.f32.f32 {%f0, _, _, _}, [image, {%f1}], {%r1};", AXES),
        ("tex.1d.v2.f16x2.f32 {%r0, _}, [image, {%f1}];", AXES),
        ("tex.1d.v4.f32.f32 {%f0, _, _, _}|%p1, [image, {%f1}];", AXES),
        (
            "tex.level.1d.v4.f32.f32 {%f0, _, _, _}, [image, {%f1}], %f2;",
            "PTXPlus has nothing for 'tex.level.1d.v4.f32.f32'",
        ),
        ("txq.width.b32 %r1, [image];", "PTXPlus has nothing for 'txq.width.b32'"),
    ],
)
def test_refused(body: str, reason: str) -> None:
    text = HEAD + BEFORE + kernel(body, PARAMETERS)
    assert [found for _, found in refusals(text)] == [reason]
