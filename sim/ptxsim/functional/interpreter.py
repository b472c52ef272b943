"""A run without time: CTAs one after the other, or as if they were (threads.py), and the warps of each in turn.

For checking that a kernel computes what it should, quickly, and for tests of the instruction semantics: it shares
lowering and execution with the timing model and nothing else. The loop over CTAs is compiled (cta_loop.py). A CTA
that can only repeat itself is swapped out for the others (waiting.py); lanes of a warp wait for one another no longer
than they must (execute/divergence.py).

Not handled: results that depend on time (the clock).
"""

from typing import Any

import numpy as np

from ptxsim.base.program import CLUSTER, MAX_CLUSTER, Program
from ptxsim.execute.divergence import loosen
from ptxsim.execute.progress import WaitsFor, describe_progress
from ptxsim.functional.cluster import Member
from ptxsim.functional.cluster_loop import cluster_loop
from ptxsim.functional.cta_loop import (
    ARRAYS,
    BETWEEN,
    CTA_RUN,
    DEADLOCK,
    PAUSED,
    TOO_LONG,
    WATCHED,
    run_ctas,
)
from ptxsim.functional.threads import share
from ptxsim.functional.tracing import Tracer
from ptxsim.functional.waiting import (
    FIRST_LOOK,
    MAX_SWAPPED_OUT,
    Residents,
    Watch,
    digest,
)
from ptxsim.lowering.cluster_launch import ClusterLaunch
from ptxsim.memory_image.faults import RELEASE_FIRST, coordinates
from ptxsim.memory_image.faults import fault as described
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Printer
from ptxsim.sanitizer.asynchronous.reports import waiting_mbarriers
from ptxsim.sanitizer.prepare import Checks, in_lockstep
from ptxtool.analysis.occupancy.entry_registers import launched_registers
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function

_DEADLOCKS: dict[WaitsFor, tuple[str, str]] = {
    "barriers": ("a barrier can never complete", "every warp has to reach the same barrier"),
    "registers": ("deadlock", RELEASE_FIRST),
    "values": (
        "deadlock",
        "no warp is left that could change the value the loop waits for: find the one that should",
    ),
}
"""Title and advice."""
LIMIT = 1 << 32
"""Warp instructions of a CTA, unless the caller sets another limit: some minutes."""


class FunctionalLaunch:
    """The CTAs of a launch: one after the other, or cluster after cluster; those that wait for others go on after the
    rest has run."""

    def __init__(
        self,
        kernel: Function,
        program: Program,
        image: MemoryImage,
        checks: Checks,
        grid: Any,
        block: Any,
        limit: int,
        slice_length: int,
        printer: Printer,
        tracer: Tracer | None,
        cluster: ClusterLaunch,
        threads: int,
    ):
        self.kernel, self.program, self.image, self.checks = kernel, program, image, checks
        self.grid, self.block, self.limit, self.slice_length = grid, block, limit, slice_length
        self.in_step = in_lockstep(kernel)
        self.printer, self.tracer = printer, tracer
        self.cluster = cluster
        self.x = image.context[0]
        self.state = np.zeros(1, CLUSTER)
        if cluster.is_needed(program):
            self.x["cluster"] = self.state.ctypes.data
        self.members = [Member.first(image, checks, -(-int(block.prod()) // 32))]
        self.members += [self.members[0].another() for _ in range(1, cluster.size)]
        self.checks_of_members = np.zeros(MAX_CLUSTER, np.uint64)
        for rank, member in enumerate(self.members):
            self.checks_of_members[rank] = member.checks.ctypes.data
            member.checks["rank"], member.checks["members"] = rank, self.checks_of_members.ctypes.data
        own = [self.state, *(array for member in self.members for array in member.arrays)]
        if program.has_bulk_copies:
            own += [image.bulk, image.transfers]
        self.watch = Watch([*own, image.device.contents])
        self.launched = np.concatenate([self._record(member) for member in self.members])
        of_checks = [array for member in self.members for array in member.of_checks]
        self.residents = Residents([*own, self.launched, *of_checks])
        self.threads = 1
        if self.x["cluster"] == 0 and tracer is None and not checks.state[0]["what"]:
            self.threads = threads
        self.executed: dict[int, int] = {}
        """The instructions executed by the CTAs that are swapped out."""

    def _record(self, member: Member) -> Any:
        """The `CTA_RUN` record of a CTA that runs."""
        arrays = {
            "context": member.context,
            "instructions": self.program.instructions,
            "warps": member.warps,
            "barriers": member.barriers,
            "checks": member.checks,
            "checked": self.checks.checked,
            "reports": self.checks.reports,
            "special_rows": self.program.special_rows,
            "shared_image": self.image.shared_image,
        }
        launched = np.zeros(1, CTA_RUN)
        for name, array in arrays.items():
            assert array.dtype == ARRAYS[name], name
            assert array.flags.c_contiguous, name
            launched[0][name], launched[0][f"n_{name}"] = array.ctypes.data, len(array)
        if self.program.adjusts_registers:
            launched[0]["entry_registers"] = launched_registers(self.kernel)
        launched["block"], launched["grid"], launched["slice_length"] = (
            self.block,
            self.grid,
            self.slice_length,
        )
        launched["most"], launched["first_look"] = self.limit, FIRST_LOOK
        return launched

    def run(self) -> None:
        """Run all CTAs to their end. Raises for a fault, for too many instructions, and for a deadlock."""
        n, first = int(self.grid.prod()) // self.cluster.size, 1
        self._run_all(0, 1)
        if not self.residents.swapped_out:
            first = share(self.program, self.image, self.members[0], self._record, self.threads, n)
        self._run_all(first, n)
        before, in_vain = b"", 0
        while self.residents.swapped_out:
            memory = digest([self.image.device.contents])
            in_vain = in_vain + 1 if memory == before else 0
            if in_vain and not self.image.device.may_be_written(in_vain - 1):
                raise self._deadlock(next(iter(self.residents.swapped_out)))
            before = memory
            for cta in list(self.residents.swapped_out):
                self.residents.swap_in(cta)
                if self._run_some(cta, cta + 1, fresh=False)[1]:
                    before = b""
                else:
                    self._swap_out(cta)

    def _swap_out(self, cta: int) -> None:
        if len(self.residents.swapped_out) == MAX_SWAPPED_OUT:
            raise self._deadlock(cta)
        self.residents.swap_out(cta)

    def _run_all(self, first: int, end: int) -> None:
        """Run CTAs, or clusters; those that can only repeat themselves are swapped out."""
        while first < end:
            first, has_ended = self._run_some(first, end, fresh=True)
            if not has_ended:
                self._swap_out(first)
                first += 1

    def _run_some(self, cta: int, end: int, fresh: bool) -> tuple[int, bool]:
        """Run a cluster, one CTA that is looked at, or CTAs up to `end`; the next one, or the one that can only repeat
        itself, and False."""
        loop = run_ctas if self.x["cluster"] == 0 else cluster_loop()
        if loop is not run_ctas or self.tracer is not None or self.program.prints:
            end = cta + 1
        if self.tracer is not None:
            self.tracer.begin(cta)
        self._begin(cta, end)
        state, goes_on = self.checks.state[0], not fresh
        while True:
            with np.errstate(all="ignore"):
                done = loop(self.launched, goes_on)
            goes_on = done != BETWEEN
            self.printer.drain(self.image)
            if loop is run_ctas:
                cta = int(self.launched[0]["cta"])
            if done == PAUSED:
                if self.tracer is not None:
                    self.tracer.stopped(cta)
            elif done == WATCHED:
                if self.watch.repeats(cta) and not self._loosened():
                    ran = int(self.x["cycle"]) - int(self.launched[0]["begun"])
                    self.executed[cta] = self.executed.get(cta, 0) + ran
                    return cta, False
                state["watch"] = int(self.x["cycle"]) + self.watch.interval
            elif done >= 0:
                return end, True
            elif done != BETWEEN:
                raise self._fault(cta)

    def _begin(self, cta: int, end: int) -> None:
        """Fill in what is the CTA's that runs next, or the cluster's."""
        begun, numbers = int(self.x["cycle"]), self.cluster.ctas(cta, self.grid)
        self.checks.state[0]["cta"] = numbers[0]
        self.checks.state[0]["watch"] = begun + FIRST_LOOK
        self.watch.begin()
        self.launched["cta"], self.launched["end_cta"], self.launched["begun"] = numbers, end, begun
        self.launched["limit"] = begun + self.limit * len(numbers) - self.executed.get(cta, 0)

    def _loosened(self) -> bool:
        """Whether lanes that wait for others of their warp can proceed."""
        if self.in_step or not loosen(self.program, [w for member in self.members for w in member.warps]):
            return False
        self.watch.begin()
        return True

    def _running(self, cta: int) -> tuple[int, Member]:
        """The CTA that runs, of those of a cluster; its number in the grid."""
        rank = int(self.launched[0]["current"])
        return self.cluster.ctas(cta, self.grid)[rank], self.members[rank]

    def _fault(self, cta: int) -> PtxError:
        x = self.x
        kind, i = int(x["error"]), min(int(x["cycle"]), len(self.program.instructions) - 1)
        if kind == DEADLOCK:
            return self._deadlock(cta)
        cta, member = self._running(cta)
        where = f"kernel '{self.kernel.name}', CTA {coordinates(cta, self.grid)}"
        if kind == TOO_LONG:
            text, i, _ = describe_progress(self.program, member.warps)
            what = (
                f"{self.limit} warp instructions of a CTA are not enough: {where}{': ' if text else ''}{text}"
            )
            help_text = (
                "see whether the loop ends; --max-instructions (max_instructions) allows each CTA more"
            )
            return error("E408", what, *self.program.span(i), help_text)
        number = int(member.context[0]["warp"]) * 32 + int(x["error_lane"])
        code, what, help_text = described(self.program, self.image, kind, self.printer.assertion)
        where += f", thread {coordinates(number, self.block)}"
        return error(code, f"{what} in '{self.program.texts[i]}': {where}", *self.program.span(i), help_text)

    def _deadlock(self, cta: int) -> PtxError:
        """The error for a CTA that can never proceed, with the places of its warps."""
        if cta in self.residents.swapped_out:
            others = len(self.residents.swapped_out) - 1
            self.residents.swap_in(cta)
        else:
            others = len(self.residents.swapped_out)
        cta, member = self._running(cta)
        text, i, waits_for = describe_progress(self.program, member.warps)
        title, help_text = _DEADLOCKS[waits_for]
        code = "E406" if waits_for == "barriers" else "E407"
        more = "".join(
            f"; {words}"
            for words in waiting_mbarriers(self.program, self.image, member.shared, member.of_checks)
        )
        more += f"; {others} more CTAs wait too" if others else ""
        where = f"kernel '{self.kernel.name}', CTA {coordinates(cta, self.grid)}"
        return error(code, f"{title}: {where}: {text}{more}", *self.program.span(i), help_text)
