"""The chart of allocated places, worked out by hand."""

from kernels import ptx, ptxplus

from ptxtool.parse import parse
from ptxtool.report.kernels.live_places import LivePlaces, live_places

WIDE = "mov.u64 %rd1, 8;\nmov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 st.global.u32 [%rd1], %r1;\nret;"


def rows(places: LivePlaces, per_column: int = 1) -> list[str]:
    columns = places.columns(per_column)
    return [places.marks(i, columns) for i in range(len(places.live))]


def test_a_wide_value_has_two_places_and_a_predicate_one_of_its_own() -> None:
    places = live_places(ptx(WIDE))
    assert places.files == (("r", range(3)), ("p", range(3, 4)))
    assert rows(places) == ["^^", "::^", "::v ^", "vvv v", ""]
    assert places.heads(1) == "r0  p"


def test_values_that_do_not_meet_have_one_place() -> None:
    body = "mov.u32 %r1, 1; st.global.u32 [a], %r1; mov.u32 %r2, 2; st.global.u32 [a], %r2; add.u32 %r3, %r2, 1; ret;"
    assert rows(live_places(ptx(body))) == ["^", "v", "^", "v", "x", ""]


def test_places_that_share_a_column() -> None:
    places = LivePlaces(
        (("r", range(5)), ("p", range(5, 6))), (0b00011, 0b00111, 0b10000), (0, 0b1000, 0), (0, 0b100, 0)
    )
    assert rows(places, 2) == [":", ":x", "  :"]
    assert rows(places, 4) == [".", "x", " :"]
    assert [places.columns(4)[k] for k in (0, 1, 3)] == [0b1111, 0b10000, 0b100000]


def test_as_many_places_to_a_column_as_the_width_needs() -> None:
    places = LivePlaces((("r", range(100)), ("p", range(100, 104))), (), (), ())
    assert [places.per_column(width) for width in (105, 104, 53, 52, 15, 1)] == [1, 2, 2, 4, 8, 64]
    assert places.heads(4) == "r0        r40       r80   p"
    assert places.heads(1)[:25] == "r0        r10       r20  "


def test_ptxplus_and_functions() -> None:
    places = live_places(ptxplus("mov.u32 $r1, s[$ofs1]; mov.u32 g[$r1], $r1; exit;"))
    assert [letter for letter, _ in places.files] == ["r", "o"]
    body = "{ .reg .b32 %r<2>; add.u32 %r1, i, 1; mov.u32 o, %r1; ret; }"
    text = f".version 7.0\n.target sm_70\n.func (.reg .b32 o) f (.reg .b32 i) {body}"
    places = live_places(parse(text).functions["f"])
    assert places.files == (("r", range(1)), ("r", range(1, 3)))
    assert rows(places) == ["^  v", "v ^", "  :"]
