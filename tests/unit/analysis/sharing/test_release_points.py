"""Where a warp touches what it shares for the last time: hand-worked kernels. `%r9` stands for what is shared."""

from kernels import ptx, ptxplus

from ptxtool.analysis.sharing.release_points import release_points
from ptxtool.ir.edit import splice
from ptxtool.ir.marks import REGISTERS
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.sharing.marks import put_marks
from ptxtool.validate.marks import check_marks


def points(body: str) -> list[str]:
    """The texts of the instructions before which the warp can release."""
    kernel = ptx(body)
    return [kernel.text(i) for i in release_points(kernel, touches(kernel))]


def touches(kernel: Function) -> tuple[bool, ...]:
    return tuple("%r9" in kernel.text(i) for i in range(len(kernel.instructions)))


def test_straight_code() -> None:
    assert points("mov.u32 %r1, 1; mov.u32 %r9, 2; mov.u32 %r2, 3; mov.u32 %r3, 3; ret;") == [
        "mov.u32 %r2, 3;"
    ]


def test_no_touch_no_release() -> None:
    assert points("mov.u32 %r1, 1; ret;") == []


def test_the_end_releases_by_itself() -> None:
    assert points("mov.u32 %r9, 2; ret;") == []
    assert points("mov.u32 %r9, 2; exit;") == []


def test_a_guarded_end_does_not() -> None:
    assert points("mov.u32 %r9, 2; @%p1 ret; mov.u32 %r1, 1; ret;") == ["@%p1 ret;"]


def test_a_side_that_touches_nothing_waits_for_the_other() -> None:
    """Lanes on the side that touches nothing may run first: they let go where both have rejoined, the others before."""
    body = """
    mov.u32 %r1, 1;
    @%p1 bra ELSE;
    mov.u32 %r9, 1;
    bra JOIN;
    ELSE: mov.u32 %r2, 2;
    JOIN: mov.u32 %r3, 3;
    ret;
    """
    assert points(body) == ["bra JOIN;", "mov.u32 %r3, 3;"]


def test_a_side_without_touches_behind_a_uniform_branch() -> None:
    """An unguarded `bra` sends all lanes the same way."""
    body = "mov.u32 %r9, 1; bra NEXT; NEXT: mov.u32 %r2, 2; ret;"
    assert points(body) == ["bra NEXT;"]


def test_in_a_loop_until_it_is_left() -> None:
    body = """
    mov.u32 %r1, 0;
    LOOP: mov.u32 %r9, 1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 9;
    @%p1 bra LOOP;
    mov.u32 %r2, 1;
    ret;
    """
    assert points(body) == ["mov.u32 %r2, 1;"]


def test_lanes_that_left_a_loop_wait_behind_it() -> None:
    """The touch after the loop is still to come while one lane runs the loop."""
    body = """
    mov.u32 %r1, 0;
    LOOP: add.u32 %r1, %r1, 1;
    @%p1 bra LOOP;
    mov.u32 %r9, 1;
    mov.u32 %r2, 1;
    ret;
    """
    assert points(body) == ["mov.u32 %r2, 1;"]


def test_a_block_that_is_entered_having_released_is_marked_all_the_same() -> None:
    """Reached with and without a touch before: one mark at its head serves both, no edge is split."""
    body = """
    @%p1 bra SKIP;
    mov.u32 %r9, 1;
    mov.u32 %r1, 1;
    SKIP: mov.u32 %r3, 3;
    ret;
    """
    assert points(body) == ["mov.u32 %r1, 1;", "mov.u32 %r3, 3;"]


def test_threads_that_leave_early_hold_nothing_up() -> None:
    body = """
    @%p1 bra DONE;
    mov.u32 %r9, 1;
    mov.u32 %r1, 1;
    DONE: ret;
    """
    # both sides rejoin at the end, where nothing is touched: after the touch the warp is done
    assert points(body) == ["mov.u32 %r1, 1;"]


def test_calls_on_the_same_registers() -> None:
    """PTXPlus: the kernel calls code of its own, which touches; a `retp` that was not called for leaves for good."""
    kernel = ptxplus(
        """
        @$p0.ne retp;
        l1: callp l2;
        mov.u32 $r1, $r2;
        @$p0.ne bra l1;
        mov.u32 $r3, $r2;
        retp;
        l2: mov.u32 $r9, $r1;
        mov.u32 $r4, $r1;
        retp;
        """
    )
    touched = tuple("$r9" in kernel.text(i) for i in range(len(kernel.instructions)))
    assert [kernel.text(i) for i in release_points(kernel, touched)] == ["mov.u32 $r3, $r2;"]
    text = splice(kernel.source.text, put_marks(kernel, REGISTERS, release_points(kernel, touched)))
    after = parse(text)
    assert check_marks(kernel.module, after, REGISTERS, lambda _: touched) == ()
