"""Chains of sums and differences with a carry, by what their code computes."""

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals

LARGE = 0xFFFFFFFFFFFFFFFF


@pytest.mark.parametrize("carry_in", [0, 1])
@pytest.mark.parametrize("a", [0, 5, 0xFFFFFFFF])
@pytest.mark.parametrize("b", [0, 5, 0xFFFFFFFF])
def test_every_link_takes_and_gives_the_carry(a: int, b: int, carry_in: int) -> None:
    """A first link sets the carry where the third input is not 0: of x + 0xffffffff, and of x - 1 but at 0."""
    ends = (
        ("add.cc.u32 %r4, %r3, -1;", "addc", a + b),
        ("sub.cc.u32 %r4, %r3, 1;", "subc", a + (b ^ 0xFFFFFFFF)),
    )
    for first, name, expected in ends:
        body = f"{first} {name}.cc.u32 %r0, %r1, %r2; addc.u32 %r5, 0, 0;"
        total = expected + carry_in
        assert computed(body, "%r0", a, b, carry_in) == total & 0xFFFFFFFF
        assert computed(body, "%r5", a, b, carry_in) == total >> 32


@pytest.mark.parametrize(("a", "b"), [(LARGE, 1), (1 << 32, 0xFFFFFFFF), (5, LARGE), (0, 0)])
def test_links_of_64_bits(a: int, b: int) -> None:
    chain = "add.cc.u64 %d0, %d1, %d2; addc.u64 %d4, %d1, %d2;"
    assert computed(chain, "%d0", a, b) == (a + b) & LARGE
    assert computed(chain, "%d4", a, b) == (a + b + (a + b > LARGE)) & LARGE
    chain = "sub.cc.u64 %d0, %d1, %d2; subc.u64 %d4, %d1, %d2;"
    assert computed(chain, "%d0", a, b) == (a - b) & LARGE
    assert computed(chain, "%d4", a, b) == (a - b - (a < b)) & LARGE


def test_the_carry_of_a_product() -> None:
    """0x80000001 squared is 0x4000000100000001: the low words 1 + 0xffffffff carry into the sum of the high ones."""
    body = "mad.lo.cc.u32 %r0, %r1, %r1, %r2; madc.hi.u32 %r4, %r1, %r1, 0;"
    assert computed(body, "%r4", 0x80000001, 0xFFFFFFFF) == 0x40000002
    assert computed(body, "%r4", 0x80000001, 0xFFFFFFFE) == 0x40000001


def test_products_of_64_bits_are_refused() -> None:
    ((_, reason),) = refusals(HEAD + kernel("mad.lo.cc.u64 %d1, %d2, %d3, %d4; st.global.u64 [%d5], %d1;"))
    assert reason == "products with a carry are lowered for 32 bits"
