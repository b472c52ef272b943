"""Where parameters and variables lie in a function's frame: offsets worked out by hand from their alignments."""

from small_lowering import kernel

from ptxsim.lowering.callgraph import directive_at
from ptxsim.lowering.frames import FunctionFrame, formals_of, frame_of, prototype
from ptxtool.ir.nodes import Function


def function(text: str) -> Function:
    return kernel("ret;", before=text).module.functions["f"]


def offsets(frame: FunctionFrame, name: str) -> list[int]:
    return [place.offset for place in frame.variables[name]]


FORMALS = "(.param .b32 r) f (.param .b8 c, .param .align 16 .b8 s[20], .reg .pred p, .param .f64 d)"


def test_results_come_before_parameters_each_at_its_alignment() -> None:
    formals = formals_of(function(f".func {FORMALS} {{ ret; }}"))
    # r 0-4, c 4-5, s 16-36, p 36-40, d 40-48
    assert formals.shape == ((0, 4), (4, 1), (16, 20), (36, 4), (40, 8))
    assert formals.size == 48
    assert [place.is_register for place in formals.params] == [False, False, True, False]


def test_a_prototype_has_the_shape_of_its_function() -> None:
    parameters = ".param .b8 _, .param .align 16 .b8 _[20], .reg .pred _, .param .f64 _"
    directive = directive_at(kernel(f"P: .callprototype (.param .b32 _) _ ({parameters}); ret;"), "P")
    assert directive is not None
    assert prototype(directive).shape == formals_of(function(f".func {FORMALS} {{ ret; }}")).shape


def test_blocks_one_after_the_other_share_their_bytes() -> None:
    text = """.func f(.param .b64 x) {
	.local .b32 always;
	{ .param .b64 one; add.u32 %r1, %r1, 1; }
	{ .param .b32 two; { .param .b32 inner; ret; } }
	.local .b32 last;
}"""
    frame = frame_of(function(text))
    assert offsets(frame, "always") == [8]
    assert offsets(frame, "one") == [16]
    assert offsets(frame, "two") == [12]
    assert offsets(frame, "inner") == [16]
    assert offsets(frame, "last") == [12]
    assert frame.size == 32  # 24 bytes, at a multiple of 16


def test_an_instruction_sees_the_innermost_variable() -> None:
    text = """.func f() {
	.param .b32 v;
	add.u32 %r1, %r1, 1;
	{ .param .b32 v; add.u32 %r1, %r1, 1; }
	ret;
}"""
    frame = frame_of(function(text))
    seen = [frame.find("v", position) for position in range(3)]
    assert [place.offset for place in seen if place is not None] == [0, 4, 0]
    assert frame.find("w", 0) is None


def test_a_kernel_s_frame_begins_above_its_local_variables() -> None:
    frame = frame_of(kernel(".local .b8 room[20]; .param .b64 x; ret;"), 20)
    assert offsets(frame, "x") == [24]
    assert "room" not in frame.variables
