"""Warp shuffles through shared memory: the words, the lane that is read, and the segment."""

from ptxplus_selection import HEAD, kernel, virtual

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

END = "st.global.u32 [%d1], %r1;"


def test_the_own_word_is_written_and_then_another_read() -> None:
    """One parameter of 8 bytes: the words begin at 0x18."""
    found = virtual(f"shfl.sync.idx.b32 %r1, %r2, 3, 31, -1; {END}")
    (written,) = (k for k, code in enumerate(found) if code.startswith("mov.u32 s["))
    (read,) = (k for k, code in enumerate(found) if code.startswith("mov.u32 $v") and "s[" in code)
    assert written < read
    assert "+0x0018], $v" in found[written]
    assert found[read].endswith("+0x0018];")
    assert not any(code.startswith("bar") for code in found)


def test_the_lane_is_held_to_its_segment() -> None:
    """Within 8 lanes (mask 0x18) a shuffle downwards stops at lane 7 of the segment, one upwards at its lane 0."""
    for mode, limit, comparison in (("down", 0x1807, "le"), ("up", 0x1800, "ge")):
        found = virtual(f"shfl.sync.{mode}.b32 %r1, %r2, 1, {limit}, -1; {END}")
        (test,) = (code for code in found if code.startswith("set."))
        assert test.startswith(f"set.{comparison}.u32.s32 ")
        assert any(code.endswith(", 0x00000018;") and code.startswith("and.b32") for code in found)
        assert any(code.endswith(f", 0x{limit & 0x7:08x};") and code.startswith("or.b32") for code in found)


def test_whether_the_lane_was_inside_goes_to_a_predicate() -> None:
    found = virtual(f"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; @%p1 {END}")
    (test,) = (code for code in found if "$o127" in code)
    assert test.startswith("set.le.u32.s32 $p")
    predicate = test.split()[1].partition("/")[0]
    assert any(code.startswith("selp.u32") and code.endswith(f"{predicate};") for code in found)
    assert found[-2].startswith(f"@{predicate}.ne st.global")


def test_shuffles_take_a_word_for_every_thread() -> None:
    body = "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1;"
    text = HEAD + kernel(body).replace(")\n{", ")\n.maxntid 64, 2, 1\n{")
    result = rewrite(parse(text), "lower-ptxplus")
    assert ".shared .align 4 .b8 __shared_shuffles[512];" in result.module.source.text
    assert "warps shuffle through shared memory, a word for every thread" in str(result)
