"""Facts of the fifth generation, from the manual's tables."""

import pytest

from ptxsim.base.jit import for_python
from ptxsim.execute.tensor import tensor_layouts as layouts

_E2M1, _E3M2, _E4M3 = (int(layouts.FORMATS[layouts.F8F6F4, n]) for n in (5, 4, 0))
_F16, _TF32 = int(layouts.FORMATS[layouts.F16, 0]), int(layouts.FORMATS[layouts.TF32, 2])


@pytest.mark.parametrize(
    ("kind", "code", "in_shared", "in_tensor"),
    [
        # elements, bits of one, low bits without a meaning: in 16 bytes of shared memory, in a column of 32 bits
        (layouts.F16, _F16, (8, 16, 0), (2, 16, 0)),
        (layouts.TF32, _TF32, (4, 32, 13), (1, 32, 13)),
        (layouts.F8F6F4, _E4M3, (16, 8, 0), (4, 8, 0)),
        (layouts.F8F6F4, _E3M2, (16, 6, 0), (4, 8, 0)),
        (layouts.MXF8F6F4, _E2M1, (16, 4, 0), (4, 8, 2)),
        (layouts.I8, 8, (16, 8, 0), (4, 8, 0)),
        (layouts.MXF4, _E2M1, (32, 4, 0), (8, 4, 0)),
    ],
)
def test_packing(kind: int, code: int, in_shared: tuple[int, ...], in_tensor: tuple[int, ...]) -> None:
    for function, expected in ((layouts.shared_packing, in_shared), (layouts.tensor_packing, in_tensor)):
        found = int(for_python(function)(kind, code))
        assert (found & 0xFF, found >> 8 & 0xFF, found >> 16) == expected


@pytest.mark.parametrize(
    ("mode", "line_bytes", "atom"), [(0, 16, 8), (1, 128, 4), (2, 128, 8), (4, 64, 8), (6, 32, 8)]
)
def test_swizzle_modes(mode: int, line_bytes: int, atom: int) -> None:
    descriptor = mode << 61 if mode < 4 else (mode << 61) - (1 << 64)  # as a number with a sign
    assert for_python(layouts.line_bytes_of)(descriptor) == line_bytes
    assert for_python(layouts.atom_of)(descriptor) == atom


@pytest.mark.parametrize(
    ("m", "descriptor", "parts"),
    [
        # the manual's examples: the low columns of each part of the mask, from the right
        (128, 0x03020000000000 | 1 << 49, ["0000000"]),
        (128, 0x0003028000000000, ["11100001110000"]),
        (64, 0x0003028100000000, ["11100001110000111", "11100001110000"]),
        (32, 0x0203028301020100, ["00001110000111", "0000111000011", "111000011100", "1110000111000"]),
    ],
)
def test_zero_columns(m: int, descriptor: int, parts: list[str]) -> None:
    assert for_python(layouts.is_mask)(descriptor, m)
    n = 128
    for k, bits in enumerate(parts):
        for j, bit in enumerate(reversed(bits)):
            column = k * n * m // 128 + j
            expected = -1 if bit == "1" else column + (descriptor >> 56)
            assert for_python(layouts.source_column)(descriptor, m, n, column) == expected


@pytest.mark.parametrize(
    ("m", "descriptor"), [(128, 0x0003028000000004), (64, 0x0003028200000300), (32, 17 << 56), (64, 33 << 56)]
)
def test_no_masks(m: int, descriptor: int) -> None:
    """More is skipped than a first span of 4 columns that are used or 3 of zeros; a shift beyond the greatest."""
    assert not for_python(layouts.is_mask)(descriptor, m)


@pytest.mark.parametrize(
    ("kind", "lane", "chunk", "expected"),
    [
        # lane, column, bit: row 5 of 16, and row 13, which shares its words; the second half of k in the upper lanes
        (layouts.F16, 37, 3, (37, 0, 12)),
        (layouts.F16, 45, 3, (37, 0, 28)),
        (layouts.F16, 37, 6, (45, 0, 8)),
        (layouts.TF32, 31, 7, (31, 0, 28)),
        (layouts.F8F6F4, 45, 3, (45, 0, 12)),
        (layouts.MXF4, 45, 11, (45, 1, 12)),
    ],
)
def test_where_metadata_lie(kind: int, lane: int, chunk: int, expected: tuple[int, int, int]) -> None:
    found = int(for_python(layouts.metadata_place)(kind, lane, chunk))
    assert (found >> 16, found >> 8 & 0xFF, found & 0xFF) == expected


@pytest.mark.parametrize(
    ("kind", "index", "first", "places"),
    [
        (layouts.TF32, 0b1110, 3, [7]),
        (layouts.TF32, 0b0100, 3, [6]),
        (layouts.F16, 0b1101, 2, [5, 7]),
        (layouts.I8, 0b1000, 4, [8, 10]),
        (layouts.MXF4NVF4, 0b1001, 4, [10, 11, 12, 13]),
    ],
)
def test_where_compressed_elements_stand(kind: int, index: int, first: int, places: list[int]) -> None:
    """Of a chunk that begins with element `first` of those that are stored."""
    found = [int(for_python(layouts.place_in_row)(kind, index, first + j)) for j in range(len(places))]
    assert found == places
