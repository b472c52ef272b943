"""split-tail-ranges: what moves, what is copied, what stays, and what that is worth. `%r0` to `%r2` are private."""

import pytest

from ptxtool.analysis.sharing.tail import split_tail
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
REGISTERS = "\t.reg .b32 %r<7>;\n\t.reg .b64 %rd<8>;\n\t.reg .pred %p<2>;\n"
PASS = "split-tail-ranges{share=50,registers=6}"
WIDE = "split-tail-ranges{share=50,registers=2}"  # one private register: %rd0


def source(lines: list[str], registers: str = REGISTERS) -> str:
    return HEAD + registers + "".join(f"\t{line}\n" for line in lines) + "}\n"


def rewritten(lines: list[str], pipeline: str = PASS, registers: str = REGISTERS) -> tuple[list[str], str]:
    result = rewrite(parse(source(lines, registers)), pipeline)
    return code(result.module), result.remarks[0].message


def code(module: Module) -> list[str]:
    kernel = module.kernels["k"]
    return [kernel.text(i) for i in range(len(kernel.instructions))]


LOOP = [
    "mov.u32 %r0, 0;",
    "mov.u32 %r1, 1;",
    "mov.u32 %r2, 2;",
    "mov.u32 %r4, %tid.x;",
    "L: add.u32 %r0, %r0, %r1;",
    "add.u32 %r4, %r4, %r2;",
    "setp.lt.u32 %p0, %r4, 99;",
    "@%p0 bra L;",
]
"""%r0 to %r2 are in use throughout the loop, and so is the shared %r4."""


def test_a_live_range_moves_where_a_private_register_is_free() -> None:
    end = ["ld.shared.u32 %r5, [%r0];", "add.u32 %r5, %r5, 1;", "st.shared.u32 [%r0], %r5;", "ret;"]
    found, remark = rewritten([*LOOP, *end])
    assert found[8:] == [line.replace("%r5", "%r1") for line in end]
    assert remark == "2 live ranges moved to private registers; 22 issues per thread gained after the release"


def test_a_value_that_cannot_move_is_copied_where_that_pays() -> None:
    """A load (20) and the store (1) against a copy (4); the store alone is not worth one."""
    end = ["ld.shared.u32 %r5, [%r4];", "st.shared.u32 [%r0], %r5;", "ret;"]
    found, remark = rewritten([*LOOP, *end])
    assert found[:8] == [line.removeprefix("L: ") for line in LOOP]
    copied = next(t for t in found[8:] if t.startswith("mov"))
    register = copied.split()[1].rstrip(",")
    assert copied == f"mov.b32 {register}, %r4;"
    assert register in ("%r1", "%r2")
    assert found[9].endswith(f"[{register}];")
    assert "1 live range moved and 1 value copied before line 17 to private registers; 17 issues" in remark
    end = ["st.shared.u32 [%r0], %r4;", "ret;"]
    assert rewritten([*LOOP, *end]) == (
        [line.removeprefix("L: ") for line in LOOP] + end,
        "nothing to do: no end of the kernel fits into private registers",
    )


def test_what_the_other_side_of_a_branch_needs_is_counted() -> None:
    """Lanes of the other side still come to %r4: nothing is gained before both sides are done."""
    lines = [*LOOP, "@%p1 bra S;", "ld.shared.u32 %r5, [%r0];", "st.shared.u32 [%r0], %r5;", "ret;"]
    lines += ["S: ld.shared.u32 %r6, [%r4];", "add.u32 %r4, %r4, %r6;", "@%p0 bra S;", "ret;"]
    found, remark = rewritten(lines)
    assert found == [line.partition(": ")[2] or line for line in lines]
    assert remark.startswith("nothing to do")


def test_pairs_take_both_their_registers() -> None:
    """%rd0 is %r0 and %r1: it is not free for %rd3 while %r1 is read, and so the load stays."""
    registers = REGISTERS.replace(
        ".reg .b32 %r<7>;\n\t.reg .b64 %rd<8>;", ".reg .b64 %rd<8>;\n\t.reg .b32 %r<4>;"
    )
    begin = ["mov.u32 %r1, 1;", "ld.param.u64 %rd3, [a];"]
    early = [*begin, "st.global.u64 [%rd3], %rd3;", "ret;"]
    late = [*begin, "st.global.u32 [%rd3], %r1;", "ret;"]
    found, _ = rewritten(early, WIDE, registers)
    assert found == ["mov.u32 %r1, 1;", "ld.param.u64 %rd0, [a];", "st.global.u64 [%rd0], %rd0;", "ret;"]
    assert rewritten(late, WIDE, registers)[0] == late


def test_kernels_that_stay() -> None:
    end = ["ld.shared.u32 %r5, [%r0];", "st.shared.u32 [%r0], %r5;", "ret;"]
    marked = [*LOOP, *end[:2], '.pragma "release_registers";', "ret;"]
    assert (
        rewritten(marked)[1] == "nothing to do: it has release marks, which must be inserted after this pass"
    )
    clash = ["mov.u64 %rd2, 7;", *LOOP, "st.shared.u64 [%r0], %rd2;", *end]  # %rd2 is %r4 and %r5
    assert rewritten(clash)[1] == "left alone: its registers are not physical; run allocate or compact before"
    vector = "\t.reg .v2 .b32 %v;\n" + REGISTERS
    assert rewritten([*LOOP, *end], PASS, vector)[1] == (
        "left alone: registers of vector type have no physical register"
    )
    assert rewritten([*LOOP, *end], "split-tail-ranges{share=0}")[1] == "nothing is shared at 0%"


def test_no_name_that_a_block_hides() -> None:
    """Inside the braces %r1 is another register, so that %r5 can go to %r2 only."""
    lines = [
        *LOOP,
        "{",
        ".reg .u32 %r1;",
        "ld.shared.u32 %r5, [%r0];",
        "st.shared.u32 [%r0], %r5;",
        "}",
        "ret;",
    ]
    found, _ = rewritten(lines)
    assert found[8] == "ld.shared.u32 %r2, [%r0];"


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("split-tail-ranges", "E301.*needs the sharing percentage"),
        ("split-tail-ranges{share=100}", "E502.*leaves a CTA no private part"),
        ("split-tail-ranges{share=50,registers=-1}", "E502.*less than 0"),
    ],
)
def test_wrong_options(pipeline: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        rewrite(parse(source(["ret;"])), pipeline)


def test_a_kernel_without_instructions() -> None:
    found = split_tail(parse(source([])).kernels["k"], 3)
    assert found is not None
    assert not found.moves
