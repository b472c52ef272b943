"""The functions that one reaches through calls, and the calls whose stack ptxas cannot know."""

from ptxtool.parse import parse
from ptxtool.sema.called import calls, reached

TEXT = """.version 8.0
.target sm_80
.extern .func outside();
.func leaf() { ret; }
.func middle() { call leaf; call leaf; ret; }
.func loop() { call back; ret; }
.func back() { call loop; ret; }
.entry plain() { call middle; call leaf; ret; }
.entry circle() { call loop; ret; }
.entry open() { .reg .u64 q; mov.u64 q, leaf; p: .callprototype () _ (); call q, (), p; call outside; ret; }
"""
FUNCTIONS = parse(TEXT).functions


def lines(name: str) -> list[int]:
    return [TEXT.count("\n", 0, call.start) + 1 for call in reached(FUNCTIONS[name]).open_calls]


def test_the_functions_that_are_reached() -> None:
    names = {
        name: {f.name for f in reached(FUNCTIONS[name]).functions} for name in ("plain", "circle", "open")
    }
    assert names == {
        "plain": {"plain", "middle", "leaf"},
        "circle": {"circle", "loop", "back"},
        "open": {"open"},
    }


def test_calls_without_a_known_stack() -> None:
    assert lines("plain") == []
    assert lines("circle") == [7]  # back calls loop again
    assert lines("open") == [10, 10]


def test_a_call_through_a_register_calls_nothing_by_name() -> None:
    assert [callee and callee.name for _, callee in calls(FUNCTIONS["open"])] == [None, "outside"]
