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
