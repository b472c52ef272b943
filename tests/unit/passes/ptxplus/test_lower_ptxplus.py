"""lower-ptxplus: what it makes of instructions and of kernels, and what it refuses.

What lowered kernels compute: `tests/diff/test_lowered.py`.
"""

import re

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes import rewrite
from ptxtool.passes.ptxplus.layout import module_text
from ptxtool.passes.ptxplus.lower import selected
from ptxtool.passes.ptxplus.lower_ptxplus import LowerPtxplus
from ptxtool.sema.module import check_module

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
DECLARED = (
    ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .f64 %x<4>; .reg .b64 %d<6>; .reg .pred %p<4>;\n"
)


def kernel(body: str, parameters: str = ".param .u64 p", name: str = "k") -> str:
    return f".visible .entry {name}({parameters})\n{{\n{DECLARED}{body}\nret;\n}}\n"


def lower(body: str, options: str = "", before: str = "", parameters: str = ".param .u64 p") -> str:
    """The whole text of a kernel that was lowered."""
    text = HEAD + before + kernel(body, parameters)
    return rewrite(parse(text, "k.ptx"), f"lower-ptxplus{options}").module.source.text


def virtual(body: str) -> list[str]:
    """The instructions over virtual registers, without labels."""
    places, codes = selected(parse(HEAD + kernel(body)))
    assert module_text(places, codes)
    return [str(code) for code in codes[0].codes()]


def refusals(text: str) -> list[tuple[int, str]]:
    """Lines and reasons of all that stands in a kernel's way."""
    with pytest.raises(PtxError) as caught:
        rewrite(parse(text, "k.ptx"), "lower-ptxplus")
    assert {d.code for d in caught.value.diagnostics} == {"E301"}
    assert all(d.help for d in caught.value.diagnostics)
    found = caught.value.diagnostics
    return [(d.source.line(d.start) if d.source else 0, d.message.rpartition("': ")[2]) for d in found]


@pytest.mark.parametrize(
    ("ptx", "ptxplus"),
    [
        ("add.s32 %r1, %r2, -1;", "add.s32 $v0, $v1, 0xffffffff;"),
        ("mul.lo.s32 %r1, %r2, 12;", "mul.lo.s32 $v0, $v1, 0x0000000c;"),
        ("mul.lo.s32 %r1, %r2, 64;", "shl.u32 $v0, $v1, 0x00000006;"),
        ("mul.wide.u16 %r1, %h1, %h2;", "mul.wide.u16 $v0, $v1, $v2;"),
        ("sub.f32 %f1, %f2, %f3;", "sub.f32 $v0, $v1, $v2;"),
        ("sub.f32 %f1, %f2, 0f3F800000;", "sub.f32 $v0, $v1, 0x3f800000;"),
        ("fma.rn.f32 %f1, %f2, %f3, %f1;", "mad.f32 $v0, $v1, $v2, $v0;"),
        ("fma.rz.f32 %f1, %f2, %f3, %f1;", "fma.rz.f32 $v0, $v1, $v2, $v0;"),
        ("ex2.approx.f32 %f1, %f2;", "ex2.f32 $v0, $v1;"),
        ("ex2.approx.ftz.f32 %f1, %f2;", "ex2.approx.ftz.f32 $v0, $v1;"),
        ("sqrt.rn.f32 %f1, %f2;", "sqrt.rn.f32 $v0, $v1;"),
        ("setp.lo.u32 %p1, %r1, %r2;", "set.lt.u32.u32 $p0/$o127, $v0, $v1;"),
        ("setp.geu.f32 %p1, %f1, %f2;", "set.geu.u32.f32 $p0/$o127, $v0, $v1;"),
        ("@%p1 mov.u32 %r1, %r2;", "@$p0.ne mov.u32 $v0, $v1;"),
        ("@!%p1 mov.u32 %r1, %r2;", "@$p0.equ mov.u32 $v0, $v1;"),
        ("selp.b32 %r1, %r2, 1, !%p1;", "selp.u32 $v0, 0x00000001, $v1, $p0;"),
        ("mov.u32 %r1, %ctaid.y;", "mov.u32 $v0, %ctaid.y;"),
        ("ld.global.u16 %h1, [%d1+6];", "ld.global.u16 $v0, [$v1+0x0006];"),
        ("ld.global.f32 %f1, [%d1+-8];", "ld.global.f32 $v0, [$v1+-8];"),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r1];", "mov.bb64 {$v0,$v1}, s[$v2];"),
        ("st.shared.u8 [%r1+3], %h1;", "mov.u8 s[$v1+0x0003], $v0;"),
        ("red.global.add.u32 [%d1], %r1;", "atom.global.add.u32 _, [$v0], $v1;"),
        ("atom.shared.cas.b32 %r1, [%r2], %r3, %r4;", "atom.shared.cas.b32 $v0, [$v1], $v2, $v3;"),
        ("bar.sync 1, 64;", "bar.sync 0x00000001, 0x00000040;"),
        ("membar.gl;", "membar.gl;"),
        ("add.f64 %x1, %x2, %x3;", "add.ff64 {$v0,$v1}, {$v2,$v3}, {$v4,$v5};"),
        ("cvt.rn.f32.f64 %f1, %x1;", "cvt.rn.f32.ff64 $v0, {$v1,$v2};"),
        ("cvt.rzi.s32.f32 %r1, %f1;", "cvt.rzi.s32.f32 $v0, $v1;"),
    ],
)
def test_instructions_with_a_counterpart(ptx: str, ptxplus: str) -> None:
    uses = "st.global.f64 [%d1], %x1;" if "%x1," in ptx and "f32.f64" not in ptx else ""
    assert virtual(ptx + uses)[0] == ptxplus


def test_a_sign_is_not_left_to_the_load() -> None:
    """GPGPU-Sim loads signed bytes without their sign."""
    assert virtual("ld.global.s8 %h1, [%d1];")[:2] == ["ld.global.u8 $v0, [$v1];", "cvt.s32.s8 $v0, $v0;"]


def test_operands_are_folded_once_and_not_past_a_store() -> None:
    assert virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r3, %r4, %r1;")[0] == "add.s32 $v2, s[$v1], $v3;"
    stored = virtual("ld.shared.u32 %r1, [%r2]; st.shared.u32 [%r5], %r5; add.s32 %r3, %r4, %r1;")
    assert stored[0] == "mov.u32 $v0, s[$v1];"
    twice = virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r3, %r4, %r1; add.s32 %r5, %r4, %r1;")
    assert twice[0] == "mov.u32 $v0, s[$v1];"
    moved = virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r2, %r2, 4; add.s32 %r3, %r4, %r1;")
    assert moved[0] == "mov.u32 $v0, s[$v1];"
    barrier = virtual("ld.shared.u32 %r1, [%r2]; bar.sync 0; add.s32 %r3, %r4, %r1;")
    assert barrier[0] == "mov.u32 $v0, s[$v1];"


def test_a_parameter_is_folded_past_everything_but_a_label() -> None:
    body = "ld.param.u32 %r1, [p]; bar.sync 0; st.shared.u32 [%r5], %r5; setp.gt.s32 %p1, %r4, %r1;"
    assert virtual(body)[2] == "set.lt.u32.s32 $p0/$o127, s[0x0010], $v2;"
    assert virtual("ld.param.u32 %r1, [p]; L: add.s32 %r2, %r2, %r1; bra L;")[0] == "mov.u32 $v0, s[0x0010];"


def test_parameters_are_aligned_each_to_its_own_size() -> None:
    text = lower(
        "ld.param.u8 %h1, [a]; ld.param.u64 %d1, [b]; ld.param.u16 %h2, [c]; ld.param.f32 %f1, [d];"
        "st.global.u8 [%d1], %h1; st.global.u16 [%d1+2], %h2; st.global.f32 [%d1+4], %f1;",
        parameters=".param .u8 a, .param .u64 .ptr .global .align 4 b, .param .u16 c, .param .f32 d",
    )
    assert re.findall(r"s\[(\w+)\]", text) == ["0x0010", "0x0018", "0x0020", "0x0024"]
    assert re.findall(r"\.param  (\.\w+ \w+)", text) == [
        *(".u8 __cudaparm_k_a", ".u64 __cudaparm_k_b", ".u16 __cudaparm_k_c", ".f32 __cudaparm_k_d")
    ]


def test_the_thread_id_is_taken_apart() -> None:
    body = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; add.s32 %r1, %r1, %r2;"
    assert virtual(body + "add.s32 %r1, %r1, %r3;")[:4] == [
        "cvt.u32.u16 $v0, $r0.lo;",
        "shr.u32 $v3, $r0, 0x00000010;",
        "and.b32 $v3, $v3, 0x000003ff;",
        "shr.u32 $v4, $r0, 0x0000001a;",
    ]


def test_short_instructions_come_in_pairs_and_labels_are_addresses() -> None:
    body = "L: add.s32 %r1, %r1, %r2; add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, %r2; mov.u32 %r3, 1; bra L;"
    text = lower(body)
    assert re.findall(r"\t(?:(l\w+): )?(add\S*|mov\S*|bra) ", text) == [
        ("l0x00000000", "add.s32"),
        *(("", "add.half.u32"), ("", "add.half.u32")),
        *(("", "mov.u32"), ("", "bra")),
    ]
    assert "bra l0x00000000;" in text


def test_labels_of_one_address_stay_apart() -> None:
    """Between the two labels stands a copy that allocation drops: whoever jumps to the second does not make it."""
    body = """mov.u32 %r1, %laneid; mov.u32 %r3, %laneid; setp.eq.s32 %p1, %r1, 3;
@%p1 bra SECOND; setp.eq.s32 %p2, %r1, 4; @%p2 bra FIRST; mov.u32 %r4, 5;
FIRST: mov.u32 %r3, %r4;
SECOND: add.s32 %r1, %r3, %r1; setp.lt.s32 %p3, %r1, 9; @%p3 bra SECOND; ld.param.u64 %d1, [p];
st.global.u32 [%d1], %r1;"""
    text = lower(body)
    labels = re.findall(r"(l0x\w+):", text)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"bra (\w+);", text)) <= set(labels)


def test_the_text_is_what_gpgpu_sim_reads() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 3; @%p1 bra L; mov.b32 %r2, 0f3F800000; L: exit;"
    assert check_module(parse(lower(body))) == ()


def test_all_reasons_come_in_one_run() -> None:
    body = (
        "sqrt.rn.f64 %x1, %x2;\nadd.rm.f32 %f1, %f2, %f3;\nrem.s64 %d1, %d2, %d3;\nst.global.f64 [%d1], %x1;"
    )
    assert refusals(HEAD + kernel(body)) == [
        (7, "PTXPlus has no 'sqrt.rn.f64'"),
        (8, "PTXPlus does not round 'add' with '.rm'"),
        (9, "'rem.s64' needs all 64 bits, and PTXPlus computes with 32"),
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("ld.u32 %r1, [%d1];", "a generic address whose state space is not known"),
        ("bar.red.popc.u32 %r1, 0, %p1;", "PTXPlus has nothing for 'bar.red.popc.u32'"),
        ("vote.sync.all.pred %p1, %p2, %r1;", "a vote of some lanes"),
        ("mov.u32 %r1, %smid;", "PTXPlus has no special register '%smid'"),
        ("cvt.pack.sat.u16.s32 %r1, %r2, %r3;", "PTXPlus has nothing for 'cvt.pack.sat.u16.s32'"),
        ("min.NaN.f32 %f1, %f2, %f3;", "PTXPlus has no 'min.NaN.f32'"),
        ("ld.shared::cluster.u32 %r1, [%r2];", "the shared memory of another CTA"),
    ],
)
def test_reasons(body: str, reason: str) -> None:
    ((line, told),) = refusals(HEAD.replace("75", "90") + kernel(body))
    assert line == 7
    assert told.startswith(reason)


def test_recursion_and_calls_through_registers_are_refused() -> None:
    recursive = ".func f() { call f, (); ret; }\n"
    assert refusals(HEAD + recursive + kernel("call f, ();"))[0][1].startswith("'f' calls itself")
    table = ".func g() { ret; }\n"
    body = "mov.u64 %d1, g; P: .callprototype _ (); call %d1, (), P;"
    assert {reason for _, reason in refusals(HEAD + table + kernel(body))} == {
        "the address of a function: PTXPlus calls no addresses",
        "only calls of named functions can be inlined",
    }


def test_a_guarded_call_is_branched_around() -> None:
    function = ".func (.reg .b32 r) f(.reg .b32 a) { add.s32 r, a, 1; ret; }\n"
    text = lower(
        "@%p1 call (%r1), f, (%r2); ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1;", before=function
    )
    assert re.search(r"@\$p0\.equ bra (\w+);", text)


def test_a_pointer_whose_space_is_plain_needs_no_generic_access() -> None:
    body = ".shared .align 4 .b8 tile[16]; mov.u32 %r1, tile; cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d2, %d1;"
    assert "mov.u32 $r0, s[" in lower(
        body + "ld.u32 %r2, [%d2]; ld.param.u64 %d3, [p]; st.global.u32 [%d3], %r2;"
    )


def test_shuffles_take_a_word_for_every_thread() -> None:
    body = "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1;"
    text = HEAD + kernel(body).replace(")\n{", ")\n.maxntid 64, 2, 1\n{")
    result = rewrite(parse(text), "lower-ptxplus")
    assert ".shared .align 4 .b8 __shared_shuffles[512];" in result.module.source.text
    assert "warps shuffle through shared memory, a word for every thread" in str(result)


def test_targets_without_subnormal_numbers_are_refused() -> None:
    text = ".version 1.4\n.target sm_13\n.entry k\n{\nexit;\n}\n"
    assert "take subnormal numbers for zero" in refusals(text)[0][1]


def test_ptxplus_stays_as_it_is() -> None:
    module = parse(lower("exit;"))
    result = rewrite(module, "lower-ptxplus")
    assert result.module is module
    assert str(result) == "lower-ptxplus: nothing to do: it is PTXPlus"


@pytest.mark.parametrize("regs", [0, -1, 125])
def test_the_number_of_registers_is_the_machines(regs: int) -> None:
    with pytest.raises(PtxError, match=f"regs cannot be {regs}"):
        LowerPtxplus(regs).run(parse(HEAD + kernel("")))


def test_values_spill_where_that_is_asked_for() -> None:
    loads = "".join(f"ld.global.u32 %r{k}, [%d1+{4 * k}];" for k in range(1, 8))
    sums = "".join(f"add.s32 %r1, %r1, %r{k};" for k in range(7, 1, -1))
    body = f"ld.param.u64 %d1, [p];{loads}{sums} st.global.u32 [%d1], %r1;"
    with pytest.raises(PtxError, match="'k' does not fit into 5 registers without spilling: it needs 8"):
        lower(body, "{regs=5}")
    text = lower(body, "{regs=5,spill=local}")
    assert ".reg .u32 $r<5>;" in text
    assert re.search(r"\t\.local \.b8 l0\[\d+\];", text)
    assert text.count("st.local.u32 [0x") == text.count("ld.local.u32 $r") > 0


def test_nothing_spills_beside_local_variables() -> None:
    """Both would have the numbers from 0 on, and a file has one `l0`."""
    loads = "".join(f"ld.global.u32 %r{k}, [%d1+{4 * k}];" for k in range(1, 8))
    stores = "".join(f"st.global.u32 [%d1+{4 * k}], %r{8 - k};" for k in range(1, 8))
    crowd = kernel(f"ld.param.u64 %d1, [p];{loads}{stores}")
    local = ".local .b32 mine; .reg .b32 %q; st.local.u32 [mine], 1; ld.local.u32 %q, [mine]; st.global.u32 [%d1], %q;"
    own = kernel(f"ld.param.u64 %d1, [p];{loads}{local}{stores}", name="own")
    module = parse(HEAD + crowd + own)
    with pytest.raises(PtxError) as refused:
        rewrite(module, "lower-ptxplus{regs=6,spill=local}")
    what = str(refused.value)
    assert "'k' does not fit into 6 registers without spilling: it needs 8" in what
    assert "'own' does not fit into 6 registers without spilling: it needs 9" in what
    advice = (
        "give 8 or more; nothing can spill beside the local variables of 'own': lower the other kernels alone"
    )
    assert advice in what
    assert "l0[" in rewrite(module, "lower-ptxplus{regs=6,spill=local,kernel=k}").module.source.text
    rewrite(module, "lower-ptxplus{regs=9,spill=local}")
    with pytest.raises(PtxError, match=r"give 9 or more; nothing can spill .* of 'own'$"):
        rewrite(module, "lower-ptxplus{regs=6,spill=local,kernel=own}")


def test_kernels_that_can_be_lowered_alone_are_named() -> None:
    bad, good = "div.u64 %d1, %d2, %d3;", "mov.u32 %r1, %tid.x;"
    text = (
        HEAD + kernel(bad, name="a") + kernel(good, name="b") + kernel(bad, name="c") + kernel(good, name="d")
    )
    with pytest.raises(PtxError) as refused:
        rewrite(parse(text), "lower-ptxplus")
    first = refused.value.diagnostics[0]
    assert first.message == "lower-ptxplus: 2 of 4 kernels cannot be lowered: a, c"
    assert first.help == "'kernel=NAME' lowers one alone; these can be: b, d"
    assert len(refused.value.diagnostics) == 3
    assert len(refusals(HEAD + kernel(bad, name="a"))) == 1


def test_an_external_variable_that_the_file_defines() -> None:
    outside = ".extern .global .u32 g; .extern .const .u32 c;\n"
    inside = ".visible .global .u32 g = 7; .visible .const .u32 c = 9;\n"
    body = "ld.global.u32 %r1, [g]; ld.const.u32 %r2, [c]; st.global.u32 [g], %r2;"
    for before in (outside + inside, inside + outside):
        text = lower(body, before=before)
        assert text.count(".global .align 4 .u32 g[1] = {0x00000007};") == text.count("\n.global") == 1
        assert text.count(".const .b8 c[4];") == text.count(".constptr c") == 1
        assert "0x00000009" in text


def test_an_external_variable_of_another_file_is_told() -> None:
    body = "ld.const.u32 %r1, [c+4]; ld.const.u32 %r2, [c]; st.shared.u32 [s], %r2;"
    before = ".extern .const .u32 c[4]; .extern .shared .u32 s[];\n"
    result = rewrite(parse(HEAD + before + kernel(body), "k.ptx"), "lower-ptxplus")
    told = [r.message for r in result.remarks[1:]]
    assert told == ["'c' is defined in another file: it is zeros unless the launch fills it"]


def test_registers_of_vector_type_are_refused_alike() -> None:
    lines = (
        ".reg .v4 .b32 %v, %w; ld.param.u64 %d1, [p];",
        "ld.global.v4.b32 %v, [%d1];",
        "add.u32 %v.x, %r1, %r2;",
        "add.u32 %r1, %v.y, %r2;",
        "mov.v4.b32 %w, %v;",
        "st.global.v4.b32 [%d1], %v;",
    )
    found = refusals(HEAD + kernel("\n".join(lines)))
    told = "is a register of vector type: declare its elements as registers"
    assert [(line - found[0][0], reason[-len(told) :]) for line, reason in found] == [
        (k, told) for k in range(5)
    ]


def test_the_same_module_gives_the_same_text() -> None:
    body = "mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 3; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r2;"
    assert lower(body) == lower(body)
