"""The statements of a function as values to compare: what each does, and the registers and labels it names.

A statement's `shape` is its text as nodes, without blanks and spellings of equal numbers, with a placeholder for every
register and label; `names` are these, in order. So two statements that differ in nothing but names have the same
shape. A parameter is represented by its place in the list, because its name contains the function's. Compared are
instructions, labels that some statement refers to, lists of labels, prototypes and pragmas, but not line information,
declarations and braces.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from ptxtool.ir.nodes import Directive, Function, Immediate, Instruction, Label, Memory, Name, Operand, String
from ptxtool.isa.literals import literal

_LABEL_LISTS = frozenset({"branchtargets", "calltargets"})
_KEPT = _LABEL_LISTS | {"callprototype", "pragma"}


class Entity(NamedTuple):
    """The register of index `register`, or with -1 the label, that a name means."""

    name: str
    register: int = -1


@dataclass(frozen=True)
class Comparable:
    """One statement. `instruction` is its index, -1 for a label or directive; `start` and `end` are offsets."""

    shape: Hashable
    names: tuple[Entity, ...]
    start: int
    end: int
    instruction: int
    base: str

    @property
    def is_instruction(self) -> bool:
        return self.instruction >= 0


def comparables(function: Function) -> tuple[Comparable, ...]:
    """The statements of a function that are compared, in textual order."""
    builder = _ShapeBuilder(function)
    found: list[Comparable] = []
    position = 0
    for node in function.body or ():
        if isinstance(node, Instruction):
            shape = builder.instruction(node, position)
            found.append(Comparable(shape, builder.taken(), node.start, node.end, position, node.opcode.base))
            position += 1
        elif isinstance(node, Label):
            found.append(Comparable("label", (Entity(node.name),), node.start, node.end, -1, "label"))
        elif isinstance(node, Directive) and node.name in _KEPT:
            words = tuple(node.text.replace(",", " , ").split())
            is_list = node.name in _LABEL_LISTS
            names = tuple(Entity(word) for word in words if is_list and word != ",")
            shape = (node.name, len(names) if is_list else words)
            found.append(Comparable(shape, names, node.start, node.end, -1, node.name))
    named = {entity for c in found if c.base != "label" for entity in c.names}
    return tuple(c for c in found if c.base != "label" or c.names[0] in named)


class _ShapeBuilder:
    """Builds the shapes of instructions, and collects the names in them."""

    def __init__(self, function: Function) -> None:
        self._registers = function.registers
        self._labels = function.labels
        declarators = [d for p in (*function.returns, *function.params) for d in p.declarators]
        self._parameters = {declarator.name: place for place, declarator in enumerate(declarators)}
        self._names: list[Entity] = []
        self._position = 0

    def taken(self) -> tuple[Entity, ...]:
        """The names since the last call."""
        names, self._names = tuple(self._names), []
        return names

    def instruction(self, node: Instruction, position: int) -> Hashable:
        self._position = position
        guard = node.guard
        guarded = guard and (self._name(guard.name, guard.condition), guard.negated)
        return guarded, node.opcode.text, tuple(map(self._operand, node.operands))

    def _name(self, name: str, part: str) -> Hashable:
        index = self._registers.resolve_index(name, self._position)
        if index >= 0:
            self._names.append(Entity(name, index))
            return "register", part
        if name in self._labels:
            self._names.append(Entity(name))
            return "label", part
        return "name", self._parameters.get(name, name), part

    def _operand(self, operand: Operand) -> Hashable:
        match operand:
            case Name(text=text, part=part):
                return self._name(text, part)
            case Immediate(text=text):
                return _number(text)
            case String(text=text):
                return "string", text
            case Memory(symbol=symbol, base=base, offset=offset, post_increment=step, coordinates=further):
                place = tuple(o and self._operand(o) for o in (base, offset))
                named = symbol and self._name(symbol, "")
                return "memory", named, place, step, tuple(map(self._operand, further))
        shape: list[Hashable] = [type(operand).__name__]
        for name in operand.__struct_fields__:
            value = getattr(operand, name)
            parts: tuple[str | Operand, ...] = value if isinstance(value, tuple) else (value,)
            shape += (part if isinstance(part, str) else self._operand(part) for part in parts)
        return tuple(shape)


def _number(text: str) -> Hashable:
    try:
        value = literal(text)
    except ValueError:
        return "number", text
    return "number", value.kind, value.payload
