"""Reconvergence points: instruction indices, worked out by hand."""

from kernels import ptx, ptxplus

from ptxtool.cfg.reconvergence import reconvergence_points


def test_if_else_rejoins_behind_it() -> None:
    kernel = ptx("@%p0 bra A; mov.b32 %r0, 1; bra B; A: mov.b32 %r0, 2; B: ret;")
    assert dict(reconvergence_points(kernel)) == {0: 4}


def test_if_in_a_loop() -> None:
    kernel = ptx("H: @%p0 bra A; mov.b32 %r0, 1; A: mov.b32 %r0, 2; @%p1 bra H; ret;")
    assert dict(reconvergence_points(kernel)) == {0: 2, 3: 4}


def test_a_branch_around_an_exit_rejoins_at_the_end() -> None:
    kernel = ptx("@%p0 bra A; exit; A: ret;")
    assert dict(reconvergence_points(kernel)) == {0: 3}  # 3 = the end: the sides have nothing else in common


def test_guarded_exit_and_return_need_no_point() -> None:
    assert dict(reconvergence_points(ptx("@%p0 exit; mov.b32 %r0, 1; @%p1 ret; ret;"))) == {}


def test_an_unguarded_branch_does_not_diverge() -> None:
    assert dict(reconvergence_points(ptx("bra A; A: ret;"))) == {}


def test_an_indexed_branch_diverges_without_a_guard() -> None:
    kernel = ptx("ts: .branchtargets A, B; brx.idx %r0, ts; A: bra C; B: mov.b32 %r0, 1; C: ret;")
    assert dict(reconvergence_points(kernel)) == {0: 3}


def test_a_guarded_break_rejoins_behind_the_loop() -> None:
    kernel = ptxplus("breakaddr OUT; L: @$p0.ne break; bra L; OUT: exit;")
    assert dict(reconvergence_points(kernel)) == {1: 3}


def test_a_guarded_call_rejoins_behind_itself() -> None:
    kernel = ptxplus("@$p0.ne callp F; exit; F: @$p1.ne bra G; nop; G: retp;")
    assert dict(reconvergence_points(kernel)) == {0: 1, 2: 4}


def test_a_guarded_branch_to_the_end() -> None:
    assert dict(reconvergence_points(ptx("@%p0 bra E; mov.b32 %r0, 1; E:"))) == {0: 2}
