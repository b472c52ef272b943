"""What `allocate`, `compact` and `lower-ptxplus` have in common: physical registers for every function, the claim."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ptxtool.analysis.flow.early_reads import early_reads
from ptxtool.analysis.regalloc.assignment import Assignment, TooFewRegisters, assign
from ptxtool.analysis.regalloc.bank_conflicts import as_named, bank_conflicts, banked
from ptxtool.analysis.regalloc.numbering import Order, numbered
from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.cfg.blocks import build, control_flow
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.regalloc.claim import AssignmentClaim
from ptxtool.passes.regalloc.renaming import Renamed, rename
from ptxtool.passes.regalloc.shared_slots import SharedCtas, SharedSlots, shared_slots


@dataclass(frozen=True)
class Bounds:
    """The registers and predicates that a function may use, None for any number, and whether values may spill.

    `shared`: values of kernels spill to shared memory, for these CTAs; None: to local memory. For refusals: `most` is
    the largest bound that the user can set, None for any; `advice` is about spilling.
    """

    registers: int | None = None
    predicates: int | None = None
    spill: bool = False
    most: int | None = None
    advice: str = ""
    shared: SharedCtas | None = None

    def give(self, least: int) -> str:
        """The advice for a function that needs `least`."""
        if self.most is None or least <= self.most:
            return f"give {least} or more"
        return f"no more than {self.most} can be given"


CAN_SPILL = "'spill=local' lets values spill"


def place_registers(
    module: Module, name: str, bounds: Bounds, order: Order, by_banks: bool = False
) -> PassResult:
    """The edits of a pass of that name. Raises E301, with the least bound that works, where functions do not fit.

    `by_banks` arranges registers by banks, with no more of them; it takes bounds that let no value spill.
    """
    edits: list[TextEdit] = []
    remarks: list[Remark] = []
    origins: dict[str, Sequence[int]] = {}
    threads: dict[str, int] = {}
    problems: list[Diagnostic] = []
    with paused_collector():  # hundreds of thousands of objects live until the last function is done
        for function in module.items:
            if not isinstance(function, Function) or function.body is None:
                continue
            try:
                renamed, remark, slots = _placed(function, name, bounds, order, by_banks)
            except PtxError as problem:
                problems += problem.diagnostics
                continue
            if renamed.edits:
                edits += renamed.edits
                origins[function.name] = renamed.origins
            if slots is not None:
                threads[function.name] = slots.threads
            remarks.append(remark)
            remarks += (Remark(name, text, function.name, line) for text, line in _missing_waits(function))
    if problems:
        raise PtxError(problems)
    return PassResult(tuple(edits), tuple(remarks), AssignmentClaim(origins, threads))


def _placed(
    function: Function, name: str, bounds: Bounds, order: Order, by_banks: bool
) -> tuple[Renamed, Remark, SharedSlots | None]:
    """The edits of one function, the remark, and the slots in shared memory if it has any."""
    if not function.registers and not function.registers.is_ptxplus and not by_banks:
        control_flow(function)  # E202 as for other functions
        remark = Remark(name, "0 registers in 0", function.name, function.source.line(function.start))
        return Renamed((), (), 0), remark, None
    found, slots = _assigned(function, bounds), None
    if found.n_spilled and bounds.shared is not None and function.kind == "entry":
        threads = bounds.shared.threads_of(function)
        found = _assigned(function, bounds, n_addresses=1)
        slots = shared_slots(function, found, threads)
    plain = numbered(found, order)
    assignment = banked(plain) if by_banks else plain
    renamed = rename(function, assignment, slots)
    message = describe(assignment, renamed.n_copies, slots)
    if by_banks:
        named = as_named(plain)
        before = f", {bank_conflicts(named)} before" if named else ""
        message += f"; {counted(bank_conflicts(assignment), 'register bank conflict')}{before}"
    return renamed, Remark(name, message, function.name, function.source.line(function.start)), slots


def _missing_waits(function: Function) -> Iterator[tuple[str, int]]:
    """The waits that would release registers earlier, in words, each with the line of what it would wait for."""
    if not function.at_bases("wgmma", "tcgen05"):
        return
    for read in early_reads(function, build(function)):
        line = function.line(function.instructions[read.launch])
        opcode = function.instructions[read.launch].opcode.text
        yield f"no '{read.wait}' before its results are read: '{opcode}' keeps its registers", line


def _assigned(function: Function, bounds: Bounds, n_addresses: int = 0) -> Assignment:
    """The assignment of a function within bounds, where some registers hold addresses of slots. Raises E301."""
    limit = None if bounds.registers is None else bounds.registers - n_addresses
    try:
        return assign(function, limit, bounds.predicates, bounds.spill, n_addresses > 0)
    except TooFewRegisters as problem:
        assert bounds.registers is not None, "without bounds everything has a place"
        free = assign(function)
        if bounds.spill:
            what, help = _too_few_with_spilling(function, bounds, n_addresses, free.registers)
        else:
            what, help = _too_few(bounds, bounds.registers, free)
        message = f"'{function.name}' does not fit into {what}"
        missing = next(_missing_waits(function), None)
        help += f"; in line {missing[1]}, {missing[0]}" if missing else ""
        place = function.source, function.start, function.body_start
        raise error("E301", message, *place, help=help) from problem


def _too_few(bounds: Bounds, registers: int, free: Assignment) -> tuple[str, str]:
    """The bounds that a function with the assignment `free` exceeds, and the advice, where nothing may spill."""
    taken, bound = free.registers, counted(registers, "register")
    if bounds.predicates is not None and free.predicates > bounds.predicates:
        predicates, needed = counted(bounds.predicates, "predicate"), str(free.predicates)
        if taken > registers:
            predicates, needed = f"{bound} and {predicates}", f"{taken} and {needed}"
        help = "'spill=local' keeps predicates in registers where there are too few"
        return f"{predicates} without spilling: it needs {needed}", help
    help = bounds.give(taken) + (f"; {bounds.advice}" if bounds.advice else "")
    return f"{bound} without spilling: it needs {taken}", help


def _too_few_with_spilling(
    function: Function, bounds: Bounds, n_addresses: int, enough: int
) -> tuple[str, str]:
    """The same where values may spill; `enough` registers are enough for all of them, without any for addresses."""
    registers = bounds.registers or 0
    least = n_addresses + _least(
        function, bounds.predicates, registers - n_addresses, enough, n_addresses > 0
    )
    is_possible = bounds.most is None or least <= bounds.most
    help = bounds.give(least) + ("" if is_possible else ": split what needs so many at once")
    return f"{counted(registers, 'register')}: it needs {least}", help


def _least(function: Function, predicates: int | None, low: int, high: int, by_words: bool) -> int:
    """The least number of registers into which a function fits with spilling: not into `low`, surely into `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        try:
            assign(function, middle, predicates, by_words=by_words)
            high = middle
        except TooFewRegisters:
            low = middle
    return high


def describe(assignment: Assignment, n_copies: int, slots: SharedSlots | None = None) -> str:
    """The result of an assignment, in one line."""
    n_names = len(set(assignment.ranges.register))
    parts = [f"{counted(n_names, 'register')} in {assignment.registers + (slots is not None)}"]
    if assignment.predicates:
        parts[0] += f" and {counted(assignment.predicates, 'predicate')}"
    for n, what in (
        (n_copies, ("copy dropped", "copies dropped")),
        (
            assignment.n_rematerialised,
            ("constant computed where it is read", "constants computed where they are read"),
        ),
        (len(assignment.spills.word), ("predicate kept as a word", "predicates kept as words")),
    ):
        if n:
            parts.append(counted(n, *what))
    if assignment.n_spilled:
        spilled = counted(assignment.n_spilled, "value")
        where = f"{assignment.frame_bytes} bytes of local memory"
        if slots is not None:
            where = f"{slots.n_bytes} bytes of shared memory ({counted(slots.threads, 'thread')})"
        parts.append(f"{spilled} spilled to {where}")
    return "; ".join(parts)
