"""Registers that share a row: never two that are needed at the same time."""

from pathlib import Path

import numpy as np

import ptxsim
from ptxsim.base.program import Program
from ptxsim.lowering.lower import lower
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.base.bits import from_indices, indices
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

GPU = load_gpu("tesla-c2050")
HEAD = """.version 7.0
.target sm_75
.address_size 64
"""
KERNEL = """
.visible .entry k(.param .u64 a, .param .u32 n)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<9>;
    {body}
}}
"""


def kernel(body: str, before: str = "") -> Function:
    return parse(HEAD + before + KERNEL.format(body=body)).kernels["k"]


def rows_of(function: Function, names: str) -> list[int]:
    """The rows of some registers of a kernel."""
    program = lower(function, GPU)
    return [int(program.register_rows[_index(function, name)][1]) for name in names.split()]


def _index(function: Function, name: str) -> int:
    register = function.registers.resolve(name, 0)
    assert register is not None
    return register.index


def check(function: Function, program: Program) -> None:
    """Hold the rows of a kernel's registers against what is live."""
    places: dict[tuple[int, int], list[int]] = {}
    for index in range(len(function.registers)):
        file, first, count = (int(v) for v in program.register_rows[index])
        for row in range(first, first + count) if first >= 0 else ():
            places.setdefault((file, row), []).append(index)
    owners = {index: from_indices(each) for each in places.values() for index in each}
    live = liveness(function)
    for i, step in enumerate(live.def_uses):
        after = live.after_bits[i]
        for index in (*indices(live.before_bits[i]), *indices(after)):
            assert index in owners, function.registers[index].name
        for alive in (live.before_bits[i], after):
            for index in indices(alive):
                assert (owners[index] & alive) == 1 << index, (i, function.text(i))
        for index in step.defs:
            needed = after | from_indices(step.uses)
            assert owners[index] & needed & ~(1 << index) == 0, (i, function.text(i))


CHAIN = "ld.param.u32 %r0, [n];" + "".join(f"add.u32 %r{k + 1}, %r{k}, {k};" for k in range(30))


def test_a_chain_of_values_needs_two_rows() -> None:
    """An instruction's destination does not lie in a row of its sources, the next one's may."""
    function = kernel(CHAIN)
    assert len(set(rows_of(function, " ".join(f"%r{k}" for k in range(31))))) == 2


def test_what_outlives_a_loop_keeps_its_row_in_it() -> None:
    function = kernel(
        """
        ld.param.u32 %r0, [n];
        mov.u32 %r1, 1;
        mov.u32 %r2, 0;
    L:  add.u32 %r3, %r2, 1;
        add.u32 %r4, %r3, %r0;
        mov.u32 %r2, %r4;
        setp.lt.u32 %p0, %r2, 100;
    @%p0 bra L;
        add.u32 %r5, %r1, %r2;
        ld.param.u64 %rd0, [a];
        st.global.u32 [%rd0], %r5;
        """
    )
    r0, r1, r2, r3, r4, r5 = rows_of(function, "%r0 %r1 %r2 %r3 %r4 %r5")
    assert len({r0, r1, r2, r3}) == len({r0, r1, r2, r4}) == 4
    assert r5 in {r0, r3, r4}


def test_a_guarded_write_leaves_the_old_value() -> None:
    """%r1 is written in some lanes only, so it is live, and zero, from the start on."""
    function = kernel(
        """
        ld.param.u64 %rd0, [a];
        mov.u32 %r0, %tid.x;
        setp.lt.u32 %p0, %r0, 3;
        mul.wide.u32 %rd1, %r0, 4;
        mul.lo.u32 %r2, %r0, 7;
        mul.lo.u32 %r3, %r2, 7;
    @%p0 mov.u32 %r1, 5;
        add.u64 %rd2, %rd0, %rd1;
        st.global.u32 [%rd2], %r1;
        """
    )
    r0, r1, r2, r3 = rows_of(function, "%r0 %r1 %r2 %r3")
    assert r1 not in (r0, r2, r3)
    result = np.full(32, 9, np.uint32)
    ptxsim.run(function, (1,), (32,), [result, np.uint32(0)])
    assert list(result) == [5] * 3 + [0] * 29


def test_lanes_that_wait_keep_their_values() -> None:
    """%r1 is needed by the lanes at E only, while the others compute %r2."""
    function = kernel(
        """
        mov.u32 %r0, %tid.x;
        mul.lo.u32 %r1, %r0, 3;
        setp.lt.u32 %p0, %r0, 16;
    @%p0 bra E;
        mul.lo.u32 %r2, %r0, 5;
        add.u32 %r3, %r2, 1;
        bra F;
    E:  add.u32 %r3, %r1, 2;
    F:  ld.param.u64 %rd0, [a];
        mad.wide.u32 %rd1, %r0, 4, %rd0;
        st.global.u32 [%rd1], %r3;
        """
    )
    r1, r2 = rows_of(function, "%r1 %r2")
    assert r1 != r2
    result = np.zeros(32, np.uint32)
    ptxsim.run(function, (1,), (32,), [result, np.uint32(0)])
    assert list(result) == [3 * t + 2 if t < 16 else 5 * t + 1 for t in range(32)]


def test_parameters_in_registers_are_written_together() -> None:
    """A call fills %b too, which is overwritten before it is read: it is not live when %a is."""
    function = kernel(
        """
        .reg .b32 %s;
        mov.u32 %r0, 4;
        mov.u32 %r1, 100;
        call (%s), f, (%r0, %r1);
        ld.param.u64 %rd0, [a];
        st.global.u32 [%rd0], %s;
        """,
        """
        .func (.reg .b32 %out) f(.reg .b32 %a, .reg .b32 %b)
        {
            add.u32 %out, %a, 1;
            mov.u32 %b, 2;
            add.u32 %out, %out, %b;
            ret;
        }
        """,
    )
    result = np.zeros(1, np.uint32)
    ptxsim.run(function, (1,), (1,), [result, np.uint32(0)])
    assert list(result) == [7]


def test_checked_runs_share_nothing() -> None:
    """Lanes whose access is bad do nothing, so their destinations keep their values."""
    program = lower(kernel(CHAIN), GPU, own_rows=True)
    assert program.rows32 == 40


def test_a_register_that_nothing_names_has_no_row() -> None:
    function = kernel("mov.u32 %r39, 1;")
    program = lower(function, GPU)
    assert program.rows32 == 1
    assert rows_of(function, "%r38 %r39") == [-1, 0]


def test_registers_that_are_needed_together_have_rows_of_their_own(corpus: tuple[Path, ...]) -> None:
    """Of every small kernel of the corpus: of the registers in a row at most one is live anywhere, and an instruction
    writes no row that it reads or that is needed after it."""
    checked = 0
    for path in corpus:
        if path.suffix != ".ptx" or path.stat().st_size > 100_000:
            continue
        try:
            functions = [
                f for f in parse(path.read_bytes(), path.name).kernels.values() if len(f.registers) < 2000
            ]
            programs = [lower(function, GPU) for function in functions]
        except PtxError:
            continue
        for function, program in zip(functions, programs, strict=True):
            check(function, program)
            checked += 1
    assert checked > 20
