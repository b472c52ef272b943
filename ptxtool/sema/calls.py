"""Calls: a function that can be called, and arguments and results that fit it.

An argument is a register, a constant or a `.param` variable; it fits a parameter of its width, an array of bytes fits
one of its size and at most its alignment. A call through a register names a prototype or a list of targets.

Reference: PTX ISA, sections 7.1, 9.7.13.5 (call); the rest was asked of ptxas 13.0.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Declaration, Directive, Function, Group, Instruction, Name, Operand
from ptxtool.ir.variables import alignment_of
from ptxtool.isa.types import TYPES
from ptxtool.sema.functions import is_block, size_of
from ptxtool.sema.operands.shapes import OperandShape, description
from ptxtool.sema.operands.wording import Problem

_PARAMETER = re.compile(r"\.(?:param|reg)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s*[\w$%]*\s*(?:\[\s*(\d*)\s*\])?")
_PROTOTYPE = re.compile(r"(\([^)]*\))?\s*_?\s*(\([^)]*\))?")


@dataclass(frozen=True)
class Formal:
    """A parameter or result: its type, or for an array of bytes its size and alignment."""

    name: str
    type: str
    bytes: int
    is_block: bool
    align: int

    def __str__(self) -> str:
        return f"{self.bytes} bytes" if self.is_block else f"'.{self.type}'"


@dataclass(frozen=True)
class Signature:
    """What a function takes and returns."""

    params: tuple[Formal, ...]
    returns: tuple[Formal, ...]


class Called(NamedTuple):
    """The parts of a call: results, what is called, arguments, and the prototype or list of targets."""

    results: tuple[Operand, ...]
    target: Name
    arguments: tuple[Operand, ...]
    prototype: Operand | None


def parts(node: Instruction) -> Called | None:
    """The parts of a call instruction, None where its operands make none."""
    operands = list(node.operands)
    results, arguments = Group(()), Group(())
    if len(operands) > 1 and isinstance(operands[0], Group):
        results, *operands = operands  # type: ignore[assignment]
    target = operands.pop(0) if operands else None
    if not isinstance(target, Name):
        return None
    if operands and isinstance(operands[0], Group):
        arguments, *operands = operands  # type: ignore[assignment]
    return Called(results.items, target, arguments.items, operands[0] if operands else None)


def formal(declaration: Declaration) -> Formal:
    name = declaration.declarators[0].name if declaration.declarators else "_"
    size, align = size_of(declaration), alignment_of(declaration)
    return Formal(name, declaration.type, size, is_block(declaration), align)


def signature(function: Function) -> Signature:
    """What a function takes and returns."""
    return Signature(tuple(map(formal, function.params)), tuple(map(formal, function.returns)))


def prototype(directive: Directive) -> Signature:
    """What a `.callprototype` says: `(results) _ (parameters)`."""
    found = _PROTOTYPE.match(directive.text)
    assert found is not None
    return Signature(_formals(found[2] or ""), _formals(found[1] or ""))


def _formals(text: str) -> tuple[Formal, ...]:
    found: list[Formal] = []
    for align, type_, size in _PARAMETER.findall(text):
        known = TYPES.get(type_)
        width = known.bytes if known else 0
        found.append(Formal("_", type_, width * int(size or 1), bool(size), int(align or width or 1)))
    return tuple(found)


def call_problem(
    called: Called,
    expected: Signature,
    shape_of: Callable[[Operand], OperandShape],
    variable: Callable[[str], Declaration | None],
) -> Problem | None:
    """The first thing that does not fit between a call and what the called function takes."""
    name = called.target.text
    for given, formals, noun in (
        (called.arguments, expected.params, "argument"),
        (called.results, expected.returns, "result"),
    ):
        if len(given) != len(formals):
            takes = "takes" if noun == "argument" else "has"
            message = f"'{name}' {takes} {counted(len(formals), noun)}, not {len(given)}"
            return Problem("E211", message, _expected(name, expected), name)
    pairs = [
        *zip(called.arguments, expected.params, strict=True),
        *zip(called.results, expected.returns, strict=True),
    ]
    for operand, wanted in pairs:
        problem = _argument_problem(operand, wanted, shape_of(operand), variable)
        if problem is not None:
            return problem
    return None


def _argument_problem(
    operand: Operand, wanted: Formal, found: OperandShape, variable: Callable[[str], Declaration | None]
) -> Problem | None:
    text = operand.text if isinstance(operand, Name) else ""
    where = f"'{wanted.name}'" if wanted.name != "_" else "the prototype"
    if found.kind == "register":
        have, want = TYPES.get(found.type), TYPES.get(wanted.type)
        if have is None or want is None:
            return None
        clash = "pred" in (found.type, wanted.type) and found.type != wanted.type
        if clash or have.bits != want.bits or wanted.is_block:
            message = f"'{text}' is {description(found)}, {where} takes {wanted}"
            return Problem("E211", message, "pass a register or '.param' variable of that width", text)
    elif found.kind == "variable":
        declared = variable(text)
        if declared is None:
            return None
        if declared.space != "param":
            message = (
                f"'{text}' is in '.{declared.space}', an argument is a register, a constant or in '.param'"
            )
            return Problem("E211", message, "pass its address: 'mov' it into a register", text)
        given = formal(declared)
        if given.bytes != wanted.bytes or given.is_block != wanted.is_block:
            message = f"'{text}' is {given}, {where} takes {wanted}"
            return Problem("E211", message, "declare it like the parameter", text)
        if given.is_block and given.align < wanted.align:
            message = f"'{text}' is aligned to {given.align} bytes, {where} to {wanted.align}"
            return Problem("E211", message, f"declare it with '.align {wanted.align}'", text)
    return None


def _expected(name: str, expected: Signature) -> str:
    """How the call would look: `call (.b32), f, (.b32, 16 bytes)`."""
    lists = [", ".join(str(f).strip("'") for f in formals) for formals in (expected.returns, expected.params)]
    results, arguments = (f"({text})" if text else "" for text in lists)
    return f"call it as 'call {', '.join(filter(None, (results, name, arguments)))}'"
