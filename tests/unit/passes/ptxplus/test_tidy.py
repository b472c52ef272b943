"""Copies of results and jumps that selection emits in excess, and those that must stay."""

from collections.abc import Hashable

import pytest

from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode
from ptxtool.passes.ptxplus.tidy import tidy


def tidied(text: str) -> str:
    """The code after `tidy`, instructions between semicolons; `L0:` is a label that a branch names."""
    lines: list[Code | BranchTarget] = []
    labels: dict[Hashable, str] = {}
    for part in text.split(";"):
        if part.strip().endswith(":"):
            name = part.strip()[:-1]
            labels[name] = name
            lines.append(BranchTarget(name))
            continue
        words = part.replace(",", " ").split()
        guard = words.pop(0) if words[0].startswith("@") else ""
        lines.append(Code(words[0], tuple(words[1:]), guard))
    kernel = KernelCode("k", (), (), lines=lines, labels=labels)
    tidy(kernel)
    left = (f"{line.label}:" if isinstance(line, BranchTarget) else str(line)[:-1] for line in kernel.lines)
    return "; ".join(left)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add.u32 $v9, $v1, $v2; mov.u32 $v0, $v9", "add.u32 $v0, $v1, $v2"),
        # reads in between are renamed, and so is no register whose number only begins alike
        (
            "add.u32 $v9, $v1, $v2; sub.u32 $v3, $v9, $v99; mov.u32 $v0, $v9",
            "add.u32 $v0, $v1, $v2; sub.u32 $v3, $v0, $v99",
        ),
        ("set.lt.u32.u32 $p5/$o127, $v1, $v2; mov.pred $p0, $p5", "set.lt.u32.u32 $p0/$o127, $v1, $v2"),
        ("add.u32 $v9, $v0, $v2; mov.u32 $v0, $v9", "add.u32 $v0, $v0, $v2"),
    ],
)
def test_a_result_is_computed_in_its_destination(before: str, after: str) -> None:
    assert tidied(before) == after


@pytest.mark.parametrize(
    "code",
    [
        "add.u32 $v9, $v1, $v2; add.u32 $v3, $v0, $v1; mov.u32 $v0, $v9",  # the old value is read
        "add.u32 $v9, $v1, $v2; mov.u32 $v0, $v9; add.u32 $v3, $v9, $v1",  # read again
        "@$p0.ne add.u32 $v9, $v1, $v2; mov.u32 $v0, $v9",
        "add.u32 $v9, $v1, $v2; @$p0.ne mov.u32 $v0, $v9",
        "add.u32 $v9, $v1, $v2; L0:; mov.u32 $v0, $v9",
        "mov.u32 $v0, s[0x0010]",
    ],
)
def test_copies_that_stay(code: str) -> None:
    assert tidied(code) == code


def test_jumps_over_nothing_but_labels_go() -> None:
    assert tidied("bra L0; L1:; L0:; exit") == "L1:; L0:; exit"
    assert tidied("@$p0.ne bra L0; L0:; exit") == "L0:; exit"
    assert tidied("bra L0; nop; L0:; exit") == "bra L0; nop; L0:; exit"


def test_of_a_fetch_only_what_something_reads_is_written() -> None:
    """Operands of several registers have no spaces here; `tidied` splits at commas."""
    fetch = Code("tex.1d.v4.f32.s32", ("{$v1,$v2,$v3,$v4}", "image", "{$v0,_,_,_}"))
    kernel = KernelCode("k", (), (), lines=[fetch, Code("st.global.v2.f32", ("[$v9]", "{$v1,$v3}"))])
    tidy(kernel)
    assert fetch.operands == ("{$v1,_,$v3,_}", "image", "{$v0,_,_,_}")


def test_handles_that_nothing_reads_are_not_moved() -> None:
    """Nor what was copied on the way to them; what is no handle stays."""
    moves = [("$v1", "s[0x0010]"), ("$v2", "$v1"), ("$v3", "s[0x0018]"), ("$v4", "s[0x0020]")]
    lines = [Code("mov.u32", one) for one in moves] + [Code("st.global.u32", ("[$v9]", "$v3"))]
    kernel = KernelCode("k", (), (), lines=[*lines])
    tidy(kernel, {"$v1", "$v2", "$v3"})
    assert kernel.lines == lines[2:]
