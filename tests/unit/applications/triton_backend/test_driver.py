"""The driver that Triton has under `exec`: arguments as bytes, and what tensors cover. Skipped without Triton.

Whole scripts: `tests/applications/test_python_scripts.py`.
"""

import struct
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

from ptxtool.applications.triton_backend.driver import Driver, extent, packed


class Tensor:
    def __init__(self, array: Any):
        self.array, self.shape = array, array.shape

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def element_size(self) -> int:
        return int(self.array.itemsize)

    def stride(self) -> tuple[int, ...]:
        return tuple(n // self.array.itemsize for n in self.array.strides)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("*fp32", 0x1234, struct.pack("<Q", 0x1234)),
        ("*fp32", None, bytes(8)),
        ("i1", True, b"\1"),
        ("i8", -1, b"\xff"),
        ("u32", 0xFFFFFFFF, b"\xff\xff\xff\xff"),
        ("i64", -2, b"\xfe" + 7 * b"\xff"),
        ("fp16", 1.5, b"\x00\x3e"),
        ("bf16", 1.5, b"\xc0\x3f"),
        ("fp32", np.float32(1.5), struct.pack("<f", 1.5)),
        ("fp64", 2, struct.pack("<d", 2)),
    ],
)
def test_arguments_as_bytes(kind: str, value: Any, expected: bytes) -> None:
    assert packed(kind, value) == expected


def test_what_is_no_argument() -> None:
    with pytest.raises(RuntimeError, match="an argument of type str for i32: give tensors and numbers"):
        packed("i32", "x")


def test_what_a_tensor_covers() -> None:
    """Elements 4 to 16 of 20: three rows of two, which are four apart."""
    array = np.arange(20, dtype=np.float32)
    start = int(array.ctypes.data)
    strided = np.lib.stride_tricks.as_strided(array[4:], (3, 2), (16, 16))
    assert extent(Tensor(array)) == (start, start + 80)
    assert extent(Tensor(strided)) == (start + 16, start + 16 + 4 * 13)
    empty = Tensor(array[:0])
    assert extent(empty) == (empty.data_ptr(), empty.data_ptr())
    with pytest.raises(RuntimeError, match="negative strides"):
        extent(Tensor(array[::-1]))


def test_it_is_active_under_exec_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXTOOL_EXEC", raising=False)
    assert not Driver.is_active()
    monkeypatch.setenv("PTXTOOL_EXEC", "name")
    assert Driver.is_active()
