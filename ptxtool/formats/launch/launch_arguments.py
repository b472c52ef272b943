"""Whether the arguments of a launch fit a kernel's parameters: their number, kinds and sizes. For all that runs one."""

from math import prod
from pathlib import Path

import numpy as np

from ptxtool.base.diag import Diagnostic
from ptxtool.base.phrases import counted
from ptxtool.formats.launch.launch_data import Input, Launch
from ptxtool.formats.launch.launch_tables import key_span
from ptxtool.formats.launch.launch_textures import Opaque
from ptxtool.formats.launch.launch_values import ValueProblem, make_value
from ptxtool.ir.nodes import Declaration, Function
from ptxtool.isa.types import TYPES


def check_arguments(launch: Launch, kernel: Function) -> tuple[Diagnostic, ...]:
    """What is wrong with a launch's arguments for a kernel's parameters: their number, kinds and sizes (E401)."""
    wanted, given = kernel.parameters, launch.inputs
    if len(wanted) != len(given):
        names = ", ".join(p.declarators[0].name for p in wanted) or "none"
        message = f"kernel '{kernel.name}' takes {counted(len(wanted), 'argument')}, {len(given)} given"
        nearest = key_span(launch.source, "args", max(0, min(len(given), len(wanted) + 1) - 1))
        start, end = launch.arguments_place or nearest
        return (Diagnostic("E401", message, launch.source, start, end, f"its parameters are {names}"),)
    found: list[Diagnostic] = []
    for k, (parameter, argument) in enumerate(zip(wanted, given, strict=True)):
        problem = _mismatch(parameter, argument, launch.is_placed)
        if problem:
            start, end = launch.arguments_place or key_span(launch.source, "args", k, _key(argument))
            found.append(Diagnostic("E401", problem[0], launch.source, start, end, problem[1]))
    return tuple(found)


def _key(argument: Input) -> str:
    """The key that a wrong argument is reported at."""
    return "value" if argument.type == "" else "type"


def _mismatch(parameter: Declaration, argument: Input, by_address: bool) -> tuple[str, str] | None:
    """Why an argument does not fit a parameter, and what to do; None if it fits.

    `by_address`: numbers may be pointers.
    """
    declarator = parameter.declarators[0]
    known = TYPES.get(parameter.type)
    what = f"argument '{argument.name}' for parameter '.{parameter.type} {declarator.name}'"
    if argument.opaque is not None:
        return _opaque_mismatch(parameter, argument.opaque, what)
    if known is None:
        return f"{what} is neither a texture nor a surface", "add texture = {} or surface = {}"
    n_bytes = known.bytes * parameter.vector
    for extent in declarator.dimensions:
        n_bytes *= extent or 1
    value = argument.value
    if isinstance(value, np.ndarray):
        if declarator.dimensions:  # a structure or array passed by value
            size = f"{what} has {value.nbytes} bytes, not {n_bytes}"
            advice = f"give type, shape or count for {n_bytes} bytes, or a struct"
            return None if value.nbytes == n_bytes else (size, advice)
        if known.is_float or n_bytes not in (4, 8) or parameter.type == "s32":
            advice = "give one value, without shape or count; check the order of the arguments"
            return f"{what} is a buffer, but the parameter is no pointer", advice
        return None
    if declarator.dimensions:
        advice = f"give type and count for {n_bytes} bytes, or a struct"
        return f"{what} is a scalar, but the parameter is {n_bytes} bytes passed by value", advice
    if "ptr" in parameter.qualifiers and not by_address:
        return f"{what} is a scalar, but the parameter is a pointer", "make it a buffer with shape or count"
    if argument.type == "":
        try:
            make_value({"type": parameter.type, "value": value}, Path(), {})
        except ValueProblem as problem:
            return f"{what}: {problem}", problem.help or "check the order of the arguments"
        return None
    assert isinstance(value, np.generic)
    advice = f'write type = "{parameter.type}"; check the order of the arguments'
    if value.nbytes != n_bytes:
        return f"{what} has {value.nbytes} bytes, not {n_bytes}", advice
    if (
        known.kind in "usf"
        and known.is_float != (value.dtype.kind == "f")
        and not argument.type.startswith("b")
    ):
        return f"{what} has type '.{argument.type}'", advice
    return None


def _opaque_mismatch(parameter: Declaration, opaque: Opaque, what: str) -> tuple[str, str] | None:
    """The same for a texture or surface, whose parameter is a handle of 64 bits, or of its type, and for a tensor map,
    whose parameter has 128 bytes."""
    types = {"texture": "texref", "surface": "surfref"}
    known = TYPES.get(parameter.type)
    if opaque.kind == "tensor_map":
        n_bytes = known.bytes * prod(n or 1 for n in parameter.declarators[0].dimensions) if known else 0
        advice = "its parameter must be '.align 64 .b8 NAME[128]'; check the order"
        return None if n_bytes == 128 else (f"{what} is a tensor map", advice)
    is_handle = known is not None and known.kind in "usb" and known.bits == 64
    if parameter.declarators[0].dimensions or not (is_handle or parameter.type == types[opaque.kind]):
        return f"{what} is a {opaque.kind}", "its parameter must be a number of 64 bits; check the order"
    return None
