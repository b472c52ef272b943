"""Instructions of the reference interpreter: what each one does to a warp, control flow apart.

For `reference.py`. `Decoder.step` turns an instruction into a function of the executing warp; its `sem` in the
instruction table says which. Beside the lane operations of `reference_ops.py` that is what concerns predicates and
condition codes; memory and warp-wide instructions are in `reference_access.py` and `reference_warp.py`.

PTXPlus condition codes have four flags, Z S C O; a guard without a condition holds where Z is clear. Where GPGPU-Sim
departs from the hardware's meaning, the hardware's is taken unless the operands are `as_gpgpu_sim`.

Reference: PTX ISA, chapter 9; W. van der Laan, "decuda" (the flags of G80).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ptxtool.ir.nodes import Dual, Guard, Immediate, Instruction, Memory, Name, Operand, Unary
from ptxtool.isa.legacy import with_defaults
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES, Type
from reference.access import MemoryAccess, Step, items_of
from reference.asynchronous import Asynchronous
from reference.bulk import BULK_MEANINGS, BulkCopies
from reference.clusters import ClusterAddresses
from reference.convert import convert
from reference.decode import Operands, Reader, Unsupported, Warp, Writer
from reference.formats import MEANINGS, pack_integers, small_step
from reference.matrix import MATRIX_MEANINGS, Matrices
from reference.numbers import LANES, Raw, by_lane, floats, full, mask_of, signed
from reference.op import PACKED, Op, operand_types, result_type
from reference.ops import (
    EXTENDED,
    OPERATIONS,
    RELATIONS,
    Bools,
    carry_overflow,
    compare,
    element_wise,
    extended,
    widened_pair,
)
from reference.tensor_memory import TENSOR_MEANINGS, Tensors
from reference.textures import TEXTURE_MEANINGS, Textures
from reference.video import SCALAR, SEVERAL, video_step
from reference.warp import GROUPED, WARP_WIDE, WarpWide
from reference.warpgroups import WARP_GROUP_MEANINGS, WarpGroups

_NO_TYPE = TYPES["u32"]
_ONE = np.uint64(1)


def _flags(raw: Raw) -> tuple[Bools, Bools, Bools, Bools]:
    z, s, c, o = (raw >> np.uint64(k) & _ONE != 0 for k in range(4))
    return z, s, c, o


CONDITIONS: Mapping[str, Callable[[Bools, Bools, Bools, Bools], Bools]] = MappingProxyType(
    {
        "fl": lambda z, s, c, o: z & ~z,
        "lt": lambda z, s, c, o: (s & ~z) ^ o,
        "eq": lambda z, s, c, o: z & ~s,
        "le": lambda z, s, c, o: np.where(o, ~s, z ^ s),
        "gt": lambda z, s, c, o: ~z & (s == o),
        "ne": lambda z, s, c, o: ~z,
        "ge": lambda z, s, c, o: s == o,
        "leg": lambda z, s, c, o: ~(z & s),
        "nan": lambda z, s, c, o: z & s,
        "ltu": lambda z, s, c, o: s ^ o,
        "equ": lambda z, s, c, o: z,
        "leu": lambda z, s, c, o: z | (s ^ o),
        "gtu": lambda z, s, c, o: np.where(o, s, ~(z ^ s)),
        "neu": lambda z, s, c, o: ~(z & ~s),
        "geu": lambda z, s, c, o: ~((s & ~z) ^ o),
        "tr": lambda z, s, c, o: z | ~z,
        "of": lambda z, s, c, o: o,
        "cf": lambda z, s, c, o: c,
        "ab": lambda z, s, c, o: c & ~z,
        "sf": lambda z, s, c, o: s,
        "nsf": lambda z, s, c, o: ~s,
        "ble": lambda z, s, c, o: ~c | z,
        "ncf": lambda z, s, c, o: ~c,
        "nof": lambda z, s, c, o: ~o,
    }
)
"""PTXPlus conditions by suffix, as functions of the flags Z, S, C, O."""
_CONDITION_ALIASES = {"false": "fl", "true": "tr", "num": "leg"}

# PTXPlus logic on condition codes acts on flags whose truth is inverted
_FLAG_LOGIC: dict[str, Callable[..., Raw]] = {
    "and": lambda a, b: a | b,
    "or": lambda a, b: a & b,
    "xor": lambda a, b: ~(a ^ b),
    "nandn": lambda a, b: ~a & b,
    "norn": lambda a, b: ~(a & ~b),
    "orn": lambda a, b: a & ~b,
    "andn": lambda a, b: a | ~b,
    "not": lambda a: ~a,
    "cnot": lambda a: a ^ _ONE,
}
_BOOLEAN: dict[str, Callable[[Bools, Bools], Bools]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def result_flags(type_: Type, raw: Raw, as_gpgpu_sim: bool = False) -> Raw:
    """The Z and S flags of a result.

    GPGPU-Sim: Z of a signed number leaves its sign out, a NaN is neither zero nor negative, nothing of 64 bits is.
    """
    if as_gpgpu_sim and type_.is_float:
        values = floats(raw, type_.bits)
        zero, negative = values == 0, (values < 0) & (type_.bits < 64)
    elif as_gpgpu_sim and type_.is_signed:
        zero = raw & mask_of(type_.bits - 1) == 0
        negative = signed(raw, type_.bits) < 0
    elif type_.is_float:
        values = floats(raw, type_.bits)
        zero, negative = (values == 0) | np.isnan(values), (values < 0) | np.isnan(values)  # both: unordered
    else:
        zero, negative = raw == 0, raw >> np.uint64(type_.bits - 1) & _ONE != 0
    return zero.astype(np.uint64) | negative.astype(np.uint64) << _ONE


_ONES = {
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f32": 0x3F800000,
    "f64": 0x3FF0000000000000,
    "ff64": 0x3FF0000000000000,
}

Maker = Callable[[Instruction, Match, Op, int], Step]
WITHOUT_EFFECT = frozenset({"nop", "membar", "cp_async_commit", "cp_async_wait"})
MAKERS = WITHOUT_EFFECT | {
    *("setp", "set", "selp", "cvt", "cvt_pack_int", "testp", "lop3_bool"),
    *("cvta", "isspacep", "ld", "st", "atom", "red", "createpolicy"),
    *WARP_WIDE,
    "activemask",
    *("cp_async", "mbarrier_init", "mbarrier_inval", "mbarrier_bytes", "mbarrier_arrive", "mbarrier_copies"),
    *("mbarrier_test", "mbarrier_layout", "mbarrier_pending", "st_async", "red_async"),
    *("mapa", "getctarank"),
    *MATRIX_MEANINGS,
    *WARP_GROUP_MEANINGS,
    *TENSOR_MEANINGS,
    *TEXTURE_MEANINGS,
    *BULK_MEANINGS,
}
"""Meanings that a method of the decoder's (`_setp`, ...) knows."""


class Decoder(
    MemoryAccess,
    WarpWide,
    Asynchronous,
    BulkCopies,
    ClusterAddresses,
    Matrices,
    WarpGroups,
    Tensors,
    Textures,
):
    """Makes the steps of one kernel."""

    def __init__(self, operands: Operands):
        self.operands = operands
        self.is_ptxplus = operands.is_ptxplus

    def match(self, instruction: Instruction) -> Match:
        found = table().match(instruction.opcode.text, len(instruction.operands), self.is_ptxplus)
        if found is None:
            raise Unsupported(f"instruction '{instruction.opcode.text}'")
        module = self.operands.kernel.module
        return found if self.is_ptxplus else with_defaults(found, module.version, module.target)

    def step(self, instruction: Instruction, match: Match, i: int) -> Step:
        """The effect of an instruction that is no control flow. Raises `Unsupported`."""
        op = self._op(instruction, match)
        if op.sem in WITHOUT_EFFECT:
            return _nothing
        maker: Maker | None = getattr(self, f"_{op.sem}") if op.sem in MAKERS else None
        if op.type.kind == "pred" and op.sem in _FLAG_LOGIC:
            maker = self._predicate_logic
        elif op.sem == "mov" and (op.type.name == "b128" or op.has("v2") or op.has("v4")):
            maker = self._mov_vector
        elif op.sem == "mov" and op.type.bits == 128:
            maker = self._mov128
        elif op.sem in EXTENDED:
            maker = self._extended
        elif maker is None and op.sem in OPERATIONS:
            maker = self._arithmetic
        if op.sem in MEANINGS:
            return small_step(self.operands, instruction, op, i)
        if op.sem in SCALAR or op.sem in SEVERAL:
            return video_step(self.operands, instruction, match, op, i)
        if maker is None:
            raise Unsupported(f"instruction '{instruction.opcode.text}'")
        step = maker(instruction, match, op, i)
        if op.sem in GROUPED:
            step = self.by_group(step, instruction, match, i)
        increments = self._increments(instruction, i)
        if not increments:
            return step

        def with_increment(warp: Warp) -> None:
            step(warp)
            for increment in increments:
                increment(warp)

        return with_increment

    def guard(self, guard: Guard | None, i: int) -> Callable[[Warp], Bools] | None:
        """The lanes whose guard holds, None for an unguarded instruction."""
        if guard is None:
            return None
        name = Name(guard.name)
        if not self.is_ptxplus or not guard.condition:
            truth = self.operands.truth(name, i)
            return (lambda warp: ~truth(warp)) if guard.negated else truth
        condition = CONDITIONS.get(_CONDITION_ALIASES.get(guard.condition, guard.condition))
        if condition is None:
            raise Unsupported(f"condition '.{guard.condition}'")
        read = self.operands.read(name, TYPES["pred"], i)
        return lambda warp: condition(*_flags(read(warp)))

    def _op(self, instruction: Instruction, match: Match) -> Op:
        type_ = TYPES[match.type] if match.type else _NO_TYPE
        stype = TYPES[match.stype] if match.stype else type_
        first = instruction.operands[0] if instruction.operands else None
        target = first.second if isinstance(first, Dual) else first
        whole = isinstance(target, Name) and not target.part
        form, as_gpgpu_sim = match.form, self.operands.as_gpgpu_sim
        if as_gpgpu_sim and type_.name == "s8" and (form.sem == "ld" or _is_load(instruction)):
            type_ = TYPES["u8"]  # which is not extended by its sign
        return Op(form.sem, type_, stype, match.modifiers, form.wide, self.is_ptxplus, whole, as_gpgpu_sim)

    def _increments(self, instruction: Instruction, i: int) -> list[Step]:
        found: list[Step] = []
        for operand in instruction.operands:
            inner = operand.operand if isinstance(operand, Unary) else operand
            if isinstance(inner, Memory) and inner.post_increment:
                assert inner.base is not None
                assert inner.offset is not None
                base = self.operands.read(inner.base, TYPES["u32"], i)
                by = self.operands.read(inner.offset, TYPES["u32"], i)
                write = self.operands.write(inner.base, TYPES["u32"], i)
                found.append(_incrementing(base, by, write))
        return found

    # ---- results

    def _result(self, operand: Operand, type_: Type, i: int) -> Callable[..., None]:
        """A writer of a result and, for `$p/$r` and `$p|$r`, of its flags: `write(warp, raw, carry, overflow)`."""
        if not isinstance(operand, Dual):
            write = self.operands.write(operand, type_, i)
            return lambda warp, raw, carry=None, overflow=None: write(warp, raw, warp.executing)
        flags = self.operands.write(operand.first, TYPES["pred"], i)
        write = self.operands.write(operand.second, type_, i)

        def both(warp: Warp, raw: Raw, carry: Bools | None = None, overflow: Bools | None = None) -> None:
            found = result_flags(type_, raw, self.operands.as_gpgpu_sim)
            if carry is not None and overflow is not None:
                found = (
                    found
                    | carry.astype(np.uint64) << np.uint64(2)
                    | overflow.astype(np.uint64) << np.uint64(3)
                )
            write(warp, raw, warp.executing)
            flags(warp, found, warp.executing)

        return both

    def _sources(self, instruction: Instruction, match: Match, op: Op, i: int) -> list[Reader]:
        operands = instruction.operands[1 : match.form.max_operands]
        types = operand_types(op, len(operands))
        readers = [self.operands.read(o, t, i) for o, t in zip(operands, types, strict=True)]
        if op.is_mixed_pair:
            halves = readers[0]
            readers[0] = lambda warp: widened_pair(op, halves(warp))
        if op.takes_absolute and types[0].is_float:
            readers[0] = _absolute(readers[0], types[0])
        return readers

    def _arithmetic(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        function = OPERATIONS[op.sem]
        if op.type.name in PACKED:
            function = element_wise(op, function)
        sources = self._sources(instruction, match, op, i)
        first = instruction.operands[0]
        write = self._result(first, result_type(op), i)
        has_flags = isinstance(first, Dual)
        negated = tuple(map(_is_negated, instruction.operands[1:]))
        if op.sem in ("addp", "madp") and not op.as_gpgpu_sim and True in negated:
            last = max(k for k, minus in enumerate(negated) if minus)
            sources[last] = _one_less(sources[last], operand_types(op, len(sources))[last])

        def step(warp: Warp) -> None:
            values = tuple(read(warp) for read in sources)
            raw = function(op, *values)
            if has_flags:
                write(warp, raw, *carry_overflow(op, values, negated))
            else:
                write(warp, raw)

        return step

    def _extended(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        sources = self._sources(instruction, match, op, i)
        write = self._result(instruction.operands[0], op.type, i)
        sets_flag = op.sem.endswith("_cc")

        def step(warp: Warp) -> None:
            raw, flag = extended(op, tuple(read(warp) for read in sources), warp.carry)
            write(warp, raw)
            if sets_flag:
                warp.carry = np.where(warp.executing, flag, warp.carry)

        return step

    def _predicate_logic(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        sources = self._sources(instruction, match, op, i)
        write = self.operands.write(instruction.operands[0], op.type, i)
        function, mask = OPERATIONS[op.sem], np.uint64(1)
        if self.is_ptxplus:
            function, mask = (lambda _, *values: _FLAG_LOGIC[op.sem](*values)), np.uint64(15)
        return lambda warp: write(warp, function(op, *(r(warp) for r in sources)) & mask, warp.executing)

    def _mov128(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """PTXPlus `mov.bb128`: four registers or 16 bytes of memory."""
        to, of = instruction.operands[:2]
        word = TYPES["b32"]
        if isinstance(of, Memory):
            load = self.operands.load(of, "", word, 4, i)
        else:
            readers = [self.operands.read(o, word, i) for o in items_of(of, 4)]
            load = lambda warp: [r(warp) for r in readers]  # noqa: E731
        if isinstance(to, Memory):
            store = self.operands.store(to, "", word, 4, i)
            return lambda warp: store(warp, load(warp), warp.executing)
        writers = [self.operands.write(o, word, i) for o in items_of(to, 4)]

        def step(warp: Warp) -> None:
            for write, raw in zip(writers, load(warp), strict=True):
                write(warp, raw, warp.executing)

        return step

    def _cvt(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        source = self.operands.read(instruction.operands[1], op.stype, i)
        if op.takes_absolute:
            source = _absolute(source, op.stype)
        write = self._result(instruction.operands[0], op.type, i)
        return lambda warp: write(warp, convert(op, source(warp)))

    def _cvt_pack_int(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        word = TYPES["b32"]
        readers = [self.operands.read(o, word, i) for o in instruction.operands[1:]]
        write = self.operands.write(instruction.operands[0], word, i)

        def step(warp: Warp) -> None:
            values = [r(warp) for r in readers]
            write(warp, by_lane(lambda *v: pack_integers(op, *v), *values), warp.executing)

        return step

    # ---- predicates

    def _relation(self, op: Op) -> str:
        """The comparison; `.lo`, `.hi` of a relation are distinguished by nothing else here."""
        return next(r for r in sorted(RELATIONS) if op.has(r))

    def _comparison(self, instruction: Instruction, match: Match, op: Op, type_: Type, i: int) -> Any:
        """A function of the warp: which lanes satisfy the relation, a pair of such for packed types."""
        relation = self._relation(op)
        a, b = (self.operands.read(o, type_, i) for o in instruction.operands[1:3])
        if op.takes_absolute:
            a = _absolute(a, type_)

        def holds(warp: Warp) -> tuple[Bools, ...]:
            first = a(warp)
            if type_.name not in PACKED:
                return (compare(type_, relation, first, b(warp), op.modifiers),)
            each = TYPES[type_.name[:-2]]
            mask, other = mask_of(each.bits), b(warp)
            return tuple(
                compare(each, relation, first >> shift & mask, other >> shift & mask, op.modifiers)
                for shift in map(np.uint64, range(0, type_.bits, each.bits))
            )

        return holds

    def _combined(self, instruction: Instruction, match: Match, i: int) -> Callable[[Warp, Bools], Bools]:
        """What `.and`, `.or`, `.xor` and a fourth operand make of a comparison."""
        boolean = _BOOLEAN.get(match.one_of("and", "or", "xor"))
        if boolean is None or len(instruction.operands) < 4:
            return lambda warp, holds: holds
        c = self.operands.truth(instruction.operands[3], i)
        return lambda warp, holds: boolean(holds, c(warp))

    def _setp(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        holds = self._comparison(instruction, match, op, op.type, i)
        combined = self._combined(instruction, match, i)
        write_p, write_q = self.operands.write_pair(instruction.operands[0], i)

        def step(warp: Warp) -> None:
            found = holds(warp)
            p, q = (combined(warp, h) for h in (found[0], found[1] if len(found) > 1 else ~found[0]))
            write_p(warp, p, warp.executing)
            write_q(warp, q, warp.executing)

        return step

    def _set(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        compared = op.stype if match.stype else op.type
        holds = self._comparison(instruction, match, op, compared, i)
        combined = self._combined(instruction, match, i)
        write = self._result(instruction.operands[0], op.type, i)
        ones = _ONES[op.type.name.removesuffix("x2")] if op.type.is_float else -1
        bits = TYPES[compared.name[:-2]].bits if compared.name in PACKED else op.type.bits
        true = full(ones) & mask_of(bits)

        def step(warp: Warp) -> None:
            raw = np.zeros(LANES, np.uint64)
            for k, found in enumerate(holds(warp)):
                raw |= np.where(combined(warp, found), true, np.uint64(0)) << np.uint64(bits * k)
            write(warp, raw)

        return step

    def _selp(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        _, left, right, condition = instruction.operands[:4]
        a, b = self.operands.read(left, op.type, i), self.operands.read(right, op.type, i)
        if op.as_gpgpu_sim and isinstance(condition, Unary):  # which does not see the `!`
            condition = condition.operand
        c = self.operands.truth(condition, i)
        write = self._result(instruction.operands[0], op.type, i)
        return lambda warp: write(warp, np.where(c(warp), a(warp), b(warp)))

    def _testp(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        (source,) = self._sources(instruction, match, op, i)
        write, _ = self.operands.write_pair(instruction.operands[0], i)
        return lambda warp: write(warp, OPERATIONS["testp"](op, source(warp)) != 0, warp.executing)

    def _lop3_bool(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        first = instruction.operands[0]
        readers = [self.operands.read(o, op.type, i) for o in instruction.operands[1:5]]
        q = self.operands.truth(instruction.operands[5], i)
        target, predicate = (first.first, first.second) if isinstance(first, Dual) else (Name("_"), first)
        write, write_p = self.operands.write(target, op.type, i), self.operands.write_truth(predicate, i)
        boolean = _BOOLEAN[match.form.base.rpartition(".")[2]]

        def step(warp: Warp) -> None:
            raw = OPERATIONS["lop3"](op, *(r(warp) for r in readers))
            truth = boolean(raw != 0, q(warp))
            write(warp, raw, warp.executing)
            write_p(warp, truth, warp.executing)

        return step


def _is_load(instruction: Instruction) -> bool:
    """Whether it is a `mov` from memory."""
    operands = instruction.operands
    return instruction.opcode.base == "mov" and len(operands) > 1 and isinstance(operands[1], Memory)


def _is_negated(operand: Operand) -> bool:
    """Whether an operand has a minus that the instruction carries out: that of a literal is a part of it."""
    if not isinstance(operand, Unary) or operand.operator != "-":
        return False
    return not isinstance(operand.operand, Immediate)


def _one_less(read: Reader, type_: Type) -> Reader:
    """The complement where `read` negates: what a chain of carries adds, whose carry is the one that is missing."""
    return lambda warp: (read(warp) - _ONE) & mask_of(type_.bits)


def _absolute(read: Reader, type_: Type) -> Reader:
    """A reader of a source's absolute value; PTXPlus's types without a sign have one here."""
    op = Op("abs", type_, type_, frozenset(), False, True, True)
    return lambda warp: OPERATIONS["abs"](op, read(warp))


def _nothing(warp: Warp) -> None:
    """An instruction without an effect."""


def _incrementing(base: Reader, by: Reader, write: Writer) -> Step:
    return lambda warp: write(warp, (base(warp) + by(warp)) & mask_of(32), warp.executing)
