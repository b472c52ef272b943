"""Memory instructions of the reference interpreter: loads, stores, atomics, and what converts addresses.

For `reference_steps.py`. Atomics take the lanes one after the other, the lowest first.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (data movement, synchronization instructions).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ptxtool.ir.nodes import Instruction, Memory, Name, Operand, Vector
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from reference.decode import Operands, Reader, Unsupported, Warp, Writer, access, check_alignment
from reference.memory import CTA_BYTES, FIRST_OF_PAIRS, WINDOWS, Fault, rank_named, space_of_generic
from reference.numbers import LANES, Raw, mask_of
from reference.op import PACKED, Op
from reference.ops import OPERATIONS

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
        if space_named(match) == "shared" and self.operands.image.has_pairs:
            return self._pair_address(source, write, op.has("to"))
        if op.has("to"):
            return lambda warp: write(warp, source(warp) - window, warp.executing)
        return lambda warp: write(warp, source(warp) + window, warp.executing)

    def _pair_address(self, source: Reader, write: Writer, to_shared: bool) -> Step:
        """Generic addresses have ranks from 1 on, those of the shared space from FIRST_OF_PAIRS on."""
        window, first = (0, FIRST_OF_PAIRS) if to_shared else (WINDOWS["shared"], 1)

        def step(warp: Warp) -> None:
            own = int(warp.special("cluster_ctarank")[0])
            found = [int(a) - (WINDOWS["shared"] if to_shared else 0) for a in source(warp)]
            ranks = [rank_named(a, own) if 0 <= a < 64 * CTA_BYTES else 0 for a in found]
            parts = [0 if rank == own and not to_shared else rank + first for rank in ranks]
            made = [window + part * CTA_BYTES + a % CTA_BYTES for part, a in zip(parts, found, strict=True)]
            write(warp, np.array(made, np.uint64), warp.executing)

        return step

    def _isspacep(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        space = space_named(match)
        is_own = space == "shared" and not op.has("shared::cluster")
        source = self.operands.read(instruction.operands[1], TYPES["u64"], i)
        write, _ = self.operands.write_pair(instruction.operands[0], i)

        def step(warp: Warp) -> None:
            found = source(warp).tolist()
            truth = np.array([space_of_generic(a) == space for a in found])
            if is_own:
                truth &= np.array([a < WINDOWS["shared"] + CTA_BYTES for a in found])
            write(warp, truth, warp.executing)

        return step

    def _ld(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        to, memory = instruction.operands[:2]
        n, type_ = _elements(match, op)
        to = self._as_vector(to, op, i)
        load = self.operands.load(memory_operand(memory), space_named(match), type_, n, i)
        writers = [self.operands.write(o, type_, i) for o in self._components(to, n, i)]

        def step(warp: Warp) -> None:
            for write, raw in zip(writers, load(warp), strict=True):
                write(warp, raw, warp.executing)

        return step

    def _st(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        memory, of = instruction.operands[:2]
        n, type_ = _elements(match, op)
        of = self._as_vector(of, op, i)
        readers = [self.operands.read(o, type_, i) for o in self._components(of, n, i)]
        store = self.operands.store(memory_operand(memory), space_named(match), type_, n, i)
        return lambda warp: store(warp, [r(warp) for r in readers], warp.executing)

    def _as_vector(self, operand: Operand, op: Op, i: int) -> Operand:
        """A 128-bit operand of PTX as a vector of its halves."""
        return Vector(self.operands.halves(operand, i)) if op.type.name == "b128" else operand

    def _createpolicy(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """The value is opaque: zero."""
        write = self.operands.write(instruction.operands[0], TYPES["b64"], i)
        return lambda warp: write(warp, np.zeros(LANES, np.uint64), warp.executing)

    def _mov_vector(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """mov.v2, mov.v4 and mov.b128, which is one of two halves."""
        to, of = instruction.operands[:2]
        if op.type.name == "b128":
            type_, targets, sources = TYPES["b64"], self.operands.halves(to, i), self.operands.halves(of, i)
        else:
            n = next(n for name, n in _VECTORS.items() if op.has(name))
            type_ = op.type
            targets, sources = (self._components(o, n, i) for o in (to, of))
        readers = [self.operands.read(o, type_, i) for o in sources]
        writers = [self.operands.write(o, type_, i) for o in targets]

        def step(warp: Warp) -> None:
            for write, raw in zip(writers, [r(warp) for r in readers], strict=True):
                write(warp, raw, warp.executing)

        return step

    def _components(self, operand: Operand, n: int, i: int) -> tuple[Operand, ...]:
        """The n registers of an operand: one, those in braces, or the elements of a vector register."""
        if n == 1:
            return (operand,)
        if isinstance(operand, Name):
            register = self.operands.register(operand.text, i)
            if register is None or register.vector == n:
                return tuple(Name(operand.text, part) for part in "xyzw"[:n])
        return items_of(operand, n)

    def _red(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._atom(instruction, match, op, i)

    def _atom(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        operands = instruction.operands if op.sem == "atom" else (Name("_"), *instruction.operands)
        memory = memory_operand(operands[1])
        space = self.operands.space(memory, space_named(match))
        address = self.operands.address(memory, space, i)
        count, type_ = _elements(match, op)
        one = op.element() if op.type.name in PACKED else replace(op, type=type_)
        per = type_.bits // one.type.bits  # elements of a register
        shifts = [np.uint64(k * one.type.bits) for k in range(per)]
        mask = mask_of(one.type.bits)
        items = [self._items(o, op, count, i) for o in operands[2 : 4 if op.has("cas") else 3]]
        readers = [[self.operands.read(o, type_, i) for o in item] for item in items]
        targets = self._items(operands[0], op, count, i)
        writers = [_writer(self.operands, o, type_, i) for o in targets]
        combine = COMBINATIONS["cas" if op.has("cas") else match.one_of(*COMBINATIONS)]
        n_bytes = one.type.bytes

        def step(warp: Warp) -> None:
            start = address(warp)
            values = [[r(warp) >> s & mask for r in column for s in shifts] for column in readers]
            old = [np.zeros(LANES, np.uint64) for _ in range(count * per)]
            lanes = np.flatnonzero(warp.executing)
            check_alignment(start[lanes], count * type_.bytes)
            for lane in lanes.tolist():  # one lane after the other
                only = np.array([lane])
                where = [start[lane : lane + 1] + np.uint64(k * n_bytes) for k in range(len(old))]
                at = space or space_of_generic(int(start[lane]))
                exact = (
                    one
                    if at != "global" or one.type.name != "f32" or op.has("noftz")
                    else replace(one, modifiers=one.modifiers | {"ftz"})
                )
                try:
                    found = [access(warp, space, w, only, n_bytes) for w in where]
                    given = [[v[lane : lane + 1] for v in column] for column in values]
                    if op.type.bits == 128:  # compared and exchanged as a whole
                        new = given[-1] if not op.has("cas") or found == given[0] else found
                    else:
                        new = [combine(exact, f, *(g[k] for g in given)) for k, f in enumerate(found)]
                    for w, value in zip(where, new, strict=True):
                        access(warp, space, w, only, n_bytes, value)
                except Fault as fault:
                    fault.position = int(np.count_nonzero(warp.executing[:lane]))
                    raise
                for k, value in enumerate(found):
                    old[k][lane] = value[0]
            for k, write in enumerate(writers):
                raw = np.zeros(LANES, np.uint64)
                for j, shift in enumerate(shifts):
                    raw |= old[k * per + j] << shift
                write(warp, raw, warp.executing)

        return step

    def _items(self, operand: Operand, op: Op, count: int, i: int) -> tuple[Operand, ...]:
        """The registers of an operand of an atomic."""
        if isinstance(operand, Name) and operand.text == "_":
            return (operand,) * count
        operand = self._as_vector(operand, op, i)
        return self._components(operand, count, i)


def _writer(operands: Operands, operand: Operand, type_: Type, i: int) -> Writer:
    if isinstance(operand, Name) and operand.text == "_":
        return lambda warp, raw, lanes: None
    return operands.write(operand, type_, i)


def space_named(match: Match) -> str:
    """The space that an opcode names, "" for none (generic)."""
    found = next((m for m in sorted(match.modifiers) if m.partition("::")[0] in _SPACES), "")
    return found.partition("::")[0]


def memory_operand(operand: Operand) -> Memory:
    if not isinstance(operand, Memory):
        raise Unsupported(f"address '{operand}'")
    return operand


def _elements(match: Match, op: Op) -> tuple[int, Type]:
    """The number and type of the elements that a load or store moves."""
    if op.type.name == "b128":
        return 2, TYPES["b64"]
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
