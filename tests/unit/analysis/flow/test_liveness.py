"""Liveness per thread and per warp, worked out by hand."""

from pathlib import Path

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.liveness import Liveness, liveness
from ptxtool.parse import parse


def rows(live: Liveness) -> list[str]:
    """The registers live before every instruction, without their sigils."""
    return [" ".join(name.lstrip("%$") for name in names) for names in live.before]


def test_straight_line() -> None:
    kernel = ptx("mov.b32 %r1, 1; mov.b32 %r2, 2; add.s32 %r3, %r1, %r2; st.global.u32 [%rd0], %r3; ret;")
    live = liveness(kernel)
    assert rows(live) == ["rd0", "r1 rd0", "r1 r2 rd0", "r3 rd0", ""]
    assert live.after[1] == ("%r1", "%r2", "%rd0")
    assert live.after[4] == ()


def test_a_guarded_write_does_not_end_the_old_value() -> None:
    kernel = ptx("@%p0 mov.b32 %r1, 1; st.global.u32 [%rd0], %r1; ret;")
    assert rows(liveness(kernel))[0] == "p0 r1 rd0"


def test_a_half_write_keeps_the_other_half() -> None:
    kernel = ptxplus("mov.u16 $r0.hi, %ntid.x; cvt.u32.u16 $r1, $r0.lo; mov.u32 g[$r1], $r0; exit;")
    assert rows(liveness(kernel)) == ["r0", "r0", "r0 r1", ""]


def test_a_post_increment_keeps_its_register_live() -> None:
    kernel = ptxplus("mov.u32 $r1, s[$ofs1+=0x4]; mov.u32 $r2, s[$ofs1]; mov.u32 g[$r1], $r2; exit;")
    assert rows(liveness(kernel)) == ["ofs1", "r1 ofs1", "r1 r2", ""]


def test_a_pair_is_two_registers() -> None:
    kernel = ptxplus("add.ff64 {$r4,$r5}, {$r6,$r7}, {$r6,$r7}; mov.bb64 g[$r1], {$r4,$r5}; exit;")
    assert rows(liveness(kernel)) == ["r1 r6 r7", "r1 r4 r5", ""]


def test_zero_register_and_bit_bucket_are_never_live() -> None:
    kernel = ptxplus("set.eq.u32.u32 $p0/$o127, $r124, $r1; @$p0.ne mov.u32 g[$r2], $o127; exit;")
    assert rows(liveness(kernel)) == ["r1 r2", "r2 p0", ""]


IF_ELSE = """
    @%p0 bra A;
    mov.b32 %r1, 1;
    add.s32 %r3, %r1, %r2;
    bra J;
A:  mov.b32 %r4, 5;
    add.s32 %r3, %r4, %r5;
J:  st.global.u32 [%rd0], %r3;
    ret;
"""


def test_if_else_per_thread() -> None:
    assert rows(liveness(ptx(IF_ELSE), per="thread")) == [
        "p0 r2 r5 rd0",
        "r2 rd0",
        "r1 r2 rd0",
        "r3 rd0",
        "r5 rd0",
        "r4 r5 rd0",
        "r3 rd0",
        "",
    ]


def test_if_else_per_warp_keeps_the_other_sides_inputs_and_the_join() -> None:
    # on each side: what the other side reads first (r5 or r2), and r3, which lanes that already ran hold at J
    assert rows(liveness(ptx(IF_ELSE))) == [
        "p0 r2 r5 rd0",
        "r2 r3 r5 rd0",
        "r1 r2 r3 r5 rd0",
        "r3 r5 rd0",
        "r2 r3 r5 rd0",
        "r2 r3 r4 r5 rd0",
        "r3 rd0",
        "",
    ]


LOOP = """
    mov.b32 %r1, 0;
L:  add.s32 %r2, %r1, 7;
    setp.gt.s32 %p1, %r2, %r5;
    @%p1 bra OUT;
    mov.b32 %r2, 3;
    add.s32 %r1, %r1, %r2;
    bra L;
OUT: st.global.u32 [%rd0], %r2;
    ret;
"""


def test_loop_per_thread() -> None:
    assert rows(liveness(ptx(LOOP), per="thread")) == [
        "r5 rd0",
        "r1 r5 rd0",
        "r1 r2 r5 rd0",
        "p1 r1 r2 r5 rd0",
        "r1 r5 rd0",
        "r1 r2 r5 rd0",
        "r1 r5 rd0",
        "r2 rd0",
        "",
    ]


def test_loop_per_warp_keeps_what_the_lanes_that_left_hold() -> None:
    # r2 is live after the loop, so it stays live in all of it: lanes that left wait at OUT with it
    assert rows(liveness(ptx(LOOP))) == [
        "r5 rd0",
        "r1 r2 r5 rd0",
        "r1 r2 r5 rd0",
        "p1 r1 r2 r5 rd0",
        "r1 r2 r5 rd0",
        "r1 r2 r5 rd0",
        "r1 r2 r5 rd0",
        "r2 rd0",
        "",
    ]


def test_the_same_loop_with_a_test_in_front_is_the_same_for_warps() -> None:
    kernel = ptx("L: mov.b32 %r1, 1; add.s32 %r2, %r1, %r2; @%p0 bra L; st.global.u32 [%rd0], %r1; ret;")
    assert rows(liveness(kernel, per="thread"))[0] == "p0 r2 rd0"
    assert rows(liveness(kernel))[0] == "p0 r1 r2 rd0"  # r1 of the lanes that left must not be lost
    assert rows(liveness(kernel))[3] == "r1 rd0"


def test_at_a_uniform_branch_no_lane_waits() -> None:
    for body in (IF_ELSE, LOOP):
        divergent = ptx(f"mov.u32 %r2, %tid.x; mov.u32 %r5, 7; setp.eq.u32 %p0, %r2, 0; {body}")
        uniform = ptx(f"mov.u32 %r2, %ctaid.x; mov.u32 %r5, 7; setp.eq.u32 %p0, %r2, 0; {body}")
        thread = rows(liveness(uniform, per="thread"))
        assert rows(liveness(divergent, per="thread")) == thread
        if body is IF_ELSE:
            assert rows(liveness(divergent)) != thread
        assert rows(liveness(uniform)) == thread


def test_an_unguarded_branch_makes_nobody_wait() -> None:
    body = "bra A; A: mov.b32 %r1, 1; st.global.u32 [%rd0], %r1; ret;"
    assert (
        rows(liveness(ptx(body))) == rows(liveness(ptx(body), per="thread")) == ["rd0", "rd0", "r1 rd0", ""]
    )


def test_a_guarded_exit_makes_nobody_wait() -> None:
    body = "@%p0 exit; mov.b32 %r1, 1; st.global.u32 [%rd0], %r1; exit;"
    assert rows(liveness(ptx(body))) == ["p0 rd0", "rd0", "r1 rd0", ""]


def test_nested_branches_keep_the_inputs_of_all_sides_not_yet_run() -> None:
    kernel = ptx(
        "@%p0 bra A;"  # 0
        "@%p1 bra B;"  # 1
        "st.global.u32 [%rd0], %r1;"  # 2
        "bra J;"  # 3
        "B: st.global.u32 [%rd0], %r2;"  # 4
        "bra J;"  # 5
        "A: st.global.u32 [%rd0], %r3;"  # 6
        "J: ret;"  # 7
    )
    assert rows(liveness(kernel))[2:] == [
        "r1 r2 r3 rd0",
        "r2 r3 rd0",
        "r1 r2 r3 rd0",
        "r1 r3 rd0",
        "p1 r1 r2 r3 rd0",
        "",
    ]


CALL = """
    mov.u32 $r1, 0x1;
    callp F;
    mov.u32 g[$r2], $r3;
    exit;
F:  add.u32 $r3, $r1, $r4;
    retp;
"""


def test_a_called_routine_reads_and_writes_the_callers_registers() -> None:
    assert rows(liveness(ptxplus(CALL))) == ["r2 r4", "r1 r2 r4", "r2 r3", "", "r1 r2 r4", "r2 r3"]


def test_lanes_that_skip_a_guarded_call_wait_behind_it() -> None:
    kernel = ptxplus("@$p0.ne callp F; mov.u32 g[$r2], $r3; exit; F: mov.u32 $r3, $r4; retp;")
    live = rows(liveness(kernel))
    assert live[0] == "r2 r3 r4 p0"
    assert live[3] == "r2 r3 r4"  # r3 of the lanes that did not call
    assert rows(liveness(kernel, per="thread"))[3] == "r2 r4"


def test_lanes_that_return_early_may_wait_behind_the_call() -> None:
    kernel = ptxplus(
        "callp F; mov.u32 g[$r2], $r3; exit;"
        "F: @$p0.ne bra A; mov.u32 $r3, 0x1; retp; A: mov.u32 $r3, 0x2; retp;"
    )
    live = rows(liveness(kernel))
    assert live[4] == "r2 r3"  # on one side: r3 of lanes that came from the other
    assert live[6] == "r2 r3"
    assert rows(liveness(kernel, per="thread"))[6] == "r2"


def test_results_of_a_function_are_live_at_its_end() -> None:
    text = ".version 7.0\n.target sm_70\n.func (.reg .b32 %o) f (.reg .b32 %i) { mov.b32 %o, %i; ret; }\n"
    live = liveness(parse(text).functions["f"])
    assert rows(live) == ["i", "o"]


def test_bits_are_sequence_numbers_less_one() -> None:
    live = liveness(ptxplus("mov.u32 g[$r1], $r3; exit;"))
    assert list(live.before_bits) == [0b1010, 0]
    assert live.before_bits[-1] == 0
    assert live.before_bits[0:1] == (0b1010,)
    with pytest.raises(IndexError):
        live.before_bits[2]


def test_unreachable_code_has_its_own_live_registers() -> None:
    assert rows(liveness(ptx("ret; st.global.u32 [%rd0], %r1; ret;"))) == ["", "r1 rd0", ""]


def test_a_long_block() -> None:
    n = 2000
    kernel = ptx("mov.b32 %r1, 1;" + "add.s32 %r2, %r2, %r3;" * n + "st.global.u32 [%rd0], %r1; ret;")
    live = liveness(kernel)
    everywhere = ("%r1", "%r2", "%r3", "%rd0")
    assert all(live.before[i] == everywhere for i in range(1, n))
    assert live.before[n] == everywhere
    assert live.before[n + 1] == ("%r1", "%rd0")
    assert live.before[0] == ("%r2", "%r3", "%rd0")


def test_text() -> None:
    assert str(liveness(ptxplus("mov.u32 $r1, $r2; mov.u32 g[$r3], $r1; exit;"))) == (
        "    0  mov.u32 $r1, $r2;     | $r2 $r3\n"
        "    1  mov.u32 g[$r3], $r1;  | $r1 $r3\n"
        "    2  exit;                 |"
    )


def test_no_instructions() -> None:
    live = liveness(ptx(""))
    assert (list(live.before), str(live)) == ([], "")


def live_at_entry(path: Path) -> set[str]:
    module = parse(path.read_bytes(), path.name)
    return {name for k in module.kernels.values() if k.instructions for name in liveness(k).before[0]}


def test_compiled_ptx_needs_nothing_at_its_start(corpus: tuple[Path, ...]) -> None:
    # nvcc and numba initialise everything; a register live at the start would mean a def or a kill was missed
    files = [f for f in corpus if f.parent.name in ("cuda", "numba")]
    assert files
    for path in files:
        assert live_at_entry(path) == set(), path.name


TAME = ["edge_detection", "fft64", "matrixmul_shared", "reduction", "scalar_product", "sort_v1", "transpose"]


@pytest.mark.parametrize("name", TAME)
def test_converted_ptxplus_needs_the_thread_id_at_its_start(corpus: tuple[Path, ...], name: str) -> None:
    (path,) = (f for f in corpus if f.parent.name == "converted" and f.stem == name)
    assert live_at_entry(path) == {"$r0"}
