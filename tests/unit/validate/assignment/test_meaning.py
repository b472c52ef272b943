"""From items to steps: what kept, dropped and inserted instructions mean for the check."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.ir.nodes import Function
from ptxtool.validate.assignment.meaning import StepReader
from ptxtool.validate.assignment.steps import Convert, Equal, Kept, Known, Move, Recompute, Step

AFTER = ".local .align 8 .b8 __ptxtool_spill[16];"


def read(
    before: Function, after: Function, items: list[tuple[int, int]]
) -> tuple[list[Step], list[str], StepReader]:
    reader = StepReader(before, after)
    steps = reader.steps(items)
    return steps, [d.message for d in reader.problems], reader


def inserted(text: str, original: str = "ret;") -> tuple[Step, list[str]]:
    """The step of an inserted instruction."""
    (step,), problems, _ = read(ptx(original), ptx(f"{AFTER} {text}"), [(-1, 0)])
    return step, problems


def index(name: str) -> int:
    return ptx("ret;").registers.resolve_index(name, 0)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("mov.b32 %r1, %r2;", Move(index("%r1"), index("%r2"))),
        ("selp.b32 %r1, 1, 0, %p2;", Convert(index("%r1"), index("%p2"), True)),
        ("setp.ne.b32 %p2, %r1, 0;", Convert(index("%p2"), index("%r1"), False)),
    ],
)
def test_copies_and_words_of_predicates(text: str, step: Step) -> None:
    assert inserted(text) == (step, [])


def test_a_slot_is_a_place_and_its_register_the_other() -> None:
    for text in ("ld.local.b32 %r1, [__ptxtool_spill+4];", "st.local.b32 [__ptxtool_spill+4], %r1;"):
        step, problems = inserted(text)
        assert problems == []
        assert isinstance(step, Move)
        register, slot = (step.to, step.source) if text[0] == "l" else (step.source, step.to)
        assert register == index("%r1")
        assert slot >= len(ptx("ret;").registers)


@pytest.mark.parametrize(
    "text",
    [
        "mov.b32 %r1, 7;",
        "cvt.u32.u32 %r1, %r2;",
        "mov.b64 %rd1, {%r1, %r1};",
        "ld.local.b32 %r1, [__ptxtool_spill+2];",
        "ld.local.b32 %rd1, [__ptxtool_spill];",
        "ld.local.b32 %r1, [%rd1];",
        "selp.b32 %r1, 2, 0, %p2;",
        "selp.b32 %r1, 0, 1, %p2;",
        "setp.eq.b32 %p2, %r1, 0;",
        "setp.ne.b32 %p2, %r1, 1;",
    ],
)
def test_nothing_else_is_inserted(text: str) -> None:
    assert inserted(text)[1] == [
        f"the inserted '{text}' is no copy, spill, reload or constant of the original"
    ]


def test_only_a_spill_or_reload_has_a_guard() -> None:
    step, problems = inserted("@!%p1 ld.local.b32 %r1, [__ptxtool_spill];")
    assert problems == []
    assert isinstance(step, Move)
    assert step.guard == (index("%p1"), True, "")
    assert inserted("@%p1 mov.b32 %r1, %r2;")[1] == ["the inserted '@%p1 mov.b32 %r1, %r2;' has a guard"]


def test_a_constant_written_again_is_all_registers_that_have_it() -> None:
    original = "mov.u32 %r1, 7; mov.u32 %r2, 7; mov.u32 %r3, 8; ret;"
    step, problems = inserted("mov.u32 %r9, 7;", original)
    assert problems == []
    assert isinstance(step, Recompute)
    assert step.to == index("%r9")
    assert {value for value, _ in step.values} == {index("%r1"), index("%r2")}


def test_dropped_are_copies_and_constants_alone() -> None:
    text = "mov.b32 %r1, %r2; mov.u32 %r3, 7; add.u32 %r4, %r1, %r3; @%p1 mov.b32 %r5, %r2; ret;"
    steps, problems, _ = read(ptx(text), ptx("ret;"), [(0, -1), (1, -1), (2, -1), (3, -1), (4, 0)])
    assert steps[:2] == [Equal(index("%r1"), index("%r2")), Known(index("%r3"))]
    rest = "is missing, and it is neither a copy of a register nor a constant"
    assert problems == [f"'add.u32 %r4, %r1, %r3;' {rest}", f"'@%p1 mov.b32 %r5, %r2;' {rest}"]


def test_a_guarded_write_is_not_whole_and_reads_its_guard() -> None:
    steps, problems, _ = read(
        ptx("@%p1 add.u32 %r1, %r2, %r3;"), ptx("@%p2 add.u32 %r4, %r5, %r6;"), [(0, 0)]
    )
    assert problems == []
    (step,) = steps
    assert isinstance(step, Kept)
    assert step.writes == step.partial == ((index("%r1"), index("%r4")),)
    assert set(step.reads) == {
        (index(a), index(b)) for a, b in (("%r2", "%r5"), ("%r3", "%r6"), ("%p1", "%p2"))
    }


def test_results_of_one_instruction_lie_apart() -> None:
    _, problems, _ = read(ptx("mov.b64 {%r1, %r2}, %rd1;"), ptx("mov.b64 {%r4, %r4}, %rd1;"), [(0, 0)])
    assert problems == ["'%r4' and '%r4', results of one instruction, share a register"]


def test_zero_and_sink_stay_what_they_are() -> None:
    before = ptxplus("add.u32 $r1, $r124, $r2;")
    assert read(before, ptxplus("add.u32 $r3, $r124, $r4;"), [(0, 0)])[1] == []
    assert len(read(before, ptxplus("add.u32 $r3, $r5, $r4;"), [(0, 0)])[1]) == 1
