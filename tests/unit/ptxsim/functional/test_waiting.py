"""Kernels that wait: for another CTA, which comes to its turn, or for ever, which ends with a report.

A case is the body of a kernel over `.param .u64 p` (words of global memory, 0 at first) with a shared word `flag`; its
prologue has %tid.x in %r1, %ctaid.x in %r2, p in %rd1.
"""

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<5>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    .shared .align 8 .b64 gate;
    .shared .align 4 .b32 flag;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
"""
FIRST_LINE = 14  # of a body

NEVER = {
    "a barrier for more warps than there are": (
        "bar.sync 1, 128;\nret;",
        "E406",
        14,
        "a barrier can never complete: kernel 'k', CTA (0,0,0): warp 0 waits at 'bar.sync 1, 128;' in line 14; "
        "warp 1 waits at 'bar.sync 1, 128;' in line 14",
    ),
    "two barriers": (
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra L;\nbar.sync 1, 64;\nret;\nL:\nbar.sync 2, 64;\nret;",
        "E406",
        19,
        "CTA (0,0,0): warp 0 waits at 'bar.sync 2, 64;' in line 19; warp 1 waits at 'bar.sync 1, 64;' in line 16",
    ),
    "a flag that is never set": (
        "L:\nld.volatile.shared.u32 %r3, [flag];\nsetp.eq.u32 %p1, %r3, 7;\n@!%p1 bra L;\nbar.sync 0;\nret;",
        "E407",
        None,
        "deadlock: kernel 'k', CTA (0,0,0): warp 0 repeats lines 15 to 17; warp 1 repeats lines 15 to 17",
    ),
    "a flag that a warp at a barrier would set": (
        "setp.gt.u32 %p2, %r1, 31;\n@%p2 bra M;\nL:\nld.volatile.shared.u32 %r3, [flag];\n"
        "setp.eq.u32 %p1, %r3, 7;\n@!%p1 bra L;\nM:\nbar.sync 0;\nst.volatile.shared.u32 [flag], 7;\nret;",
        "E407",
        None,
        "warp 0 repeats lines 17 to 19; warp 1 waits at 'bar.sync 0;' in line 21",
    ),
    "an mbarrier without arrivals": (
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [gate], 64;\nbar.sync 0;\n"
        "L:\nmbarrier.try_wait.parity.shared.b64 %p1, [gate], 0;\n@!%p1 bra L;\nret;",
        "E407",
        None,
        "warp 0 repeats lines 18 to 19; warp 1 repeats lines 18 to 19",
    ),
    "an mbarrier tested in a loop that counts its rounds": (
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [gate], 64;\nbar.sync 0;\nmov.u32 %r4, 0;\n"
        "L:\nadd.u32 %r4, %r4, 1;\nmbarrier.try_wait.parity.shared.b64 %p1, [gate], 0;\n@!%p1 bra L;\nret;",
        "E407",
        None,
        "warp 0 repeats lines 19 to 21",
    ),
    "a lock that is never released": (
        "L:\natom.global.cas.b32 %r3, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\nret;",
        "E407",
        None,
        "deadlock: kernel 'k', CTA (0,0,0): warp 0 repeats lines 15 to 17; warp 1 repeats lines 15 to 17; "
        "1 more CTAs wait too",
    ),
    "an endless loop": ("L:\nadd.u32 %r3, %r1, 1;\nbra L;", "E407", None, "warp 0 repeats lines 15 to 16"),
    "another CTA's flag that it does not set": (
        "mov.u32 %r4, 1;\nL:\nld.volatile.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, %r4;\n@%p1 bra L;\n"
        "st.volatile.global.u32 [%rd1], 1;\nret;",
        "E407",
        None,
        "; 1 more CTAs wait too",
    ),
}


def run(body: str, grid: int = 2, target: str = "sm_80", **options: object) -> list[int]:
    text = HEAD.replace("sm_80", target) + body + "\n}\n"
    kernel = ptxtool.parse(text, name="k.ptx").kernels["k"]
    p = np.zeros(16, np.uint32)
    ptxsim.run(kernel, grid, 64, [p], **options)
    return p.tolist()


@pytest.mark.parametrize("name", NEVER)
def test_what_never_ends_ends_with_a_report(name):
    body, code, line, reported = NEVER[name]
    with pytest.raises(PtxError) as caught:
        run(body)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert reported in found.message
    assert line is None or found.line == line
    assert found.line >= FIRST_LINE


def test_a_barrier_of_the_whole_grid():
    """Every CTA counts up, waits until all have, and adds what the others left: three rounds."""
    body = """
    mov.u32 %r5, 0;
    mov.u32 %r9, %nctaid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r10, 0;
AGAIN:
    add.u32 %r10, %r10, %r9;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAITED;
    atom.acq_rel.gpu.global.add.u32 %r6, [%rd1], 1;
SPIN:
    ld.acquire.gpu.global.u32 %r7, [%rd1];
    setp.lt.u32 %p2, %r7, %r10;
    @%p2 bra SPIN;
WAITED:
    bar.sync 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 3;
    @%p3 bra AGAIN;
    @!%p1 st.global.u32 [%rd3+4], %r7;
    ret;
"""
    for checks in ((), ("memory", "init", "races", "barriers")):
        assert run(body, 5, check=checks)[:7] == [15, *[15] * 5, 0]


def test_a_cta_that_waits_for_a_later_one():
    body = """
    setp.eq.u32 %p1, %r2, 2;
    @%p1 st.volatile.global.u32 [%rd1], 9;
L:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra L;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3+16], %r3;
    ret;
"""
    assert run(body, 3)[:8] == [9, 0, 0, 0, 9, 9, 9, 0]


LOCK = """
L:
    atom.acquire.gpu.global.cas.b32 %r3, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra L;
    ld.volatile.global.u32 %r4, [%rd1+4];
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%rd1+4], %r4;
    atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
"""


def test_lanes_of_a_warp_take_a_lock_from_one_another():
    """From sm_70 on: a lane that leaves the loop goes on to release the lock. After it the warp is together again."""
    body = f"""{LOCK}
    bar.sync 0;
    ld.volatile.global.u32 %r5, [%rd1+4];
    shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;
    activemask.b32 %r7;
    setp.ne.u32 %p1, %r1, 33;
    @%p1 ret;
    st.global.u32 [%rd1+8], %r6;
    st.global.u32 [%rd1+12], %r7;
    ret;
"""
    assert run(body, 1)[:4] == [0, 64, 64, 0xFFFFFFFF]


def test_a_lock_in_a_branch_of_a_loop():
    """Only odd threads take it, three times each."""
    body = f"""
    mov.u32 %r8, 0;
AGAIN:
    and.b32 %r9, %r1, 1;
    setp.eq.u32 %p2, %r9, 0;
    @%p2 bra SKIP;
    {LOCK}
SKIP:
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p3, %r8, 3;
    @%p3 bra AGAIN;
    activemask.b32 %r7;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.global.u32 [%rd1+8], %r7;
    ret;
"""
    assert run(body, 2)[:3] == [0, 2 * 32 * 3, 0xFFFFFFFF]


def test_before_sm_70_lanes_wait_for_those_in_the_loop():
    with pytest.raises(PtxError) as caught:
        run(LOCK + "ret;", 1, target="sm_60")
    assert (
        "warp 0, lanes 1-31, repeats lines 16 to 18, its lanes 0 wait for them at line 19"
        in caught.value.diagnostics[0].message
    )


def test_lanes_of_two_paths_run_in_turn():
    """Half of a warp waits for what the other half stores, whichever half that is."""
    for waiting in ("lt", "ge"):
        body = f"""
    st.volatile.shared.u32 [flag], 0;
    bar.sync 0;
    setp.{waiting}.u32 %p1, %r1, 16;
    @%p1 bra WAIT;
    st.volatile.shared.u32 [flag], 5;
    bra DONE;
WAIT:
    ld.volatile.shared.u32 %r3, [flag];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd1], %r3;
DONE:
    ret;
"""
        assert run(body, 1)[0] == 5


def test_long_loops_are_no_deadlock():
    body = "mov.u32 %r3, 0;\nL:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 500000;\n@%p1 bra L;\nret;"
    run(body, 1)


def test_the_limit_of_instructions_says_how_to_raise_it():
    with pytest.raises(PtxError) as caught:
        run("mov.u32 %r3, 0;\nL:\nadd.u32 %r3, %r3, 1;\nbra L;", max_instructions=100_000)
    (found,) = caught.value.diagnostics
    assert found.code == "E408"
    assert (
        "100000 warp instructions of a CTA are not enough: kernel 'k', CTA (0,0,0): warp 0 repeats"
        in found.message
    )
    assert "--max-instructions" in found.help


def test_another_process_sets_the_flag() -> None:
    """The heap's owner writes it when the run has asked three times in a row; another launch begins anew."""
    wait = "L: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;"
    body = f"{wait}\nst.global.u32 [%rd1+4], %r3;\nret;"
    kernel = ptxtool.parse(f"{HEAD}{body}\n}}\n").kernels["k"]
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    flag = machine.heap.malloc(8)
    asked: list[int] = []

    def may_be_written(times: int) -> bool:
        asked.append(times)
        if times == 2:
            machine.heap.write(flag, np.array([7], np.uint32))
        return True

    machine.heap.may_be_written = may_be_written
    for _ in range(2):
        machine.heap.fill(flag, 0, 8)
        machine.run(kernel, 1, 64, [flag])
        assert machine.heap.read(flag + 4, 4) == b"\7\0\0\0"
    assert asked == [0, 1, 2, 0, 1, 2]
