"""Calls of functions in the reference interpreter: frames, arguments and results, `alloca`, printing, the heap.

For `reference.py`. A call makes a frame for every function that its lanes enter, with registers and a SIMT stack of its
own; the frames of one call run one after the other. What a function has in memory (parameters, results, local
variables) lies in the local memory of its threads from the frame's base on, every variable at an offset of its own.
Arguments and results travel as bytes.

printf is the C library's, one conversion at a time. `malloc` gives every block a place of its own; `free` checks
nothing.

Reference: NVIDIA, "Parallel Thread Execution ISA", sections 5.1.6, 7.1 to 7.3, 9.7.12, 9.7.18.
"""

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxtool.ir.nodes import (
    Declaration,
    Declarator,
    Function,
    Group,
    Instruction,
    Memory,
    Name,
    Operand,
    ScopeClose,
    ScopeOpen,
)
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES, Type
from reference.decode import Operands, Reader, Unsupported, Warp, access
from reference.memory import Image, align, alignment_of, size_of
from reference.numbers import Raw, full
from reference.ops import Bools

SYSTEM = frozenset({"vprintf", "__assertfail", "malloc", "free"})
_FORMAT = re.compile(rb"%[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t)?([diouxXcspfFeEgGaA%])")


@dataclass
class Variable:
    """Something that a function has in its frame, seen by instructions `first` to `last`."""

    offset: int
    n_bytes: int
    first: int = 0
    last: int = 1 << 60


class Variables:
    """The frame of one function: results, parameters, then the variables of its body from `start` on."""

    def __init__(self, function: Function, is_kernel: bool, start: int):
        self.n_bytes = start
        self.names: dict[str, list[Variable]] = {}
        if not is_kernel:
            for declaration in (*function.returns, *function.params):
                for declarator in declaration.declarators:
                    self._add(declaration, declarator, 0)
        spaces = ("param",) if is_kernel else ("param", "local")
        position, inside = 0, [[]]  # type: ignore[var-annotated]
        for statement in function.body or ():
            if isinstance(statement, Instruction):
                position += 1
            elif isinstance(statement, ScopeOpen):
                inside.append([])
            elif isinstance(statement, ScopeClose) and len(inside) > 1:
                for variable in inside.pop():
                    variable.last = position
            elif (
                isinstance(statement, Declaration)
                and statement.space in spaces
                and statement not in function.parameters
            ):
                inside[-1] += [self._add(statement, d, position) for d in statement.declarators]

    def _add(self, declaration: Declaration, declarator: Declarator, position: int) -> Variable:
        offset = align(self.n_bytes, max(16, alignment_of(declaration)))
        variable = Variable(offset, max(4, size_of(declaration, declarator)), position)
        self.n_bytes = offset + variable.n_bytes
        if declaration.space != "reg":  # an argument or result in a register has room and no name
            self.names.setdefault(declarator.name, []).append(variable)
        return variable

    def find(self, name: str, position: int) -> Variable | None:
        found = [v for v in self.names.get(name, ()) if v.first <= position < v.last]
        return found[-1] if found else None


class FunctionOperands(Operands):
    """Operands of a function: names may mean what lies in its frame."""

    def __init__(self, function: Function, image: Image, is_kernel: bool):
        super().__init__(function, image)
        self.is_kernel = is_kernel
        self.variables = Variables(function, is_kernel, image.local_bytes if is_kernel else 0)

    def variable(self, operand: Operand | None, position: int) -> Variable | None:
        """The variable in the frame that an operand names."""
        if not isinstance(operand, Name) or self.register(operand.text, position) is not None:
            return None
        return self.variables.find(operand.text, position)

    def _read_name(self, name: Name, type_: Type, position: int) -> Reader:
        variable = self.variable(name, position)
        if variable is None:
            inner = Name(f"{self.kernel.name}::{name.text}", name.part)
            return super()._read_name(inner if inner.text in self.image.symbols else name, type_, position)
        offset = np.uint64(variable.offset)
        return lambda warp: full(warp.base) + offset

    def space(self, memory: Memory, named: str) -> str:
        is_own = isinstance(memory.base, Name) and memory.base.text in self.variables.names
        if named.startswith("param") and (is_own or not self.is_kernel):
            return "local"
        return "local" if not named and is_own else super().space(memory, named)


@dataclass
class Routine:
    """A function that is ready to run."""

    function: Function
    operands: FunctionOperands
    reconverge: Any
    code: list[Any] = field(default_factory=list)


@dataclass
class Frame:
    """One activation: what a warp has while its lanes are in a function."""

    routine: Routine
    base: int
    registers: Any
    stack: list[Any]
    carry: Raw
    lanes: Bools
    call: "Call | None" = None  # what the caller does with the results
    grown: Raw = field(default_factory=lambda: full(0))  # what `alloca` had taken before


@dataclass
class Call:
    """A decoded call: its target, and how values go there and back."""

    instruction: Instruction
    targets: tuple[str, ...]  # a direct call has one
    address: Reader | None
    sizes: tuple[int, ...]  # bytes of the arguments; 0 for registers and constants
    arguments: list[Callable[[Warp, Bools], list[bytes]]]
    results: list[Callable[[Warp, Bools, list[bytes]], None]]


def split(
    instruction: Instruction,
) -> tuple[tuple[Operand, ...], Operand, tuple[Operand, ...], Operand | None]:
    """Results, target, arguments, and the prototype or list of a call."""
    rest = list(instruction.operands)
    results = rest.pop(0) if len(rest) > 1 and isinstance(rest[0], Group) else None
    target = rest.pop(0)
    arguments = rest.pop(0) if rest and isinstance(rest[0], Group) else None
    return (
        results.items if isinstance(results, Group) else (),
        target,
        arguments.items if isinstance(arguments, Group) else (),
        rest[0] if rest else None,
    )


def functions_of(image: Image) -> dict[str, Function]:
    """The functions of the module that have bodies."""
    return {n: f for n, f in image.module.functions.items() if f.kind == "func" and f.body is not None}


def decode_call(operands: FunctionOperands, instruction: Instruction, i: int) -> Call:
    """A call. Raises `Unsupported` where it leads out of the file."""
    results, target, arguments, _ = split(instruction)
    defined = functions_of(operands.image)
    name = target.text if isinstance(target, Name) else ""
    if operands.register(name, i) is not None:
        address, targets = operands.read(target, TYPES["u64"], i), tuple(defined)
    elif name in defined or name in SYSTEM:
        address, targets = None, (name,)
    else:
        raise Unsupported(f"a call of '{name}', which the file does not define,")
    return Call(
        instruction,
        targets,
        address,
        tuple(v.n_bytes if (v := operands.variable(operand, i)) else 0 for operand in arguments),
        [_argument(operands, operand, i) for operand in arguments],
        [_result(operands, operand, i) for operand in results],
    )


def _argument(operands: FunctionOperands, operand: Operand, i: int) -> Callable[[Warp, Bools], list[bytes]]:
    variable = operands.variable(operand, i)
    if variable is not None:
        return lambda warp, lanes: [
            read_bytes(warp, int(n), warp.base + variable.offset, variable.n_bytes)
            for n in np.flatnonzero(lanes)
        ]
    register = operands.register(operand.text, i) if isinstance(operand, Name) else None
    type_ = TYPES[register.type] if register is not None else TYPES["b64"]
    read = operands.read(operand, type_, i)
    return lambda warp, lanes: [int(v).to_bytes(8, "little") for v in read(warp)[lanes]]


def _result(
    operands: FunctionOperands, operand: Operand, i: int
) -> Callable[[Warp, Bools, list[bytes]], None]:
    variable = operands.variable(operand, i)
    if variable is not None:

        def to_variable(warp: Warp, lanes: Bools, values: list[bytes]) -> None:
            for n, value in zip(np.flatnonzero(lanes), values, strict=True):
                write_bytes(warp, int(n), warp.base + variable.offset, value[: variable.n_bytes])

        return to_variable
    register = operands.register(operand.text, i) if isinstance(operand, Name) else None
    write = operands.write(operand, TYPES[register.type] if register is not None else TYPES["b64"], i)

    def to_register(warp: Warp, lanes: Bools, values: list[bytes]) -> None:
        raw = full(0)
        raw[lanes] = [int.from_bytes(v[:8], "little") for v in values]
        write(warp, raw, lanes)

    return to_register


def fits(call: Call, routine: Routine) -> bool:
    """Whether a function takes what a call through a register gives."""
    formals = [routine.operands.variables.find(name, 0) for name, _ in _formals(routine.function.params)]
    return len(formals) == len(call.sizes) and all(
        formal is None or size in (0, formal.n_bytes)
        for formal, size in zip(formals, call.sizes, strict=True)
    )


def read_bytes(warp: Warp, lane: int, address: int, n: int) -> bytes:
    """Bytes of a lane's local memory."""
    return bytes(warp.local(lane).load_one(address + k, 1) for k in range(n))


def write_bytes(warp: Warp, lane: int, address: int, data: bytes) -> None:
    for k, byte in enumerate(data):
        warp.local(lane).store_one(address + k, 1, byte)


def _formals(declarations: tuple[Declaration, ...]) -> Iterator[tuple[str, bool]]:
    """Names, and whether they are registers."""
    for declaration in declarations:
        for declarator in declaration.declarators:
            yield declarator.name, declaration.space == "reg"


def give_arguments(warp: Warp, frame: Frame, values: list[list[bytes]]) -> None:
    """Put arguments where the function of a new frame looks for them."""
    function, operands = frame.routine.function, frame.routine.operands
    for (name, is_register), each in zip(_formals(function.params), values, strict=True):
        if is_register:
            register = operands.table.in_head(name)
            assert register is not None
            row = frame.registers[operands.rows[register.index]]
            row[frame.lanes] = [int.from_bytes(v[:8], "little") for v in each]
            continue
        variable = operands.variables.find(name, 0)
        assert variable is not None
        for n, value in zip(np.flatnonzero(frame.lanes), each, strict=True):
            write_bytes(warp, int(n), frame.base + variable.offset, value[: variable.n_bytes])


def take_results(warp: Warp, frame: Frame, lanes: Bools) -> list[list[bytes]]:
    """What a function that has ended leaves for its caller, for the lanes that come back."""
    function, operands = frame.routine.function, frame.routine.operands
    found: list[list[bytes]] = []
    for name, is_register in _formals(function.returns):
        if is_register:
            register = operands.table.in_head(name)
            assert register is not None
            values = frame.registers[operands.rows[register.index]][lanes]
            found.append([int(v).to_bytes(8, "little") for v in values])
            continue
        variable = operands.variables.find(name, 0)
        assert variable is not None
        at = frame.base + variable.offset
        found.append([read_bytes(warp, int(n), at, variable.n_bytes) for n in np.flatnonzero(lanes)])
    return found


# ---- the stack


def decode_stack(
    operands: Operands, instruction: Instruction, type_: Type, sem: str, i: int
) -> Callable[[Warp], None]:
    """`alloca`, `stacksave`, `stackrestore`: local memory above all frames."""
    given = instruction.operands
    if sem == "stackrestore":
        read = operands.read(given[0], type_, i)

        def restore(warp: Warp) -> None:
            lanes = warp.executing
            warp.grown[lanes] = read(warp)[lanes]

        return restore
    write = operands.write(given[0], type_, i)
    if sem == "stacksave":
        return lambda warp: write(warp, warp.grown, warp.executing)
    size = operands.read(given[1], type_, i)
    alignment = np.uint64(integer(given[2].text) if len(given) > 2 else 8)  # type: ignore[union-attr]

    def allocate(warp: Warp) -> None:
        lanes = warp.executing
        start = (warp.grown + alignment - np.uint64(1)) // alignment * alignment
        warp.grown[lanes] = (start + size(warp))[lanes]
        warp.check_stack()
        write(warp, start, lanes)

    return allocate


# ---- what the system gives


def _string(warp: Warp, lane: int, address: int) -> bytes:
    found = bytearray()
    while True:
        (byte,) = access(warp, "", np.array([address + len(found)], np.uint64), np.array([lane]), 1).tolist()
        if byte == 0:
            return bytes(found)
        found.append(byte)


def printed(warp: Warp, lane: int, pattern: int, values: int) -> tuple[bytes, int]:
    """The text that printf produces from a format and the values after it, and the number of values read."""
    library = ctypes.CDLL(None)
    text = _string(warp, lane, pattern)
    pieces: list[bytes] = []
    end, offset, count = 0, 0, 0

    def take(n: int, kind: Any) -> Any:
        nonlocal offset, count
        offset, count = align(offset, n) + n, count + 1
        where = np.array([values + offset - n], np.uint64)
        (raw,) = access(warp, "", where, np.array([lane]), n).tolist()
        return kind.from_buffer_copy(int(raw).to_bytes(n, "little"))

    for found in _FORMAT.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        arguments = [take(4, ctypes.c_int) for star in found.group(1, 2) if star == b"*"]
        kind, length = found[4], found[3] or b""
        if kind in b"fFeEgGaA":
            arguments.append(take(8, ctypes.c_double))
        elif kind == b"s":
            arguments.append(ctypes.c_char_p(_string(warp, lane, take(8, ctypes.c_uint64).value)))
        elif kind == b"p":
            arguments.append(take(8, ctypes.c_void_p))
        elif kind != b"%":
            is_long = length in (b"l", b"ll", b"j", b"z", b"t")
            arguments.append(take(8, ctypes.c_longlong) if is_long else take(4, ctypes.c_int))
        room = ctypes.create_string_buffer(1 << 17)
        n = library.snprintf(room, ctypes.c_size_t(len(room)), found[0], *arguments)
        pieces.append(room.raw[:n])
    pieces.append(text[end:])
    return b"".join(pieces), count


def system_call(warp: Warp, call: Call, lanes: Bools) -> list[list[bytes]]:
    """Run a function of the system for some lanes; its results. Raises `AssertionError` for an assertion that fails."""
    (name,) = call.targets
    values = [read(warp, lanes) for read in call.arguments]
    found: list[bytes] = []
    for k, lane in enumerate(np.flatnonzero(lanes).tolist()):
        given = [int.from_bytes(each[k][:8], "little") for each in values]
        answer = 0
        if name == "vprintf":
            text, answer = printed(warp, lane, given[0], given[1])
            warp.machine.printed.append(text)
        elif name == "malloc":
            answer = warp.machine.image.allocate(given[0])
        elif name == "__assertfail":
            message, file, function = (_string(warp, lane, given[n]).decode() for n in (0, 1, 3))
            raise AssertionError(
                f"assertion '{message}' failed at {file}:{given[2] & 0xFFFFFFFF} in '{function}'", lane
            )
        found.append(answer.to_bytes(8, "little"))
    return [found] * len(call.results)
