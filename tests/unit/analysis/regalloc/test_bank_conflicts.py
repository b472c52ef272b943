"""Conflicts in four banks by number, and compaction that keeps registers in their bank: counted by hand."""

import pytest

from ptxtool.analysis.regalloc.assignment import Assignment, assign
from ptxtool.analysis.regalloc.bank_conflicts import as_named, bank_conflicts, banked
from ptxtool.analysis.regalloc.numbering import numbered
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
REGISTERS = ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n"


def kernel(body: str) -> Function:
    return parse(f"{HEAD}{REGISTERS}{body}\nret;\n}}\n", "k.ptx").kernels["k"]


def named(body: str) -> Assignment:
    found = as_named(assign(kernel(body)))
    assert found is not None
    return found


def units(assignment: Assignment) -> dict[str, int]:
    """The first unit of every general register, by its name."""
    ranges, values = assignment.ranges, assignment.spills.values
    names = [ranges.function.registers[k].name for k in ranges.register]
    return {name: assignment.unit[web] for web, name in enumerate(names) if values.file[web] == 0}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.u32 %r1, %r2, %r3;", 0),
        ("add.u32 %r1, %r5, %r9;", 1),
        ("add.u32 %r1, %r5, %r5;", 0),  # one register
        ("mad.lo.u32 %r1, %r4, %r8, %r12;", 2),
        ("mad.lo.u32 %r1, %r4, %r8, %r13;", 1),
        ("add.u64 %rd1, %rd2, %rd4;", 2),  # registers 4, 5 and 8, 9
        ("add.u64 %rd1, %rd2, %rd3;", 0),
        ("st.global.u32 [%rd2], %r8;", 1),  # the address is read, too
        ("@%p1 selp.u32 %r1, %r4, %r5, %p0;", 0),  # predicates are elsewhere
    ],
)
def test_conflicts_of_an_instruction(line: str, expected: int) -> None:
    assert bank_conflicts(named(line)) == expected


def test_registers_that_share_a_unit_at_once_are_not_physical() -> None:
    both = "mov.u32 %r4, 1;\nmov.u64 %rd2, 2;\nst.global.u32 [%rd2], %r4;"
    assert as_named(assign(kernel(both))) is None
    after = "mov.u32 %r4, 1;\nadd.u32 %r1, %r4, 1;\nmov.u64 %rd2, 2;\nst.global.u32 [%rd2], %r1;"
    assert as_named(assign(kernel(after))) is not None
    assert as_named(assign(kernel(".reg .b32 %x;\nmov.u32 %x, 1;"))) is None
    assert as_named(assign(kernel(".reg .b32 %r300;\nmov.u32 %r300, 1;"))) is None


# seven registers that live at once, with a gap at 3; no two of an instruction are in one bank
MOVES = "".join(f"mov.u32 %r{k}, {k};\n" for k in (0, 1, 2, 4, 5, 6, 7))
SUMS = (
    "".join(f"add.u32 %r0, %r0, %r{k};\n" for k in (1, 2, 5, 6, 7))
    + "st.global.u32 [%r4], %r2;\nst.global.u32 [0], %r0;"
)


def test_a_gap_takes_a_register_of_its_bank() -> None:
    assignment = assign(kernel(MOVES + SUMS))
    found = banked(assignment)
    assert (found.registers, assignment.registers) == (7, 7)
    assert units(found) == {f"%r{k}": k for k in (0, 1, 2, 4, 5, 6)} | {"%r7": 3}


def test_registers_of_a_new_assignment_trade_places() -> None:
    """%x0 to %x4 are virtual: in order, 0 and 4 are in one bank. Exchanged with another, no two that are added are."""
    body = "".join(f".reg .b32 %x{k}a;\nmov.u32 %x{k}a, {k};\n" for k in range(5)) + (
        "add.u32 %x0a, %x0a, %x4a;\nst.global.u32 [%x1a], %x0a;\nst.global.u32 [%x2a], %x3a;\n"
    )
    assignment = numbered(assign(kernel(body)), "first-use")
    assert units(assignment) == {f"%x{k}a": k for k in range(5)}
    found = banked(assignment)
    assert (found.registers, bank_conflicts(assignment), bank_conflicts(found)) == (5, 1, 0)


def test_fewer_registers_count_more_than_fewer_conflicts() -> None:
    """%r0 and %r9 are never live at once: a new assignment has both in one register."""
    body = "mov.u32 %r0, 1;\nst.global.u32 [0], %r0;\nmov.u32 %r9, 2;\nst.global.u32 [0], %r9;"
    assert banked(assign(kernel(body))).registers == 1


def test_a_pair_moves_as_a_whole() -> None:
    body = (
        "mov.u32 %r0, 1;\nmov.u32 %r1, 1;\nmov.u64 %rd2, 2;\nmov.u64 %rd3, 3;\n"
        "st.global.u32 [%rd2], %r0;\nst.global.u32 [%rd3], %r1;"
    )
    # registers 0, 1, 4 and 5, 6 and 7: no pair at 2 keeps its bank but 6; 6 and 7 to 2 and 3
    found = units(banked(assign(kernel(body))))
    assert found == {"%r0": 0, "%r1": 1, "%rd2": 4, "%rd3": 2}


def test_ptxplus_keeps_the_thread_id_and_tuples() -> None:
    text = """.version 1.4+
.target sm_10
.entry k ( .param .u32 n )
{
	.reg .u32 $r<12>;
	.reg .u32 $r124;
	mov.u32 $r5, s[0x0010];
	mov.u64 {$r6,$r7}, {$r124,$r5};
	mov.u32 $r9, $r0;
	add.u32 $r9, $r9, $r5;
	st.global.v2.u32 [$r9], {$r6,$r7};
	st.global.u32 [$r0], $r5;
	exit;
}
"""
    assignment = assign(parse(text, "k.ptxplus").kernels["k"])
    found = banked(assignment)
    assert found.registers <= assignment.registers
    assert bank_conflicts(found) <= bank_conflicts(assignment)
    where = units(found)
    assert where["$r7"] == where["$r6"] + 1
    assert where["$r6"] % 2 == 0
    assert where["$r0"] == 0
