"""Which instructions give all lanes the same result, row by row."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.lane_results import CARRY, branch_inputs, lane_effects
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def inputs(kernel: Function, index: int = 0) -> list[str] | None:
    """The names of the registers that must be equal for an instruction's results to be; None where they may differ."""
    found = lane_effects(kernel)[index].inputs
    return None if found is None else ["carry" if k == CARRY else kernel.registers[k].name for k in found]


SAME = [
    "mov.u32 %r1, 7;",
    "mov.u32 %r1, %ctaid.x;",
    "mov.u32 %r1, %nctaid.y;",
    "mov.u32 %r1, %warpid;",
    "mov.u32 %r1, WARP_SZ;",
    "mov.u64 %rd1, a;",
    "mov.u64 %rd1, table;",
    "ld.param.u64 %rd1, [a];",
    "ld.param.u64 %rd1, [a+4];",
    "ld.global.u32 %r1, [table+4];",
    "ld.const.u32 %r1, [constants];",
    "vote.ballot.b32 %r1, %p1;",
    "vote.sync.any.pred %p1, !%p2, -1;",
    "match.all.sync.b32 %r1|%p1, %r2, 0xffffffff;",
    "redux.sync.add.s32 %r1, %r2, 0xff;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
    "shfl.sync.idx.b32 %r1|%p1, %r2, 5, 0x1f, 0xffffffff;",
]
READ = {
    "add.s32 %r1, %r2, %r3;": ["%r2", "%r3"],
    "@%p1 mov.u32 %r1, 7;": ["%p1"],
    "selp.b32 %r1, %r2, 5, %p2;": ["%r2", "%p2"],
    "setp.lt.s32 %p1, %r1, %r2;": ["%r1", "%r2"],
    "mad.wide.s32 %rd1, %r2, 4, %rd2;": ["%r2", "%rd2"],
    "ld.global.nc.u32 %r1, [%rd1];": ["%rd1"],
    "ld.shared.v2.u32 {%r1, %r2}, [%r3];": ["%r3"],
    "ld.param.u32 %r1, [%rd1+8];": ["%rd1"],
    "vote.sync.all.pred %p1, %p2, %r3;": ["%r3"],
    "@%p1 redux.sync.add.s32 %r1, %r2, %r3;": ["%p1", "%r3"],
    "shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;": ["%r3"],
    "bar.red.and.pred %p1, %r1, %p2;": ["%r1"],
    "addc.u32 %r1, %r2, %r3;": ["%r2", "%r3", "carry"],
}
DIFFERENT = [
    "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, %laneid;",
    "mov.u32 %r1, %clock;",
    "mov.u32 %r1, %lanemask_lt;",
    "mov.u64 %rd1, mine;",  # an address in local memory
    "ld.local.u32 %r1, [mine];",
    "ld.u32 %r1, [%rd1];",
    "ld.volatile.global.u32 %r1, [table];",
    "ld.relaxed.gpu.global.u32 %r1, [table];",
    "ld.global.cv.u32 %r1, [table];",
    "atom.global.add.u32 %r1, [table], 1;",
    "activemask.b32 %r1;",
    "match.any.sync.b32 %r1, %r2, -1;",
    "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
    "shfl.sync.idx.b32 %r1, %r2, 0, 0x181f, -1;",  # segments of eight lanes
    "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffff;",  # for some lanes
    "shfl.idx.b32 %r1, %r2, 0, 31;",  # the lane may not take part
    "elect.sync %r1|%p1, -1;",
    "call (%r1), f, (%r2);",
    "nonsense.u32 %r1, 7;",
]


def kernel(line: str) -> Function:
    head = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 table[4];\n.const .u32 constants[4];\n"
    )
    function = ".func (.reg .b32 o) f (.reg .b32 i) { ret; }\n"
    registers = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .local .u32 mine[4];"
    return parse(f"{head}{function}.entry k(.param .u64 a)\n{{ {registers}\n{line}\nret; }}").kernels["k"]


@pytest.mark.parametrize("line", SAME)
def test_the_same_in_all_lanes(line: str) -> None:
    assert inputs(kernel(line)) == []


@pytest.mark.parametrize("line", READ)
def test_the_same_if_what_it_reads_is(line: str) -> None:
    assert inputs(kernel(line)) == READ[line]


@pytest.mark.parametrize("line", DIFFERENT)
def test_different_in_any_case(line: str) -> None:
    assert inputs(kernel(line)) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mov.u32 $r1, s[0x0010];", []),
        ("add.u32 $r1, s[$ofs1+0x0010], $r2;", ["$ofs1", "$r2"]),
        ("cvt.u32.u16 $r1, %ctaid.x;", []),
        ("mov.u32 $r1, $r124;", []),
        ("mov.u32 $r1, c0[$ofs1];", ["$ofs1"]),
        ("mov.u32 $r1, g[$r2];", ["$r2"]),
        ("ld.global.u32 $r1, [$r2];", ["$r2"]),
        ("ld.shared.u32 $r1, [$r2];", ["$r2"]),
        ("vote.any.pred $p0, $p1;", []),
        ("cvt.u32.u16 $r1, %tid.x;", None),
        ("mov.u32 $r1, l0[$r2];", None),
        ("mov.u32 $r1, $r50;", None),  # a register of the hardware that is not declared
        ("@$p6.ne mov.u32 $r1, 0x1;", None),
    ],
)
def test_ptxplus(line: str, expected: list[str] | None) -> None:
    assert inputs(ptxplus(f"{line} exit;")) == expected


def test_a_guarded_write_does_not_end_the_old_value() -> None:
    plain, guarded = lane_effects(ptx("add.cc.u32 %r1, %r2, %r3; @%p0 add.cc.u32 %r1, %r2, %r3; ret;"))[:2]
    assert plain.writes == plain.kills == (plain.writes[0], CARRY)
    assert (guarded.writes, guarded.kills) == (plain.writes, ())


def test_parameters_of_functions_and_of_calls_may_be_anything() -> None:
    text = """.version 7.0
.target sm_70
.func f(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; ret; }
.entry k(.param .b32 x) {
    .reg .b32 %r<3>;
    ld.param.b32 %r0, [x];
    { .param .b32 y; ld.param.b32 %r1, [y]; }
    ret;
}
.entry l(.param .b32 x) {
    .reg .b32 %r<3>;
    { .param .b32 x; ld.param.b32 %r1, [x]; }
    ret;
}
"""
    module = parse(text)
    assert inputs(module.functions["f"]) is None
    assert [inputs(module.kernels["k"], i) for i in (0, 1)] == [[], None]
    assert inputs(module.kernels["l"]) is None


def test_inputs_of_branches() -> None:
    def of(body: str, index: int = 0) -> list[str] | None:
        kernel = ptxplus(body) if "$" in body else ptx(body)
        found = branch_inputs(kernel, index)
        return None if found is None else [kernel.registers[k].name for k in found]

    assert of("@!%p1 bra A; A: ret;") == ["%p1"]
    assert of("@%p1 bra.uni A; A: ret;") == []
    assert of("ts: .branchtargets A, B; @%p1 brx.idx %r0, ts; A: B: ret;") == ["%p1", "%r0"]
    assert of("@$p1.ne callp F; exit; F: retp;") == ["$p1"]
    assert of("breakaddr A; @$p1.ne break; A: exit;", 1) == ["$p1"]
    assert of("breakaddr A; breakaddr B; @$p1.ne break; A: nop; B: exit;", 2) is None
    assert of("@$p6.ne bra A; A: exit;") is None
