"""How long a kernel needs a set of shared variables."""

import pytest
from kernels import ptx

from ptxtool.analysis.sharing.shared_span import SharedSpans

VARIABLES = ".shared .b32 a; .shared .b32 b; .shared .b32 c; .reg .pred %p<4>; .reg .b32 %r<4>;"
BODY = "mov.u32 %r1, 1; st.shared.u32 [a], %r1; st.shared.u32 [b], %r1; mov.u32 %r2, 1; st.shared.u32 [a], %r1; ret;"


@pytest.mark.parametrize(("names", "span"), [("a", 4), ("b", 1), ("ab", 4), ("c", 0), ("", 0)])
def test_from_the_first_access_to_the_last(names: str, span: float) -> None:
    assert SharedSpans(ptx(BODY, VARIABLES)).span(names) == span


def test_an_unknown_address_may_be_any_variable() -> None:
    spans = SharedSpans(ptx(BODY.replace("mov.u32 %r2, 1;", "ld.shared.u32 %r2, [%r3];"), VARIABLES))
    assert spans.span("c") == 1
    assert spans.span("b") == 2  # from its store to that load
    assert spans.span("") == 0
    assert None in spans.accessed[3] or "" in spans.accessed[3]
