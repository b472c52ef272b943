"""CTAs on several threads: what one thread gives, whether they depend on one another or not.

A case is the body of a kernel over `.param .u64 p, q` (words of global memory); its prologue has %tid.x in %r1,
%ctaid.x in %r2, the thread's number in the grid in %r3, p and q in %rd1 and %rd2, and the addresses of the thread's
words in %rd3 and %rd4.
"""

from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.functional import threads
from ptxtool.base.diag import PtxError
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{
    .reg .pred %p<5>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    .reg .f32 %f<5>;
    .reg .f64 %d<3>;
    .shared .align 16 .b8 room[512];
    .local .align 8 .b8 own[64];
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mad.wide.u32 %rd3, %r3, 4, %rd1;
    mad.wide.u32 %rd4, %r3, 4, %rd2;
    mov.u32 %r9, room;
    mov.u32 %r10, 0;
"""
CTAS, WORDS = 100, 101 * 64

APART = {
    "words of its own": "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, %r2;\nst.global.u32 [%rd3], %r4;",
    "all read one word": "ld.global.u32 %r4, [%rd1];\nadd.u32 %r4, %r4, %r3;\nst.global.u32 [%rd4], %r4;",
    "what other CTAs read too": (
        "ld.global.u32 %r4, [%rd3+4];\nld.global.u32 %r5, [%rd3];\nadd.u32 %r4, %r4, %r5;\nst.global.u32 [%rd4], %r4;"
    ),
    "an atomic of shared memory": (
        "atom.shared.add.u32 %r4, [%r9], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r9];\n"
        "add.u32 %r4, %r4, %r6;\nst.global.u32 [%rd4], %r4;"
    ),
    "a word of each CTA": (
        "mad.wide.u32 %rd5, %r2, 4, %rd2;\nsetp.eq.u32 %p1, %r1, 5;\n@%p1 st.global.u32 [%rd5], %r3;"
    ),
    "an asynchronous copy": (
        "shl.b32 %r5, %r1, 2;\nadd.u32 %r5, %r5, %r9;\ncp.async.ca.shared.global [%r5], [%rd3], 4;\n"
        "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r4, [%r5];\nst.global.u32 [%rd4], %r4;"
    ),
    "local memory that nothing was written to": (
        "ld.local.u32 %r4, [own];\nadd.u32 %r4, %r4, %r3;\nst.local.u32 [own], %r4;\nst.global.u32 [%rd4], %r4;"
    ),
    "generic addresses of both memories": (
        "cvta.shared.u64 %rd5, 0;\nsetp.gt.u32 %p1, %r1, 9;\nselp.b64 %rd6, %rd5, %rd3, %p1;\nld.u32 %r4, [%rd6];\n"
        "st.global.u32 [%rd4], %r4;"
    ),
}
NEAR = {
    "the word of the CTA before": (
        "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, %r3;\nst.global.u32 [%rd3+4], %r4;"
    ),
    "one word of all": "st.global.u32 [%rd2], %r3;",
    "a byte of one word each": (
        "and.b32 %r4, %r2, 3;\ncvt.u64.u32 %rd5, %r4;\nadd.u64 %rd5, %rd5, %rd2;\nst.global.u8 [%rd5], %r2;"
    ),
    "a copy of what the CTA before has written": (
        "shl.b32 %r5, %r1, 2;\nadd.u32 %r5, %r5, %r9;\ncp.async.ca.shared.global [%r5], [%rd3], 4;\n"
        "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r4, [%r5];\nadd.u32 %r4, %r4, 3;\n"
        "st.global.u32 [%rd3+256], %r4;"
    ),
    "a sum that a CTA looks at": (
        "red.global.add.u32 [%rd2], %r3;\nld.global.u32 %r4, [%rd2];\nst.global.u32 [%rd3], %r4;"
    ),
    "an atomic at a generic address": "cvta.global.u64 %rd5, %rd2;\natom.add.u32 %r4, [%rd5], %r3;",
    "a lane of generic ones": (
        "cvta.shared.u64 %rd5, 0;\nsetp.eq.u32 %p1, %r1, 33;\nselp.b64 %rd6, %rd2, %rd5, %p1;\nst.u32 [%rd6], %r3;"
    ),
}
LATER = {
    "a sum": "red.global.add.u32 [%rd2+4], %r3;",
    "sums of floating-point numbers, which depend on the order": (
        "cvt.rn.f32.u32 %f1, %r3;\nrcp.rn.f32 %f1, %f1;\nsetp.ne.u32 %p1, %r3, 0;\n"
        "@%p1 red.global.add.f32 [%rd2], %f1;\ncvt.f64.f32 %d1, %f1;\n@%p1 red.global.add.f64 [%rd2+8], %d1;"
    ),
    "an exchange, of which the last stays": "atom.global.exch.b32 %r5, [%rd2], %r3;\nred.global.max.u32 [%rd2+4], %r2;",
    "a wrapping count": "red.global.inc.u32 [%rd2], 9999;\nred.global.add.u64 [%rd2+8], 4294967299;",
    "small floats": "red.global.add.noftz.f16x2 [%rd2], %r3;",
    "a histogram, and words beside it": (
        "and.b32 %r5, %r3, 15;\nmad.wide.u32 %rd5, %r5, 4, %rd2;\nred.global.add.u32 [%rd5], %r1;\n"
        "st.global.u32 [%rd3], %r2;"
    ),
}
ALONE = {
    "an atomic of global memory with a result": "atom.global.add.u32 %r4, [%rd2], %r3;\nst.global.u32 [%rd3], %r4;",
    "a lock": "atom.global.cas.b32 %r4, [%rd2], 0, %r3;",
    "the clock": "mov.u32 %r4, %clock;\nst.global.u32 [%rd4], %r4;",
}


def kernel(body: str) -> Function:
    # every CTA takes a while
    loop = "L:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, 300;\n@%p4 bra L;\n"
    return parse(f"{HEAD}{loop}{body}\nret;\n}}\n").kernels["k"]


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For every stretch whether its results were kept; launches of any size are shared."""
    if JIT_DISABLED:
        pytest.skip("without compilation there is one thread")
    found: list[bool] = []
    run = threads.Team._run_stretch

    def noted(*arguments: Any) -> bool:
        found.append(run(*arguments))
        return found[-1]

    monkeypatch.setattr(threads.Team, "_run_stretch", noted)
    monkeypatch.setattr(threads, "_LEAST", 1000)
    monkeypatch.setattr(threads, "_experience", IdentityCache(9))
    return found


@pytest.fixture
def together(stretches: list[bool], monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The same, where every thread has a part of each stretch."""
    run, has_run = threads.Team._run_stretch, threads._Worker.has_run
    meeting: dict[threads._Worker, Barrier] = {}

    def begun(team: threads.Team, first: int, end: int) -> bool:
        meeting.update(dict.fromkeys(team._workers, Barrier(len(team._workers))))
        return run(team, first, end)

    def met(worker: threads._Worker, first: int, end: int) -> bool:
        if worker in meeting:
            meeting.pop(worker).wait(60)
        return has_run(worker, first, end)

    monkeypatch.setattr(threads.Team, "_run_stretch", begun)
    monkeypatch.setattr(threads._Worker, "has_run", met)
    return stretches


def outcome(function: Function, n: int, **options: Any) -> tuple[int, list[int], list[int]]:
    p, q = np.arange(WORDS, dtype=np.uint32) * 7, np.zeros(WORDS, np.uint32)
    result = ptxsim.run(function, CTAS, 64, [p, q], threads=n, **options)
    return result.warp_instructions, p.tolist(), q.tolist()


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("case", APART | LATER)
def test_ctas_that_do_not_meet_are_shared(case: str, n: int, together: list[bool]) -> None:
    function = kernel((APART | LATER)[case])
    assert outcome(function, n) == outcome(function, 1)
    assert len(together) > 1
    assert all(together)


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("case", NEAR)
def test_ctas_that_meet_run_one_after_the_other(case: str, n: int, together: list[bool]) -> None:
    """The last stretch is done again on one thread, and so is the rest."""
    function = kernel(NEAR[case])
    assert outcome(function, n) == outcome(function, 1)
    assert together
    assert not together[-1]


@pytest.mark.parametrize("case", ALONE)
def test_kernels_of_one_thread(case: str, stretches: list[bool]) -> None:
    function = kernel(ALONE[case])
    assert outcome(function, 4) == outcome(function, 1)
    assert stretches == []


def test_many_atomics_take_more_stretches(together: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    function = kernel(LATER["a sum"])
    expected = outcome(function, 1)
    monkeypatch.setattr(threads, "_NOTES", 40)
    assert outcome(function, 2) == expected
    assert len(together) >= 10
    assert all(together)


def test_atomics_without_room_are_left_to_one_thread(
    together: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = kernel(LATER["a sum"])
    expected = outcome(function, 1)
    monkeypatch.setattr(threads, "_NOTES", 3)
    assert outcome(function, 2) == expected
    assert together == [False]


@pytest.mark.parametrize("bad", [1, 57, 99])
def test_the_first_fault_of_the_grid_is_reported(bad: int, stretches: list[bool]) -> None:
    """And those of later CTAs, which other threads may come to first, are not."""
    body = f"setp.ge.u32 %p1, %r2, {bad};\n@%p1 mov.u64 %rd4, 0;\nst.global.u32 [%rd4], %r3;"
    told = []
    for n in (1, 4):
        with pytest.raises(PtxError, match="E404") as caught:
            outcome(kernel(body), n)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert f"CTA ({bad},0,0)" in told[0]
    assert not stretches[-1]


def test_a_cta_that_waits_for_a_later_one(stretches: list[bool]) -> None:
    body = """setp.ne.u32 %p1, %r2, 3;
    @%p1 bra M;
    W:
    ld.volatile.global.u32 %r4, [%rd2];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra W;
    M:
    setp.eq.u32 %p1, %r2, 90;
    @%p1 st.volatile.global.u32 [%rd2], 1;
    st.global.u32 [%rd4+4], %r2;"""
    function = kernel(body)
    assert outcome(function, 2) == outcome(function, 1)
    assert stretches == [False]


def test_a_limit_of_instructions_is_each_cta_s(stretches: list[bool]) -> None:
    function = kernel("setp.eq.u32 %p1, %r2, 60;\n@%p1 bra L;")
    with pytest.raises(PtxError, match=r"E408.*60,0,0"):
        outcome(function, 2, max_instructions=3000)
    assert not stretches[-1]


def test_a_kernel_whose_ctas_meet_is_tried_less_often(together: list[bool]) -> None:
    function, others = kernel(NEAR["one word of all"]), kernel(APART["words of its own"])
    tried = []
    for _ in range(12):
        outcome(function, 2)
        outcome(others, 2)
        tried.append(not all(together))
        together.clear()
    assert [k for k, was_tried in enumerate(tried) if was_tried] == [0, 2, 6]


@pytest.mark.parametrize(
    ("ctas", "least", "expected"), [(100, 1000, 8), (9, 1000, 4), (4, 1000, 0), (100, 60_000, 3)]
)
def test_so_many_threads_as_have_work(
    ctas: int, least: int, expected: int, stretches: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two CTAs for each, and some 60,000 of the 180,000 instructions."""
    made: list[int] = []
    monkeypatch.setattr(
        threads.Team, "run", lambda team, first, end: made.append(len(team._workers)) or first
    )
    monkeypatch.setattr(threads, "_LEAST", least)
    p, q = np.zeros(WORDS, np.uint32), np.zeros(WORDS, np.uint32)
    result = ptxsim.run(kernel(APART["words of its own"]), ctas, 64, [p, q], threads=8)
    assert made == ([expected] if expected else [])
    assert result.warp_instructions // ctas > 1700
    assert stretches == []


def test_checks_and_short_launches_have_one_thread(
    stretches: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = kernel(APART["words of its own"])
    outcome(function, 4, check=("memory",))
    monkeypatch.setattr(threads, "_LEAST", 10_000_000)
    outcome(function, 4)
    assert stretches == []


def test_threads_that_cannot_be_started(stretches: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """The one there is does everything."""
    function = kernel(APART["words of its own"])
    expected = outcome(function, 1)

    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads.threading.Thread, "start", refuse)
    assert outcome(function, 4) == expected
    assert all(stretches)


def test_an_interrupt_stops_all_threads(stretches: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    has_run = threads._Worker.has_run
    calls: list[threads._Worker] = []
    has_begun = Event()

    def interrupted(worker: threads._Worker, first: int, end: int) -> bool:
        calls.append(worker)
        if threads.threading.current_thread() is threads.threading.main_thread():
            has_begun.set()
            raise KeyboardInterrupt
        has_begun.wait()  # the other thread leaves a part to the first
        return has_run(worker, first, end)

    monkeypatch.setattr(threads._Worker, "has_run", interrupted)
    before = threads.threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        outcome(kernel(APART["words of its own"]), 2)
    assert threads.threading.active_count() == before
    assert stretches == []
    assert calls
