"""release-scratchpad: which bytes are private, and which accesses may go beyond them."""

import pytest

from ptxtool.parse import parse
from ptxtool.passes.sharing.release_scratchpad import ReleaseScratchpad

TEXT = """.version 7.0\n.target sm_70\n.address_size 64
.entry k()\n{\n.reg .b32 %r<4>;\n.shared .b32 a[2];\n.shared .b32 b[2];
st.shared.b32 [a], %r1;\nst.shared.b32 [a+4], %r1;\nst.shared.b32 [b], %r1;\nst.shared.b32 [%r2], %r1;
st.global.b32 [%r3], %r1;\nret;\n}\n"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # of 16 bytes the first 4, 6 and 8: an access counts unless all of it lies below
        (("75",), [False, True, True, True, False, False]),
        (("60",), [False, True, True, True, False, False]),
        (("50",), [False, False, True, True, False, False]),
        # of 32 bytes the first 16: the variables are private
        (("50", 32), [False, False, False, True, False, False]),
    ],
)
def test_what_lies_below_the_boundary_is_private(options: tuple[str, ...], expected: list[bool]) -> None:
    found = ReleaseScratchpad(*options).touches(parse(TEXT).kernels["k"])  # type: ignore[arg-type]
    assert list(found) == expected
