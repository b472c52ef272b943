"""Inlining: a kernel and all functions it calls as one sequence of instructions.

For `select.py`. PTX passes arguments through `.param` variables: the caller stores to `param0`, the callee loads its
formal parameter, which becomes another name of the same variable; results are returned likewise. Here a variable is
divided into the pieces that instructions access, each a value like a register. `.reg` parameters are copied.

Refused by name (`Refusal`): recursion, calls through a register, functions without a body, pieces that overlap.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import msgspec

from ptxtool.ir import nodes
from ptxtool.ir.symbols import Register
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import BranchTarget
from ptxtool.sema.calls import parts

MAX_DEPTH = 64


class Refusal(Exception):
    """Why an instruction cannot be lowered, as text for the user."""


class ValueKey(msgspec.Struct, frozen=True, gc=False):
    """A PTX register of one activation of a function, or a piece of a `.param` variable."""

    owner: int
    index: int
    bits: int
    is_predicate: bool = False


class ParamVariable:
    """A `.param` variable that passes arguments or results; `pieces` are its accessed parts by offset."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.pieces: dict[int, ValueKey] = {}

    def piece(self, offset: int, n_bytes: int) -> ValueKey:
        """The part at an offset. Raises `Refusal` where it overlaps another one."""
        found = self.pieces.get(offset)
        ends = ((start, start + other.bits // 8) for start, other in self.pieces.items())
        if found is None and not any(start < offset + n_bytes and offset < end for start, end in ends):
            found = self.pieces[offset] = ValueKey(-self.number, offset, 8 * n_bytes)
        if found is None or found.bits != 8 * n_bytes:
            raise Refusal(f"'{self.name}' is accessed in pieces that overlap")
        return found


@dataclass
class Activation:
    """One inlined call of a function; the kernel itself has number 0."""

    number: int
    function: nodes.Function
    parameters: dict[str, ParamVariable] = field(default_factory=dict)
    _by_name: dict[str, ValueKey | None] = field(default_factory=dict)  # of names with one meaning everywhere
    _by_index: dict[int, ValueKey] = field(default_factory=dict)
    _kinds: dict[int, tuple[int, bool]] = field(default_factory=dict)  # by declarator: bits, is a predicate

    @property
    def end(self) -> Hashable:
        """The point after its last instruction."""
        return (self.number, len(self.function.instructions))

    def key(self, name: str, index: int) -> ValueKey | None:
        """The value that a name means at an instruction of the function; None for what is no register."""
        try:
            return self._by_name[name]
        except KeyError:
            registers = self.function.registers
            register = registers.resolve_index(name, index)
            key = None if register < 0 else self.key_of(register)
            if registers.everywhere[name] is not None:
                self._by_name[name] = key
            return key

    def key_of(self, register: int) -> ValueKey:
        """The value of a register of the function, by its index."""
        key = self._by_index.get(register)
        if key is None:
            declarator = self.function.registers.declarator_of(register)
            kind = self._kinds.get(declarator)
            if kind is None:
                found = self.function.registers[register]
                kind = self._kinds[declarator] = found.bits, found.is_predicate
            key = self._by_index[register] = ValueKey(self.number, register, *kind)
        return key

    @cached_property
    def has_vectors(self) -> bool:
        """Whether the function declares registers of vector type."""
        declared = (s for _, s in self.function.other_statements if isinstance(s, nodes.Declaration))
        both = (*self.function.params, *self.function.returns, *declared)
        return any(d.space == "reg" and d.vector > 1 for d in both)


class InlinedInstruction(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One instruction in one activation; `index` is its index in its function."""

    activation: Activation
    index: int
    instruction: nodes.Instruction
    match: Match | None
    variables: dict[str, ParamVariable]

    def register(self, name: str) -> Register | None:
        return self.activation.function.registers.resolve(name, self.index)

    def key(self, name: str) -> ValueKey | None:
        """The value that a register's name means here; None for anything else."""
        return self.activation.key(name, self.index)

    def key_of(self, operand: nodes.Operand) -> ValueKey | None:
        """The value that an operand names, None for what is no register."""
        return self.activation.key(operand.text, self.index) if type(operand) is nodes.Name else None

    def wide_key(self, name: str) -> ValueKey | None:
        """The same where the value has 64 bits."""
        key = self.activation.key(name, self.index)
        return key if key is not None and key.bits == 64 else None


@dataclass(frozen=True)
class ParameterCopy:
    """A copy of a piece of an argument or result, from or to an operand of the instruction `at`."""

    at: InlinedInstruction
    piece: ValueKey
    operand: nodes.Operand
    type: str
    is_store: bool


@dataclass(frozen=True)
class CallSkip:
    """A branch around an inlined body, taken where the guard of the call `at` is false."""

    at: InlinedInstruction
    target: Hashable


FlatItem = InlinedInstruction | ParameterCopy | CallSkip | BranchTarget


class _Flattener:
    def __init__(self) -> None:
        self.items: list[FlatItem] = []
        self.refused: list[tuple[InlinedInstruction, str]] = []
        self._activation_numbers = count()
        self._variable_numbers = count(1)
        self._active: list[str] = []

    def activation(self, function: nodes.Function) -> Activation:
        return Activation(next(self._activation_numbers), function)

    def _variable(self, name: str) -> ParamVariable:
        return ParamVariable(next(self._variable_numbers), name)

    def append(self, activation: Activation) -> None:
        """Append a function's instructions, its calls inlined."""
        function = activation.function
        self._active.append(function.name)
        targets = set(function.label_table.targets())
        scopes: list[dict[str, ParamVariable]] = [dict(activation.parameters)]
        index, match_of = 0, table().match
        for statement in function.body or ():
            if type(statement) is nodes.Instruction:
                if index in targets:
                    self.items.append(BranchTarget((activation.number, index)))
                match = match_of(statement.opcode.text, len(statement.operands), False)
                inlined = InlinedInstruction(activation, index, statement, match, scopes[-1])
                try:
                    self._expand(inlined)
                except Refusal as refusal:
                    self.refused.append((inlined, str(refusal)))
                index += 1
            elif isinstance(statement, nodes.ScopeOpen):
                scopes.append(dict(scopes[-1]))
            elif isinstance(statement, nodes.ScopeClose) and len(scopes) > 1:
                scopes.pop()
            elif isinstance(statement, nodes.Declaration) and statement in function.parameters:
                continue
            elif isinstance(statement, nodes.Declaration) and statement.space == "param":
                for declarator in statement.declarators:
                    scopes[-1][declarator.name] = self._variable(declarator.name)
        self.items.append(BranchTarget(activation.end))
        self._active.pop()

    def _expand(self, inlined: InlinedInstruction) -> None:
        opcode = inlined.instruction.opcode
        if opcode.base == "call":
            self._call(inlined)
        elif opcode.base in ("st", "ld") and any(m.startswith("param") for m in opcode.modifiers):
            self.items += _copies(inlined) or [inlined]
        else:
            self.items.append(inlined)

    def _call(self, inlined: InlinedInstruction) -> None:
        """Append the callee's instructions."""
        called = parts(inlined.instruction)
        name = called.target.text if called is not None else ""
        callee = inlined.activation.function.module.functions.get(name)
        if called is None or callee is None:
            raise Refusal(f"the call goes through '{name}': only calls of named functions can be inlined")
        if callee.body is None:
            raise Refusal(f"'{name}' has no body in this file")
        if name in self._active or len(self._active) > MAX_DEPTH:
            raise Refusal(f"'{name}' calls itself: PTXPlus has no stack for its registers")
        activation = self.activation(callee)
        entering = list(self._passed(inlined, activation, callee.params, called.arguments, True))
        leaving = list(self._passed(inlined, activation, callee.returns, called.results, False))
        after = (activation.number, "after")
        if inlined.instruction.guard is not None:
            self.items.append(CallSkip(inlined, after))
        self.items += entering
        self.append(activation)
        self.items += leaving
        self.items.append(BranchTarget(after))

    def _passed(
        self,
        inlined: InlinedInstruction,
        activation: Activation,
        formals: tuple[nodes.Declaration, ...],
        actuals: tuple[nodes.Operand, ...],
        is_entering: bool,
    ) -> Iterator[ParameterCopy]:
        """Name the callee's parameters; copies of those that are registers here or there."""
        named = [(f, d) for f in formals for d in f.declarators]
        if len(named) != len(actuals):
            raise Refusal(f"the call passes {len(actuals)} values where {len(named)} are declared")
        for (formal, declarator), actual in zip(named, actuals, strict=True):
            name = declarator.name
            variable = inlined.variables.get(actual.text) if isinstance(actual, nodes.Name) else None
            if formal.space == "param" and variable is not None:
                activation.parameters[name] = variable
                continue
            is_value = isinstance(actual, nodes.Immediate) or (
                isinstance(actual, nodes.Name) and inlined.key(actual.text)
            )
            if not is_value or declarator.dimensions or formal.vector > 1:
                raise Refusal(f"'{name}' is passed in a way that cannot be inlined")
            if formal.space == "param":
                bits = TYPES[formal.type].bits
                activation.parameters[name] = variable = self._variable(name)
                yield ParameterCopy(inlined, variable.piece(0, bits // 8), actual, f"b{bits}", is_entering)
                continue
            key = activation.key(name, 0)
            assert key is not None, "what is no variable is a register"
            yield ParameterCopy(inlined, key, actual, f"b{max(16, key.bits)}", is_entering)


def _copies(inlined: InlinedInstruction) -> list[ParameterCopy]:
    """The copies of an access to a `.param` variable of a call; none for the kernel's own parameters."""
    instruction, match = inlined.instruction, inlined.match
    is_store = instruction.opcode.base == "st"
    if match is None or len(instruction.operands) != 2:
        return []
    memory, operand = instruction.operands if is_store else instruction.operands[::-1]
    if not isinstance(memory, nodes.Memory) or not isinstance(memory.base, nodes.Name):
        return []
    variable = inlined.variables.get(memory.base.text)
    if variable is None:
        return []
    offset = 0
    if memory.offset is not None:
        if not isinstance(memory.offset, nodes.Immediate):
            raise Refusal("an argument is accessed at an offset that is no number")
        offset = integer(memory.offset.text)
    n_bytes = TYPES[match.type].bytes
    elements = operand.items if isinstance(operand, nodes.Vector) else (operand,)
    return [
        ParameterCopy(inlined, variable.piece(offset + k * n_bytes, n_bytes), element, match.type, is_store)
        for k, element in enumerate(elements)
    ]


def flatten(kernel: nodes.Function) -> tuple[list[FlatItem], list[tuple[InlinedInstruction, str]]]:
    """The instructions of a kernel in order, and those that cannot be inlined, each with the reason."""
    flattener = _Flattener()
    flattener.append(flattener.activation(kernel))
    return flattener.items, flattener.refused
