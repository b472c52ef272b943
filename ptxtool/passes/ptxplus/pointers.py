"""The state space that a generic address surely points to.

For `memory.py`: PTXPlus has no generic accesses, and compilers leave some where the space is plain from what made the
address. A variable's address has its space, `cvta` names one, a kernel's pointer parameter points to global memory;
sums and copies keep it. What comes from memory is unknown; two spaces are no space.
"""

from collections.abc import Iterable, Mapping

from ptxtool.ir.nodes import Memory, Name, Operand
from ptxtool.passes.ptxplus.flatten import Copy, Item, Key, Refusal, Step
from ptxtool.passes.ptxplus.places import KernelPlaces

_UNKNOWN = frozenset({"unknown"})
_COPIES = frozenset(["mov", "selp", "cvta"])
_SUMS = frozenset(["add", "sub", "mad", "and", "or"])
_SPACES = frozenset({"global", "shared", "local", "const"})


def pointer_spaces(items: Iterable[Item], places: KernelPlaces) -> Mapping[Key, frozenset[str]]:
    """The spaces that each value may point to, as far as it is an address."""
    found: dict[Key, frozenset[str]] = {}
    edges: dict[Key, list[tuple[Key, bool]]] = {}  # from operand to result, and whether by a copy
    for item in items:
        if isinstance(item, Copy):
            other = item.step.key(item.operand.text) if isinstance(item.operand, Name) else None
            if other is not None:
                source, target = (other, item.piece) if item.is_store else (item.piece, other)
                edges.setdefault(source, []).append((target, True))
        elif isinstance(item, Step):
            _facts(item, places, found, edges)
    pending = list(found)
    while pending:
        source = pending.pop()
        for target, is_copy in edges.get(source, ()):
            passed = found[source] if is_copy else found[source] - _UNKNOWN
            before = found.get(target, frozenset())
            if not passed <= before:
                found[target] = before | passed
                pending.append(target)
    return found


def _facts(
    step: Step,
    places: KernelPlaces,
    found: dict[Key, frozenset[str]],
    edges: dict[Key, list[tuple[Key, bool]]],
) -> None:
    instruction = step.instruction
    operands = instruction.operands
    target = step.key(operands[0].text) if operands and isinstance(operands[0], Name) else None
    if target is None or target.bits < 32:
        return
    base = instruction.opcode.base
    if base == "ld":
        is_parameter = any(m.startswith("param") for m in instruction.opcode.modifiers)
        _add(found, target, frozenset({"global"}) if is_parameter else _UNKNOWN)
    elif base == "cvta":
        named = next(m.partition("::")[0] for m in instruction.opcode.modifiers if m != "to")
        if named in _SPACES:
            _add(found, target, frozenset({named}))
    elif base in _COPIES or base in _SUMS:
        for operand in operands[1:]:
            _operand(step, operand, target, base in _COPIES, places, found, edges)


def _operand(
    step: Step,
    operand: Operand,
    target: Key,
    is_copy: bool,
    places: KernelPlaces,
    found: dict[Key, frozenset[str]],
    edges: dict[Key, list[tuple[Key, bool]]],
) -> None:
    if isinstance(operand, Memory) or not isinstance(operand, Name):
        return
    key = step.key(operand.text)
    if key is not None:
        edges.setdefault(key, []).append((target, is_copy))
        return
    try:
        place = places.find(operand.text, step.frame.function)
    except Refusal:  # said where the instruction is lowered
        return
    if place is not None and place.space in _SPACES:
        _add(found, target, frozenset({place.space}))


def _add(found: dict[Key, frozenset[str]], key: Key, spaces: frozenset[str]) -> None:
    found[key] = found.get(key, frozenset()) | spaces
