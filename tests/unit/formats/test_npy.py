"""Arrays from .npy files: what cannot be read is refused, quickly and without quoting the file."""

import struct
from pathlib import Path

import numpy as np
import pytest
import zstandard

from ptxtool.formats.npy import NpyError, compressed, read_npy


def with_header(header: str, data: bytes = b"") -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def test_an_array_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.int16).reshape(2, 3).T)
    assert read_npy(tmp_path / "a.npy").tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (b"root:secret", "it is no .npy file"),
        (b"", "it is no .npy file"),
        (with_header("{'descr': '<f4', secret"), "it is no .npy file"),
        (with_header("{'descr': 'secret', 'fortran_order': False, 'shape': (1,)}"), "it is no .npy file"),
        (
            with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"),
            "it holds objects, not numbers",
        ),
        (
            with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", b"secret"),
            "its header claims more elements than the file has",
        ),
        (
            with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**30}, 0)}}"),
            "it is no .npy file",
        ),
    ],
)
def test_what_is_no_array_is_refused_without_quoting_it(tmp_path: Path, data: bytes, reported: str) -> None:
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(NpyError) as caught:
        read_npy(tmp_path / "a.npy")
    assert str(caught.value) == reported


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NpyError, match=r"^no such file or directory$"):
        read_npy(tmp_path / "a.npy")
    with pytest.raises(NpyError, match=r"^file name too long$"):
        read_npy(tmp_path / ("a" * 5000))


@pytest.mark.parametrize(
    "array", [np.arange(6, dtype=np.int16).reshape(2, 3).T, np.zeros(1 << 20), np.float32(3)]
)
def test_a_compressed_array_is_read(tmp_path: Path, array: np.ndarray) -> None:
    data = compressed(np.asarray(array))
    (tmp_path / "a.npy.zst").write_bytes(data)
    assert len(data) < 1000
    found = read_npy(tmp_path / "a.npy.zst")
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (b"root:secret", "it is no .npy file"),
        (zstd(b"root:secret"), "it is no .npy file"),
        (compressed(np.arange(1000))[:-50], "it is no .npy file"),
        (
            zstd(
                with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", b"secret")
            ),
            "its header claims another number of elements than the file has",
        ),
        (
            zstd(with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}")),
            "it holds objects, not numbers",
        ),
    ],
)
def test_what_is_no_compressed_array_is_refused(tmp_path: Path, data: bytes, reported: str) -> None:
    (tmp_path / "a.npy.zst").write_bytes(data)
    with pytest.raises(NpyError) as caught:
        read_npy(tmp_path / "a.npy.zst")
    assert str(caught.value) == reported
