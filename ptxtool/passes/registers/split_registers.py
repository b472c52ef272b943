"""split-registers: a base set of registers, and an extended set that warps acquire only where they need more.

    .pragma "acquire-extended-registers";
    ld.global.f32 %r20, [%rd4];                 (the base set is %r0 to %r19)
    ...
    mov.b32 %r3, %r21;                          (computed inside, read outside)
    .pragma "release-extended-registers";

Under RegMutex a warp has the base set for itself, and takes a section of a pool for the extended one, so that more CTAs
are resident. Values get new registers: those that live only where more than `base` registers are live come to lie in
the extended set, around the others. Regions closer than `gap` instructions are one. No warp holds extended registers at
a barrier, a call, an exit or an mbarrier: it could wait for another warp that waits for a section. Where more than
`base` registers are live there, the base set is larger than asked for, and a remark has the instruction.

`auto` tries extended sets of 10, 15, ... 35 percent of the registers, in even numbers, and takes the one with the most
resident CTAs on the machine, of equal ones the smallest, among those with sections for more than half of the resident
warps. `threads` are those of a CTA, as in `demote`.

Pre: PTX (E301), best after `allocate`: the names are physical afterwards, as with `compact`. Post: the same
instructions, moves between registers, marks (checked by `ptxtool.validate.extended_registers`). Not handled: kernels
that call functions, and those that need more than 255 registers (E301).

Reference: F. Khorasani, H. Asghari Esfeden, A. Farmahini-Farahani, N. Jayasena, V. Sarkar, "RegMutex: inter-warp GPU
register time-sharing", ISCA 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from ptxtool.analysis.occupancy.occupancy import HasSm, occupancy
from ptxtool.analysis.occupancy.section_plan import SectionPlan, section_plan
from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.marks import EXTENDED, marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption, chosen_kernels
from ptxtool.passes.context import PassContext, most_threads
from ptxtool.validate.extended_registers import check_extended

if TYPE_CHECKING:
    from ptxtool.analysis.regalloc.base_split import BaseSplit, BaseSplitter
    from ptxtool.passes.regalloc.renaming import Renamed

SHOWN = 8
"""Lines that a remark lists."""
_PERCENT = range(10, 36, 5)
NOTHING_KNOWN = PassContext()


@dataclass(frozen=True)
class ExtendedClaim:
    """The claim that only registers changed, and that extended ones are held where they are named.

    Per kernel the origins of its instructions, and the units of its base set.
    """

    origins: dict[str, Sequence[int]]
    bases: dict[str, int]

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        return check_extended(before, after, self.origins, self.bases)


class _Found(NamedTuple):
    """The split with the least possible base set, None where all registers are needed in it; and the last instruction
    that required a larger one than asked for, -1 for none."""

    split: "BaseSplit | None"
    raised_by: int


@dataclass(frozen=True)
class SplitRegisters:
    """Split registers into a base set and an extended set, which warps acquire and release."""

    base: Annotated[str, Shown("B", "registers, or auto: for the most CTAs; default auto")] = "auto"
    gap: int = 8
    threads: Annotated[int, Shown("N", "base=auto; default: of .reqntid, .maxntid or the launch")] = 0
    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "split-registers"

    def __post_init__(self) -> None:
        is_number = self.base.isdecimal() and 1 <= int(self.base) <= GENERAL_LIMIT
        if self.base != "auto" and not is_number:
            help = f"give 1 to {GENERAL_LIMIT}, or auto"
            raise WrongOption("base", Diagnostic("E301", f"base cannot be '{self.base}'", help=help))
        if self.gap < 0:
            help = "give a number of instructions, or 0"
            raise WrongOption("gap", Diagnostic("E301", f"gap cannot be {self.gap}", help=help))
        if self.threads < 0 or (self.threads and self.base != "auto"):
            what = f"threads={self.threads} with base={self.base}"
            raise WrongOption(
                "threads", Diagnostic("E301", what, help="threads=N, 1 or more, is for base=auto")
            )

    def run(self, module: Module, context: PassContext = NOTHING_KNOWN) -> PassResult:
        """Split the registers of kernels. Raises E301."""
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        claim = ExtendedClaim({}, {})
        for kernel in chosen_kernels(module, self.kernel):
            renamed, base, message = self._kernel(kernel, context)
            remarks.append(Remark(self.name, message, kernel.name, kernel.source.line(kernel.start)))
            if renamed is not None:
                edits += renamed.edits
                claim.origins[kernel.name], claim.bases[kernel.name] = renamed.origins, base
        return PassResult(tuple(edits), tuple(remarks), claim)

    def _kernel(self, kernel: Function, context: PassContext) -> "tuple[Renamed | None, int, str]":
        """The edits of one kernel, None where it stays, its base set, and the remark about it."""
        from ptxtool.analysis.regalloc.assignment import refuse  # these import numpy
        from ptxtool.analysis.regalloc.base_split import BaseSplitter
        from ptxtool.analysis.regalloc.live_ranges import live_ranges
        from ptxtool.analysis.regalloc.register_need import registers_per_thread
        from ptxtool.passes.regalloc.renaming import rename

        _check(kernel)
        refuse(kernel)
        need = registers_per_thread(kernel)
        if need > GENERAL_LIMIT:
            raise refusal(
                kernel,
                f"it needs {need} registers, of {GENERAL_LIMIT}",
                "run allocate before, or with a smaller max-regs",
            )
        splitter = BaseSplitter(live_ranges(kernel), self.gap)
        if self.base == "auto":
            return self._auto(kernel, splitter, need, context)
        if int(self.base) >= need:
            return None, 0, f"nothing to do: a thread needs {counted(need, 'register')}"
        found = _split(splitter, int(self.base))
        if found.split is None or not found.split.extended:
            at = ""
            if found.raised_by >= 0:
                at = f", such as '{kernel.text(found.raised_by)}' in line {kernel.line(found.raised_by)}"
            return None, 0, f"nothing to do: all registers are needed where none may be held{at}"
        message = _message(kernel, found.split) + _raised(kernel, found, int(self.base))
        return rename(kernel, found.split.assignment), found.split.base, message

    def _auto(
        self, kernel: Function, splitter: "BaseSplitter", need: int, context: PassContext
    ) -> "tuple[Renamed | None, int, str]":
        """The same for the split with the most resident CTAs."""
        from ptxtool.passes.regalloc.renaming import rename

        machine = context.machine(kernel.module)
        if machine is None:
            name = kernel.module.target
            what = f"the limits of an SM of '.target {name}' are unknown" if name else "no machine is known"
            raise refusal(kernel, what, "give a machine, rewrite --gpu NAME, or base=B")
        launched = context.ctas.get(kernel.name)
        threads = most_threads(kernel, self.threads, launched, refusal, "; or base=B")
        shared = shared_layout(kernel).bytes + (launched.dynamic_shared if launched else 0)
        before = _resident(machine, threads, need, shared)
        best: tuple[BaseSplit, SectionPlan] | None = None
        for extended in sorted({_even(need * percent / 100) for percent in _PERCENT}):
            split = _split(splitter, need - extended).split if need > extended else None
            if split is None or not split.extended:
                continue
            try:
                plan = section_plan(machine, threads, split.base, split.extended, shared)
            except PtxError:
                continue
            most = best[1].occupancy.resident_ctas if best else before
            if plan.occupancy.resident_ctas > most and 2 * plan.sections > plan.occupancy.active_warps:
                best = split, plan
        if best is None:
            none = f"no base set brings another CTA than the {before} on an SM of {machine.name}"
            return None, 0, f"nothing to do: {none}"
        split, plan = best
        message = (
            f"{_message(kernel, split)}; {before} -> {plan.occupancy.resident_ctas} CTAs on an SM of {machine.name}, "
            f"{counted(plan.sections, 'section')}"
        )
        return rename(kernel, split.assignment), split.base, message


def _check(kernel: Function) -> None:
    """Raise E301 for what is not handled."""
    if kernel.registers.is_ptxplus:
        raise refusal(kernel, "it is PTXPlus", "split the registers of PTX")
    if any(marks(kernel, EXTENDED)):
        raise refusal(
            kernel, "it has acquire or release marks of extended registers", "take the text before them"
        )
    if calls := kernel.at_bases("call"):
        what = f"it calls a function in line {kernel.line(calls[0])}"
        raise refusal(kernel, what, "inline the function, or choose kernel=NAME")


def _split(splitter: "BaseSplitter", base: int) -> _Found:
    """The split with the least possible base set of at least so many registers."""
    from ptxtool.analysis.regalloc.base_split import BaseTooSmall
    from ptxtool.analysis.regalloc.held_regions import MustNotHold

    raised_by = -1
    for larger in range(base, splitter.most + 1):
        try:
            return _Found(splitter.split(larger), raised_by)
        except MustNotHold as problem:
            raised_by = problem.instruction
        except BaseTooSmall:
            pass
    return _Found(None, raised_by)


def _even(number: float) -> int:
    """The nearest even number, 2 at least."""
    return max(2, 2 * round(number / 2))


def _resident(machine: HasSm, threads: int, registers: int, shared: int) -> int:
    try:
        return occupancy(machine, threads, registers, shared).resident_ctas
    except PtxError:
        return 0


def _message(kernel: Function, split: "BaseSplit") -> str:
    regions, held = split.regions, sum(region >= 0 for region in split.regions.region)
    lines = ", ".join(str(kernel.line(i)) for i in sorted(regions.acquires)[:SHOWN])
    more = f" and {len(regions.acquires) - SHOWN} more" if len(regions.acquires) > SHOWN else ""
    message = (
        f"{counted(split.base, 'register')} in the base set, {split.extended} extended, held at {held} of "
        f"{counted(len(regions.region), 'instruction')}, acquired before "
        f"{'line' if len(regions.acquires) == 1 else 'lines'} {lines}{more}"
    )
    return message + (f"; {counted(split.n_moves, 'move')} between the sets" if split.n_moves else "")


def _raised(kernel: Function, found: _Found, asked: int) -> str:
    """Why the base set is larger than asked for, "" if it is not."""
    if found.split is None or found.split.base == asked:
        return ""
    i = found.raised_by
    where = f" at '{kernel.text(i)}' in line {kernel.line(i)}, where none may be held" if i >= 0 else ""
    return f"; base={asked} is too small{where}"


def refusal(kernel: Function, why: str, help: str) -> Exception:
    """The E301 about a kernel whose registers cannot be split."""
    what = f"cannot split the registers of '{kernel.name}': {why}"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
