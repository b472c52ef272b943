"""A kernel with the functions it calls put in their places: one sequence of steps.

For `select.py`. PTX passes arguments through `.param` variables: the caller stores to `param0`, the callee loads its
formal parameter, which becomes another name of the same variable; results go back likewise. Here a variable is
cut into the pieces that instructions access, each a value like a register. `.reg` parameters are copied.

Refused by name (`Refusal`): recursion, calls through a register, functions without a body, pieces that overlap.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from ptxtool.ir.nodes import (
    Declaration,
    Function,
    Group,
    Immediate,
    Instruction,
    Memory,
    Name,
    Operand,
    ScopeClose,
    ScopeOpen,
    Vector,
)
from ptxtool.ir.symbols import Register
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import Mark

MAX_DEPTH = 64


class Refusal(Exception):
    """Why an instruction cannot be lowered, in words that its user understands."""


@dataclass(frozen=True)
class Key:
    """A PTX register of one activation of a function, or a piece of a `.param` variable."""

    owner: int
    index: int
    bits: int
    is_predicate: bool = False


class Variable:
    """A `.param` variable that passes arguments or results; `pieces` are its accessed parts by offset."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.pieces: dict[int, Key] = {}

    def piece(self, offset: int, n_bytes: int) -> Key:
        """The part at an offset. Raises `Refusal` where it overlaps another one."""
        found = self.pieces.get(offset)
        if found is None:
            for start, other in self.pieces.items():
                if start < offset + n_bytes and offset < start + other.bits // 8:
                    raise Refusal(f"'{self.name}' is accessed in pieces that overlap")
            found = self.pieces[offset] = Key(-self.number, offset, 8 * n_bytes)
        if found.bits != 8 * n_bytes:
            raise Refusal(f"'{self.name}' is accessed in pieces that overlap")
        return found


@dataclass
class Frame:
    """One activation of a function; the kernel's has number 0."""

    number: int
    function: Function
    parameters: dict[str, Variable] = field(default_factory=dict)

    @property
    def end(self) -> Hashable:
        """The place behind its last instruction."""
        return (self.number, len(self.function.instructions))


@dataclass(frozen=True)
class Step:
    """One instruction in one activation; `index` is its place in its function."""

    frame: Frame
    index: int
    instruction: Instruction
    match: Match | None
    variables: dict[str, Variable]

    def register(self, name: str) -> Register | None:
        return self.frame.function.registers.resolve(name, self.index)

    def key(self, name: str) -> Key | None:
        """The value that a register's name means here; None for anything else."""
        register = self.register(name)
        if register is None:
            return None
        return Key(self.frame.number, register.index, register.bits, register.is_predicate)

    def wide_key(self, name: str) -> Key | None:
        key = self.key(name)
        return key if key is not None and key.bits == 64 else None


@dataclass(frozen=True)
class Copy:
    """A part of an argument or result that moves: from or to an operand of a step."""

    step: Step
    piece: Key
    operand: Operand
    type: str
    is_store: bool


@dataclass(frozen=True)
class Skip:
    """A branch around what stands in the place of a call, where the call's guard is false."""

    step: Step
    target: Hashable


Item = Step | Copy | Skip | Mark


@dataclass(frozen=True)
class Trouble:
    """A step that cannot be flattened, and why."""

    step: Step
    reason: str


class _Flattener:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self.troubles: list[Trouble] = []
        self._frames = 0
        self._variables = 0
        self._active: list[str] = []

    def frame(self, function: Function) -> Frame:
        self._frames += 1
        return Frame(self._frames - 1, function)

    def variable(self, name: str) -> Variable:
        self._variables += 1
        return Variable(self._variables, name)

    def function(self, frame: Frame) -> None:
        """Append a function's steps, its calls expanded."""
        function = frame.function
        self._active.append(function.name)
        targets = set(function.label_table.targets())
        scopes: list[dict[str, Variable]] = [dict(frame.parameters)]
        index = 0
        for statement in function.body or ():
            if isinstance(statement, ScopeOpen):
                scopes.append(dict(scopes[-1]))
            elif isinstance(statement, ScopeClose) and len(scopes) > 1:
                scopes.pop()
            elif isinstance(statement, Declaration) and statement in function.parameters:
                continue
            elif isinstance(statement, Declaration) and statement.space == "param":
                for declarator in statement.declarators:
                    scopes[-1][declarator.name] = self.variable(declarator.name)
            elif isinstance(statement, Instruction):
                if index in targets:
                    self.items.append(Mark((frame.number, index)))
                match = table().match(statement.opcode.text, len(statement.operands), False)
                step = Step(frame, index, statement, match, scopes[-1])
                try:
                    self.items += self._expanded(step)
                except Refusal as refusal:
                    self.troubles.append(Trouble(step, str(refusal)))
                index += 1
        self.items.append(Mark(frame.end))
        self._active.pop()

    def _expanded(self, step: Step) -> Iterator[Item]:
        instruction = step.instruction
        base = instruction.opcode.base
        if base == "call":
            self._call(step)
        elif base in ("st", "ld") and any(m.startswith("param") for m in instruction.opcode.modifiers):
            copies = _copies(step)
            if copies is None:
                yield step
            else:
                yield from copies
        else:
            yield step

    def _call(self, step: Step) -> None:
        """Put the callee's steps here."""
        groups = [o for o in step.instruction.operands if isinstance(o, Group)]
        operands = step.instruction.operands
        place = 1 if operands and isinstance(operands[0], Group) else 0
        target = operands[place] if place < len(operands) else None
        name = target.text if isinstance(target, Name) else ""
        callee = step.frame.function.module.functions.get(name)
        if callee is None:
            raise Refusal(
                f"the call goes through '{name}': only calls of named functions can be put in place"
            )
        if callee.body is None:
            raise Refusal(f"'{name}' has no body in this file")
        if name in self._active or len(self._active) > MAX_DEPTH:
            raise Refusal(f"'{name}' calls itself: PTXPlus has no stack for its registers")
        frame = self.frame(callee)
        results = groups[0].items if place else ()
        arguments = groups[place].items if len(groups) > place else ()
        entering = list(self._passed(step, frame, callee.params, arguments, True))
        leaving = list(self._passed(step, frame, callee.returns, results, False))
        behind = (frame.number, "behind")
        if step.instruction.guard is not None:
            self.items.append(Skip(step, behind))
        self.items += entering
        self.function(frame)
        self.items += leaving
        self.items.append(Mark(behind))

    def _passed(
        self,
        step: Step,
        frame: Frame,
        formals: tuple[Declaration, ...],
        actuals: tuple[Operand, ...],
        is_entering: bool,
    ) -> Iterator[Item]:
        """Name the callee's parameters; copies of those that are registers here or there."""
        named = [(f, d) for f in formals for d in f.declarators]
        if len(named) != len(actuals):
            raise Refusal(f"the call passes {len(actuals)} values where {len(named)} are declared")
        for (formal, declarator), actual in zip(named, actuals, strict=True):
            name = declarator.name
            variable = step.variables.get(actual.text) if isinstance(actual, Name) else None
            if formal.space == "param" and variable is not None:
                frame.parameters[name] = variable
                continue
            is_value = isinstance(actual, Immediate) or (isinstance(actual, Name) and step.key(actual.text))
            if not is_value or declarator.dimensions or formal.vector > 1:
                raise Refusal(f"'{name}' is passed in a way that cannot be put in place")
            if formal.space == "param":
                bits = TYPES[formal.type].bits
                frame.parameters[name] = variable = self.variable(name)
                yield Copy(step, variable.piece(0, bits // 8), actual, f"b{bits}", is_entering)
                continue
            inside = frame.function.registers.resolve(name, 0)
            assert inside is not None, "what is no variable is a register"
            key = Key(frame.number, inside.index, inside.bits, inside.is_predicate)
            yield Copy(step, key, actual, f"b{max(16, inside.bits)}", is_entering)


def _copies(step: Step) -> list[Copy] | None:
    """An access to a `.param` variable of a call; None for one of the kernel's own parameters."""
    instruction, match = step.instruction, step.match
    is_store = instruction.opcode.base == "st"
    if match is None or len(instruction.operands) != 2:
        return None
    memory, operand = instruction.operands if is_store else instruction.operands[::-1]
    if not isinstance(memory, Memory) or not isinstance(memory.base, Name):
        return None
    variable = step.variables.get(memory.base.text)
    if variable is None:
        return None
    offset = 0
    if memory.offset is not None:
        if not isinstance(memory.offset, Immediate):
            raise Refusal("an argument is accessed at an offset that is no number")
        offset = integer(memory.offset.text)
    n_bytes = TYPES[match.type].bytes
    elements = operand.items if isinstance(operand, Vector) else (operand,)
    return [
        Copy(step, variable.piece(offset + k * n_bytes, n_bytes), element, match.type, is_store)
        for k, element in enumerate(elements)
    ]


def flatten(kernel: Function) -> tuple[list[Item], list[Trouble]]:
    """The steps of a kernel in order, and the instructions that cannot be among them."""
    flattener = _Flattener()
    flattener.function(flattener.frame(kernel))
    return flattener.items, flattener.troubles
