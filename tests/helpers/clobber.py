"""Makes the overlap of physical registers real, for runs of what `allocate` and `compact` give.

To PTX `%r4`, `%rs4` and `%rd2` are registers of their own; in a register file they are one place. `clobbered` writes
a poison value to every other name of a unit wherever one of its names is written, so that a value that was not alone
in its place is gone. It knows of a name only its declared width and its number.
"""

import re

from ptxtool.ir.defuse import def_use
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse

_POISON = {16: "0x5A5B", 32: "0x5A5B5C5D", 64: "0x5A5B5C5D5E5F6061"}
_GUARD = re.compile(r"@\s*!?\s*[%$\w]+")


def units(name: str, bits: int) -> range:
    """The units of the general file that a name means."""
    number = int(re.search(r"\d+$", name)[0])  # type: ignore[index]
    width = max(1, bits // 32)
    return range(number * width, number * width + width)


def places(function: Function) -> tuple[dict[str, range], set[str]]:
    """The general registers that a function's body names, with their units, and the predicates; none of the head."""
    heads = {d.name for p in (*function.returns, *function.params) for d in p.declarators}
    general: dict[str, range] = {}
    predicates: set[str] = set()
    for step in def_use(function):
        for k in step.touched:
            register = function.registers[k]
            if register.is_predicate:
                predicates.add(register.name)
            elif register.name not in heads:
                general[register.name] = units(register.name, register.bits)
    return general, predicates


def n_units(function: Function) -> int:
    """The 32-bit units that a function's names reach up to, its head's registers counted on top."""
    general, _ = places(function)
    heads = {d.name for p in (*function.returns, *function.params) for d in p.declarators}
    head = sum(max(1, r.bits // 32) for r in function.registers if r.name in heads)
    return max((r.stop for r in general.values()), default=0) + head


def clobbered(module: Module) -> Module:
    """The module with poison in all names of a unit but the one written last."""
    edits = [
        edit for item in module.items if isinstance(item, Function) and item.body for edit in _edits(item)
    ]
    return parse(splice(module.source.text, edits), module.source.name)


def _edits(function: Function) -> list[TextEdit]:
    general, _ = places(function)
    owners: dict[int, list[str]] = {}
    for name, where in general.items():
        for unit in where:
            owners.setdefault(unit, []).append(name)
    edits: list[TextEdit] = []
    bits_of = {r.name: r.bits for r in function.registers}
    for i, (node, step) in enumerate(zip(function.instructions, def_use(function), strict=True)):
        written = [function.registers[k].name for k in step.defs]
        hit = _GUARD.match(function.text(i))
        if hit and hit.group().lstrip("@! ") in written:
            continue  # the guard is another one afterwards
        others = {other for name in written for unit in general.get(name, ()) for other in owners[unit]}
        lines = [
            f" {hit.group() if hit else ''} mov.b{bits} {other}, {_POISON[bits]};"
            for other in sorted(others - set(written))
            if (bits := bits_of[other]) in _POISON
        ]
        edits.append(TextEdit(node.end, node.end, "".join(lines)))
    return edits
