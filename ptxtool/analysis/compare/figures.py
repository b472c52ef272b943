"""The figures of a kernel that a change can make better or worse: its size, resources and kinds of instructions.

For the comparison of kernels. Registers are counted in 32-bit units as `pressure` does. `shared_bytes` and
`local_bytes` are of the variables that the kernel declares or names, `param_bytes` of its parameters, laid out in
order with the alignment of their declarations; an array without a size takes no bytes. In PTXPlus `ptxas` has resolved
shared variables to addresses: only declared ones count.

Reference: PTX ISA, section 5.4 (variables, alignment).
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property

from ptxtool.analysis.flow.pressure import Pressure, file_of, pressure
from ptxtool.base.bits import indices
from ptxtool.ir.nodes import Declaration, Function
from ptxtool.ir.symbols import Register, RegisterTable
from ptxtool.ir.variables import alignment_of, declared_size, round_up
from ptxtool.isa.table import table

UNKNOWN = "unknown"
"""The class of instructions that are not in the table."""


@dataclass(frozen=True)
class Figures:
    """The figures of one kernel, in the order in which a report shows them."""

    instructions: int
    loads: int
    stores: int
    atomics: int
    branches: int
    barriers: int
    registers_declared: int
    registers_used: int
    live_registers: int
    predicates_used: int
    live_predicates: int
    shared_bytes: int
    local_bytes: int
    param_bytes: int

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


_EFFECTS = {
    "loads": "load",
    "stores": "store",
    "atomics": "atomic",
    "branches": "branch",
    "barriers": "barrier",
}


@dataclass(frozen=True, eq=False)
class MeasuredKernel:
    """A kernel with its figures, each computed once."""

    kernel: Function

    @cached_property
    def pressure(self) -> Pressure:
        """Per warp."""
        return pressure(self.kernel)

    @cached_property
    def used(self) -> frozenset[int]:
        """The indices of the registers that some instruction names."""
        return frozenset(k for step in self.kernel.def_uses for k in step.touched)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Per instruction, its family in the instruction table."""
        return tuple(family for family, _ in self._rows)

    @cached_property
    def _rows(self) -> list[tuple[str, frozenset[str]]]:
        ptxplus, instructions = self.kernel.registers.is_ptxplus, self.kernel.instructions
        matches = (table().match(i.opcode.text, len(i.operands), ptxplus) for i in instructions)
        return [(m.form.family, m.form.effects) if m else (UNKNOWN, frozenset()) for m in matches]

    @cached_property
    def figures(self) -> Figures:
        registers = self.kernel.registers
        effects = Counter(effect for _, row in self._rows for effect in row)
        counts = {name: effects[effect] for name, effect in _EFFECTS.items()}
        used = [registers[k] for k in sorted(self.used)]
        return Figures(
            instructions=len(self.kernel.instructions),
            **counts,
            registers_declared=_declared_units(registers),
            registers_used=_units(used),
            live_registers=self.pressure.maximum,
            predicates_used=sum(r.is_predicate for r in used),
            live_predicates=self.pressure.max_predicates,
            shared_bytes=_laid_out(_variables(self.kernel, ("shared", "sstarr"))),
            local_bytes=_laid_out(_variables(self.kernel, ("local",))),
            param_bytes=_laid_out(self.kernel.parameters),
        )


def _units(registers: Iterable[Register]) -> int:
    return sum(register.units for register in registers if file_of(register) == "general")


def _declared_units(registers: RegisterTable) -> int:
    """The same of all registers, one of each declarator looked at: a range may have billions."""
    special = set(indices(registers.special_bits))  # which count as none
    units = 0
    for alike in registers.by_declarator(range(len(registers))):
        plain = next((k for k in alike if k not in special), None)
        if plain is not None:
            units += _units([registers[plain]]) * (len(alike) - sum(k in alike for k in special))
    return units


_NAME = re.compile(r"[A-Za-z_$%][\w$]*")


def _variables(kernel: Function, spaces: tuple[str, ...]) -> list[Declaration]:
    """The kernel's own variables of some spaces, and those of its module that its instructions name."""
    text = kernel.source.text
    named = {name for i in kernel.instructions for name in _NAME.findall(text, i.start, i.end)}
    own = [s for s in kernel.body or () if isinstance(s, Declaration)]
    outer = [d for d in kernel.module.declarations() if any(v.name in named for v in d.declarators)]
    return [d for d in (*outer, *own) if d.space.partition("::")[0] in spaces]


def _laid_out(declarations: Iterable[Declaration]) -> int:
    """The bytes of variables laid out in order, each aligned."""
    end = 0
    for declaration in declarations:
        for declarator in declaration.declarators:
            end = round_up(end, alignment_of(declaration)) + declared_size(declaration, declarator)
    return end
