"""demote: how much it demotes, what it says, what it refuses. What it computes: `tests/diff/test_demoted.py`."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.syntax import parse_pipeline

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def kernel(n: int, directives: str = ".reqntid 64", more: str = "") -> str:
    """n registers that live at once, each read by itself."""
    loads = "".join(f"ld.shared.u32 %r{k}, [{4 * k}];\n" for k in range(n))
    stores = "".join(f"st.shared.u32 [{4 * k}], %r{k};\n" for k in range(n))
    return f"{HEAD}.entry k() {directives} {{\n.reg .b32 %r<{n}>;\n{more}{loads}{stores}ret;\n}}\n"


def remark(text: str, options: str) -> str:
    (found,) = rewrite(parse(text, "k.ptx"), f"demote{{{options}}}").remarks
    return found.message


def refusal(text: str, options: str) -> str:
    with pytest.raises(PtxError) as caught:
        rewrite(parse(text, "k.ptx"), f"demote{{{options}}}")
    return str(caught.value)


def test_a_target_pays_for_the_new_registers() -> None:
    """From 20 to 16: 4 and the 2 new ones; each takes a word of 64 threads."""
    message = "6 registers demoted to 1536 bytes of shared memory (64 threads): 20 -> 16 registers per thread"
    assert remark(kernel(20), "registers=16") == message
    text = rewrite(parse(kernel(20)), "demote{registers=16},compact").module.source.text
    assert ".reg .b32 %r<16>;" in text


def test_a_count() -> None:
    assert remark(kernel(20), "count=3").startswith("3 registers demoted to 768 bytes")


def test_nothing_to_do() -> None:
    assert remark(kernel(8), "registers=8") == "nothing to do: a thread needs 8 registers"


def test_too_little_to_demote() -> None:
    """Two registers that an instruction names together: one is demoted, two are new."""
    text = kernel(2).replace("ret;", "add.u32 %r0, %r1, %r0;\nst.shared.u32 [%r1], %r0;\nret;")
    assert remark(text, "registers=1") == (
        "nothing is demoted: it would leave a thread with 3 registers of 2; "
        "no other register can be demoted: each occurs together with these, or is in flight"
    )


def test_one_kernel() -> None:
    text = kernel(8) + kernel(8).partition("64\n")[2].replace("k()", "other()")
    found = rewrite(parse(text), "demote{count=1,kernel=other}").remarks
    assert [r.function for r in found] == ["other"]
    assert "no kernel named 'x'" in refusal(text, "count=1,kernel=x")


def test_shared_memory_ends_demotion() -> None:
    """Of 1024 threads a register takes 4096 bytes: 48 KB hold 12, with 8200 bytes of the kernel's own 9."""
    assert remark(kernel(20, ".reqntid 1024"), "count=20").endswith(
        "; more than 49152 bytes of shared memory cannot be declared"
    )
    own = kernel(20, ".reqntid 1024", ".shared .b8 own[8200];\nst.shared.u32 [own], 0;\n")
    assert remark(own, "count=20").startswith("9 registers demoted to 36864 bytes")


def test_the_bound_on_threads_is_declared() -> None:
    """Where the text has none, so that no larger CTA can be launched."""
    assert "at most" not in refusal(kernel(8, ""), "count=1")
    after = rewrite(parse(kernel(8, "")), "demote{count=1,threads=96}").module
    assert [d.name + d.text for d in after.kernels["k"].directives] == ["maxntid96"]
    unchanged = rewrite(parse(kernel(8, ".maxntid 32, 4")), "demote{count=1}").module
    assert [d.text for d in unchanged.kernels["k"].directives] == ["32, 4"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (kernel(8, ""), "count=1", "the size of its CTAs is unknown"),
        (kernel(8), "count=1,threads=32", "threads=32, but '.reqntid' allows 64"),
        (
            kernel(8).replace(".reg ", ".reg .b32 %f<8>; .reg ").replace("%r7", "%f6"),
            "count=1",
            "its registers are not physical for certain",
        ),
        (
            ".version 1.4+\n.target sm_10\n.entry k (.param .u32 x) {\n.reg .u32 $r<2>;\nexit;\n}\n",
            "count=1",
            "the size of its CTAs is unknown",
        ),
        (kernel(8), "registers=4,count=2", "give registers=T"),
        (kernel(8), "rule=accesses", "give registers=T"),
        (kernel(8), "count=-1", "count cannot be -1"),
    ],
)
def test_refused(text: str, options: str, message: str) -> None:
    found = refusal(text, options)
    assert "E301" in found
    assert message in found


def plus(body: str, registers: str) -> str:
    head = ".version 1.4+\n.target sm_10, map_f64_to_f32\n.entry k ( .param .u32 x )\n"
    return f"{head}{{\n.reg .u32 $r<{registers}>;\n.reg .u32 $ofs<2>;\n{body}\nexit;\n}}\n"


LOAD = "shl.b32 $ofs1, $r0, 0x00000002;\nmov.u32 $r1, s[$ofs1+0x0020];"


def test_ptxplus_needs_what_compact_leaves() -> None:
    """$r1 and $r2 go to slots; $r0 with the thread id, the address and the value stay."""
    text = plus(
        "mov.u32 $r1, 0x00000007;\nmov.u32 $r2, $r0;\nmov.u32 s[0x0010], $r1;\nmov.u32 s[0x0010], $r2;", "9"
    )
    message = "2 registers demoted to 256 bytes of shared memory (32 threads): 2 -> 3 registers per thread"
    assert remark(text, "count=2,threads=32") == message
    after = rewrite(parse(text), "demote{count=2,threads=32},compact").module.source.text
    assert ".reg .u32 $r<3>;" in after


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (plus(LOAD, "9"), "count=1,threads=32", "may access shared memory after its 32 bytes"),
        (
            plus("mov.u32 $r1, s[0x0060];", "9"),
            "count=1,threads=32,dynamic-shared=64",
            "may access shared memory after its 32 bytes and 64 dynamic ones",
        ),
        (plus("mov.u32 $r1, $r2;", "123"), "count=1,threads=32", "it has no register below $r124 left"),
    ],
)
def test_ptxplus_is_refused(text: str, options: str, message: str) -> None:
    assert message in refusal(text, options)


def test_slots_of_ptxplus_begin_after_dynamic_shared_memory() -> None:
    after = rewrite(parse(plus(LOAD, "9")), "demote{count=1,threads=32,dynamic-shared=64}").module.source.text
    assert "add.u32 $r9, $r10, 0x00000060;" in after


def test_options_are_those_of_the_pass() -> None:
    (one,) = parse_pipeline("demote{registers=32,rule=conflicts,threads=128}")
    assert (one.name, one.rule, one.threads) == ("demote", "conflicts", 128)  # type: ignore[attr-defined]
