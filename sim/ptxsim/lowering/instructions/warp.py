"""Warp-wide instructions: vote, shfl, match, redux, activemask, elect."""

from collections.abc import Callable

from ptxsim.execute import codes
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import write_predicates
from ptxsim.lowering.rows import TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Dual, Immediate, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_U32 = TYPES["u32"]
_ALL_LANES = 0xFFFFFFFF


def by_group(apply: Callable[[UopBuilder, Operation], None]) -> Callable[[UopBuilder, Operation], None]:
    """A rule whose lanes work together with those that name the same mask, a number or a register."""

    def grouped(builder: UopBuilder, op: Operation) -> None:
        names = [o.name for o in op.match.form.operands]
        at = names.index("mask") if "mask" in names else len(op.operands)
        if at >= len(op.operands) or isinstance(op.operands[at], Immediate):
            apply(builder, op)
            return
        row = builder.source(op, at, _U32)
        start = len(builder.uops)
        builder.emit(codes.MEMBERS, a=row)
        apply(builder, op)
        builder.emit(codes.NEXT_GROUP, e=len(builder.uops) - start)

    return grouped


@rule("vote")
def _vote(builder: UopBuilder, op: Operation) -> None:
    source = builder.predicate(op.operands[1])
    if len(op.operands) > 2 and not _is_all_ones(op.operands[2]):
        _vote_of_named(builder, op, source)
        return
    if op.has("ballot"):
        builder.destination(op, 0, WORD).write(codes.BALLOT, source)
        return
    mode = ("any", "all", "uni").index(op.match.one_of("any", "all", "uni"))
    result = builder.emit(codes.VOTE, builder.temporary(1), source, e=mode)
    write_predicates(builder, op.operands[0], result)


def _is_all_ones(mask: Operand) -> bool:
    return isinstance(mask, Immediate) and integer(mask.text) & _ALL_LANES == _ALL_LANES


def _vote_of_named(builder: UopBuilder, op: Operation, source: int) -> None:
    """A vote of all active lanes, of which each lane counts those that its mask names, be it one of them or not."""
    mask = builder.source(op, 2, _U32)
    held = builder.compute("and_u32", builder.emit(codes.BALLOT, builder.temporary(), source), mask)
    if op.has("ballot"):
        builder.destination(op, 0, WORD).write("mov_u32", held)
        return
    voters = builder.compute("and_u32", builder.emit(codes.BALLOT, builder.temporary(), TRUE), mask)
    none = builder.compute("eq_u32", held, builder.constant(0))
    every = builder.compute("eq_u32", held, voters)
    result = {"any": lambda: builder.combine("not", none), "all": lambda: every}.get(
        op.match.one_of("any", "all", "uni"), lambda: builder.combine("or", none, every)
    )
    write_predicates(builder, op.operands[0], result())


@rule("shfl")
def _shfl(builder: UopBuilder, op: Operation) -> None:
    target = op.operands[0]
    mode = ("up", "down", "bfly", "idx").index(op.match.one_of("up", "down", "bfly", "idx"))
    value, lane, limits = (
        builder.source(op, 1, WORD),
        builder.source(op, 2, _U32),
        builder.source(op, 3, _U32),
    )
    in_range = None
    if isinstance(target, Dual):
        in_range = builder.emit(codes.SHUFFLE_TEST, builder.temporary(1), value, lane, limits, mode)
    d = builder.place(target.first if isinstance(target, Dual) else target, WORD)
    d.write(codes.SHUFFLE, value, lane, limits, mode)
    if in_range is not None and isinstance(target, Dual):
        write_predicates(builder, target.second, in_range)


@rule("match")
@by_group
def _match(builder: UopBuilder, op: Operation) -> None:
    wide = op.type.bits == 64
    same = builder.emit(codes.MATCH, builder.temporary(), builder.source(op, 1), e=int(wide))
    target = op.operands[0]
    if "any" in op.instruction.opcode.text.split("."):
        builder.destination(op, 0, WORD).write("mov_u32", same)
        return
    everyone = builder.emit(codes.BALLOT, builder.temporary(), TRUE)
    agreed = builder.compute("eq_u32", same, everyone)
    d = builder.place(target.first if isinstance(target, Dual) else target, WORD)
    d.write("sel_u32", everyone, builder.constant(0), agreed)
    if isinstance(target, Dual):
        write_predicates(builder, target.second, agreed)


@rule("redux")
@by_group
def _redux(builder: UopBuilder, op: Operation) -> None:
    if op.type.is_float:
        _redux_float(builder, op)
        return
    operation = codes.REDUCTIONS[op.match.one_of(*codes.REDUCTIONS)]
    source = builder.source(op, 1)
    builder.destination(op).write(codes.REDUCE, source, e=operation | op.type.is_signed << 8)


def _redux_float(builder: UopBuilder, op: Operation) -> None:
    """Minimum or maximum of `.f32`: by keys in whose unsigned order floats stand as they should, -0 below +0."""
    source = builder.source(op, 1)
    if op.has("abs"):
        source = builder.compute("abs_f32", source)
    is_number = builder.compute("num_f32", source, source)
    top = builder.constant(0x80000000)
    sign = builder.compute("shr_s32", source, builder.constant(31))
    key = builder.compute("xor_u32", source, builder.compute("or_u32", sign, top))
    name = op.match.one_of("min", "max")
    neutral = builder.constant(0xFFFFFFFF if name == "min" else 0)
    key = builder.compute("sel_u32", key, neutral, is_number)
    best = builder.emit(codes.REDUCE, builder.temporary(), key, e=codes.REDUCTIONS[name])
    back = builder.compute(
        "or_u32", builder.compute("not_u32", builder.compute("shr_s32", best, builder.constant(31))), top
    )
    # a NaN loses against every number, and with `.NaN` wins: any lane, or all, must have a number
    valid = builder.emit(codes.VOTE, builder.temporary(1), is_number, e=int(op.has("NaN")))
    builder.destination(op).write(
        "sel_u32", builder.compute("xor_u32", best, back), builder.constant(0x7FFFFFFF), valid
    )


@rule("activemask")
def _activemask(builder: UopBuilder, op: Operation) -> None:
    builder.destination(op, 0, WORD).write(codes.BALLOT, TRUE)


@rule("elect")
@by_group
def _elect(builder: UopBuilder, op: Operation) -> None:
    """The lowest active lane."""
    active = builder.emit(codes.BALLOT, builder.temporary(), TRUE)
    lowest = builder.compute("and_u32", active, builder.compute("neg_u32", active))
    leader = builder.compute("sub_u32", builder.constant(31), builder.compute("clz_u32", lowest))
    elected = builder.compute("eq_u32", leader, builder.special_row(codes.LANEID))
    target = op.operands[0]
    if not isinstance(target, Dual):
        unsupported("'elect' without a predicate destination")
    builder.place(target.first, WORD).write("mov_u32", leader)
    write_predicates(builder, target.second, elected)
