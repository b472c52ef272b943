"""Where register sharing would stop a warp, before and after registers are in order of first use (figure 7)."""

from kernels import ptxplus

from ptxtool.analysis.sharing.first_use import first_use
from ptxtool.report.kernels.first_use import first_use_data, first_use_table, shared_touches

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


def test_first_shared_instruction_before_and_after_reordering() -> None:
    kernel = ptxplus(FIGURE_7, FIGURE_7_REGISTERS)
    touches = shared_touches(first_use(kernel), 3)
    assert [t and (t.instruction, t.line, t.register, t.number) for t in touches] == [
        (0, 11, "$p0", 31),
        (1, 12, "$r16", 4),
    ]
    reordered = " ".join(
        f".reg .{'pred' if u.kind == 'predicate' else 'u32'} {u.name};" for u in first_use(kernel)
    )
    touch, _ = shared_touches(first_use(ptxplus(FIGURE_7, reordered)), 3)
    assert touch is not None
    assert (touch.instruction, touch.register, touch.number) == (1, "$r16", 4)


def test_no_shared_instruction_if_everything_is_private() -> None:
    assert shared_touches(first_use(ptxplus(FIGURE_7, FIGURE_7_REGISTERS)), 36) == (None, None)


def test_the_table_has_the_first_shared_register_below() -> None:
    uses = first_use(ptxplus("mov.u32 $r2, $r0; mov.u32 $r1, $r0; exit;", ".reg .u32 $r<4>;"))
    lines = str(first_use_table(uses, 1)).splitlines()
    assert lines[0] == "k: 4 registers in order of first use, as written"
    assert "(never used)" in lines[6]
    assert lines[-4] == "private registers: 1 to 1"
    assert lines[-2].startswith("  before: line 6, $r2 (register 3)")
    assert lines[-1].startswith("  after:  line 6, $r0 (register 2)")
    assert "private registers: none" in str(first_use_table(uses, 0))
    assert "private" not in str(first_use_table(uses))
    assert first_use_data(uses, 4)["first_shared"] == {"before": None, "after": None}
