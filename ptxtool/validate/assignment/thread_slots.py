"""Slots in shared memory that only one thread accesses: where demoted registers are.

For the check of register assignment. A pass that demotes registers may add one `.shared` variable of 4 * N * n bytes to
a kernel whose CTAs have at most N threads (`.reqntid`, `.maxntid`), and code at its very start that computes, in a
register which nothing else writes,

    base = address of the variable + 4 * (tid.x + ntid.x * (tid.y + ntid.y * tid.z))

The code is evaluated as a polynomial over the special registers, so its form is free. Slot r of a thread is then the
word `[base + 4 * N * r]`: different threads have different linear numbers below N, so no two share a word. The name of
the variable is new in the text, so no instruction of the original has its address.

PTXPlus addresses shared memory by numbers. There the address of the variable is the first byte after those that the
original uses (`ptxtool.analysis.demotion.own_shared`), and its declaration makes a CTA's shared memory larger by its
size.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from ptxtool.analysis.demotion.own_shared import first_beyond, own_bytes
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Declaration, Function, Immediate, Instruction, Name, Operand
from ptxtool.validate.assignment.places import Slot, declares_bytes, is_new_name, plain_address

VARIABLE = "__ptxtool_demoted"
"""The variable of the slots; others of the name have a suffix."""
_NAME = re.compile(rf"{VARIABLE}\w*")
Extent = tuple[int, int, int]
Monomial = tuple[str, ...]
Polynomial = Mapping[Monomial, int]
"""The coefficient of every product of symbols, modulo 2**32; the product of none is the constant term."""


class ThreadSlots(NamedTuple):
    """Words of every thread: `number` of them, at multiples of `stride` bytes from the register `base` on.

    The first `entry` instructions compute the base.
    """

    variable: str
    base: int
    stride: int
    number: int
    entry: int

    def slot(self, operand: Operand, bits: int, base: int) -> Slot | None:
        """The slot that an address means whose base register is `base`; None for any other memory."""
        address = plain_address(operand)
        if address is None or base != self.base or bits > 32 or address[1] % self.stride:
            return None
        k = address[1] // self.stride
        return Slot(self.variable, 4 * k, bits // 8) if 0 <= k < self.number else None


def is_slots(statement: object, before: Function) -> bool:
    """Whether a statement of the new text declares slots of threads that `before` has not."""
    return declares_slots(statement) and is_new_name(statement.declarators[0].name, before)


def declares_slots(statement: object) -> TypeGuard[Declaration]:
    """Whether a statement declares a variable such as slots of threads are in."""
    if not declares_bytes(statement, "shared", _NAME):
        return False
    return len(statement.declarators) == 1 and (statement.align or 1) % 4 == 0


def slots_of_threads(
    before: Function, after: Function, origins: Sequence[int], threads: int, dynamic_shared: int = 0
) -> ThreadSlots | str:
    """The slots of a kernel for CTAs of at most so many threads; what is wrong where there are none.

    `dynamic_shared` are the bytes that PTXPlus has from its launches.
    """
    bound = block_bound(after)
    if after.kind != "entry" or threads < 1 or bound is None or bound.threads > threads:
        return f"CTAs of '{after.name}' may have more than {threads} threads"
    declared = [s for s in after.body or () if isinstance(s, Declaration) and is_slots(s, before)]
    if len(declared) != 1:
        return f"'{after.name}' has {len(declared)} variables for demoted registers"
    (declarator,) = declared[0].declarators
    size, stride = declarator.dimensions[0] or 0, 4 * threads
    extent = bound.extent if bound.is_exact else None
    start: Polynomial = {(declarator.name,): 1}
    if before.registers.is_ptxplus:
        problem = _problem_of_numbers(before, after, size, dynamic_shared)
        if problem:
            return problem
        start = {(): own_bytes(before, dynamic_shared)}
    found = EntryCode(after, extent).base(origins, slot_address(start, extent).__eq__)
    if found is None:
        return f"'{after.name}' does not begin with the address of a thread's slots in '{declarator.name}'"
    base, entry = found
    for j, step in enumerate(after.def_uses):
        if j >= entry and base in step.defs:
            return f"'{after.text(j)}' overwrites the address of the slots"
    return ThreadSlots(declarator.name, base, stride, size // stride, entry)


def _problem_of_numbers(before: Function, after: Function, size: int, dynamic_shared: int) -> str:
    """Why the bytes after those of the original are not the slots'; "" if they are."""
    beyond = first_beyond(before, dynamic_shared)
    if beyond is not None:
        return f"'{before.text(beyond)}' may access the shared memory of the slots"
    old, new = shared_layout(before), shared_layout(after)
    places = {(v.name, v.offset, v.size) for v in new.variables}
    is_moved = any((v.name, v.offset, v.size) not in places for v in old.variables if v.size)
    if is_moved or new.bytes < old.bytes + size:
        return f"the slots of '{after.name}' are not after its other variables"
    return ""


class EntryCode:
    """The values of the registers that the inserted code at the start of a function writes."""

    def __init__(self, after: Function, extent: Extent | None):
        self._after, self._extent = after, extent
        self.values: dict[int, Polynomial] = {}

    def base(self, origins: Sequence[int], is_wanted: Callable[[Polynomial], bool]) -> tuple[int, int] | None:
        """The register that this code leaves a wanted value in, and the number of its instructions."""
        for j, (origin, node) in enumerate(zip(origins, self._after.instructions, strict=True)):
            to = node.operands[0] if node.operands else None
            value = self._result(node, j)
            if origin >= 0 or value is None or node.guard is not None or not isinstance(to, Name) or to.part:
                return None
            register = self._after.registers.resolve(to.text, j)
            if register is None or register.bits != 32 or register.vector != 1:
                return None
            self.values[register.index] = value
            if is_wanted(value):
                return register.index, j + 1
        return None

    def _result(self, node: Instruction, j: int) -> Polynomial | None:
        """What an instruction computes, None if it has no such meaning."""
        sources: list[Polynomial] = []
        for operand in node.operands[1:]:
            value = self._operand(operand, j)
            if value is None:
                return None
            sources.append(value)
        match node.opcode.text, sources:
            case "mov.u32" | "mov.b32" | "mov.s32", [value]:
                return value
            case "add.u32" | "add.s32", [a, b]:
                return _sum(a, b)
            case "mul.lo.u32" | "mul.lo.s32", [a, b]:
                return _product(a, b)
            case "mad.lo.u32" | "mad.lo.s32", [a, b, c]:
                return _sum(_product(a, b), c)
            case "shl.b32", [a, b] if b.keys() == {()} and b[()] < 32:
                return _product(a, {(): 1 << b[()]})
        return None

    def _operand(self, operand: Operand, j: int) -> Polynomial | None:
        if isinstance(operand, Immediate):
            number = constant(operand).number
            return _reduced({(): number}) if isinstance(number, int) else None
        if not isinstance(operand, Name):
            return None
        register = self._after.registers.resolve_index(operand.text, j)
        if register >= 0:
            return None if operand.part else self.values.get(register)
        symbol = f"{operand.text}.{operand.part}" if operand.part else operand.text
        return _symbol(symbol, self._extent) if symbol[0] == "%" or _NAME.fullmatch(symbol) else None


def _symbol(symbol: str, extent: Extent | None) -> Polynomial:
    """A special register or an address; the extents of a CTA of known form are numbers, thread ids below 1 are 0."""
    kind, _, axis = symbol.partition(".")
    if extent is not None and kind in ("%tid", "%ntid") and axis in ("x", "y", "z"):
        length = extent["xyz".index(axis)]
        if kind == "%ntid" or length == 1:
            return _reduced({(): length if kind == "%ntid" else 0})
    return {(symbol,): 1}


def slot_address(start: Polynomial, extent: Extent | None) -> Polynomial:
    """The address of a thread's slot 0, from that of the slots on."""
    x, y, z = (_symbol(f"%tid.{axis}", extent) for axis in "xyz")
    nx, ny = (_symbol(f"%ntid.{axis}", extent) for axis in "xy")
    linear = _sum(x, _product(nx, _sum(y, _product(ny, z))))
    return _sum(start, _product({(): 4}, linear))


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    return _reduced({term: a.get(term, 0) + b.get(term, 0) for term in {*a, *b}})


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    found: dict[Monomial, int] = {}
    for x, n in a.items():
        for y, m in b.items():
            term = tuple(sorted((*x, *y)))
            found[term] = found.get(term, 0) + n * m
    return _reduced(found)


def _reduced(polynomial: Polynomial) -> Polynomial:
    return {term: n % 2**32 for term, n in polynomial.items() if n % 2**32}
