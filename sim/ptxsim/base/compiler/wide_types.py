"""Masks of 128 bits in compiled code: numba's type int128, its operations, and the masks over an SM's warps.

Imported when something is compiled (numba_compiler.py). wide_masks.py and warp_masks.py say what the types are for.
"""

import operator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel import models, register_default
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast

from ptxsim.base.wide_masks import WIDE

_NARROW = 64


class _Int128(types.Type):  # type: ignore[misc]
    """numba's type of a mask of 128 bits. A variable that begins as a constant, such as 0, can become a mask."""

    bitwidth = 128

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        return Conversion.safe if _is_constant(other) else None

    def unify(self, typing_context: Any, other: Any) -> Any:
        return self if _is_constant(other) else None


INT128 = _Int128("int128")


@register_default(_Int128)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, type_: Any):
        super().__init__(manager, type_, ir.IntType(type_.bitwidth))


class _Operation(AbstractTemplate):  # type: ignore[misc]
    """The type of an operation on int128, and on int128 and a constant."""

    prefer_literal = True
    returns = INT128

    def generic(self, arguments: Any, _: Any) -> Any:
        if INT128 not in arguments or not all(a == INT128 or _is_constant(a) for a in arguments):
            return None
        return signature(self.returns, *[INT128] * len(arguments))


def _is_constant(type_: Any) -> bool:
    return isinstance(type_, types.IntegerLiteral)


def _teach(key: Any, emit: Any, n: int = 2, returns: Any = INT128) -> None:
    """Teach numba an operation on n masks; `emit(builder, mask, ...)` writes it."""
    infer_global(key)(type("_Int128Operation", (_Operation,), {"returns": returns, "key": key}))

    @lower_builtin(key, *[_Int128] * n)
    def lower(context: Any, builder: Any, _: Any, values: Any) -> Any:
        return emit(builder, *values)


for _name in ("and_", "or_", "xor", "sub"):
    for _key in (getattr(operator, _name), getattr(operator, f"i{_name.strip('_')}")):
        _teach(_key, getattr(ir.IRBuilder, _name))
_teach(operator.eq, lambda b, x, y: b.icmp_unsigned("==", x, y), returns=types.boolean)
_teach(operator.ne, lambda b, x, y: b.icmp_unsigned("!=", x, y), returns=types.boolean)
_teach(operator.invert, ir.IRBuilder.not_, 1)
_teach(operator.neg, ir.IRBuilder.neg, 1)
_teach(bool, lambda b, x: b.icmp_unsigned("!=", x, x.type(0)), 1, types.boolean)


@lower_cast(types.IntegerLiteral, _Int128)
def _constant(context: Any, builder: Any, from_: Any, to: Any, value: Any) -> Any:
    return ir.IntType(to.bitwidth)(from_.literal_value)


class WideRecordType(types.Record):  # type: ignore[misc]
    """numba's type of a wide record."""

    def __init__(self, dtype: np.dtype[Any]):
        self._dtype = dtype
        plain = numba.from_dtype(dtype)
        fields = [
            (name, {"type": _with_int128(field.type), "offset": field.offset, "alignment": field.alignment})
            for name, field in plain.fields.items()
        ]
        super().__init__(fields, plain.size, plain.aligned)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype


register_default(WideRecordType)(models.RecordModel)


def _with_int128(type_: Any) -> Any:
    """The type of a field, with int128 in the place of WIDE."""
    if isinstance(type_, types.NestedArray):
        return types.NestedArray(_with_int128(type_.dtype), type_.shape)
    return INT128 if type_ == numba.from_dtype(WIDE) else type_


def _bit_of(builder: Any, mask: Any, position: Any) -> Any:
    """`1 << position`."""
    return builder.shl(ir.IntType(mask.bitwidth)(1), _widened(builder, mask, position))


def _from_bit_of(builder: Any, mask: Any, position: Any) -> Any:
    """`-1 << position`; 0 from the width upwards."""
    width = ir.IntType(mask.bitwidth)
    beyond = builder.icmp_signed(">=", position, position.type(mask.bitwidth))
    return builder.select(beyond, width(0), builder.shl(width(-1), _widened(builder, mask, position)))


def _widened(builder: Any, mask: Any, position: Any) -> Any:
    return position if mask.bitwidth == _NARROW else builder.zext(position, ir.IntType(mask.bitwidth))


def _mask_in(record: Any) -> Any:
    """numba's type of the masks in a record of this type."""
    return INT128 if isinstance(record, WideRecordType) else types.int64


@intrinsic
def warp_bit(typing_context: Any, sm: Any, w: Any) -> Any:
    mask = _mask_in(sm)
    return mask(sm, types.int64), lambda context, builder, _, values: _bit_of(builder, mask, values[1])


@intrinsic
def from_warp(typing_context: Any, sm: Any, w: Any) -> Any:
    mask = _mask_in(sm)
    return mask(sm, types.int64), lambda context, builder, _, values: _from_bit_of(builder, mask, values[1])


@intrinsic
def no_warps(typing_context: Any, sm: Any) -> Any:
    mask = _mask_in(sm)
    return mask(sm), lambda context, builder, _, values: context.get_value_type(mask)(0)


@intrinsic
def warp_slots(typing_context: Any, sm: Any) -> Any:
    n = _mask_in(sm).bitwidth
    return types.int64(sm), lambda context, builder, _, values: context.get_constant(types.int64, n)


@intrinsic
def wide_bit(typing_context: Any, position: Any) -> Any:
    return INT128(types.int64), lambda context, builder, _, values: _bit_of(builder, INT128, values[0])


@intrinsic
def wide_from_bit(typing_context: Any, position: Any) -> Any:
    return INT128(types.int64), lambda context, builder, _, values: _from_bit_of(builder, INT128, values[0])
