"""Masks of 128 bits in records: for machines with more than 64 warps per SM.

A record with a field of type WIDE is wide. Compiled code sees the field as an int128 of LLVM (wide_types.py), and one
source serves narrow records, whose masks are int64, and wide ones: numba compiles a function for the record it is
called with. An int128 combines with its own kind and with constants. An int64 in its place, such as `bit(w)` of a
scheduler, is an error when the function is compiled, not a mask with missing warps.

Without compilation (`NUMBA_DISABLE_JIT=1`) such a mask is a Python int, which `WideRecord` makes of the two words.
"""

from typing import Any

import numpy as np

WIDE = np.dtype([("low", "u8"), ("high", "u8")])
_ALIGNMENT = 16  # bytes, of an int128 in LLVM


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
