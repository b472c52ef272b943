"""compact: what it keeps of PTXPlus, and what it refuses."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

REGISTERS = (
    "\t.reg .u32 $r<30>;\n\t.reg .u32 $ofs<9>;\n\t.reg .pred $p<9>;\n\t.reg .u32 $r124;\n\t.reg .u32 $o127;\n"
)


def kernel(body: str) -> str:
    lines = "".join(f"\t{line}\n" for line in body.splitlines())
    return f".version 1.4+\n.target sm_10\n.entry k ( .param .u32 n )\n{{\n{REGISTERS}{lines}\texit;\n}}\n"


def compacted(body: str, options: str = "") -> list[str]:
    """The instructions of a compacted body but the last, `exit`."""
    text = rewrite(parse(kernel(body), "k.ptxplus"), f"compact{options}").module.source.text
    lines = [line.strip() for line in text.splitlines()[4:] if not line.strip().startswith(".reg")]
    assert lines[-2:] == ["exit;", "}"]
    return lines[:-2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # $r0 is the thread id; its last read frees it
        (
            "mov.u32 $r9, s[0x0010];\nst.global.u32 [$r9], $r0;",
            "mov.u32 $r1, s[0x0010];\nst.global.u32 [$r1], $r0;",
        ),
        # the zero register and the sink stay what they are
        (
            "set.eq.u32.u32 $p7/$o127, $r0, $r124;\n@$p7.ne mov.u32 $r8, $r124;\nst.global.u32 [$r8], $r124;",
            "set.eq.u32.u32 $p0/$o127, $r0, $r124;\n@$p0.ne mov.u32 $r1, $r124;\nst.global.u32 [$r1], $r124;",
        ),
        # a post-incremented address stays in its register
        (
            "mov.u32 $ofs4, 0x00000010;\nmov.u32 $r5, s[$ofs4+=0x0004];\nadd.u32 $r6, $r5, s[$ofs4+0x0000];\n"
            "st.global.u32 [$r6], $r5;",
            "mov.u32 $ofs0, 0x00000010;\nmov.u32 $r0, s[$ofs0+=0x0004];\nadd.u32 $r1, $r0, s[$ofs0+0x0000];\n"
            "st.global.u32 [$r1], $r0;",
        ),
        # two halves of one register; the first leaves the other half zero, which that of $r0 is not
        (
            "mov.u16 $r7.lo, 0x0001;\nmov.u16 $r7.hi, 0x0002;\nst.global.u32 [$r7], $r7;",
            "mov.u16 $r1.lo, 0x0001;\nmov.u16 $r1.hi, 0x0002;\nst.global.u32 [$r1], $r1;",
        ),
    ],
)
def test_what_stays_together(before: str, after: str) -> None:
    assert compacted(before) == after.splitlines()


def test_a_copy_onto_itself_goes() -> None:
    assert compacted("mov.u32 $r9, $r0;\nst.global.u32 [$r9], $r9;") == ["st.global.u32 [$r0], $r0;"]


def test_a_register_read_before_it_is_written_is_zero() -> None:
    """It may not take $r0's place, and nothing else may be there before it is read."""
    first, second, _ = compacted(
        "mov.u32 $r9, 0x00000007;\nadd.u32 $r9, $r9, $r20;\nst.global.u32 [$r9], $r9;"
    )
    seven = first.split()[1].rstrip(",")
    zero = second.split()[-1].rstrip(";")
    assert zero not in ("$r0", seven)


BODY = "mov.u32 $r5, s[0x0010];\nmov.u32 $r6, s[0x0014];\nst.global.u32 [$r5], $r6;"


def test_a_bound_is_kept_or_refused() -> None:
    assert len(compacted(BODY, "{max-regs=2}")) == 3
    with pytest.raises(
        PtxError, match=r"E301.*'k' does not fit into 1 register without spilling: it needs 2"
    ):
        compacted(BODY, "{max-regs=1}")
    with pytest.raises(PtxError, match=r"E301.*max-regs cannot be -1"):
        compacted(BODY, "{max-regs=-1}")


def test_a_range_of_many_names_is_not_listed() -> None:
    text = (
        ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .b32 %r<262144>;\nmov.b32 %r262143, 1;\nret;\n}\n"
    )
    assert "mov.b32 %r0, 1;" in rewrite(parse(text, "k.ptx"), "compact").module.source.text


def test_a_second_time_nothing_changes() -> None:
    once = rewrite(parse(kernel(BODY)), "compact").module.source.text
    assert rewrite(parse(once), "compact").module.source.text == once


# seven values at once, in registers 0 to 7 without 3
GAP = "".join(f"mov.u32 %r{k}, {k};\n" for k in (0, 1, 2, 4, 5, 6, 7))
SUM = (
    "add.u32 %r0, %r0, %r6;\nmad.lo.u32 %r2, %r2, %r5, %r7;\nmad.lo.u32 %r2, %r2, %r4, %r1;\n"
    "add.u32 %r2, %r2, %r0;\n"
)


def test_registers_keep_their_bank() -> None:
    """%r7 fills the gap at 3: both are 3 mod 4. Without banks %r2, %r5 and %r7 would be 2, 4 and 6, a conflict."""
    head = ".version 8.0\n.target sm_52\n.entry k()\n{\n.reg .b32 %r<8>;\n"
    text = f"{head}{GAP}{SUM}st.global.u32 [0], %r2;\nret;\n}}\n"
    plain = rewrite(parse(text, "k.ptx"), "compact").module.source.text
    assert "mad.lo.u32 %r2, %r2, %r4, %r6;" in plain
    result = rewrite(parse(text, "k.ptx"), "compact:banks=true")
    new = result.module.source.text
    assert new == text.replace("%r<8>", "%r<7>").replace("%r7", "%r3")
    (remark,) = result.remarks
    assert "in 7; 0 register bank conflicts, 0 before" in remark.message


def test_what_the_text_has_no_registers_for_is_assigned_anew() -> None:
    """Virtual registers: %r1 and %rd0 are one register by their names, and live at once."""
    text = (
        ".version 8.0\n.target sm_52\n.entry k()\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<1>;\n"
        "mov.u32 %r1, 1;\nmov.u64 %rd0, 2;\nst.global.u32 [%rd0], %r1;\nret;\n}\n"
    )
    banks, plain = (rewrite(parse(text, "k.ptx"), pipeline) for pipeline in ("compact:banks=true", "compact"))
    assert banks.module.source.text == plain.module.source.text
    assert banks.remarks[0].message == plain.remarks[0].message + "; 0 register bank conflicts"
