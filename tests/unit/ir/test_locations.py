"""Which `.loc` holds for an instruction."""

from kernels import ptx

from ptxtool.ir.locations import is_location, locations


def test_a_location_holds_up_to_the_next_one() -> None:
    kernel = ptx("mov.u32 %r1, 1; .loc 1 10 3\nmov.u32 %r2, 2; L: mov.u32 %r3, 3; .loc 1 20 5\nret;")
    found = [None if place is None else place.text for place in locations(kernel)]
    assert found == [None, "1 10 3", "1 10 3", "1 20 5"]


def test_other_directives_change_nothing() -> None:
    kernel = ptx('.loc 1 10 3\n.pragma "nounroll";\nret;')
    (place,) = locations(kernel)
    assert place is not None
    assert place.text == "1 10 3"
    assert [is_location(s) for s in kernel.body or ()][-3:] == [True, False, False]
