"""What lowering tells the timing model: registers, units, accesses, control."""

from pathlib import Path

import numpy as np
import pytest

from ptxsim.base import program as p
from ptxsim.base.program import Program
from ptxsim.lowering.lower import lower
from ptxsim.lowering.variable_layout import GLOBAL_BASE, lay_out
from ptxsim.memory_image.image import MemoryImage
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

GPU = load_gpu("tesla-c2050")

PTXPLUS = """.version 1.4+
.target sm_10
.const .u32 constant0[2] = {{ 1, 2 }};
.entry k ( .param .u64 a , .param .s32 n )
{{
	.reg .u32 $r<8>;
	.reg .u32 $ofs<3>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
	{body}
}}
"""
PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<4>;
	{body}
}}
"""


def kernel(body: str, text: str = PTXPLUS) -> Function:
    return next(iter(parse(text.format(body=body)).kernels.values()))


def lowered(body: str, text: str = PTXPLUS) -> Program:
    return lower(kernel(body, text), GPU)


def first(body: str, text: str = PTXPLUS) -> np.void:
    return lowered(body, text).instructions[0]


def test_control() -> None:
    program = lowered(
        """l_top: @$p0.equ bra l_end;
	callp l_f;
	bar.sync 0x00000001;
	bra l_top;
	l_f: retp;
	l_end: exit;"""
    )
    records = program.instructions
    assert list(records["kind"]) == [p.BRANCH, p.CALL, p.BARRIER, p.BRANCH, p.RETURN, p.EXIT]
    assert (records[0]["target"], records[0]["guard_code"], records[0]["reconverge"]) == (5, 10, 5)
    assert records[1]["target"] == 4
    assert records[2]["barrier_kind"] == p.SYNC
    assert records[3]["guard_row"] == -1
    assert list(records["line"]) == [11, 12, 13, 14, 15, 16]


def test_pcs_count_half_instructions() -> None:
    program = lowered("mov.half.u32 $r1, $r2; mov.u32 $r1, $r2; add.half.f32 $r1, $r1, $r1; exit;")
    assert list(program.instructions["address"]) == [0, 4, 12, 16]


def test_exit_modifier() -> None:
    assert first("mov.exit.u32 g[$r1], $r0;")["exit_after"]


def test_ptx_guards_and_accesses() -> None:
    record = first("@!%p1 ld.shared.v4.f32 {%f0,%f1,%f2,%f3}, [%r1+16];", PTX)
    assert record["guard_code"] == 33
    assert (record["space"], record["access_bytes"], record["element_bytes"]) == (p.SHARED, 16, 4)
    assert record["n_destinations"] == 4
    assert first("ld.param.u64 %rd1, [a];", PTX)["space"] == p.PARAM
    assert first("ld.u32 %r1, [%rd1];", PTX)["space"] == p.GENERIC


def test_parameters_lie_in_shared_memory() -> None:
    layout = lay_out(kernel("exit;"))
    assert [(q.offset, q.size) for q in layout.parameters] == [(0x10, 8), (0x18, 4)]
    program = lowered("exit;")
    image = MemoryImage.build(program, kernel("exit;"), GPU, [np.zeros(4, np.uint32), -2], dynamic_shared=64)
    header = image.shared_image[:0x20].view(np.uint32)
    assert list(header) == [0, 0, 0, 0, GLOBAL_BASE, 0, 0xFFFFFFFE, 0]
    assert image.shared_image.nbytes == 0x20 + 64  # 16 + 12 bytes rounded up to 16, and the tile


def test_layout_of_variables() -> None:
    text = """.version 7.0
.target sm_75
.address_size 64
.global .align 8 .u64 pointer = generic(table);
.const .align 4 .u32 c1 = 5;
.const .align 16 .f32 c2[2][2] = {{1.0, 2.0}, {3.0}};
.global .u16 table[3] = {1, 2, -1};
.shared .align 16 .b8 tile[20];
.shared .u32 other;
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k()
{
	.reg .b32 %r<4>;
	.local .align 8 .b8 frame[12];
	mov.u32 %r1, tile;
	mov.u32 %r2, dynamic;
	ret;
}
"""
    layout = lay_out(next(iter(parse(text).kernels.values())))
    symbols = layout.symbols
    assert (symbols["c1"].address, symbols["c2"].address) == (0, 16)
    assert np.frombuffer(layout.constant_bytes, np.float32)[4:].tolist() == [1.0, 2.0, 3.0, 0.0]
    assert symbols["table"].address == GLOBAL_BASE + 256
    assert int.from_bytes(layout.global_bytes[:8], "little") == GLOBAL_BASE + 256
    assert layout.global_bytes[256:262] == bytes([1, 0, 2, 0, 255, 255])
    assert "other" not in symbols  # a shared variable that the kernel does not name
    assert (symbols["tile"].address, symbols["dynamic"].address) == (0, 32)
    assert (layout.static_shared_bytes, layout.local_bytes) == (32, 16)


def test_required_block_size() -> None:
    text = PTX.replace("(.param .u64 a, .param .u32 n)", "(.param .u64 a, .param .u32 n)\n.reqntid 128")
    assert lower(kernel("ret;", text), GPU, (128,)).name == "k"
    with pytest.raises(PtxError) as caught:
        lower(kernel("ret;", text), GPU, (64,))
    assert caught.value.diagnostics[0].code == "E402"


def test_refusals_name_each_instruction_once() -> None:
    body = "tex.1d.v4.f32.s32 {$r0,_,_,_}, t, {$r0,_,_,_}; mov.u32 $r1, c9[0x0]; mov.u32 $r2, c9[0x4]; exit;"
    with pytest.raises(PtxError) as caught:
        lowered(body)
    messages = [d.message for d in caught.value.diagnostics]
    assert len(messages) == 2
    assert "'tex.1d.v4.f32.s32' cannot be simulated" in messages[0]
    assert "'c9[...]'" in messages[1]
    assert caught.value.diagnostics[1].line == 11


def test_unknown_instructions_are_refused() -> None:
    with pytest.raises(PtxError, match=r"'frobnicate\.u32' cannot be simulated"):
        lowered("frobnicate.u32 $r1, $r2; exit;")


def test_registers_without_optimisation() -> None:
    """nvcc -G makes kernels of more than ten thousand registers."""
    assert lowered(".reg .pred %many<30000>; setp.eq.u32 %many29999, %r0, 7;", PTX).rows_p > 30_000
    with pytest.raises(PtxError, match=r"'k' has 400.. registers, more than can be simulated"):
        lowered(".reg .pred %many<40000>; setp.eq.u32 %many39999, %r0, 7;", PTX)


def test_every_meaning_of_the_table_is_lowered_or_listed() -> None:
    """Names of meanings without a rule: each is refused by `lower`, and known here."""
    from ptxsim.lowering.builder import RULES
    from ptxtool.isa.table import table

    names = {form.sem for forms in table().forms.values() for form in forms if form.sem}
    refused: set[str] = set()
    assert names - set(RULES) == refused
    assert set(RULES) <= names


def test_the_corpus_lowers(shared: Path) -> None:
    """Every kernel of the converter's output lowers, but for textures and undeclared constants."""
    for folder in ("genuine", "converted", "converted_handmade", "decuda_era"):
        for path in sorted((shared / "corpus" / "ptxplus" / folder).glob("*.ptxplus")):
            for function in parse(path.read_text(encoding="utf-8"), path.name).kernels.values():
                try:
                    lower(function, GPU)
                except PtxError as problem:
                    for diagnostic in problem.diagnostics:
                        known = ("'tex", "c0[...]", "'$ofs1", "a post-increment of something")
                        assert any(k in diagnostic.message for k in known), diagnostic


def test_machines_share_programs_unless_they_differ_in_what_a_program_has_of_them() -> None:
    k = kernel("ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;", PTX)
    program = lower(k, GPU)
    beyond = ["l2.rop_cycles=9", "dram.tRCD=20", "fetch.mshr_entries=3", "clocks.dram_mhz=900"]
    assert lower(k, with_settings(GPU, beyond)) is program
    for setting in ("latency.add.int.latency=7", "ldst.vectors=whole", "sm.count=3"):
        assert lower(k, with_settings(GPU, [setting])) is not program
    assert lower(k, with_settings(GPU, ["latency.add.int.latency=7"])).instructions["latency"][1] == 7
