"""An order with the last access to the shared part as early as the registers allow."""

from kernels import ptx

from ptxtool.analysis.flow.dependence import effects
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.sharing.last_access import hoisted


def order(body: str, touches: set[int], general: int = 99) -> list[int]:
    kernel = ptx(body)
    n = len(kernel.instructions) - 1  # without the return
    limits = {"general": general, "predicate": 7, "address": 4}
    return hoisted(range(n), [i in touches for i in range(n)], effects(kernel), liveness(kernel), limits)


BODY = """mov.u32 %r1, 1; mov.u32 %r2, 2; st.global.u32 [%rd1], %r2; mov.u32 %r3, %r1; st.shared.u32 [%r3], %r1;
st.global.u32 [%rd1], %r3; ret;"""


def test_what_the_last_touch_depends_on_comes_first_and_the_rest_stays_in_order() -> None:
    assert order(BODY, {4}) == [0, 3, 4, 1, 2, 5]


def test_nothing_moves_without_a_touch() -> None:
    assert order(BODY, set()) == [0, 1, 2, 3, 4, 5]


def test_a_later_write_does_not_pass_a_read_before_it() -> None:
    """Instruction 2 writes what 1 reads: 1 goes along."""
    body = "mov.u32 %r2, 2; st.global.u32 [%rd1], %r1; mov.u32 %r1, 3; st.shared.u32 [%r1], %r1; ret;"
    assert order(body, {3}) == [1, 2, 3, 0]


def test_registers_bound_what_comes_early() -> None:
    """%rd1, and four loads that are summed one by one: early, all four would be live at once."""
    loads = "".join(f"ld.shared.u32 %r{k}, [%rd1+{4 * k}]; add.u32 %r9, %r9, %r{k};" for k in range(4))
    body = f"{loads} st.global.u32 [%rd1], %r9; ret;"
    assert order(body, {0, 2, 4, 6}) == [0, 2, 4, 6, 1, 3, 5, 7, 8]
    assert order(body, {0, 2, 4, 6}, general=4) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
