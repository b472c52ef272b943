"""Places of values, walked along random paths: every read finds what the original reads.

The walk knows no live ranges: it steps through both texts at once, remembers which instruction wrote what each name
holds, and compares at every read. The control flow graphs are those of `test_dataflow.py`, irreducible ones included.
"""

import re
from itertools import cycle
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from scripts import module_of

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.ir.nodes import Function
from ptxtool.passes.pipeline import rewrite

_dataflow = module_of(Path(__file__).with_name("test_dataflow.py"))
kernels, structured, following = _dataflow.kernels, _dataflow.structured, _dataflow.following
STEPS = 80


def operands(kernel: Function, i: int) -> list[str]:
    """The registers of an addition, the written one first; none of other instructions."""
    return re.findall(r"%r\d+", kernel.text(i)) if kernel.instructions[i].opcode.base == "add" else []


def walk(before: Function, after: Function, choices: list[int]) -> None:
    """Follow one thread; `choices` say where guarded instructions go and which of them write."""
    next_places = [sorted(places) for places in following(before)]
    choice = cycle(choices)
    held: tuple[dict[str, int], dict[str, int]] = ({}, {})
    i = 0
    for step in range(STEPS):
        old, new = operands(before, i), operands(after, i)
        for a, b in zip(old[1:], new[1:], strict=True):
            if a in held[0]:
                assert held[1].get(b) == held[0][a], f"{after.text(i)}: {b} is not {a} of {before.text(i)}"
        if old and (before.instructions[i].guard is None or next(choice) % 2):
            held[0][old[0]] = held[1][new[0]] = step
        if not next_places[i]:
            return
        i = next_places[i][next(choice) % len(next_places[i])]


paths = st.lists(st.integers(0, 5), min_size=1, max_size=40)


@given(kernels() | structured(), st.lists(paths, min_size=1, max_size=6))
def test_every_read_finds_its_value(kernel: Function, walks: list[list[int]]) -> None:
    after = rewrite(kernel.module, "compact").module.kernels["k"]
    assert len(after.instructions) == len(kernel.instructions)
    for choices in walks:
        walk(kernel, after, choices)


def maybe_defined(kernel: Function, after: list[set[int]]) -> list[set[str]]:
    """Per instruction, the registers that some path to it has written."""
    found: list[set[str]] = [set() for _ in after]
    again = True
    while again:
        again = False
        for i, places in enumerate(after):
            here = found[i] | set(operands(kernel, i)[:1])
            for j in places:
                again = again or not here <= found[j]
                found[j] |= here
    return found


@given(kernels() | structured())
def test_no_fewer_registers_than_values_at_once(kernel: Function) -> None:
    """What is live by a path search, and may have a value by another, needs a register."""
    after = following(kernel)
    defined = maybe_defined(kernel, after)
    most = 0
    for i in range(len(kernel.instructions)):
        most = max(most, sum(_dataflow.is_live(kernel, after, name, i) for name in defined[i]))
    found = assign(kernel)
    assert most <= found.registers <= max(10, most)
