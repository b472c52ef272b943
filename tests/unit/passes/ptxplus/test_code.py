"""One PTXPlus instruction as text: what it writes and reads; the blocks of a kernel's code."""

import pytest

from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode, word


@pytest.mark.parametrize(
    ("code", "writes", "reads"),
    [
        (Code("add.u32", ("$v0", "$v1", "$v1")), ("$v0",), ("$v1", "$v1")),
        (Code("set.lt.u32.u32", ("$p0/$o127", "$v0", "0x00000001")), ("$p0", "$o127"), ("$v0",)),
        (
            Code("add.ff64", ("{$v0,$v1}", "{$v2,$v3}", "{$v4,$v5}")),
            ("$v0", "$v1"),
            ("$v2", "$v3", "$v4", "$v5"),
        ),
        (Code("mov.u32", ("$v0", "s[$v1+0x0010]"), "@$p2.ne"), ("$v0",), ("$v1", "$p2")),
        (Code("mov.u32", ("s[$v1]", "$v0")), (), ("$v1", "$v0")),
        (Code("st.global.v2.u32", ("[$v2]", "{$v0,$v1}")), (), ("$v2", "$v0", "$v1")),
        (Code("bra", ("L0",), "@$p0.equ"), (), ("$p0",)),
        (Code("exit", ()), (), ()),
    ],
    ids=str,
)
def test_what_an_instruction_writes_and_reads(
    code: Code, writes: tuple[str, ...], reads: tuple[str, ...]
) -> None:
    assert (code.writes(), code.reads()) == (writes, reads)


def test_text() -> None:
    assert str(Code("mov.u32", ("$v0", word(-1)), "@$p0.ne")) == "@$p0.ne mov.u32 $v0, 0xffffffff;"
    assert str(Code("exit", ())) == "exit;"


def test_blocks_end_at_jumps_and_at_labels_that_branches_name() -> None:
    a, b, c, d = (Code("mov.u32", (f"$v{k}", "$v9")) for k in range(4))
    jump = Code("bra", ("L0",))
    kernel = KernelCode("k", (), (), lines=[a, BranchTarget(1), b, BranchTarget(2), c, jump, d])
    kernel.labels[2] = "L0"
    assert list(kernel.blocks()) == [[a, b], [c, jump], [d]]


def test_instructions_are_dropped_by_identity() -> None:
    first, second = Code("mov.u32", ("$v0", "$v1")), Code("mov.u32", ("$v0", "$v1"))
    kernel = KernelCode("k", (), (), lines=[first, second])
    kernel.drop([second])
    assert len(kernel.lines) == 1
    assert kernel.lines[0] is first
