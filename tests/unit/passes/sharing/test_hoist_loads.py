"""hoist-loads: what comes first, what must not, and how many registers it takes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ptx.programs import write

from ptxtool.analysis.flow.pressure import pressure
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 n)\n{\n"
REGISTERS = "\t.reg .pred %p;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n\t.shared .b32 tile[8];\n"
LOAD = "ld.global.u32 %r1, [%rd0];"
OTHER = "ld.global.u32 %r2, [%rd0+4];"


def code(lines: list[str], passes: str = "") -> list[str]:
    """The instructions of a kernel after passes."""
    module = parse(HEAD + REGISTERS + "".join(f"\t{line}\n" for line in [*lines, "ret;"]) + "}\n")
    kernel = (rewrite(module, passes).module if passes else module).kernels["k"]
    return [kernel.text(i) for i in range(len(kernel.instructions))]


def hoisted(lines: list[str], registers: int = 20) -> list[str]:
    return code(lines, f"hoist-loads:registers={registers}")[:-1]


def test_loads_and_what_they_need_come_first() -> None:
    lines = [
        "mov.u32 %r5, 1;",
        LOAD,
        "st.shared.u32 [tile], %r1;",
        "add.u64 %rd1, %rd0, 8;",
        "ld.local.u32 %r2, [%rd1];",
        "st.shared.u32 [tile+4], %r2;",
    ]
    assert hoisted(lines) == [lines[k] for k in (1, 3, 4, 0, 2, 5)]


@pytest.mark.parametrize(
    "between",
    [
        "st.global.u32 [%rd0+4], %r3;",  # addresses are not compared
        "st.local.u32 [%rd1], %r3;",
        "st.u32 [%rd1], %r3;",
        "add.u32 %r2, %r3, 1;",
        "bar.sync 0;",
        "membar.gl;",
        "atom.global.add.u32 %r3, [%rd1], 1;",
        "ld.volatile.global.u32 %r3, [%rd1];",
        '.pragma "here";',
        "L:",
    ],
)
def test_what_a_load_does_not_pass(between: str) -> None:
    lines = [LOAD, between, OTHER]
    assert hoisted(lines) == code(lines)[:-1]


@pytest.mark.parametrize(
    "between", ["st.shared.u32 [tile], %r1;", "ld.shared.u32 %r3, [tile];", "add.u32 %r4, %r3, 1;"]
)
def test_what_it_passes(between: str) -> None:
    assert hoisted([LOAD, between, OTHER]) == [LOAD, OTHER, between]


def test_after_a_barrier_loads_come_first_again() -> None:
    lines = [LOAD, "st.shared.u32 [tile], %r1;", "bar.sync 0;", "st.shared.u32 [tile+4], %r1;", OTHER]
    assert hoisted(lines) == [*lines[:3], OTHER, lines[3]]


def test_registers_bound_how_many_are_live() -> None:
    """Two registers hold the address, until the last load."""
    loads = [f"ld.global.u32 %r{k}, [%rd0+{4 * k}];" for k in range(1, 9)]
    stores = [f"st.shared.u32 [tile], %r{k};" for k in range(1, 9)]
    lines = [line for pair in zip(loads, stores, strict=True) for line in pair]
    assert hoisted(lines, registers=10) == loads + stores
    assert hoisted(lines, registers=4)[:4] == [loads[0], loads[1], stores[0], loads[2]]
    assert hoisted(lines, registers=0)[:12] == lines[:12]
    with pytest.raises(PtxError, match="registers = -1 is less than 0"):
        hoisted(lines, registers=-1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(0, 40))
def test_no_more_registers_than_allowed_and_nothing_to_do_twice(seed: int, registers: int) -> None:
    module = parse(write(random.Random(seed)))
    before = {name: pressure(kernel).maximum for name, kernel in module.kernels.items()}
    once = rewrite(module, f"hoist-loads:registers={registers}").module
    for name, kernel in once.kernels.items():
        assert pressure(kernel).maximum <= max(before[name], registers)
    if registers == 40:
        assert rewrite(once, "hoist-loads:registers=40").module.source.text == once.source.text
