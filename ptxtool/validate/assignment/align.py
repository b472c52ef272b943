"""Lay the statements of a function before and after a rewriting of its registers side by side.

For the check of register assignment, which then walks one list of items: a *kept* instruction (its index before, its
index after), a *dropped* one (before, -1), an *inserted* one (-1, after). The claim about origins is believed only if

* kept instructions stand in their old order, between the same labels, braces, directives and declarations;
* nothing was added but instructions without an origin, register declarations, and slots (`is_spill`, `is_slots`);
* every kept instruction has its old opcode, guard and operands, registers apart (`same_shape`).

A new text of PTXPlus may be *encoded*: labels have other names, one for one, and `.half` marks the 4-byte encoding.

Between two kept statements the inserted instructions come first, then the dropped ones: the former move values between
places, the latter make values equal, so their order does not matter.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from typing import overload

from msgspec.structs import astuple

from ptxtool.base.diag import Diagnostic
from ptxtool.ir import nodes
from ptxtool.ir.nodes import Function, Label, Statement
from ptxtool.validate.assignment.places import is_spill
from ptxtool.validate.assignment.thread_slots import is_slots
from ptxtool.validate.functions import same_statement, wrong

NONE = -1
"""In place of an index: of an inserted instruction before, of a dropped one after."""


class Items(Sequence[tuple[int, int]]):
    """Items in order, in two arrays: a tuple of two numbers takes fifteen times their memory."""

    def __init__(self) -> None:
        self._old, self._new = array("i"), array("i")

    def extend(self, old: Iterable[int], new: Iterable[int]) -> None:
        """Append items of these indices before and after."""
        self._old.extend(old)
        self._new.extend(new)

    def __len__(self) -> int:
        return len(self._old)

    @overload
    def __getitem__(self, item: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, item: slice) -> list[tuple[int, int]]: ...
    def __getitem__(self, item: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        if isinstance(item, slice):
            return [*zip(self._old[item], self._new[item], strict=True)]
        return self._old[item], self._new[item]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._old, self._new, strict=True)


@dataclass
class Alignment:
    """The items in order, and per label the number of items before it, by the numbers of instructions before it."""

    items: Sequence[tuple[int, int]] = field(default_factory=Items)
    labels: dict[tuple[int, int], int] = field(default_factory=dict)
    problem: Diagnostic | None = None
    names: dict[str, str] | None = None
    """Of an encoded text, what the labels are called now."""


def align(before: Function, after: Function, origins: Sequence[int], encoded: bool = False) -> Alignment:
    """The items of two bodies; incomplete if there is a `problem`."""
    result = Alignment(names={} if encoded else None)
    if len(origins) != len(after.instructions):
        what = f"{len(origins)} origins for the {len(after.instructions)} instructions of '{after.name}'"
        result.problem = wrong(what, after.source, after)
    else:
        result.problem = _walk(before, after, origins, result)
    names = result.names or {}
    if len({*names.values()}) < len(names) and result.problem is None:
        result.problem = wrong(
            f"two labels of '{before.name}' have one name in '{after.name}'", after.source, after
        )
    return result


def _walk(before: Function, after: Function, origins: Sequence[int], result: Alignment) -> Diagnostic | None:
    """Add the items between each two statements that are no instructions; the first problem."""
    items = result.items = Items()
    olds = _marks(before, before)
    news = _marks(after, before)
    i = j = 0  # the next instructions before and after
    for (i_end, old), (j_end, new) in zip(olds, news, strict=False):
        at = _add_items(items, origins, (i, i_end), (j, j_end))
        if at >= 0:
            node = after.instructions[at]
            if origins[at] < i_end or origins[at] >= len(before.instructions):
                what = f"instruction {origins[at]} of '{before.name}' stands in another place or twice"
            else:
                what = _replaced(before, old, after, node)
            return wrong(what, after.source, node)
        if new is None and old is not None:
            what = f"'{_text(before, old)}' is missing at the end of '{after.name}'"
            return wrong(what, after.source, after)
        if new is not None and (old is None or not _is_same(old, new, result.names)):
            return wrong(_replaced(before, old, after, new), after.source, new)
        i, j = i_end, j_end
        if type(new) is Label:
            result.labels[i, j] = len(result.items)
    return None


def _is_same(old: Statement, new: Statement, names: dict[str, str] | None) -> bool:
    """Whether a statement stays what it was; `names` gets the new names of labels."""
    if names is None or type(old) is not Label or type(new) is not Label:
        return same_statement(old, new)
    return names.setdefault(old.name, new.name) == new.name


def _marks(function: Function, before: Function) -> list[tuple[int, Statement | None]]:
    """The instructions before each of the statements that must stay what and where they are, and before the end."""
    found: list[tuple[int, Statement | None]] = []
    for n, statement in function.other_statements:
        is_register = type(statement) is nodes.Declaration and statement.space == "reg"
        if not is_register and not is_spill(statement, before) and not is_slots(statement, before):
            found.append((n, statement))
    return [*found, (len(function.instructions), None)]


def _add_items(items: Items, origins: Sequence[int], old: tuple[int, int], new: tuple[int, int]) -> int:
    """Add the items of two runs of instructions; the new instruction whose origin is not in the old run, or -1."""
    i, i_end = old
    claimed = origins[slice(*new)]
    if [origin for origin in claimed if origin != NONE] == [*range(i, i_end)]:  # nothing was dropped
        items.extend(claimed, range(*new))
        return -1
    for j in range(*new):
        origin = origins[j]
        if origin != NONE and not i <= origin < i_end:
            return j
        if origin != NONE:
            items.extend(range(i, origin), repeat(NONE, origin - i))
            i = origin + 1
        items.extend((origin,), (j,))
    items.extend(range(i, i_end), repeat(NONE, i_end - i))
    return -1


def _replaced(before: Function, old: Statement | None, after: Function, new: Statement) -> str:
    what = "is new" if old is None else f"stands where '{_text(before, old)}' stood"
    return f"'{_text(after, new)}' {what}"


def _text(function: Function, node: Statement) -> str:
    return " ".join(function.source.text[node.start : node.end].split())


_COMPOUND = (nodes.Memory, nodes.Vector, nodes.Group, nodes.Unary, nodes.Binary, nodes.Dual)


def structure(part: object, of_name: Callable[[nodes.Name], object]) -> object:
    """An operand with other names: equal for operands that differ in nothing but what `of_name` leaves out."""
    if isinstance(part, nodes.Name):
        return nodes.Name, of_name(part)
    if isinstance(part, tuple):
        return tuple([structure(one, of_name) for one in part])
    if isinstance(part, _COMPOUND):
        return type(part), structure(astuple(part), of_name)
    return part  # numbers, strings, operators, and constant expressions that name no register


def same_shape(old: nodes.Operand | None, new: nodes.Operand | None) -> bool:
    """Whether two operands differ in the names of registers, variables or functions at most."""
    if type(old) is not type(new):
        return False
    if isinstance(old, nodes.Name) and isinstance(new, nodes.Name):  # nearly all
        return old.part == new.part
    return structure(old, _part) == structure(new, _part)


def _part(name: nodes.Name) -> str:
    return name.part


def same_operation(old: nodes.Instruction, new: nodes.Instruction, encoded: bool = False) -> bool:
    """The same opcode, number of operands, and guard up to its register."""
    was, now = old.opcode.text, new.opcode.text
    if was != now and not (encoded and was == _without_encoding(now)):
        return False
    if len(old.operands) != len(new.operands):
        return False
    if old.guard is None or new.guard is None:
        return old.guard is new.guard
    return old.guard.negated == new.guard.negated and old.guard.condition == new.guard.condition


@cache
def _without_encoding(opcode_text: str) -> str:
    return ".".join([word for word in opcode_text.split(".") if word != "half"])


def same_label(old: nodes.Operand, new: nodes.Operand, names: Mapping[str, str] | None) -> bool:
    """Whether two operands name the same label; `names` as in `Alignment`."""
    if names is None or not isinstance(old, nodes.Name) or not isinstance(new, nodes.Name):
        return old == new
    return names.get(old.text) == new.text and old.part == new.part


def label_items(
    targets: tuple[Sequence[int], Sequence[int]], labels: Mapping[tuple[int, int], int]
) -> tuple[int, ...]:
    """The items at the labels of some targets, which are indices of instructions before and after."""
    old, new = targets
    if len(old) == len(new) == 1:
        found = labels.get((old[0], new[0]))
        return () if found is None else (found,)
    olds, news = frozenset(old), frozenset(new)
    return tuple(sorted({item for (i, j), item in labels.items() if i in olds and j in news}))
