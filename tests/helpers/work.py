"""Work as a count of instructions of the interpreter: equal in every run, unlike time."""

import sys
from collections.abc import Callable
from types import FrameType


def work_of(call: Callable[[], object]) -> int:
    """The bytecode instructions that Python executes in a call; loops inside functions written in C count once."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
