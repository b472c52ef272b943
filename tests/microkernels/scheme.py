"""Cases of register sharing and CTA launch on `tesla-c2050`: rows 16, 19, 20, 21 and 24 of timing-model section 7.3."""

from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import resident_ctas

import ptxsim
import ptxsim.launcher
from microkernels.case import Case, exactly
from microkernels.measure import first_cycle, one_sm, parsed
from ptxsim.base.jit import for_python
from ptxsim.timing import dynamic_period as period
from ptxsim.timing.dynamic_execution import Controller, DynamicExecution
from ptxsim.timing.sharing.hold_back import CERTAIN

_GPU = "tesla-c2050"
_HEAD = ".version 4.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"

EMPTY = _HEAD + "\tret;\n}\n"

# 600 registers per thread, 32 threads: one CTA fits in 32768 registers, and at 99% a partner beside it. Registers with
# numbers above floor(600 * 0.01) = 6 are shared: %s0 is the first
PAIR = {"registers": 600, "share_registers": 99}
OWNED = (
    _HEAD
    + "\t.reg .b64 %l<3>;\n\t.reg .b32 %r<3>;\n\t.reg .b32 %s<4>;\n"
    + "\tld.param.u64 %l0, [p];\n\tmov.u32 %r0, %tid.x;\n\tmov.u32 %r1, 5;\n"
    + "\tmov.u32 %s0, %r0;\n"  # the fourth instruction
    + "\tadd.u32 %s0, %s0, 1;\n" * 40
    + "\tst.global.u32 [%l0], %s0;\n\tret;\n}\n"
)
_PRIVATE, _EXIT = 3, 3 + 1 + 40 + 1

# Two warps of a CTA: warp 0 touches the shared register before the barrier, warp 1 after it. If each CTA's first warp
# could take its lock, both CTAs would wait at the barrier for a warp that waits for the other CTA's lock.
DEADLOCK = (
    _HEAD
    + "\t.reg .b64 %l<2>;\n\t.reg .b32 %r<2>;\n\t.reg .pred %p;\n\t.reg .b32 %s<4>;\n"
    + "\tld.param.u64 %l0, [p];\n\tmov.u32 %r0, %tid.x;\n\tsetp.ge.u32 %p, %r0, 32;\n"
    + "\t@%p bra SECOND;\n\tmov.u32 %s1, 1;\n\tbar.sync 0;\n\tbra JOIN;\n"
    + "SECOND:\n\tbar.sync 0;\n\tmov.u32 %s1, 2;\n"
    + "JOIN:\n\tmul.wide.u32 %l1, %r0, 4;\n\tadd.s64 %l1, %l1, %l0;\n\tst.global.u32 [%l1], %s1;\n\tret;\n}\n"
)


def launch(source: str, grid: int, block: int = 32, **options: Any) -> Any:
    """Launch a kernel on one SM, unless another machine is given; registers have the numbers that are declared."""
    how = {"gpu": one_sm(_GPU), "allocate": False} | options
    return ptxsim.launch(parsed(source), grid, block, [np.zeros(64, np.uint32)], **how)


def turnover(gpu: str) -> float:
    """Cycles of an empty CTA where every SM holds one at a time."""
    # the first ones wait for code, on some SMs longer than on others
    early, late = (launch(EMPTY, 14 * n, gpu=gpu, registers=1000).cycles for n in (40, 60))
    return float(late - early) / 20


def _launched(cycles: int) -> float:
    """CTAs that have been launched on one SM after so many cycles."""
    seen: list[int] = []
    drive = ptxsim.launcher.drive

    def look(simulation: Any, *rest: Any) -> int:
        reason = drive(simulation, *rest)
        seen.append(int(simulation.run["next_cta"][0]))
        return reason

    with mock.patch.object(ptxsim.launcher, "drive", look):
        launch(EMPTY, 8, max_cycles=cycles)
    return float(seen[0])


@cache
def _issued(instruction: int, times: int) -> int:
    """The cycle in which two CTAs of a pair have issued an instruction so many times."""
    return first_cycle(
        lambda cycles: launch(OWNED, 2, max_cycles=max(1, cycles), **PAIR),
        lambda result: result.issues[instruction] >= times,
    )


def _stop() -> float:
    """How many instructions a non-owner issues before it has to wait."""
    (point,) = launch(OWNED, 2, **PAIR).stall_points
    return float(point.instruction)


def _done() -> float:
    result = launch(DEADLOCK, 140, 64, gpu=_GPU, registers=300, share_registers=98)
    assert result.shared_pairs == 1
    assert result.stall_points
    return float(result.ctas_done)


def _resident_as_printed() -> float:
    """Entries of the papers' tables that the sharing plan gives."""
    tables = (
        (resident_ctas.REGISTERS, resident_ctas.with_registers),
        (resident_ctas.SCRATCHPAD, resident_ctas.with_scratchpad),
    )
    return float(
        sum(
            ours == theirs
            for table, plans in tables
            for name, row in table.items()
            for ours, theirs in zip(plans(name), row[2], strict=True)
        )
    )


@cache
def _move() -> Any:
    return for_python(period.move)


def _chance(start: float, more: int, fewer: int) -> float:
    """An SM's chance after periods with more stalls than SM 0, and then some with fewer."""
    units = Controller(DynamicExecution(), 2).records
    units["chance"][1] = start * CERTAIN
    for stalls in [3] * more + [1] * fewer:
        _move()(units[1], stalls, 2)
    return float(units["chance"][1] / CERTAIN)


SCHEME: tuple[Case, ...] = (
    exactly("16", "turnover of a slot with an empty CTA, cycles", 9, lambda: turnover(_GPU)),
    exactly("16", "CTAs launched on an SM in 5 cycles", 5, lambda: _launched(5)),
    exactly("19", "resident CTAs under sharing, of 90 printed entries", 90, _resident_as_printed),
    exactly("20", "instructions of a non-owner before the first shared register", _PRIVATE, _stop),
    exactly(
        "20",
        "cycles from the partner warp's exit to its next issue",
        1,
        lambda: _issued(_PRIVATE, 2) - _issued(_EXIT, 1),
    ),
    exactly("21", "CTAs of 140 that finish in the papers' deadlock case", 140, _done),
    exactly(
        "24", "chance of memory instructions after 3 periods with more stalls", 0.7, lambda: _chance(1, 3, 0)
    ),
    exactly("24", "after 12", 0, lambda: _chance(1, 12, 0)),
    exactly("24", "after 12, and 4 with fewer", 0.4, lambda: _chance(1, 12, 4)),
    exactly("24", "from 0.5, 9 with fewer", 1, lambda: _chance(0.5, 0, 9)),
)
