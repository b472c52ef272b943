"""How far to demote registers of one kernel: for `demote`.

The candidates of a rule, in its order, as many as shared memory has room for. A bound on registers takes as many as it
needs: the allocator counts what the demoted text requires, and where that is too much, more are demoted. An occupancy
has the smallest target that reaches it (`ptxtool.analysis.demotion.targets`), or the last one that pays; where demotion
ends before the target, or its slots cost what it brings, the target before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from ptxtool.analysis.demotion.candidates import Candidate, Rule, demotion_order
from ptxtool.analysis.demotion.own_shared import first_beyond, own_bytes
from ptxtool.analysis.demotion.targets import (
    ADDRESS_AND_VALUE,
    STATIC_SHARED,
    WORD_BYTES,
    demotion_targets,
    slot_bytes,
)
from ptxtool.analysis.occupancy.occupancy import HasSm, occupancy
from ptxtool.analysis.regalloc.register_need import register_need, registers_per_thread
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import PtxError, error
from ptxtool.base.kept import kept
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Function
from ptxtool.ir.symbols import PTXPLUS_ZERO
from ptxtool.ir.variables import round_up
from ptxtool.passes.context import CtaSize
from ptxtool.passes.demotion.demoted_text import DemotedText, Demotion, address_unit
from ptxtool.passes.parsed import parsed

ZERO = int(PTXPLUS_ZERO.removeprefix("$r"))


@dataclass(frozen=True)
class _Outcome:
    """A demoted text, the registers per thread that it needs, and why no more are demoted ("" for no such reason)."""

    text: DemotedText
    units: int
    registers: int
    end: str


Demoted = tuple[DemotedText | None, str]
"""The text of a kernel, None where nothing is demoted, and the remark about it."""


class KernelDemotion:
    """The demotion of one kernel that needs `need` registers per thread; `machine` is None where it is unknown."""

    def __init__(
        self,
        kernel: Function,
        need: int,
        cta: CtaSize,
        machine: HasSm | None,
        rule: Rule,
        issues: Sequence[int] | None,
    ):
        self._kernel, self._cta, self._machine = kernel, cta, machine
        self._rule, self._issues = rule, issues
        self._need = need
        self._start = self._after_own() if kernel.registers.is_ptxplus else 0
        self._static = round_up(shared_layout(kernel).bytes, WORD_BYTES)

    def of_count(self, count: int) -> Demoted:
        """Demote so many registers."""
        done = self._demoted(count)
        return (done.text, self._message(done)) if done else (None, f"nothing is demoted: {self._fitting[1]}")

    def to_registers(self, most: int) -> Demoted:
        """Demote until a thread needs at most so many registers."""
        done = self._until(most)
        if done is None:
            return None, f"nothing is demoted: {self._fitting[1]}"
        if done.registers >= self._need:
            left = f"it would leave a thread with {counted(done.registers, 'register')} of {self._need}"
            return None, f"nothing is demoted: {left}; {done.end}"
        return done.text, self._message(done)

    def to_occupancy(self, wanted: str) -> Demoted:
        """Demote to the largest register count with so many warps on an SM, "48", or of the most warps, "0.75".

        Raises E301 where the limits of an SM are unknown or have fewer warps, E402 for CTAs that never fit.
        """
        machine = self._known_machine()
        most = machine.sm.warps
        warps = Fraction(wanted) * (most if "." in wanted else 1)
        if warps > most:
            raise refusal(self._kernel, f"an SM of {machine.name} has {most} warps", "give at most as many")
        cta = self._cta
        plan = demotion_targets(machine, self._need, cta.threads, self._static, cta.dynamic_shared)
        if plan.before is not None and plan.before.active_warps >= warps:
            return None, f"nothing to do: {plan.before.active_warps} of {most} warps are on an SM"
        reached = [k for k, target in enumerate(plan.targets) if target.occupancy.active_warps >= warps]
        targets = plan.targets[: reached[0] + 1] if reached else plan.targets
        end = "" if reached else plan.end
        resident = [plan.before.resident_ctas if plan.before else 0]
        resident += [target.occupancy.resident_ctas for target in targets]
        for target, fewer in zip(reversed(targets), reversed(resident[:-1]), strict=True):
            done = self._until(target.registers)
            if done is not None and self._resident(done) > fewer:
                return done.text, self._message(done, end)
            too_large = f"so many slots leave an SM no more than {counted(fewer, 'CTA')}"
            end = (done.end or too_large) if done else self._fitting[1]
        return None, f"nothing is demoted: {end}"

    def _after_own(self) -> int:
        """Where slots of PTXPlus begin. Raises E301 where the kernel may use the shared memory from there on."""
        more = self._cta.dynamic_shared
        beyond = first_beyond(self._kernel, more)
        if beyond is not None:
            have = f"its {shared_layout(self._kernel).bytes} bytes" + (
                f" and {more} dynamic ones" if more else ""
            )
            what = f"'{self._kernel.text(beyond)}' may access shared memory after {have}"
            help = (
                "give dynamic-shared=BYTES, what its launches have beside the declared variables, or a launch"
            )
            raise refusal(self._kernel, what, help)
        last = address_unit(self._kernel) + ADDRESS_AND_VALUE
        if last >= ZERO:
            raise refusal(self._kernel, f"it has no register below $r{ZERO} left", "run compact before")
        return own_bytes(self._kernel, more)

    def _known_machine(self) -> HasSm:
        """The machine. Raises E301 where it is unknown."""
        if self._machine is not None:
            return self._machine
        name = self._kernel.module.target
        what = f"the limits of an SM of '.target {name}' are unknown" if name else "no machine is known"
        raise refusal(self._kernel, what, "give a machine: rewrite --gpu NAME")

    @cached_property
    def _fitting(self) -> tuple[list[Candidate], str]:
        """The candidates in order, as many as shared memory has room for, and why there are no more."""
        room = (STATIC_SHARED - self._static) // slot_bytes(1, self._cta.threads)
        found: list[Candidate] = []
        for candidate in demotion_order(self._kernel, self._rule, self._issues):
            if candidate.units > room:
                return found, f"more than {STATIC_SHARED} bytes of shared memory cannot be declared"
            room -= candidate.units
            found.append(candidate)
        return found, "no other register can be demoted: each occurs together with these, or is in flight"

    def _demoted(self, units: int) -> _Outcome | None:
        """At least so many units demoted, or as many as can be; None where none can."""
        candidates, end = self._fitting
        sums = accumulate(candidate.units for candidate in candidates)
        n = next((n for n, total in enumerate(sums, 1) if total >= units), None)
        chosen = candidates[:n]
        if not chosen:
            return None
        text = DemotedText(Demotion(self._kernel, tuple(chosen), self._cta.threads, self._start))
        registers = needed_registers(_kernel_of(text))
        return _Outcome(text, sum(c.units for c in chosen), registers, end if n is None else "")

    def _until(self, most: int) -> _Outcome | None:
        """Demoted until a thread needs at most so many registers, or as far as possible; None where none can be."""
        done = self._demoted(self._need - most + ADDRESS_AND_VALUE)
        while done is not None and not done.end and done.registers > most:
            done = self._demoted(done.units + done.registers - most)
        return done

    def _resident(self, done: _Outcome | None = None) -> int:
        """The CTAs of a demoted text on an SM of the machine, or those of the kernel; 0 where none fits."""
        units, registers = (done.units, done.registers) if done else (0, self._need)
        shared = self._static + slot_bytes(units, self._cta.threads) + self._cta.dynamic_shared
        try:
            return occupancy(self._known_machine(), self._cta.threads, registers, shared).resident_ctas
        except PtxError:
            return 0

    def _message(self, done: _Outcome, end: str = "") -> str:
        threads = self._cta.threads
        message = (
            f"{counted(done.units, 'register')} demoted to {slot_bytes(done.units, threads)} bytes of shared memory "
            f"({counted(threads, 'thread')}): {self._need} -> {done.registers} registers per thread"
        )
        if self._kernel.registers.is_ptxplus and self._cta.dynamic_shared:
            message += f", for launches with {self._cta.dynamic_shared} bytes of dynamic shared memory"
        return "; ".join(filter(None, (message, self._residency(done), end or done.end)))

    def _residency(self, done: _Outcome) -> str:
        """What demotion changes about the CTAs of an SM, if it is known and something changes."""
        if self._machine is None:
            return ""
        had, has = self._resident(), self._resident(done)
        if has == had:
            return ""
        change = f"{had} -> {has} CTAs on an SM of {self._machine.name}"
        return change if has > had else f"its shared memory costs residency: {change}"


@kept
def needed_registers(kernel: Function) -> int:
    """The registers per thread that a kernel needs. PTXPlus may declare more: these are what `compact` leaves."""
    is_ptxplus = kernel.registers.is_ptxplus
    return max(1, register_need(kernel).registers) if is_ptxplus else registers_per_thread(kernel)


def _kernel_of(text: DemotedText) -> Function:
    """The kernel of a demoted text."""
    source = text.kernel.source
    return parsed(splice(source.text, text.edits()), source.name).kernels[text.kernel.name]


def refusal(kernel: Function, why: str, help: str) -> Exception:
    """The E301 about a kernel whose registers cannot be demoted."""
    what = f"cannot demote registers of '{kernel.name}': {why}"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
