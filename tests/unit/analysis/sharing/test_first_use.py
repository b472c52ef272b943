"""First use, with the register-sharing paper's figure 7 as the main case."""

from kernels import ptx, ptxplus

from ptxtool.analysis.sharing.first_use import first_use

FIGURE_7_REGISTERS = (
    ".reg .u32 $r<27>;\n.reg .u32 $ofs<3>;\n.reg .pred $p<4>;\n.reg .u32 $r124;\n.reg .u32 $o127;"
)
FIGURE_7 = """
set.le.s32.s32 $p0/$o127, s[0x003c], $r124;
mov.u32 $r16, $r124;
mov.u32 $r17, $r124;
mov.u32 $r9, $r124;
mov.u32 $r18, $r124;
mov.u32 $r10, $r124;
exit;
"""


def test_figure_7() -> None:
    uses = first_use(ptxplus(FIGURE_7, FIGURE_7_REGISTERS))
    assert [(u.name, u.kind, u.before, u.after) for u in uses.used] == [
        ("$p0", "predicate", 31, 1),
        ("$o127", "sink", 36, 2),
        ("$r124", "zero", 35, 3),
        ("$r16", "general", 17, 4),
        ("$r17", "general", 18, 5),
        ("$r9", "general", 10, 6),
        ("$r18", "general", 19, 7),
        ("$r10", "general", 11, 8),
    ]
    assert (uses[0].instruction, uses[0].line) == (0, 11)
    assert uses[0].text == "set.le.s32.s32 $p0/$o127, s[0x003c], $r124;"


def test_registers_without_a_use_follow_in_declaration_order() -> None:
    uses = first_use(ptxplus(FIGURE_7, FIGURE_7_REGISTERS))
    assert len(uses) == 36
    assert [u.after for u in uses] == list(range(1, 37))
    unused = [u for u in uses if u.instruction is None]
    assert [u.name for u in unused[:10]] == [f"$r{i}" for i in (*range(9), 11)]
    assert unused[-1].name == "$p3"
    assert sorted(use.before - 1 for use in uses) == list(range(36))


def test_a_guard_stands_before_the_opcode_and_comes_first() -> None:
    uses = first_use(ptxplus("@$p1.ne add.u32 $r3, $r2, $r1; exit;"))
    assert [u.name for u in uses.used] == ["$p1", "$r3", "$r2", "$r1"]


def test_registers_inside_addresses_count_where_they_stand() -> None:
    uses = first_use(ptxplus("mov.u32 s[$ofs1+=0x4], $r5; mov.u32 $r6, g[$r5]; exit;"))
    assert [u.name for u in uses.used] == ["$ofs1", "$r5", "$r6"]


def test_control_flow_order_follows_the_fall_through_side_first() -> None:
    kernel = ptx("bra B; A: mov.b32 %r1, %r2; ret; B: mov.b32 %r3, %r4; bra A;")
    assert [u.name for u in first_use(kernel).used] == ["%r1", "%r2", "%r3", "%r4"]
    assert [u.name for u in first_use(kernel, order="cfg").used] == ["%r3", "%r4", "%r1", "%r2"]


def test_control_flow_order_puts_unreachable_code_last() -> None:
    kernel = ptx("bra B; mov.b32 %r1, %r2; B: mov.b32 %r3, %r4; ret;")
    assert [u.name for u in first_use(kernel, order="cfg").used] == ["%r3", "%r4", "%r1", "%r2"]


def test_text() -> None:
    assert str(first_use(ptxplus("mov.u32 $r1, $r0;\nexit;", ".reg .u32 $r<3>;"))) == (
        "$r1  general      2 -> 1      line 6: mov.u32 $r1, $r0;\n"
        "$r0  general      1 -> 2      line 6: mov.u32 $r1, $r0;\n"
        "$r2  general      3 -> 3      never used"
    )


def test_plain_data() -> None:
    use = first_use(ptxplus("mov.u32 $r1, $r0;\nexit;", ".reg .u32 $r<3>;"))[0]
    assert use.to_dict() == {
        "name": "$r1",
        "class": "general",
        "before": 2,
        "after": 1,
        "instruction": 0,
        "line": 6,
        "text": "mov.u32 $r1, $r0;",
    }
