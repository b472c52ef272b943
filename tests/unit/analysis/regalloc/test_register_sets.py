"""The sets of a kernel with marks, by the registers that are named inside and outside of them."""

from kernels import ptx

from ptxtool.analysis.regalloc.register_sets import RegisterSets, held_states, register_sets

ACQUIRE, RELEASE = '.pragma "acquire-extended-registers";', '.pragma "release-extended-registers";'


def test_without_marks_there_is_no_split() -> None:
    assert register_sets(ptx("mov.u32 %r5, 1; ret;")) is None


def test_the_base_set_is_what_is_named_outside() -> None:
    body = f"mov.u32 %r2, 1; {ACQUIRE} mov.u32 %r6, 1; add.u32 %r1, %r6, %r2; {RELEASE} st.global.u32 [0], %r1; ret;"
    assert register_sets(ptx(body)) == RegisterSets(3, 4)
    wide = body.replace("u32 %r6", "u64 %rd3").replace("%r1, %r6", "%r1, %r1")
    assert register_sets(ptx(wide)) == RegisterSets(3, 5), "%rd3 is units 6 and 7"


def test_what_is_live_outside_is_in_the_base_set() -> None:
    held = f"{ACQUIRE} st.global.u32 [0], %r5; {RELEASE}"
    body = f"{ACQUIRE} mov.u32 %r5, 1; mov.u32 %r7, %r5; {RELEASE} bar.sync 0; {held} ret;"
    assert register_sets(ptx(body)) == RegisterSets(6, 2)


def test_a_place_that_some_path_reaches_without_holding_is_outside() -> None:
    body = f"@%p1 bra L; {ACQUIRE} mov.u32 %r6, 1; L: mov.u32 %r5, 1; {RELEASE} ret;"
    assert register_sets(ptx(body)) == RegisterSets(6, 1)
    states = held_states(ptx(body))
    assert [*states.entering] == [{False}, {False}, {True, False}, {False}]
    assert states.before(2) == {2: {True, False}, 3: {False}}
