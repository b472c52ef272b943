"""Faults planted in CUDA programs (planted.cu): each is found, named, and nothing else is reported.

What must be reported is worked out from the source: the code, the place, the thread or a count. `at` is what the
line of the report must contain, `other` the line of its note.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxtool.base.diag import Diagnostic, Note, PtxError

CHECKS = ("memory", "init", "races", "barriers")
MODULES = sorted(Path(__file__).parent.glob("planted.sm*.ptx"))


@dataclass(frozen=True)
class Case:
    """The arguments of a kernel, by name, and what must be reported."""

    args: Callable[[], dict[str, Any]]
    code: str
    message: str
    at: str
    other: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    grid: int = 1
    undefined: Sequence[str] = ()
    since: int = 0


def numbers(n: int = 64, kind: type = np.int32) -> Any:
    return np.arange(n).astype(kind)


def inout(n: int = 64, out: int = 64, kind: type = np.int32) -> Callable[[], dict[str, Any]]:
    return lambda: {"in": numbers(n, kind), "out": np.zeros(out, kind)}


def out_only(n: int = 64, kind: type = np.int32) -> Callable[[], dict[str, Any]]:
    return lambda: {"out": np.zeros(n, kind)}


CASES = {
    "read_by_one": Case(
        inout(kind=np.float32),
        "E404",
        "thread (63,0,0) of CTA (0,0,0) reads 4 bytes right after buffer 'in'",
        "ld.global",
    ),
    "write_by_one": Case(
        lambda: {"out": np.zeros(63, np.int32), "n": 63},
        "E404",
        "writes 4 bytes right after buffer 'out'",
        "st.global",
    ),
    "stencil_without_border": Case(
        inout(kind=np.float32),
        "E404",
        "thread (0,0,0) of CTA (0,0,0) reads 4 bytes, 4 bytes before buffer 'in'",
        "ld.global",
    ),
    "grid_too_large": Case(
        lambda: {"x": numbers(kind=np.float32), "a": 2.0},
        "E404",
        "thread (0,0,0) of CTA (1,0,0) reads",
        ".global",
        grid=2,
    ),
    "misaligned_vector": Case(
        lambda: {"in": numbers(kind=np.float32), "out": np.zeros(32, np.float32)},
        "E405",
        "reads 16 bytes at byte 4 of buffer 'in' (256 bytes), which is not a multiple of 16 (64 times in all)",
        "ld.global.v4",
    ),
    "misaligned_word": Case(
        lambda: {"text": numbers(80, np.uint8), "out": np.zeros(64, np.int32)},
        "E405",
        "thread (1,0,0) of CTA (0,0,0) reads 4 bytes at byte 1 of buffer 'text' (80 bytes), "
        "which is not a multiple of 4 (48 times in all)",
        "ld.global",
    ),
    "null_pointer": Case(
        lambda: {"in": 0, "out": np.zeros(64, np.int32)},
        "E404",
        "at address 0x0, where no buffer is",
        "ld.global",
    ),
    "buffer_without_contents": Case(
        inout(out=1),
        "E411",
        "reads byte 0 of buffer 'in' (256 bytes), which nothing has written",
        "ld.global",
        undefined=["in"],
    ),
    "beyond_constants": Case(
        lambda: {"index": numbers() % 11, "out": np.zeros(64, np.int32)},
        "E404",
        "thread (10,0,0) of CTA (0,0,0) reads 4 bytes at address 0x28 in constant memory, which has 40 bytes",
        "ld.const",
    ),
    "beyond_shared": Case(
        out_only(),
        "E404",
        "thread (63,0,0) of CTA (0,0,0) reads 4 bytes at address 0x100 in shared memory",
        "ld.shared",
        options={"dynamic_shared": 256},
    ),
    "unwritten_shared": Case(
        inout(), "E411", "thread (0,0,0) of CTA (0,0,0) reads byte 252 of variable", "ld.shared"
    ),
    "missing_barrier": Case(inout(), "E410", "which another thread writes", "ld.shared", "st.shared"),
    "missing_second_barrier": Case(
        lambda: {"in": numbers(), "out": np.zeros(64, np.int32), "rounds": 3},
        "E410",
        "which another thread",
        "ld.shared",
        "st.shared",
    ),
    "reduction_without_syncwarp": Case(inout(out=1), "E410", "race", ".shared", ".shared"),
    "histogram_without_atomics": Case(inout(out=4), "E410", "race", ".shared", ".shared"),
    "flag_without_fence": Case(
        inout(out=1), "E410", "race: thread (40,0,0) of CTA (0,0,0) reads", "ld.shared", "st.shared"
    ),
    "bytes_of_one_word": Case(inout(), "E410", "race", "ld.shared", "st.shared"),
    "divergent_barrier": Case(
        inout(),
        "E412",
        "thread (32,0,0) of CTA (0,0,0) is here, thread (40,0,0) of the same warp is elsewhere",
        "bar",
    ),
    "loop_of_other_length": Case(out_only(), "E412", "divergent barrier", "bar"),
    "half_of_a_barrier": Case(out_only(), "E406", "warp 0 waits at 'bar.sync 1, 64;'", "bar.sync 1"),
    "beyond_local": Case(
        lambda: {"index": numbers(), "out": np.zeros(64, np.int32)},
        "E404",
        "writes 4 bytes at address 0x20 in local memory, which has 32 bytes",
        ".local",
    ),
    "unwritten_local": Case(
        lambda: {"index": numbers(), "out": np.zeros(64, np.int32)},
        "E411",
        "which nothing has written",
        "ld.local",
    ),
    "unwritten_register": Case(inout(), "E411", "thread (60,0,0) of CTA (0,0,0) reads register", "st.global"),
    "variable_that_has_ended": Case(
        out_only(),
        "E411",
        "of the stack, 16 bytes above the variables of 'variable_that_has_ended', which nothing has written",
        "ld",
    ),
    "endless_recursion": Case(out_only(), "E415", "stack overflow beyond 16384 bytes", "call"),
    "freed_twice": Case(out_only(), "E404", "thread (7,0,0)", "call"),
    "heap_is_full": Case(out_only(), "E404", "address 0x0", "st", options={"heap_bytes": 50 << 20}),
    "lock_not_released": Case(
        lambda: {"lock": np.zeros(1, np.int32), "out": np.zeros(1, np.int32)}, "E407", "deadlock", "atom"
    ),
    "failed_assertion": Case(
        lambda: {"in": numbers()}, "E413", "assertion 'in[threadIdx.x] < 50' failed", "call"
    ),
    "trapped": Case(lambda: {"in": numbers()}, "E414", "trap", "trap"),
    "tile_beyond_buffer": Case(
        lambda: {"a": np.ones(256, np.float16), "c": np.zeros(256, np.float32)},
        "E404",
        "after buffer 'c'",
        "wmma.store",
    ),
    "copy_without_wait": Case(
        inout(), "E410", "which an asynchronous copy writes", "ld.shared", "cp.async", since=80
    ),
    "copy_waits_for_the_stage_before": Case(
        inout(), "E410", "which an asynchronous copy writes", "ld.shared", "cp.async", since=80
    ),
}


def text_at(place: Diagnostic | Note) -> str:
    """The line of PTX that a diagnostic or its note points to."""
    assert place.source is not None
    return place.source.text.splitlines()[place.source.line(place.start) - 1]


def reported(path: Path, name: str) -> tuple[Diagnostic, ...]:
    case = CASES[name]
    kernel = ptxtool.parse(path.read_text(encoding="utf-8"), name=path.name).kernels[name]
    args = case.args()
    try:
        result = ptxsim.run(
            kernel,
            case.grid,
            64,
            list(args.values()),
            names=list(args),
            check=CHECKS,
            undefined=[args[n] for n in case.undefined],
            **case.options,
        )
    except PtxError as problem:
        return problem.diagnostics
    assert result.lost_problems == 0
    return result.problems


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem.partition(".")[2])
@pytest.mark.parametrize("name", CASES)
def test_the_fault_is_found_and_nothing_else(path: Path, name: str) -> None:
    case = CASES[name]
    if f"sm{case.since}" > path.stem.partition(".")[2]:
        pytest.skip("needs a later target")
    found = reported(path, name)
    assert {d.code for d in found} == {case.code}, [str(d) for d in found]
    assert any(case.message in d.message for d in found), [d.message for d in found]
    for d in found:
        assert case.at in text_at(d), str(d)
        assert d.help
        if case.other:
            assert d.note is not None
            assert case.other in text_at(d.note)
