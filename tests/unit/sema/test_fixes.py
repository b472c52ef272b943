"""The fixes that diagnostics carry, applied and checked again."""

import pytest

from ptxtool.parse import parse
from ptxtool.sema.fixes import fix_text
from ptxtool.sema.module import check_module

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
KERNEL = (
    HEAD + ".const .u32 c[4];\n.entry k(.param .u64 p)\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n"
    "\tmov.u32 %r1, 1;\n\tmov.u64 %rd1, 0;\n\t{0}\n\tret;\n}}\n"
)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("add.u32 %r2, %r1 %r1;", "add.u32 %r2, %r1, %r1;"),
        ("add.u32 %r2, %r1, %r1", "add.u32 %r2, %r1, %r1;"),
        ("cvt.rn.sat.sat.f32.u32 %r2, %r1;", "cvt.rn.sat.f32.u32 %r2, %r1;"),
        ("add.u32.u32 %r2, %r1, %r1;", "add.u32 %r2, %r1, %r1;"),
        ("add.s32.pred %r2, %r1, %r1;", "add.s32 %r2, %r1, %r1;"),
        ("atom.global.u32 %r2, [%rd1], %r1;", None),  # which operation?
        ("mul.u32 %r2, %r1, %r1;", None),
        ("add.u33 %r2, %r1, %r1;", None),  # a guess is no fix
        ("st.global.u32 %r1, [%rd1];", "st.global.u32 [%rd1], %r1;"),
        ("st.global.u32 /* a */ %r1 , /* b */ [%rd1];", "st.global.u32 /* a */ [%rd1] , /* b */ %r1;"),
        ("ld.global.u32 %r2, %rd1;", "ld.global.u32 %r2, [%rd1];"),
        ("ld.u32 %r2, [c];", "ld.const.u32 %r2, [c];"),
        ("ld.u64 %rd1, [p];", "ld.param.u64 %rd1, [p];"),
        ("ld.shared.u32 %r2, [c];", None),  # the space is wrong, or the name
    ],
)
def test_an_instruction(wrong: str, right: str | None) -> None:
    text = KERNEL.format(wrong)
    fixed = fix_text(text, "k.ptx")
    assert fixed.text == (text if right is None else KERNEL.format(right))
    assert bool(fixed.applied) is (right is not None)
    assert right is None or not any(d.is_error for d in check_module(parse(fixed.text)))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("{ .reg .b32 %r<2>; mov.u32 %r5, 1; ret; }", "{ .reg .b32 %r<6>; mov.u32 %r5, 1; ret; }"),
        ("{ mov.u32 %r5, 1; ret; }", "{\n\t.reg .b32 %r<6>; mov.u32 %r5, 1; ret; }"),
        ("{\n\tbar.sync 0;\n}", "{\n\tbar.sync 0;\n\tret;\n}"),
        ("{ bar.sync 0; }", "{ bar.sync 0;\nret; }"),
    ],
)
def test_a_body(wrong: str, right: str) -> None:
    assert fix_text(f"{HEAD}.entry k()\n{wrong}\n", "k.ptx").text == f"{HEAD}.entry k()\n{right}\n"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (".visible .func f(.reg .u16 x) { ret; }", ".visible .func f(.reg .b16 x) { ret; }"),
        (".global .bb64 x;", ".global .b64 x;"),
        (".entry k(.param .f16x2 x) { ret; }", ".entry k(.param .b32 x) { ret; }"),
    ],
)
def test_a_declaration(wrong: str, right: str) -> None:
    assert fix_text(f"{HEAD}{wrong}\n", "k.ptx").text == f"{HEAD}{right}\n"


def test_the_version_is_raised_to_what_is_needed() -> None:
    body = ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, 1; redux.sync.add.u32 %r1, %r1, -1; ret; }\n"
    fixed = fix_text(f".version 6.3\n.target sm_80\n{body}", "k.ptx")
    assert fixed.text == f".version 7.0\n.target sm_80\n{body}"
    assert [d.code for d in fixed.applied] == ["W205"]


def test_a_fix_that_breaks_something_else_is_not_applied() -> None:
    """'vote' without '.sync' ended with PTX 6.3."""
    body = ".reg .pred %p<2>; .reg .b32 %r<2>; vote.all.pred %p1, 1; ld.global.L1::evict_last.u32 %r1, [%r1]; ret;"
    text = f".version 6.0\n.target sm_70\n.entry k() {{ {body} }}\n"
    assert [d.code for d in check_module(parse(text))][:1] == ["W205"]
    assert fix_text(text, "k.ptx") == (text, ())


def test_what_is_right_stays() -> None:
    text = KERNEL.format("add.u32 %r2, %r1, %r1;")
    assert fix_text(text, "k.ptx") == (text, ())
