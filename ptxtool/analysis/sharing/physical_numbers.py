"""The numbers of virtual registers under register sharing: those of the physical registers that they are assigned.

Sharing divides a thread's registers by number: the first are private, the others shared by a pair of warps. PTXPlus
and PTX after `allocate` number registers in order of declaration. Virtual registers are many more than a thread has, so
that almost all would count as shared. Their values are assigned to physical registers, as few as possible, in order of
first use; a value has the number of its last unit, from 1:

    number(value) = base(function) + unit(value) + units(value)

`base` is 0 for a kernel, and for a function that it calls the unit at which its registers begin (`register_need.py`).
Predicates are in a file of their own, which is not shared: number 0. The text is not changed.

Not handled: spilling (E301 where the run takes fewer registers than the assignment needs).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.regalloc.numbering import numbered
from ptxtool.analysis.regalloc.register_need import CalledFunctions
from ptxtool.analysis.sharing.shared_registers import is_virtual
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function

Numbers = tuple[Mapping[int, int], ...]
"""Per instruction, the number of every register that it names, by the register's index."""


@dataclass(frozen=True)
class PhysicalNumbers:
    """The numbers of a kernel's registers and of those of the functions it calls, by the function's name.

    `declared` registers of the kernel are in `registers` physical ones per thread, its calls included. `last` is the
    last register of the run: functions that only calls through registers reach are numbered as if they used it.
    """

    declared: int
    registers: int
    last: int
    functions: Mapping[str, Numbers] = field(repr=False)

    def number(self, function: str, instruction: int, register: int) -> int:
        """The number of a register, by its index in its function, at an instruction that names it."""
        numbers = self.functions.get(function)
        return self.last if numbers is None else numbers[instruction].get(register, 0)

    def highest(self, function: str, instruction: int, named: bool) -> int:
        """The highest number at an instruction; `named`: it names a register."""
        numbers = self.functions.get(function)
        if numbers is None:
            return self.last if named else 0
        return max(numbers[instruction].values(), default=0)


def physical_numbers(kernel: Function, registers: int) -> PhysicalNumbers | None:
    """The numbers for a run with so many registers per thread; None where the text's registers are physical already.

    Raises `PtxError`: E202, an undeclared label; E301, where the values need more registers than the run takes, and for
    registers of vector type.
    """
    if not is_virtual(kernel, registers):
        return None
    called = CalledFunctions(kernel)
    need = called.result().registers
    if need > registers:
        what = f"'{kernel.name}' has virtual registers that need {need} physical ones, and the run takes {registers}"
        help = (
            f"give the run {need} registers per thread or more (--registers), or share the registers as the text "
            "numbers them (--as-written, allocate=False)"
        )
        raise error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
    bases = called.bases()
    return PhysicalNumbers(
        len(kernel.registers),
        need,
        registers,
        {name: _numbers(assignment, bases[name]) for name, assignment in called.assignments().items()},
    )


def _numbers(assignment: Assignment, base: int) -> Numbers:
    """The numbers of one function's registers, after `base` units."""
    placed = numbered(assignment, "first-use")
    ranges, spills = placed.ranges, placed.spills
    numbers: Numbers = tuple({} for _ in ranges.def_uses)
    webs, instructions, _ = ranges.mentions
    for web, i in zip(webs.tolist(), instructions.tolist(), strict=True):
        value = spills.at(web, i)
        file = spills.file(value)
        number = 0
        if file == "head":
            number = base + placed.registers  # after the others
        elif file == "general":
            number = base + placed.unit[value] + int(spills.values.width[value])
        k = ranges.register[web]
        numbers[i][k] = max(number, numbers[i].get(k, 0))
    return numbers
