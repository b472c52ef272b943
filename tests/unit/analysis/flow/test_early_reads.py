"""Reads of asynchronous results before a wait: none where some path waits."""

import pytest
from kernels import ptx

from ptxtool.analysis.flow.early_reads import early_reads
from ptxtool.cfg.blocks import build

LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];"
WAIT = "tcgen05.wait::ld.sync.aligned;"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"
COMMIT = "wgmma.commit_group.sync.aligned;"
DONE = "wgmma.wait_group.sync.aligned 0;"
USE, USE_F = "add.u32 %r3, %r1, 1;", "add.f32 %f5, %f0, %f1;"


def found(body: str) -> list[tuple[int, str, int]]:
    """The reading instruction, the register, the instruction that writes it."""
    function = ptx(f"{body} ret;")
    return [
        (read.reader, function.registers[read.register].name, read.launch)
        for read in early_reads(function, build(function))
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{LOAD} {USE}", [(1, "%r1", 0)]),
        (f"{LOAD} {USE} {USE}", [(1, "%r1", 0)]),  # once
        (f"{LOAD} {WAIT} {USE}", []),
        (f"{LOAD} tcgen05.wait::st.sync.aligned; {USE}", [(2, "%r1", 0)]),
        (f"{LOAD} mov.u32 %r1, 5; {USE}", []),
        (f"{LOAD} @%p1 mov.u32 %r1, 5; {USE}", [(2, "%r1", 0)]),
        (f"{LOAD} mov.b32 %r4, %r1; {WAIT} add.u32 %r3, %r4, 1;", []),
        (f"{LOAD} mov.b32 %r4, %r1; add.u32 %r3, %r4, 1;", [(2, "%r4", 0)]),
        (f"{LOAD} bar.sync 0; {WAIT}", []),
        (f"{LOAD} add.u32 %r3, %r2, 1;", []),
        (f"{LOAD} st.shared.u32 [%r1], 1;", [(1, "%r1", 0)]),
    ],
)
def test_loads_of_tensor_memory(body: str, expected: list[tuple[int, str, int]]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{WGMMA} {COMMIT} {USE_F}", [(2, "%f0", 0)]),
        (f"{WGMMA} {COMMIT} {DONE} {USE_F}", []),
        (f"{WGMMA} {DONE} {USE_F}", [(2, "%f0", 0)]),  # never committed
        (f"{WGMMA} {WGMMA} {COMMIT} {DONE} {USE_F}", []),  # the second goes on with the accumulators
        (f"{WGMMA} {COMMIT} {DONE.replace('0;', '1;')} {USE_F}", [(3, "%f0", 0)]),
        (f"{WGMMA} {COMMIT} {COMMIT} {DONE.replace('0;', '1;')} {USE_F}", []),
    ],
)
def test_accumulators(body: str, expected: list[tuple[int, str, int]]) -> None:
    assert found(body) == expected


def test_a_path_with_a_wait_is_enough() -> None:
    """Code may wait and read under one predicate."""
    assert found(f"{LOAD} @%p1 bra L; {WAIT} L: @!%p1 add.u32 %r3, %r1, 1;") == []
    assert found(f"@%p1 bra L; {LOAD} L: {USE}") == [(2, "%r1", 1)]


def test_around_a_loop() -> None:
    assert found(f"L: {WGMMA} {COMMIT} @%p1 bra L; {DONE} {USE_F}") == []
    assert found(f"L: {WGMMA} {COMMIT} @%p1 bra L; {USE_F}") == [(3, "%f0", 0)]
    assert found(f"L: {USE} {LOAD} @%p1 bra L;") == [(0, "%r1", 1)]


def test_a_call_may_wait() -> None:
    assert found(f"{LOAD} call (%r4), f; {USE}") == []
