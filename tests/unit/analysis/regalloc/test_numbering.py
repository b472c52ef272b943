"""The numbers of physical registers in both orders, by hand."""

from kernels import ptx

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.analysis.regalloc.numbering import Order, numbered


def units(body: str, order: Order) -> dict[str, int]:
    """Register -> unit, for registers of one web."""
    found = numbered(assign(ptx(body)), order)
    ranges = found.ranges
    return {ranges.function.registers[k].name: found.unit[web] for web, k in enumerate(ranges.register)}


SHORT_THEN_LONG = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r2, 0;
    setp.eq.u32 %p2, %r2, 1;
    setp.eq.u32 %p2, %r2, 2;
    ret;
"""


def test_first_use_numbers_as_the_text_needs_them() -> None:
    found = units(SHORT_THEN_LONG, "first-use")
    assert (found["%r1"], found["%r2"]) == (0, 1)


def test_pressure_gives_the_lowest_numbers_to_what_is_taken_longest() -> None:
    """%r1 is live at 4 points, %r2 at 8."""
    found = units(SHORT_THEN_LONG, "pressure")
    assert (found["%r2"], found["%r1"]) == (0, 1)


WIDE = """
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd1, %r1;
    setp.eq.u64 %p1, %rd1, 5;
    add.u32 %r2, %r1, 1;
    setp.eq.u64 %p1, %rd1, 6;
    setp.eq.u32 %p1, %r1, %r2;
    ret;
"""


def test_pairs_move_as_a_whole() -> None:
    """%rd1 holds both units of a pair at 8 points; %r1's pair is taken longer, since it comes first and stays last."""
    for order in ("first-use", "pressure"):
        found = units(WIDE, order)  # type: ignore[arg-type]
        assert (found["%rd1"], {found["%r1"], found["%r2"]}) == (2, {0, 1})


def test_predicates_are_numbered_too() -> None:
    body = """
        mov.u32 %r1, %tid.x;
        setp.eq.u32 %p2, %r1, 0;
        setp.eq.u32 %p1, %r1, 1;
        @%p2 add.u32 %r1, %r1, 1;
        @%p1 add.u32 %r1, %r1, 2;
        @%p1 add.u32 %r1, %r1, 3;
        @%p1 add.u32 %r1, %r1, 4;
        ret;
    """
    assert {n: units(body, "first-use")[n] for n in ("%p2", "%p1")} == {"%p2": 0, "%p1": 1}
    assert {n: units(body, "pressure")[n] for n in ("%p2", "%p1")} == {"%p2": 1, "%p1": 0}


def test_the_count_stays() -> None:
    for body in (SHORT_THEN_LONG, WIDE):
        plain = assign(ptx(body))
        for order in ("first-use", "pressure"):
            found = numbered(plain, order)  # type: ignore[arg-type]
            widths = found.spills.values.width[[*found.unit]].tolist()
            ends = [u + w for (n, u), w in zip(found.unit.items(), widths, strict=True)]
            assert found.registers == plain.registers >= max(ends[: plain.registers])
