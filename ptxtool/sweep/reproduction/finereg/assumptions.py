"""Which assumption FineReg's gain needs: one after the other switched on, alone and together; and where time goes.

An assumption about the memory is made of the machine without a scheme too, so that only what FineReg gains counts. The
others concern switching, which a machine without a scheme does not do.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit
from ptxtool.results.simulation import SLOT_NAMES
from ptxtool.sweep.reproduction.finereg.columns import Cell, by_application
from ptxtool.sweep.reproduction.finereg.measured import Measured, Totals, change, gain, of
from ptxtool.sweep.reproduction.finereg.variants import ASSUMPTIONS, FINEREG, NONE, assumed, without
from ptxtool.sweep.reproduction.verdicts import geometric_mean

AS_IT_IS = "as it is"
_SLOTS = {"waits": ("slots.idle", "slots.scoreboard"), "busy": ("slots.stall",)}
SETTINGS = {
    "free moves": "registers and contexts move in no time, all vectors are in the cache",
    "overlap": "registers move while the CTA that comes runs",
    "32 switches at once": "in an SM",
    "more memory bandwidth": "the DRAM's clock times four, flits and ports of a line, longer queues; for both",
    "and no blocking": "a packet of the network waits for its own output only, not for those before it at its input",
    "and a longer latency": "the L2 answers 450 cycles later, which takes more warps to hide",
    "PCRF beside the whole file": "384 KB of registers: the ACRF is all of the 256 KB",
    "stalled for 200 cycles": "a CTA leaves the pipeline only then",
    "refused is not stalled": "a warp that the memory port refuses does not count as stalled",
    "ready-first": "section V.E's order: a ready CTA before a new one",
}
"""What an assumption is, for a note."""


def assumptions(benchmarks: Sequence[Measured], gpu: Gpu) -> Iterator[Exhibit]:
    """What each assumption changes, and what FineReg changes besides the cycles."""
    yield by_assumption(benchmarks)
    yield causes(benchmarks, gpu)


def by_assumption(benchmarks: Sequence[Measured]) -> Exhibit:
    """FineReg over no scheme, by assumption."""

    def cells(m: Measured) -> Iterator[Cell]:
        yield AS_IT_IS, gain(m.best(FINEREG), m.baseline)
        for title in ASSUMPTIONS:
            yield title, gain(m.under(assumed(title)), m.under(without(title)))

    return by_application(
        benchmarks,
        cells,
        "assumptions",
        "Which assumption the gain needs",
        "section V.E",
        "gain of speed of FineReg over no scheme, percent",
        1,
        signed=True,
        notes=tuple(f"{title}: {what}" for title, what in SETTINGS.items()),
        mean=geometric_mean,
    )


def causes(benchmarks: Sequence[Measured], gpu: Gpu) -> Exhibit:
    """Where FineReg gains and loses: what it changes, against no scheme."""

    def cells(m: Measured) -> Iterator[Cell]:
        now, before = m.best(FINEREG), m.baseline
        yield "cycles", change(of(now, lambda t: t.cycles), of(before, lambda t: t.cycles))
        yield "active CTAs", change(of(now, lambda t: t.active), of(m.stalls, lambda t: t.active))
        yield "resident CTAs", change(m.resident(FINEREG), m.resident(NONE))
        yield "L1 misses", change(of(now, _l1_misses), of(before, _l1_misses))
        yield "DRAM traffic", change(of(now, lambda t: t.traffic), of(before, lambda t: t.traffic))
        yield "empty places", of(now, _empty)
        yield "CTAs stalled without", of(m.stalls, _stalled)
        yield "DRAM busy without", of(before, lambda t: _busy(t, gpu))
        for title, kinds in _SLOTS.items():
            yield f"{title} without", of(before, partial(_slots, kinds=kinds))
            yield f"{title} with", of(now, partial(_slots, kinds=kinds))

    notes = (
        "the first five: change against no scheme",
        "empty places: cycles of places in the pipeline that a switch left empty, of the resident CTAs' cycles",
        "waits, busy: of the schedulers' slots those in which no warp was ready, and those in which a ready one found "
        "its unit or the memory's port busy",
        "DRAM busy: of the peak bandwidth; CTAs stalled: of the resident CTAs' cycles; both without a scheme",
    )
    title, what = "What FineReg changes", "percent"
    return by_application(
        benchmarks, cells, "causes", title, "section VI", what, 1, signed=True, notes=notes, mean=fmean
    )


def _l1_misses(found: Totals) -> float:
    return found.total("l1.misses")


def _empty(found: Totals) -> float:
    return 100 * found.total("switching.switch_cycles") / (found.sm_cycles * found.resident)


def _stalled(found: Totals) -> float:
    return 100 * found.total("switching.stall_cycles") / (found.sm_cycles * found.resident)


def _slots(found: Totals, kinds: Sequence[str]) -> float:
    """Percent of the schedulers' slots."""
    return 100 * found.total(*kinds) / found.total(*(f"slots.{name}" for name in SLOT_NAMES))


def _busy(found: Totals, gpu: Gpu) -> float:
    """Percent of the DRAM's peak: column commands times the cycles of one on the data bus."""
    dram_cycles = found.cycles * gpu.clocks.dram_mhz / gpu.clocks.core_mhz
    return 100 * found.traffic * gpu.dram.tBURST / (gpu.dram.channels * dram_cycles)
