"""Matrix instructions of warp groups: `wgmma`.

A product becomes one micro-operation with a list of its registers (execute/tensor/warpgroup.py says how), for each of
the four warps its own rows. For the timing model a product occupies its warp's tensor core (`[wgmma]` of the GPU file);
its results are ready when it is done, and a wait for all groups waits for them.
"""

from ptxsim.execute import codes
from ptxsim.execute.tensor import mma as kinds
from ptxsim.execute.tensor import warpgroup as flags
from ptxsim.execute.tensor.tensor_model import accumulation
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.matrix import capability, float_format, items_of, shape_of
from ptxsim.lowering.rows import LONG, WORD, Operation, unsupported
from ptxtool.ir.nodes import Immediate, Operand, Unary, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

_SIGNED_WORD = 32 | 1 << 8  # the format of .s32


def chunk_packing(name: str) -> int:
    """Elements in 16 bytes of shared memory, bits of one << 8, and low bits without a meaning << 16."""
    bits = 1 if name == "b1" else TYPES[name].bits if name != "tf32" else 32
    return 128 // bits | bits << 8 | (13 << 16 if name == "tf32" else 0)


def thread_number(builder: UopBuilder) -> int:
    """The row of a thread's number in its CTA."""
    rows = [
        builder.special_row(n) for n in (codes.TID_X, codes.TID_Y, codes.TID_Z, codes.NTID_X, codes.NTID_Y)
    ]
    x, y, z, nx, ny = rows
    return builder.compute("mad_u32", builder.compute("mad_u32", z, ny, y), nx, x)


def warp_number(builder: UopBuilder) -> int:
    """The row of a warp's number in its CTA."""
    return builder.compute("shr_u32", thread_number(builder), builder.constant(5))


def _number(operand: Operand) -> int:
    if isinstance(operand, Immediate):
        return integer(operand.text)
    if isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Immediate):
        return -integer(operand.operand.text)
    unsupported("an operand that has to be a number")


@rule("wgmma")
def _wgmma(builder: UopBuilder, op: Operation) -> None:
    _, n, k = shape_of(op)
    match = op.match
    d, a, b = match.type, match.stype, match.utype
    by_name = {
        spec.name: op.operands[i] for i, spec in enumerate(match.form.operands) if i < len(op.operands)
    }
    options = 0
    for name, flag in (("ta", flags.A_ACROSS), ("tb", flags.B_ACROSS)):
        options |= flag if name in by_name and _number(by_name[name]) else 0
    for name, flag in (("na", flags.NEGATES_A), ("nb", flags.NEGATES_B)):
        options |= flag if name in by_name and _number(by_name[name]) < 0 else 0
    options |= flags.SATURATES if op.has("satfinite") else 0
    in_registers = isinstance(op.operands[1], Vector)
    kind = kinds.FLOATS if d in ("f32", "f16") else kinds.INTEGERS
    places = [builder.place(item, WORD) for item in items_of(op.operands[0])]
    of_a = [builder.value(item, WORD) for item in items_of(op.operands[1])] if in_registers else []
    descriptor_a = -1 if in_registers else builder.value(op.operands[1], LONG)
    descriptor_b = builder.value(op.operands[2], LONG)
    adds = builder.predicate(by_name["scale"])
    number = warp_number(builder)
    metadata, arrangement, selector = 0, 0, 0
    if "meta" in by_name:
        arrangement = kinds.HALF_WORDS if a in ("f16", "bf16", "tf32") else kinds.ALL_LANES
        arrangement |= (kinds.ONE_OF_TWO if a == "tf32" else kinds.PAIR_OF_FOUR) << kinds.INDEX_SHIFT
        metadata, selector = builder.value(by_name["meta"], WORD), _number(by_name["sel"])
    model = accumulation(capability(builder), a) if kind == kinds.FLOATS else None
    group = model.products if model else k
    bits = model.unit_bits | model.result_bits << 8 if model else 0
    builder.emit(codes.WARPGROUP, len(places), len(of_a), descriptor_b, descriptor_a, adds)
    builder.emit(codes.OPERANDS, n, k, kind, float_format(a), float_format(b))
    format_of_d = float_format(d) if model else _SIGNED_WORD
    builder.emit(codes.OPERANDS, format_of_d, group, bits, options, number)
    builder.emit(codes.OPERANDS, metadata, arrangement, selector, chunk_packing(a), chunk_packing(b))
    for r in range(max(len(places), len(of_a))):
        builder.emit(codes.OPERANDS, places[r].row if r < len(places) else 0, of_a[r] if r < len(of_a) else 0)
    products = 16 * n * k // 2 if "meta" in by_name else 16 * n * k
    builder.products, builder.product_kind, builder.product_type = products, "wgmma", a


@rule("wgmma_fence")
def _fence(builder: UopBuilder, op: Operation) -> None:
    """Orders what is in order already."""


@rule("wgmma_commit")
def _commit(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.WARPGROUP_GROUP)


@rule("wgmma_wait")
def _wait(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.WARPGROUP_WAIT, a=warp_number(builder), e=_number(op.operands[0]))
