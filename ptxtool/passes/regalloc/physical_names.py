"""Names for physical registers in the text of a function: the inverse of `ptxtool.analysis.regalloc.physical`.

If a variable, parameter or label has such a name, an underscore follows the prefix: `%r_5`. If the name of the variable
for spilled values is taken, a number follows it: `__ptxtool_spill1`.
"""

import re
from collections.abc import Container, Iterator, Mapping
from functools import cached_property
from itertools import chain, count

from ptxtool.ir.nodes import Declaration, Function, Label

_PREFIXES = {1: "%p", 8: "%rb", 16: "%rs", 32: "%r", 64: "%rd", 128: "%rq"}
_TYPES = {1: "pred", 8: "b8", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}
_SPILLS = "__ptxtool_spill"
_PREFIXED = re.compile(r"(%\w*?)[0-9]+")


class PhysicalNames:
    """Names of physical registers: `%r5`, `%rd2` (units 4 and 5), `%p0`; `$r5`, `$ofs1`, `$p0` in PTXPlus."""

    def __init__(self, function: Function):
        self.is_ptxplus = function.registers.is_ptxplus
        self._function = function
        taken = {m[1] for name in local_names(function) if (m := _PREFIXED.fullmatch(name))}
        of_module = function.module.number_prefixes
        self._prefixes = {bits: _free(prefix, taken, of_module) for bits, prefix in _PREFIXES.items()}

    def of(self, file: str, bits: int, unit: int) -> str:
        """The name of a value of that width in a file."""
        if self.is_ptxplus:
            return {"address": "$ofs", "predicate": "$p"}.get(file, "$r") + str(unit)
        return f"{self._prefixes[bits]}{unit // (bits // 32) if bits > 32 else unit}"

    @cached_property
    def spills(self) -> str:
        """The variable in local memory that holds spilled values of PTX, with a name that the text does not have."""
        return unused_name(self._function, _SPILLS)

    def declarations(self, used: Mapping[int, int]) -> list[str]:
        """The declarations of PTX registers: per width the number of names."""
        return [f".reg .{_TYPES[bits]} {self._prefixes[bits]}<{n}>;" for bits, n in sorted(used.items()) if n]


class DeclaredNames:
    """Names of a function's own registers, whose indices are the units; their declarations stay."""

    def __init__(self, function: Function):
        self._registers = function.registers
        self.is_ptxplus = function.registers.is_ptxplus

    def of(self, file: str, bits: int, unit: int) -> str:
        return self._registers.name_of(unit)


class Spelling(dict[int, str]):
    """The names of units for values of one file and width: unit -> name, for those that were looked up."""

    def __init__(self, names: PhysicalNames | DeclaredNames, file: str, bits: int):
        super().__init__()
        self._names = names
        self._file = file
        self.bits = bits

    def __missing__(self, unit: int) -> str:
        name = self[unit] = self._names.of(self._file, self.bits, unit)
        return name

    @property
    def n_names(self) -> int:
        """The number of registers of that width to declare for these names."""
        return max(self) // max(1, self.bits // 32) + 1 if self else 0


def _free(prefix: str, *taken: Container[str]) -> str:
    while any(prefix in some for some in taken):
        prefix += "_"
    return prefix


def unused_name(function: Function, stem: str) -> str:
    """A name for a variable that the text does not have: the stem, or the stem with a number."""
    taken, of_module = {*local_names(function)}, function.module.names
    candidates = chain([stem], map(f"{stem}{{}}".format, count(1)))
    return next(name for name in candidates if name not in taken and name not in of_module)


def local_names(function: Function) -> Iterator[str]:
    """The names that a function declares and that are no registers of the body."""
    for declaration in (*function.params, *function.returns):
        yield from (d.name for d in declaration.declarators)
    for _, statement in function.other_statements:
        if type(statement) is Label:
            yield statement.name
        elif type(statement) is Declaration and statement.space != "reg":
            yield from (d.name for d in statement.declarators)
