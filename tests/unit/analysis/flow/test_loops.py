"""Natural loops of small kernels, worked out by hand."""

from kernels import ptx

from ptxtool.analysis.flow.loops import loops

NESTED = """
    mov.b32 %r0, 0;
O:  mov.b32 %r1, 0;
I:  add.s32 %r1, %r1, 1;
    @%p0 bra I;
    @%p1 bra O;
    ret;
"""


def test_nested_loops() -> None:
    # B0; B1 = O; B2 = I; B3 = the outer test; B4
    found = loops(ptx(NESTED))
    outer, inner = found.loops
    assert (outer.header, outer.blocks, outer.latches, outer.depth, outer.parent) == (
        1,
        {1, 2, 3},
        (3,),
        1,
        None,
    )
    assert (inner.header, inner.blocks, inner.latches, inner.depth, inner.parent) == (2, {2}, (2,), 2, 0)
    assert inner.exits == ((2, 3),)
    assert [found.depth(b) for b in range(5)] == [0, 1, 2, 1, 0]
    assert found.depth(found.cfg.block_of[2]) == 2
    assert found.loop_of(0) is None


def test_two_edges_to_one_header_are_one_loop() -> None:
    found = loops(ptx("L: @%p0 bra L; @%p1 bra L; ret;"))
    assert [(loop.header, loop.latches, loop.blocks) for loop in found.loops] == [(0, (0, 1), {0, 1})]


def test_a_cycle_with_two_entries_is_no_natural_loop() -> None:
    found = loops(ptx("@%p0 bra B; A: mov.b32 %r0, 1; B: @%p1 bra A; ret;"))
    assert found.loops == ()
    assert len(found.irreducible) == 1


def test_unreachable_loops_are_not_counted() -> None:
    assert loops(ptx("ret; L: @%p0 bra L; ret;")).loops == ()


def test_text() -> None:
    assert str(loops(ptx("ret;"))) == "no loops"
    assert str(loops(ptx(NESTED))) == (
        "loop at B1 (line 9), depth 1: B1 B2 B3\n  loop at B2 (line 10), depth 2: B2"
    )
