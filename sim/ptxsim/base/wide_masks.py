"""Masks of 128 bits in records: for machines with more than 64 warps per SM.

A record with a field of type WIDE is wide. Compiled code sees the field as an int128 of LLVM, and one source serves
narrow records, whose masks are int64, and wide ones: numba compiles a function for the record it is called with. An
int128 combines with its own kind and with constants. An int64 in its place, such as `bit(w)` of a scheduler, is an
error when the function is compiled, not a mask with missing warps.

Without compilation (`NUMBA_DISABLE_JIT=1`) such a mask is a Python int, which `WideRecord` makes of the two words.
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
from numba.extending import lower_builtin, lower_cast

WIDE = np.dtype([("low", "u8"), ("high", "u8")])
_ALIGNMENT = 16  # bytes, of an int128 in LLVM


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


class WideRecord(np.record):  # type: ignore[misc]
    """A wide record, to be read and written without compilation."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if isinstance(value, np.void) and value.dtype == WIDE:
            return mask_of(value)
        if isinstance(value, np.ndarray) and value.dtype == WIDE:
            return _MaskArray(value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.dtype.fields
        is_mask = fields is not None and name in fields and fields[name][0] == WIDE
        super().__setattr__(name, words_of(value) if is_mask else value)


class _MaskArray:
    """An array of masks in a `WideRecord`."""

    def __init__(self, array: Any):
        self._array = array

    def __getitem__(self, k: int) -> int:
        return mask_of(self._array[k])

    def __setitem__(self, k: int, mask: int) -> None:
        self._array[k] = words_of(mask)


def mask_of(value: Any) -> int:
    """The mask in a field of a record, narrow or wide, as a number that is not negative."""
    return int.from_bytes(np.asarray(value).tobytes(), "little")


def words_of(mask: int) -> tuple[int, int]:
    """A mask as the value of a field of type WIDE."""
    return int(mask) & (1 << 64) - 1, int(mask) >> 64 & (1 << 64) - 1


def set_masks(field: Any, mask: int) -> None:
    """Set a field of records, narrow or wide, to a mask."""
    if field.dtype == WIDE:
        field[...] = words_of(mask)
    else:
        field.view(np.uint64)[...] = mask


def wide_record(fields: list[Any]) -> np.dtype[Any]:
    """A record dtype with fields of type WIDE, which lie where compiled code may expect an int128."""
    layout: dict[str, list[Any]] = {"names": [], "formats": [], "offsets": []}
    end = 0
    for name, *kind in fields:
        field = np.dtype((kind[0], kind[1]) if len(kind) > 1 else kind[0])
        alignment = _ALIGNMENT if field.base == WIDE else field.alignment
        start = -(-end // alignment) * alignment
        for key, value in (("names", name), ("formats", field), ("offsets", start)):
            layout[key].append(value)
        end = start + field.itemsize
    size = -(-end // _ALIGNMENT) * _ALIGNMENT
    return np.dtype((WideRecord, np.dtype({**layout, "itemsize": size}, align=True)))  # type: ignore[call-overload]


def is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether a record dtype has fields of type WIDE."""
    return dtype.type is WideRecord
