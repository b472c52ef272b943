"""What a function may execute through calls: the functions it reaches, and calls whose target the module does not hold.

For the checks of what ptxas decides for a kernel with all that it calls.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ptxtool.ir.nodes import Function, Instruction
from ptxtool.sema.calls import parts


class Reached(NamedTuple):
    """The functions that one reaches, itself first, and calls that need a stack at run time: to functions without a
    body, through registers, and of functions that are called by what they call."""

    functions: tuple[Function, ...]
    open_calls: tuple[Instruction, ...]


def reached(function: Function) -> Reached:
    """The functions that a function reaches through calls."""
    found: dict[str, Function] = {function.name: function}
    targets: dict[str, set[str]] = {}
    open_calls: list[Instruction] = []
    pending = [function]
    while pending:
        one = pending.pop()
        targets[one.name] = set()
        for call, callee in calls(one):
            if callee is None or callee.body is None:
                open_calls.append(call)
                continue
            targets[one.name].add(callee.name)
            if callee.name not in found:
                found[callee.name] = callee
                pending.append(callee)
    order = _callees_first(function.name, targets)
    for one in found.values():
        place = order[one.name]
        open_calls += [call for call, callee in calls(one) if callee and order.get(callee.name, -1) >= place]
    return Reached(tuple(found.values()), tuple(open_calls))


def calls(function: Function) -> Iterator[tuple[Instruction, Function | None]]:
    """The calls of a function, and what each calls: None through a register."""
    for i in function.at_bases("call"):
        call = function.instructions[i]
        called = parts(call)
        if called is not None:
            yield call, function.module.functions.get(called.target.text)


def _callees_first(root: str, targets: dict[str, set[str]]) -> dict[str, int]:
    """A number for each function, above those of what it calls, unless one of these calls it back."""
    order: dict[str, int] = {}
    seen = {root}
    stack = [(root, iter(sorted(targets[root])))]
    while stack:
        name, rest = stack[-1]
        following = next((t for t in rest if t not in seen), None)
        if following is None:
            order[name] = len(order)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(sorted(targets[following]))))
    return order
