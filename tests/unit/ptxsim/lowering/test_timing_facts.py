"""What the timing model sees of an instruction: registers and banks, unit and latency, access."""

import numpy as np
import pytest
from small_lowering import GPU, PTXPLUS, lowered

from ptxsim.base import program as p
from ptxsim.lowering.lower import lower
from ptxsim.lowering.timing_facts import bank_number
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse


def first(body: str) -> np.void:
    record: np.void = lowered(body, PTXPLUS).instructions[0]
    return record


def registers(body: str) -> list[int]:
    """The indices of the registers of its first instruction."""
    program = lowered(body, PTXPLUS)
    record = program.instructions[0]
    return list(program.scoreboard_order[record["register"][: record["n_registers"]]])


def banks(record: np.void) -> list[int]:
    return list(record["bank"][: record["n_sources"]])


# indices: $r0-7 are 0-7, $ofs0-2 are 8-10, $p0-3 are 11-14, $r124 is 15, $o127 is 16


def test_registers_of_the_scoreboard() -> None:
    body = "@$p1.ne mad.f32 $r1, s[$ofs2+0x0010], $r2, $r124;"
    record = first(body)
    assert registers(body) == [1, 10, 2, 15, 12]  # destination, address, sources, guard
    assert record["n_destinations"] == 1
    assert record["max_sequence"] == 16  # $r124
    assert banks(record) == [2, 2, 124]  # $ofs2, $r2, $r124: the first digits of the names


def test_double_destination_and_sink() -> None:
    body = "set.ne.s32.s32 $p0/$o127, $r1, $r2;"
    record = first(body)
    assert registers(body) == [11, 16, 1, 2]
    assert record["n_destinations"] == 2
    assert record["max_sequence"] == 17


def test_post_increment_is_a_destination() -> None:
    body = "mov.u32 $r1, s[$ofs1+=0x0004];"
    assert first(body)["n_destinations"] == 2
    assert sorted(registers(body)) == [1, 9]


def test_stores_and_vectors_read_their_registers() -> None:
    record = first("st.global.v2.u32 [$r1], {$r2,$r3};")
    assert record["n_destinations"] == 0
    assert banks(record) == [1, 2, 3]
    assert (record["access"], record["space"]) == (p.STORE, p.GLOBAL)
    assert (record["access_bytes"], record["element_bytes"]) == (8, 4)


@pytest.mark.parametrize(
    ("body", "unit", "latency", "interval"),
    [
        # the latency table of the machine: timing-model section 1.6
        ("add.u32 $r1, $r2, $r3;", p.SP, 4, 1),
        ("add.ff64 {$r0,$r1}, {$r2,$r3}, {$r4,$r5};", p.SP, 8, 8),
        ("mul.f32 $r1, $r2, $r3;", p.EITHER, 4, 1),
        ("mul.lo.u32 $r1, $r2, $r3;", p.SFU, 4, 2),
        ("mad.f32 $r1, $r2, $r3, $r4;", p.SP, 5, 1),
        ("mad24.lo.u32 $r1, $r2, $r3, $r4;", p.SP, 1, 1),
        ("min.s32 $r1, $r2, $r3;", p.SP, 13, 2),
        ("rcp.f32 $r1, $r2;", p.SFU, 8, 8),
        ("bra l0; l0: exit;", p.SP, 1, 1),
        ("ld.global.u32 $r1, [$r2];", p.LDST, 1, 1),
        ("mov.u32 $r1, s[0x0010];", p.LDST, 1, 1),
        ("add.u32 $r1, $r1, s[0x0010];", p.SP, 4, 1),  # stays arithmetic
    ],
)
def test_units(body: str, unit: int, latency: int, interval: int) -> None:
    record = first(body)
    assert (record["unit"], record["latency"], record["interval"]) == (unit, latency, interval)


def test_memory_operands_of_arithmetic_do_not_go_to_the_ldst_unit() -> None:
    assert first("add.u32 $r1, $r1, s[0x0010];")["access"] == p.NO_ACCESS
    record = first("mov.u16 s[$ofs1+0x0010], $r1.hi;")
    assert (record["access"], record["space"], record["access_bytes"]) == (p.STORE, p.SHARED, 2)
    record = first("mov.u32 $r1, constant0[0x0004];")
    assert (record["access"], record["space"]) == (p.LOAD, p.CONST)
    record = first("atom.global.add.u32 _, [$r1], $r2;")
    assert (record["access"], record["space"]) == (p.ATOMIC, p.GLOBAL)


@pytest.mark.parametrize(
    ("body", "outside", "loads_long"),
    [
        ("add.u32 $r1, $r2, $r3;", 0, 0),
        ("ld.global.u32 $r1, [$r2];", 1, 1),
        ("ld.local.u32 $r1, [$r2];", 1, 1),
        ("st.global.u32 [$r1], $r2;", 1, 0),
        ("atom.global.add.u32 $r1, [$r2], $r3;", 1, 0),
        ("mov.u32 $r1, s[$ofs1+0x0010];", 0, 0),
        ("mov.u32 s[$ofs1+0x0010], $r1;", 0, 0),
        ("mov.u32 $r1, constant0[0x0004];", 0, 0),
    ],
)
def test_accesses_beyond_the_sm(body: str, outside: int, loads_long: int) -> None:
    record = first(body)
    assert (record["outside"], record["loads_long"]) == (outside, loads_long)


def test_accesses_of_ptx_beyond_the_sm() -> None:
    """A generic address is where it is when the instruction executes: it may be anywhere."""
    loads = "ld.param.u32 %r1, [n]; ld.u32 %r2, [%rd1]; ld.shared.u32 %r3, [%r1]; st.u32 [%rd1], %r1;"
    instructions = lowered(loads).instructions
    assert instructions["outside"][:4].tolist() == [0, 1, 0, 1]
    assert instructions["loads_long"][:4].tolist() == [1, 1, 0, 0]
    assert instructions["unit"][:4].tolist() == [p.LDST] * 4


@pytest.mark.parametrize(
    ("name", "type_", "by_name", "as_unit"),
    [  # the first digits of the name; the first 32-bit register that the name means, -1 for none
        ("%r12", "b32", 12, 12),
        ("%rd5", "b64", 5, 10),
        ("%rs5", "b16", 5, 5),
        ("%r3_47", "b32", 3, 47),  # of a renamed register
        ("%x", "b32", 0, -1),
        ("%p1", "pred", 1, -1),
    ],
)
def test_the_number_that_tells_a_bank(name: str, type_: str, by_name: int, as_unit: int) -> None:
    text = f".version 8.7\n.target sm_52\n.entry k()\n{{\n.reg .{type_} {name};\nret;\n}}\n"
    (register,) = parse(text, "k.ptx").kernels["k"].registers
    assert bank_number(register, GPU) == by_name
    assert bank_number(register, with_settings(GPU, ['pipeline.bank_function="reg"'])) == as_unit


def test_a_call_and_its_parameters_access_no_memory_unit() -> None:
    """Parameters of functions travel in registers."""
    program = lowered(
        "{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }",
        before=".func f(.param .b32 x) { ret; }",
    )
    assert [int(access) for access in program.instructions["access"][:2]] == [p.NO_ACCESS, p.NO_ACCESS]
    assert program.instructions[0]["unit"] != p.LDST


@pytest.mark.parametrize(
    ("body", "read", "written"),
    [
        ("mad.f32 $r1, $r2, $r2, $r3;", 3, 1),  # one is read twice
        ("@$p1.ne mad.f32 $r1, s[$ofs2+0x0010], $r2, $r124;", 1, 1),  # no predicate, address register or zero
        ("set.ne.s32.s32 $p0/$o127, $r1, $r2;", 2, 0),
        ("st.global.v2.u32 [$r1], {$r2,$r3};", 3, 0),
        ("mov.u32 $r1, s[$ofs1+=0x0004];", 0, 1),
    ],
)
def test_words_of_the_register_file(body: str, read: int, written: int) -> None:
    record = first(body)
    assert (record["words_read"], record["words_written"]) == (read, written)


PRODUCTS = """.version 8.7
.target sm_120a
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<16>;
	.reg .f64 %d<8>;
	BODY
	ret;
}
"""
F16 = "row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}"
DOUBLES = "m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d0, %d1};"
LOW_FLOATS = "m16n8k32.row.col.f32.e4m3.e4m3.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}"


@pytest.mark.parametrize(
    ("line", "a100", "h100"),
    [
        # 2048 products of f16: 256 or 322 a cycle; latency 6 + 1.5 of each
        (f"mma.sync.aligned.m16n8k16.{F16}, {{%r4, %r5, %r6, %r7}}, {{%r8, %r9}}", (18, 8), (16, 7)),
        (f"mma.sync.aligned.m16n8k8.{F16}, {{%r4, %r5}}, {{%r8}}", (12, 4), (12, 4)),
        # half of 4096 products are with zeros
        (
            f"mma.sp.sync.aligned.m16n8k32.{F16}, {{%r4, %r5, %r6, %r7}}, {{%r8, %r9, %r10, %r11}}",
            (18, 8),
            (16, 7),
        ),
        # 32 products of doubles a cycle, 16 on the A100
        (f"mma.sync.aligned.{DOUBLES}", (30, 16), (18, 8)),
        # 4096 of 8 bits: 644 a cycle; the A100 has none, and takes `latency.mma`
        (f"mma.sync.aligned.{LOW_FLOATS}", (20, 8), (16, 7)),
    ],
)
def test_products_take_the_time_of_their_shape_and_type(
    line: str, a100: tuple[int, int], h100: tuple[int, int]
) -> None:
    third = "" if line.endswith(";") else ", {%r0, %r1, %r2, %r3}"
    third += ", %r12, 0" if "mma.sp" in line else ""
    text = PRODUCTS.replace("BODY", line if line.endswith(";") else f"{line}{third};")
    kernel = parse(text, "products.ptx").kernels["k"]
    for name, expected in (("a100", a100), ("h100", h100), ("tesla-c2050", (8, 8))):
        record = lower(kernel, load_gpu(name), (32, 1, 1)).instructions[0]
        assert (record["latency"], record["interval"]) == expected


GROUPS = """.version 8.7
.target {target}
.address_size 64
.visible .entry k()
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %d<8>;
	{line}
	ret;
}}
"""
PRODUCT_OF_GROUP = "{%f0, %f1, %f2, %f3}, %d1, %d2"


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        # a warp's 16 x 8 x 16 products of f16, 512 a cycle; of 8 bits twice as many; sparse: half of 32 along k
        (
            f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {PRODUCT_OF_GROUP}, 1, 1, 1, 0, 0;",
            "h100",
            (20, 4),
        ),
        (
            f"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {PRODUCT_OF_GROUP}, 1, 1, 1;",
            "h100",
            (20, 4),
        ),
        (
            f"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {PRODUCT_OF_GROUP}, %r1, 0, 1, 1, 1, 0, 0;",
            "h100",
            (20, 4),
        ),
        # one of 128 by 256, of 32 bytes along k, takes 128 cycles: 16 elements of f16 at 4096, 64 of 4 bits at 16384
        ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;", "b200", (144, 128)),
        ("tcgen05.mma.cta_group::1.kind::tf32 [%r1], %d1, %d2, %r2, %p1;", "b200", (144, 128)),
        ("tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1;", "b200", (144, 128)),
        (
            "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;",
            "b200",
            (144, 128),
        ),
    ],
)
def test_products_of_groups_and_of_tensor_memory(line: str, name: str, expected: tuple[int, int]) -> None:
    """By the rates of the machine; where it has none, those of `latency.mma`."""
    text = GROUPS.format(target="sm_90a" if name == "h100" else "sm_100a", line=line)
    kernel = parse(text, "products.ptx").kernels["k"]
    for gpu, times in ((name, expected), ("tesla-c2050", (8, 8))):
        record = lower(kernel, load_gpu(gpu), (128, 1, 1)).instructions[0]
        assert (record["latency"], record["interval"]) == times
