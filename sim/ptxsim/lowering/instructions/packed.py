"""Packed values: two elements in one register, taken apart, computed one by one and put together again.

`f16x2`, `bf16x2`, `u16x2` and `s16x2` lie in 32 bits, `f32x2` in 64, the first element in the lower half. Elements of
16 bits are zero-extended rows (`s16x2`: sign-extended ones).
"""

from collections.abc import Callable, Sequence

from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.rows import Operation, row_bits
from ptxtool.isa.types import TYPES, Type


def is_packed(type_: Type) -> bool:
    return type_.name in ("f16x2", "bf16x2", "f32x2", "u16x2", "s16x2")


def element_type(type_: Type) -> Type:
    """The type of an element; a scalar type is its own."""
    return TYPES[type_.name[:-2]] if is_packed(type_) else type_


def split(builder: UopBuilder, row: int, type_: Type) -> list[int]:
    """The rows of the elements, first the lower one."""
    if not is_packed(type_):
        return [row]
    if type_.bits == 64:
        return [builder.compute("trunc_u64", row), builder.compute("high_u64", row)]
    halves = [builder.compute("zext16_u32", row), builder.compute("high16_u32", row)]
    return [builder.compute("sext16_u32", half) for half in halves] if type_.is_signed else halves


def merge(builder: UopBuilder, rows: Sequence[int], type_: Type) -> int:
    """The row of the packed value; bits of an element above its width do not matter."""
    if not is_packed(type_):
        return rows[0]
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
