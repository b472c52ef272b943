"""Selection of one kernel: its prologue, what it declares, and the refusals of its instructions."""

import re

import pytest
from ptxplus_selection import HEAD, kernel, lower, virtual

from ptxtool.parse import parse
from ptxtool.passes.ptxplus.places import ModuleVariables
from ptxtool.passes.ptxplus.select import select


def test_every_refused_instruction_has_its_place_and_a_short_text() -> None:
    long = f"add.rm.f32   %f1, {'-' * 80}1.0, %f2;"
    module = parse(HEAD + kernel(f"{long}\nrem.s64 %d1, %d2, %d3;"))
    code, problems = select(module.kernels["k"], ModuleVariables(module))
    assert [(d.code, d.line) for d in problems] == [("E301", 7), ("E301", 8)]
    quoted = re.search(r"'(.*?)': ", problems[0].message)
    assert quoted is not None
    assert quoted[1] == f"add.rm.f32 %f1, {'-' * 41}..."
    assert "lower-ptxplus: 'rem.s64 %d1, %d2, %d3;': " in problems[1].message
    assert [str(c) for c in code.codes()] == ["exit;"]


@pytest.mark.parametrize(
    ("parameter", "declared"),
    [
        (".param .b32 n", ".param  .u32 __cudaparm_k_n"),
        (".param .f32 k_x", ".param  .f32 __cudaparm_k_x"),
        (".param .align 8 .b8 s[12]", ".param .align 8 .b8 __cudaparm_k_s[12]"),
    ],
)
def test_parameters_as_the_converter_declares_them(parameter: str, declared: str) -> None:
    assert f"\t{declared} )" in lower("", parameters=parameter)


def test_a_coordinate_that_nothing_reads_is_not_unpacked() -> None:
    assert virtual("mov.u32 %r1, %tid.y; add.s32 %r1, %r1, %r2;")[:2] == [
        *("shr.u32 $v1, $r0, 0x00000010;", "and.b32 $v1, $v1, 0x000003ff;")
    ]


def test_the_thread_id_is_taken_apart() -> None:
    body = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; add.s32 %r1, %r1, %r2;"
    assert virtual(body + "add.s32 %r1, %r1, %r3;")[:4] == [
        "cvt.u32.u16 $v0, $r0.lo;",
        "shr.u32 $v3, $r0, 0x00000010;",
        "and.b32 $v3, $v3, 0x000003ff;",
        "shr.u32 $v4, $r0, 0x0000001a;",
    ]
