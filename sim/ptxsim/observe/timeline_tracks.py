"""From records of the loop to slices of a timeline: CTAs, states of warps, loads, locks.

An SM is a process. Its tracks: each CTA slot, followed by the warps of the slot; each pair of CTA slots that share
registers, with its owner, followed by the pair's locks. Loads and atomics are slices of the SM that may overlap.
A slice from cycle a to cycle b began in cycle a and ended in cycle b. Tracks are named when they are first used.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ptxsim.base.program import ATOMIC
from ptxsim.memory_image.faults import coordinates
from ptxsim.timing import timeline_codes as codes
from ptxsim.timing.simulation import Simulation
from ptxtool.formats.trace_events import TraceEvents, quoted
from ptxtool.ir.nodes import Function

STATES = (
    "",
    "running",
    "instruction fetch",
    "memory",
    "lock",
    "barrier",
    "registers",
    "fence",
    "copies",
    "atomic",
    "exited",
)
"""The names of a warp's slices, in the order of the states of timing/timeline_codes.py."""
GPU, FIRST_SM = 1, 10
"""Processes: of the whole GPU, and of SM 0, followed by the other SMs."""
_TRACKS = 20_000  # tracks of a process are numbered from its number times this: Perfetto wants all to differ
_GROUP = 100  # tracks of a CTA slot, or of a pair
_LOCKS = 10_000  # where those of pairs begin


def named(events: TraceEvents, pid: int) -> int:
    """Name a process, if it has no name yet; returns it."""
    events.process(pid, "GPU" if pid == GPU else f"SM {pid - FIRST_SM}", pid)
    return pid


def _cuda(function: Function, index: int) -> str:
    """The line of the CUDA source as an entry of an event's arguments, "" where there is none."""
    place = function.cuda_place(index) if index >= 0 else None
    return f'"cuda":{quoted(str(place))},' if place else ""


class Tracks:
    """The slices of one launch, which begins at `origin` in the file; of these what lies from `first` to `last`."""

    def __init__(
        self, events: TraceEvents, simulation: Simulation, origin: int, first: int, last: int | None
    ):
        self._events, self._origin, self._first, self._last = events, origin, first, last
        program, run = simulation.program, simulation.run[0]
        self._places = [
            f'"line":{int(line)},{_cuda(*position)}"instruction":{quoted(text)}'
            for line, text, position in zip(
                program.instructions["line"], program.texts, program.positions, strict=True
            )
        ]
        self._is_atomic = (program.instructions["access"] == ATOMIC).tolist()
        self._warps_per_cta = int(run["warps_per_cta"])
        self._grid = simulation.plan.grid
        self._locks_ctas = bool(run["shares_scratchpad"])
        self._pairs, self._first_shared = int(run["shared_pairs"]), int(run["first_shared_slot"])
        # open slices, by SM and: slot; warp; pending load; pair and warp of the CTA; pair
        self._ctas: dict[tuple[int, int], tuple[int, int]] = {}
        self._left: dict[tuple[int, int], int] = {}
        self._warps: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._loads: dict[tuple[int, int], tuple[int, int, int, int, int]] = {}
        self._locks: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._owners: dict[tuple[int, int], tuple[int, int]] = {}
        self._take: dict[int, Callable[..., None]] = {
            codes.WARP: self._warp,
            codes.CTA: self._cta,
            codes.LOCKED: self._locked,
            codes.UNLOCKED: self._unlocked,
            codes.OWNED: self._owned,
            codes.SENT: self._sent,
            codes.BACK: self._back,
        }

    def take(self, cycle: int, where: int, a: int, b: int, c: int, d: int) -> None:
        """One record."""
        self._take[where % codes.KINDS](cycle, where // codes.KINDS, a, b, c, d)

    def close(self, cycle: int) -> None:
        """Cut open slices at this cycle."""
        for sm, p in list(self._loads):
            self._back(cycle, sm, p)
        for sm, pair, k in list(self._locks):
            self._unlocked(cycle, sm, pair, k)
        for sm, pair in list(self._owners):
            self._owned(cycle, sm, pair, -1)
        for sm, w in list(self._warps):
            self._end_state(cycle, sm, w)
        for sm, slot in list(self._ctas):
            self._end_cta(cycle, sm, slot)

    def launch(self, end: int, name: str, about: Mapping[str, Any]) -> None:
        """The whole launch, a slice of the GPU."""
        facts = ",".join(f"{quoted(key)}:{quoted(str(value))}" for key, value in about.items())
        self._slice(GPU, 0, "kernels", 0, end, name, f"{{{facts}}}")

    def _cta(self, cycle: int, sm: int, slot: int, cta: int, *_: int) -> None:
        self._ctas[sm, slot] = cta, cycle
        self._left[sm, slot] = self._warps_per_cta
        for w in range(slot * self._warps_per_cta, (slot + 1) * self._warps_per_cta):
            self._warps[sm, w] = codes.RUNNING, -1, cycle

    def _warp(self, cycle: int, sm: int, w: int, state: int, place: int, *_: int) -> None:
        if self._warps[sm, w][:2] == (state, place):
            return
        self._end_state(cycle, sm, w)
        if state != codes.ABSENT:
            self._warps[sm, w] = state, place, cycle
            return
        slot = w // self._warps_per_cta
        self._left[sm, slot] -= 1
        if self._left[sm, slot] == 0:
            self._end_cta(cycle, sm, slot)

    def _end_state(self, cycle: int, sm: int, w: int) -> None:
        state, place, since = self._warps.pop((sm, w))
        slot, k = divmod(w, self._warps_per_cta)
        args = f'{{"CTA":{self._ctas[sm, slot][0]}{self._place(place)}}}'
        order = slot * _GROUP + 1 + k
        self._slice(FIRST_SM + sm, order, f"slot {slot} warp {k}", since, cycle, STATES[state], args)

    def _end_cta(self, cycle: int, sm: int, slot: int) -> None:
        cta, since = self._ctas.pop((sm, slot))
        args = f'{{"ctaid":"{coordinates(cta, self._grid)}","warps":{self._warps_per_cta}}}'
        self._slice(FIRST_SM + sm, slot * _GROUP, f"slot {slot}", since, cycle, f"CTA {cta}", args)

    def _sent(self, cycle: int, sm: int, p: int, w: int, i: int, accesses: int) -> None:
        cta = self._ctas[sm, w // self._warps_per_cta][0]  # it may have left the slot when the load returns
        self._loads[sm, p] = cycle, w, cta, i, accesses

    def _back(self, cycle: int, sm: int, p: int, *_: int) -> None:
        if (sm, p) not in self._loads:  # from shared memory or constants
            return
        since, w, cta, i, accesses = self._loads.pop((sm, p))
        since, cycle = self._cut(since, cycle)
        if since < cycle:
            args = f'{{"CTA":{cta},"warp":{w % self._warps_per_cta},"accesses":{accesses}{self._place(i)}}}'
            name = "atomic" if self._is_atomic[i] else "load"
            self._events.span(
                named(self._events, FIRST_SM + sm), self._origin + since, self._origin + cycle, name, args
            )

    def _locked(self, cycle: int, sm: int, pair: int, k: int, slot: int, *_: int) -> None:
        self._locks[sm, pair, k] = self._ctas[sm, slot][0], cycle

    def _unlocked(self, cycle: int, sm: int, pair: int, k: int, *_: int) -> None:
        cta, since = self._locks.pop((sm, pair, k))
        order = _LOCKS + pair * _GROUP + 1 + k
        holder = f"CTA {cta}" if self._locks_ctas else f"CTA {cta} warp {k}"
        self._slice(FIRST_SM + sm, order, f"pair {pair} lock {k}", since, cycle, holder)

    def _owned(self, cycle: int, sm: int, pair: int, side: int, *_: int) -> None:
        if (sm, pair) in self._owners:
            cta, since = self._owners.pop((sm, pair))
            order = _LOCKS + pair * _GROUP
            self._slice(FIRST_SM + sm, order, f"pair {pair} owner", since, cycle, f"CTA {cta}")
        if side >= 0:
            slot = self._first_shared + pair + side * self._pairs
            self._owners[sm, pair] = self._ctas[sm, slot][0], cycle

    def _place(self, i: int) -> str:
        return "" if i < 0 else f",{self._places[i]}"

    def _cut(self, start: int, end: int) -> tuple[int, int]:
        """The recorded part of a time."""
        return max(start, self._first), end if self._last is None else min(end, self._last)

    def _slice(
        self, pid: int, order: int, track: str, start: int, end: int, name: str, args: str = "{}"
    ) -> None:
        start, end = self._cut(start, end)
        if start < end:
            tid = pid * _TRACKS + order
            self._events.track(named(self._events, pid), tid, track, order)
            self._events.slice(pid, tid, self._origin + start, self._origin + end, name, args)
