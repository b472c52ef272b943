"""A timed run that can only repeat itself: warps spin for what no warp is left to do.

Every PERIOD cycles in which no CTA has ended, nor a bulk copy completed, `Livelock` compares what each warp has: its
place, the lanes there, their registers. A run in which no warp has anything for the first time for PATIENCE looks
repeats itself. A spin that counts its rounds is never found; `max_cycles` covers that case.

Lanes of a warp can be the cause: those that run wait for others of their warp, which a SIMT stack lets run after them
only. With `pipeline.divergence` = "independent" such lanes take turns from then on, at every branch back, and lanes
that wait behind a loop proceed (`execute/divergence.py`); with "stack" the run ends.

Handled simply: registers are compared at some cycles only. So a run that never repeats is not taken for one that does
unless it has the same values at PATIENCE looks, and memory is not compared.
Reference: timing-model section 1.7; docs/model/machine.md, "1.7 SIMT stack and branches".
"""

from typing import Any

from ptxsim.base.program import ATOMIC, REPEAT, Program, stack_fields
from ptxsim.base.wide_masks import mask_of
from ptxsim.execute.divergence import loosen
from ptxsim.execute.progress import describe_progress
from ptxsim.memory_image.faults import coordinates
from ptxsim.timing.simulation import Simulation
from ptxtool.base.diag import PtxError, error
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.ir.nodes import Function

PERIOD = 1 << 16
PATIENCE = 8
MOST_STATES = 1 << 10
"""States of a warp that are kept; one that has more does not spin."""
_ORDERED = frozenset({"volatile", "relaxed", "acquire", "mmio", "cv", "test_wait", "try_wait"})
_ENTRIES = tuple(name for name, _, _ in stack_fields(1))


_spins: IdentityCache[bool] = IdentityCache(32)


def may_spin(program: Program) -> bool:
    """Whether a program has accesses with which threads wait for one another."""
    return _spins.get(program, None, lambda: _may_spin(program))


def _may_spin(program: Program) -> bool:
    if (program.instructions["access"] == ATOMIC).any() or (program.instructions["kind"] == REPEAT).any():
        return True
    functions = {id(function): function for function, _ in program.positions}
    return any(_ORDERED & set(i.opcode.modifiers) for f in functions.values() for i in f.instructions)


class Livelock:
    """Watches a run. `next_cycle` is that of the next look."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        self._device = simulation.arrays["image"].device
        self.next_cycle = simulation.cycles + PERIOD
        self._engines = simulation.arrays.get("engines")
        self._done, self._in_vain = 0, 0
        self._seen: dict[tuple[int, int], set[int]] = {}
        self._reconverge: Any = None

    def only_repeats(self) -> bool:
        """Look at all warps; whether the run only repeats itself, no lanes can be let proceed, and no other process can
        write what they wait for."""
        return self._look() and not self._let_lanes_proceed() and not self._may_be_written()

    def _may_be_written(self) -> bool:
        return self._device.may_be_written(self._in_vain - PATIENCE - 1)

    def _look(self) -> bool:
        simulation = self._simulation
        self.next_cycle = simulation.cycles + PERIOD
        done = int(simulation.run["ctas_done"][0])
        if self._engines is not None:
            done += int(self._engines["completed"].sum())
        if done != self._done or not self._repeats():
            self._in_vain = 0
        if done != self._done:
            self._done, self._seen = done, {}
        self._in_vain += 1
        return self._in_vain > PATIENCE

    def _repeats(self) -> bool:
        """Note the state of every warp. Whether all are known."""
        contexts, known = int(self._simulation.run["contexts"][0]), True
        rows = [_files(image) for image in self._simulation.images]
        for sm in self._simulation.sms:
            for w in unfinished(sm):
                top, number = int(sm["depth"][w]) - 1, int(sm["index"]) * contexts + int(sm["context"][w])
                entries = [int(sm[name][top, w]) for name in ("stack_pc", "stack_mask", "stack_wait")]
                own = rows[int(sm["cta_kernel"][sm["cta_slot"][w]])]
                registers = [
                    r[first + number * n : first + (number + 1) * n].tobytes() for r, first, n in own
                ]
                state = hash((*entries, *registers))
                seen = self._seen.setdefault((int(sm["index"]), int(sm["context"][w])), set())
                known &= state in seen
                if len(seen) > MOST_STATES:
                    seen.clear()
                seen.add(state)
        return known

    def _let_lanes_proceed(self) -> bool:
        """Let lanes that wait for others of their warp run, where the machine does. False if there are none."""
        simulation = self._simulation
        run, points = simulation.run, simulation.program.instructions["reconverge"]
        if simulation.gpu.pipeline.divergence != "independent":
            return False
        if self._reconverge is None:
            self._reconverge = points.copy()
        found = not run["take_turns"][0] and any(
            int(sm["depth"][w]) > 1 for sm in simulation.sms for w in unfinished(sm)
        )
        run["take_turns"] = 1
        for sm in simulation.sms:
            for w in unfinished(sm):
                stack = _stack(sm, w)
                if loosen(simulation.program, [stack]):
                    found = True
                    _below(stack)
        self._in_vain, self._seen = 0, {}
        return found

    def end(self) -> None:
        """Where lanes meet is what it was before the run."""
        if self._reconverge is not None:
            self._simulation.program.instructions["reconverge"] = self._reconverge


def _files(image: Any) -> list[tuple[Any, int, int]]:
    """The register files, with the first row of warp 0 and the rows of a warp."""
    context, (r32, r64) = image.context[0], image.of_cta[:2]
    names = (r32, "32"), (r64, "64")
    return [(r, int(context[f"constant_rows{n}"]), int(context[f"rows{n}"])) for r, n in names]


def unfinished(sm: Any) -> list[int]:
    """The warps of an SM that are not done."""
    left = mask_of(sm["resident"]) & ~mask_of(sm["finishing"])
    return [w for w in range(len(sm["ib_pc"])) if left >> w & 1]


def _stack(sm: Any, w: int) -> dict[str, Any]:
    """The stack of a warp, as a record of one warp has it."""
    return {name: sm[name][..., w : w + 1] for name in ("depth", *_ENTRIES)}


def _below(stack: dict[str, Any]) -> None:
    """Put the top of a stack below the next entry: the lanes that ran go on, and take turns with it."""
    top = int(stack["depth"][0]) - 1
    for name in _ENTRIES:
        stack[name][[top - 1, top]] = stack[name][[top, top - 1]]


def livelock(kernel: Function, simulation: Simulation) -> PtxError:
    """E407: the places of the warps of the first CTA that is left."""
    sm, warps = next((sm, found) for sm in simulation.sms if (found := unfinished(sm)))
    slot = int(sm["cta_slot"][warps[0]])
    stacks = [{**_stack(sm, w), "ended_at": 0} for w in warps if int(sm["cta_slot"][w]) == slot]
    text, i, _ = describe_progress(simulation.program, stacks)
    where = f"kernel '{kernel.name}', CTA {coordinates(int(sm['cta_id'][slot]), simulation.plan.grid)}"
    help_text = "no warp is left that could change the value the loop waits for: find the one that should"
    if simulation.gpu.pipeline.divergence == "stack" and any(int(stack["depth"][0]) > 1 for stack in stacks):
        help_text = (
            f"on {simulation.gpu.name} lanes of a warp run one path after the other; from sm_70 on all proceed: "
            "choose such a --gpu, or set pipeline.divergence to 'independent'"
        )
    what = f"deadlock in cycle {simulation.cycles}: {where}: {text}"
    return error("E407", what, *simulation.program.span(i), help_text)
