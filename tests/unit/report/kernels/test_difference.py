"""The difference of two kernels as tables."""

from kernels import ptx

from ptxtool.analysis.compare.difference import difference
from ptxtool.report.kernels.difference import difference_parts

BEFORE = "mov.u32 %r1, 1;\n" + "add.u32 %r1, %r1, 1;\n" * 6 + "st.global.u32 [%rd1], %r1;\nret;"
AFTER = BEFORE.replace("[%rd1]", "[%rd1+4]")


def text(before: str, after: str, context: int = 1) -> list[str]:
    parts = difference_parts(difference(ptx(before), ptx(after)), ("a.ptx", "b.ptx"), context)
    return "\n".join(map(str, parts)).splitlines()


def test_equal_kernels_are_one_line() -> None:
    assert text(BEFORE, BEFORE) == ["k: same, 9 instructions"]


def test_a_changed_instruction_and_its_neighbours() -> None:
    lines = text(BEFORE, AFTER)
    assert lines[:2] == ["k: a.ptx -> b.ptx", "instructions: 8 same, 1 changed, 0 removed, 0 added"]
    assert [line.split(None, 2)[0] for line in lines[-5:]] == ["...", "13", "14", "14", "15"]
    assert lines[-3].split("-", 1)[1].strip() == "st.global.u32 [%rd1], %r1;"
    assert lines[-2].split("+", 1)[1].strip() == "st.global.u32 [%rd1+4], %r1;"


def test_without_context_only_the_change_is_shown() -> None:
    assert len(text(BEFORE, AFTER, 0)) == len(text(BEFORE, AFTER)) - 2


def test_cuda_lines_where_the_text_has_them() -> None:
    old, new = (text.replace("st.global", ".loc 1 7 5\nst.global") for text in (BEFORE, AFTER))
    lines = text(old, new)
    assert lines[-7].split() == ["before", "after", "statement", "CUDA", "line"]
    assert [line.endswith("  1:7") for line in lines[-4:]] == [False, True, True, True]
    shown = difference_parts(
        difference(ptx(old), ptx(new)), ("a.ptx", "b.ptx"), 1, lambda file, place: f"<{place.line}>"
    )
    assert str(shown[-1]).splitlines()[-2].endswith("  1:7: <7>")
    assert "CUDA" not in "\n".join(text(BEFORE, AFTER))
