"""Places in matrices of shared memory, worked out from the manual's layouts."""

import pytest

from ptxsim.base.jit import for_python
from ptxsim.execute.tensor import descriptors

swizzled = for_python(descriptors.swizzled)
chunk_offset = for_python(descriptors.chunk_offset)


@pytest.mark.parametrize(
    ("address", "line_bytes", "base", "atom", "expected"),
    [
        (0x090, 16, 0, 8, 0x090),
        # line 1 of 128 bytes: chunk 1 lies where chunk 0 would; line 3 is line 1 of a pattern that begins at line 2
        (0x090, 128, 0, 8, 0x080),
        (0x390, 128, 0, 8, 0x3E0),
        (0x190, 128, 2, 8, 0x180),
        # 64 bytes: two lines in 128, four chunks
        (0x100, 64, 0, 8, 0x120),
        (0x280, 64, 0, 8, 0x290),
        (0x080, 32, 0, 8, 0x090),
        (0x100, 32, 0, 8, 0x100),
        # 32 bytes stay together
        (0x090, 128, 0, 4, 0x0B0),
        (0x200, 128, 0, 4, 0x200),
    ],
)
def test_swizzles(address: int, line_bytes: int, base: int, atom: int, expected: int) -> None:
    assert swizzled(address, line_bytes, base, atom) == expected


@pytest.mark.parametrize(
    ("line", "chunk", "line_bytes", "across", "atom", "expected"),
    [
        # leading 0x1000, stride 0x100
        (9, 1, 16, False, 8, 16 + 0x100 + 0x1000),
        (9, 1, 16, True, 8, 16 + 0x1000 + 0x100),
        (9, 3, 128, False, 8, 128 + 0x100 + 48),
        (9, 9, 128, True, 8, 128 + 0x100 + 16 + 0x1000),
        (5, 0, 128, True, 4, 128 + 0x100),
    ],
)
def test_offsets_of_chunks(
    line: int, chunk: int, line_bytes: int, across: bool, atom: int, expected: int
) -> None:
    assert chunk_offset(line, chunk, line_bytes, 0x1000, 0x100, across, atom) == expected
