"""Memory instructions of the reference interpreter: loads, stores, atomics, and what converts addresses.

For `reference_steps.py`. Atomics take the lanes one after the other, the lowest first.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (data movement, synchronization instructions).
"""

from collections.abc import Callable

import numpy as np

from ptxsim.semantics.reference_decode import Operands, Unsupported, Warp, access
from ptxsim.semantics.reference_memory import WINDOWS, Fault, space_of_generic
from ptxsim.semantics.reference_numbers import LANES, Raw
from ptxsim.semantics.reference_op import Op
from ptxsim.semantics.reference_ops import OPERATIONS
from ptxtool.ir.nodes import Instruction, Memory, Name, Operand, Vector
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type

Step = Callable[[Warp], None]
_ONE = np.uint64(1)
_SPACES = ("global", "shared", "local", "const", "param")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class MemoryAccess:
    """The part of the decoder that knows memory."""

    operands: Operands

    def _cvta(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        window = np.uint64(WINDOWS[space_named(match)])
        source = self.operands.read(instruction.operands[1], op.type, i)
        write = self.operands.write(instruction.operands[0], op.type, i)
        if op.has("to"):
            return lambda warp: write(warp, source(warp) - window, warp.executing)
        return lambda warp: write(warp, source(warp) + window, warp.executing)

    def _isspacep(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        space = space_named(match)
        source = self.operands.read(instruction.operands[1], TYPES["u64"], i)
        write, _ = self.operands.write_pair(instruction.operands[0], i)

        def step(warp: Warp) -> None:
            truth = np.array([space_of_generic(a) == space for a in source(warp).tolist()])
            write(warp, truth, warp.executing)

        return step

    def _ld(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        to, memory = instruction.operands[:2]
        n, type_ = _elements(match, op)
        load = self.operands.load(memory_operand(memory), space_named(match), type_, n, i)
        writers = [self.operands.write(o, type_, i) for o in (items_of(to, n) if n > 1 else (to,))]

        def step(warp: Warp) -> None:
            for write, raw in zip(writers, load(warp), strict=True):
                write(warp, raw, warp.executing)

        return step

    def _st(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        memory, of = instruction.operands[:2]
        n, type_ = _elements(match, op)
        readers = [self.operands.read(o, type_, i) for o in (items_of(of, n) if n > 1 else (of,))]
        store = self.operands.store(memory_operand(memory), space_named(match), type_, n, i)
        return lambda warp: store(warp, [r(warp) for r in readers], warp.executing)

    def _red(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._atom(instruction, match, op, i)

    def _atom(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        operands = instruction.operands if op.sem == "atom" else (Name("_"), *instruction.operands)
        if any(op.has(v) for v in _VECTORS):
            raise Unsupported(f"vectors in '{instruction.opcode.text}'")
        memory = memory_operand(operands[1])
        space = self.operands.space(memory, space_named(match))
        address = self.operands.address(memory, space, i)
        readers = [self.operands.read(o, op.type, i) for o in operands[2:4]]
        name = "cas" if op.has("cas") else match.one_of(*COMBINATIONS)
        combine = COMBINATIONS[name]
        write = (
            (lambda warp, raw, lanes: None)
            if isinstance(operands[0], Name) and operands[0].text == "_"
            else self.operands.write(operands[0], op.type, i)
        )

        def step(warp: Warp) -> None:
            start, values = address(warp), [r(warp) for r in readers]
            old = np.zeros(LANES, np.uint64)
            for lane in np.flatnonzero(warp.executing).tolist():  # one lane after the other
                where, only = start[lane : lane + 1], np.array([lane])
                try:
                    old[lane : lane + 1] = access(warp, space, where, only, op.type.bytes)
                    new = combine(op, old[lane : lane + 1], *(v[lane : lane + 1] for v in values))
                    access(warp, space, where, only, op.type.bytes, new)
                except Fault as fault:
                    fault.position = int(np.count_nonzero(warp.executing[:lane]))
                    raise
            write(warp, old, warp.executing)

        return step


def space_named(match: Match) -> str:
    """The space that an opcode names, "" for none (generic)."""
    found = next((m for m in sorted(match.modifiers) if m.partition("::")[0] in _SPACES), "")
    if found.endswith("::cluster"):
        raise Unsupported(f"'.{found}'")
    return found.partition("::")[0]


def memory_operand(operand: Operand) -> Memory:
    if not isinstance(operand, Memory):
        raise Unsupported(f"address '{operand}'")
    return operand


def _elements(match: Match, op: Op) -> tuple[int, Type]:
    """The number and type of the elements that a load or store moves."""
    if op.type.bits == 128:
        return 4, TYPES["b32"]
    return next((n for name, n in _VECTORS.items() if op.has(name)), 1), op.type


def items_of(operand: Operand, n: int) -> tuple[Operand, ...]:
    if not isinstance(operand, Vector) or len(operand.items) != n:
        raise Unsupported(f"an operand that is no vector of {n}")
    return operand.items


def _atomic(name: str) -> Callable[..., Raw]:
    function = OPERATIONS[name]
    return lambda op, old, value: function(op, _spread(old), _spread(value))[:1]


def _spread(one: Raw) -> Raw:
    """A single value in every lane."""
    return np.full(LANES, one[0])


COMBINATIONS: dict[str, Callable[..., Raw]] = {
    "add": _atomic("add"),
    "min": _atomic("min"),
    "max": _atomic("max"),
    "and": _atomic("and"),
    "or": _atomic("or"),
    "xor": _atomic("xor"),
    "exch": lambda op, old, value: value,
    "inc": lambda op, old, value: np.where(old >= value, np.uint64(0), old + _ONE),
    "dec": lambda op, old, value: np.where((old == 0) | (old > value), value, old - _ONE),
    "cas": lambda op, old, expected, new: new if old[0] == expected[0] else old,
}
