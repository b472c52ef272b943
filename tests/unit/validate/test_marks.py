"""The proof of release marks finds marks that come too early, and other changes."""

from ptxas import needs_ptxas, ptxas_errors

from ptxtool.ir import marks
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.validate.marks import check_marks

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
REGISTERS = ".reg .pred %p<2>;\n.reg .b32 %r<10>;\n"
MARK = '.pragma "release_registers";\n'


def touches(kernel: Function) -> tuple[bool, ...]:
    return tuple("%r9" in kernel.text(i) for i in range(len(kernel.instructions)))


def check(before: str, after: str) -> list[str]:
    old, new = (parse(f"{HEAD}{REGISTERS}{body}}}\n") for body in (before, after))
    return [d.message for d in check_marks(old, new, marks.REGISTERS, touches)]


def test_sound_marks_pass() -> None:
    code = "mov.u32 %r9, 1;\nmov.u32 %r1, 1;\nret;\n"
    assert check(code, f"mov.u32 %r9, 1;\n{MARK}mov.u32 %r1, 1;\n{MARK}ret;\n{MARK}") == []
    assert check(f"{MARK}{code}", code) == []


def test_a_touch_behind_a_mark() -> None:
    code = "mov.u32 %r1, 1;\nmov.u32 %r9, 1;\nret;\n"
    assert check(code, MARK + code) == [
        "released too early: the warp may still touch its shared registers in line 10"
    ]


def test_a_touch_around_a_loop() -> None:
    head, tail = "L: mov.u32 %r9, 1;\n", "mov.u32 %r1, 1;\n@%p1 bra L;\nret;\n"
    assert check(head + tail, head + MARK + tail) == [
        "released too early: the warp may still touch its shared registers in line 8"
    ]


def test_lanes_that_wait_on_the_other_side() -> None:
    head, tail = "@%p1 bra L;\nmov.u32 %r1, 1;\n", "ret;\nL: mov.u32 %r9, 1;\nret;\n"
    assert check(head + tail, head + MARK + tail) == [
        "released too early: the warp may still touch its shared registers in line 12"
    ]


def test_lanes_that_wait_where_the_branch_rejoins() -> None:
    head, tail = "L: add.u32 %r1, %r1, 1;\n", "@%p1 bra L;\nmov.u32 %r9, 1;\nret;\n"
    assert check(head + tail, head + MARK + tail) == [
        "released too early: the warp may still touch its shared registers in line 11"
    ]


def test_anything_else_that_changed() -> None:
    assert check("ret;\n", "mov.u32 %r1, 1;\nret;\n") == ["something besides release marks changed"]
    other = '.pragma "release_scratchpad";\n'
    assert check("ret;\n", f"{other}ret;\n") == ["something besides release marks changed"]


def test_marks_for_both() -> None:
    """One statement may release both; the other kind is not this pass's to change."""
    both = '.pragma "release_scratchpad", "release_registers";\n'
    assert check(f"{both}ret;\n", "ret;\n") == ["something besides release marks changed"]
    assert check(f"{both}ret;\n", '.pragma "release_scratchpad";\nret;\n') == []


@needs_ptxas
def test_ptxas_takes_marks() -> None:
    code = f'mov.u32 %r9, 1;\n{MARK}mov.u32 %r1, 1;\n.pragma "release_scratchpad";\nret;\n'
    text = f"{HEAD}{REGISTERS}{code}}}\n".replace("7.0", "9.0").replace("sm_70", "sm_80")
    assert ptxas_errors(text, "sm_80") == {}
