"""Warp-wide instructions: vote, shfl, match, redux, activemask, elect."""

from collections.abc import Callable

from ptxsim.execute import codes
from ptxsim.execute.codes import BALLOT, MATCH, MEMBERS, NEXT_GROUP, REDUCE, SHUFFLE, SHUFFLE_TEST, VOTE
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import write_predicates
from ptxsim.lowering.rows import TRUE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Dual, Immediate
from ptxtool.isa.types import TYPES

_U32 = TYPES["u32"]


def by_group(apply: Callable[[UopBuilder, Operation], None]) -> Callable[[UopBuilder, Operation], None]:
    """A rule whose lanes work together with those that name the same mask, a number or a register."""

    def grouped(b: UopBuilder, op: Operation) -> None:
        names = [o.name for o in op.match.form.operands]
        at = names.index("mask") if "mask" in names else len(op.operands)
        if at >= len(op.operands) or isinstance(op.operands[at], Immediate):
            apply(b, op)
            return
        row = b.source(op, at, _U32)
        start = len(b.uops)
        b.emit_code(MEMBERS, a=row)
        apply(b, op)
        b.emit_code(NEXT_GROUP, e=len(b.uops) - start)

    return grouped


@rule("vote")
@by_group
def _vote(b: UopBuilder, op: Operation) -> None:
    source = b.predicate(op.operands[1])
    if op.has("ballot"):
        d = b.destination(op, 0, WORD)
        b.emit_code(BALLOT, d.row, source)
        d.finish()
        return
    mode = ("any", "all", "uni").index(op.match.one_of("any", "all", "uni"))
    result = b.emit_code(VOTE, b.temporary(1), source, e=mode)
    write_predicates(b, op.operands[0], result)


@rule("shfl")
@by_group
def _shfl(b: UopBuilder, op: Operation) -> None:
    target = op.operands[0]
    mode = ("up", "down", "bfly", "idx").index(op.match.one_of("up", "down", "bfly", "idx"))
    value, lane, limits = b.source(op, 1, WORD), b.source(op, 2, _U32), b.source(op, 3, _U32)
    in_range = None
    if isinstance(target, Dual):
        in_range = b.emit_code(SHUFFLE_TEST, b.temporary(1), value, lane, limits, mode)
    d = b.place(target.first if isinstance(target, Dual) else target, WORD)
    b.emit_code(SHUFFLE, d.row, value, lane, limits, mode)
    d.finish()
    if in_range is not None and isinstance(target, Dual):
        write_predicates(b, target.second, in_range)


@rule("match")
@by_group
def _match(b: UopBuilder, op: Operation) -> None:
    wide = op.type.bits == 64
    same = b.emit_code(MATCH, b.temporary(), b.source(op, 1), e=int(wide))
    target = op.operands[0]
    if "any" in op.instruction.opcode.text.split("."):
        b.destination(op, 0, WORD).write("mov_u32", same)
        return
    everyone = b.emit_code(BALLOT, b.temporary(), TRUE)
    agreed = b.compute("eq_u32", same, everyone)
    b.place(target.first if isinstance(target, Dual) else target, WORD).write(
        "sel_u32", everyone, b.constant(0), agreed
    )
    if isinstance(target, Dual):
        write_predicates(b, target.second, agreed)


@rule("redux")
@by_group
def _redux(b: UopBuilder, op: Operation) -> None:
    if op.type.is_float:
        _redux_float(b, op)
        return
    operation = codes.REDUCTIONS[op.match.one_of(*codes.REDUCTIONS)]
    source = b.source(op, 1)
    d = b.destination(op)
    b.emit_code(REDUCE, d.row, source, e=operation | op.type.is_signed << 8)
    d.finish()


def _redux_float(b: UopBuilder, op: Operation) -> None:
    """Minimum or maximum of `.f32`: by keys in whose unsigned order floats stand as they should, -0 below +0."""
    source = b.source(op, 1)
    if op.has("abs"):
        source = b.compute("abs_f32", source)
    is_number = b.compute("num_f32", source, source)
    top = b.constant(0x80000000)
    sign = b.compute("shr_s32", source, b.constant(31))
    key = b.compute("xor_u32", source, b.compute("or_u32", sign, top))
    name = op.match.one_of("min", "max")
    neutral = b.constant(0xFFFFFFFF if name == "min" else 0)
    key = b.compute("sel_u32", key, neutral, is_number)
    best = b.emit_code(REDUCE, b.temporary(), key, e=codes.REDUCTIONS[name])
    back = b.compute("or_u32", b.compute("not_u32", b.compute("shr_s32", best, b.constant(31))), top)
    # a NaN loses against every number, and with `.NaN` wins
    mode = ("any", "all").index("all" if op.has("NaN") else "any")
    valid = b.emit_code(VOTE, b.temporary(1), is_number, e=mode)
    b.destination(op).write("sel_u32", b.compute("xor_u32", best, back), b.constant(0x7FFFFFFF), valid)


@rule("activemask")
def _activemask(b: UopBuilder, op: Operation) -> None:
    d = b.destination(op, 0, WORD)
    b.emit_code(BALLOT, d.row, TRUE)
    d.finish()


@rule("elect")
@by_group
def _elect(b: UopBuilder, op: Operation) -> None:
    """The lowest active lane."""
    active = b.emit_code(BALLOT, b.temporary(), TRUE)
    lowest = b.compute("and_u32", active, b.compute("neg_u32", active))
    leader = b.compute("sub_u32", b.constant(31), b.compute("clz_u32", lowest))
    elected = b.compute("eq_u32", leader, b.special_row(codes.LANEID))
    target = op.operands[0]
    if not isinstance(target, Dual):
        unsupported("'elect' without a predicate destination")
    b.place(target.first, WORD).write("mov_u32", leader)
    write_predicates(b, target.second, elected)
