"""Packed values: elements of one register, taken apart, computed one by one and put together again.

`f16x2`, `bf16x2`, `u16x2`, `s16x2` and the four bytes of `u8x4`, `s8x4` lie in 32 bits, `f32x2` in 64, the first
element lowest. Elements of 16 and 8 bits are zero-extended rows (of `s16x2` and `s8x4` sign-extended ones).
"""

from collections.abc import Callable, Sequence

from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.rows import Operation, row_bits
from ptxtool.isa.types import TYPES, Type


def is_packed(type_: Type) -> bool:
    return type_.name in ("f16x2", "bf16x2", "f32x2", "u16x2", "s16x2", "u8x4", "s8x4")


def element_type(type_: Type) -> Type:
    """The type of an element; a scalar type is its own."""
    return TYPES[type_.name[:-2]] if is_packed(type_) else type_


def split(builder: UopBuilder, row: int, type_: Type) -> list[int]:
    """The rows of the elements, first the lower one."""
    if not is_packed(type_):
        return [row]
    if type_.bits == 64:
        return [builder.compute("trunc_u64", row), builder.compute("high_u64", row)]
    if type_.name.endswith("x4"):
        extend = "sext8_u32" if type_.is_signed else "zext8_u32"
        shifted = [builder.compute("shr_u32", row, builder.constant(8 * k)) for k in range(4)]
        return [builder.compute(extend, byte) for byte in shifted]
    halves = [builder.compute("zext16_u32", row), builder.compute("high16_u32", row)]
    return [builder.compute("sext16_u32", half) for half in halves] if type_.is_signed else halves


def merge(builder: UopBuilder, rows: Sequence[int], type_: Type) -> int:
    """The row of the packed value; bits of an element above its width do not matter."""
    if not is_packed(type_):
        return rows[0]
    if type_.name.endswith("x4"):
        word = builder.compute("zext8_u32", rows[0])
        for k, row in enumerate(rows[1:], 1):
            byte = builder.compute("zext8_u32", row)
            word = builder.compute("or_u32", word, builder.compute("shl_u32", byte, builder.constant(8 * k)))
        return word
    return builder.compute("pack_u64" if type_.bits == 64 else "merge_high_u32", rows[0], rows[1])


def each(builder: UopBuilder, type_: Type, rows: Sequence[int], compute: Callable[[list[int]], int]) -> int:
    """A function of the elements of some values, element by element; the packed row of the results."""
    columns = zip(*(split(builder, row, type_) for row in rows), strict=True)
    return merge(builder, [compute(list(column)) for column in columns], type_)


def write_each(
    builder: UopBuilder, op: Operation, rows: Sequence[int], compute: Callable[[list[int]], int]
) -> None:
    """Write a function of the elements of some values to an instruction's destination."""
    value = each(builder, op.type, rows, compute)
    builder.destination(op).write(f"mov_u{row_bits(op.type)}", value)
