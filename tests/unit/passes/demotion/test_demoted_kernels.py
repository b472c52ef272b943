"""What the passes after `demote` have in common: which kernels they change, what they refuse, how many registers."""

import pytest
from demoted_kernel import DECLARED, HEAD, WIDE, kernel, text

from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

PASSES = ("substitute-demotion-registers", "drop-redundant-demotions", "hoist-demotion-loads")
BODY = """\
mov.u32 %r7, 5;
st.shared.b32 [%r6], %r7;
mov.u32 %r7, 6;
st.shared.b32 [%r6+128], %r7;
mov.u32 %r1, 1;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [0], %r7;
ld.shared.b32 %r7, [%r6+128];
st.shared.u32 [4], %r7;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [%r1], %r7;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [8], %r7;"""


def refusal(module: Module, pipeline: str) -> str:
    with pytest.raises(PtxError) as caught:
        rewrite(module, pipeline)
    return str(caught.value)


@pytest.mark.parametrize("name", PASSES)
def test_one_kernel(name: str) -> None:
    both = parse(text(WIDE + BODY) + text(WIDE + BODY).replace(HEAD, "").replace("k()", "other()"), "k.ptx")
    result = rewrite(both, f"{name}:kernel=other")
    assert [r.function for r in result.remarks] == ["other"]
    assert "nothing to do" not in result.remarks[0].message
    before, after = both.source.text, result.module.source.text
    assert after.startswith(text(WIDE + BODY))
    assert after != before
    assert "no kernel named 'x'" in refusal(both, f"{name}:kernel=x")


@pytest.mark.parametrize("name", PASSES)
def test_kernels_without_demoted_registers(name: str) -> None:
    plain = parse(f"{HEAD}.entry k() {{\n{DECLARED}mov.u32 %r0, 1;\nret;\n}}\n")
    result = rewrite(plain, name)
    assert result.module is plain
    assert result.remarks[0].message == "nothing to do: it has no demoted registers; run demote before"


@pytest.mark.parametrize("name", PASSES)
def test_refused(name: str) -> None:
    leak = refusal(kernel("add.u32 %r1, %r6, 4;\n" + BODY), name)
    assert "E301" in leak
    assert "'add.u32 %r1, %r6, 4;' uses the address of the slots" in leak
    assert f"run {name} on what demote writes, before compact" in leak
    lost = "mov.u32 %r0, 1;\nmov.u64 %rd0, 0;\n@%p0 mov.u32 %r0, 2;\nst.shared.b32 [%r6], %r0;\n"
    assert "not physical for certain" in refusal(kernel(f"{lost}st.shared.u32 [0], %r0;\n{WIDE}{BODY}"), name)


def test_a_thread_needs_no_more_registers() -> None:
    """The values of both slots in registers at once would need one more, beside the address and %r1."""
    module = kernel(BODY)
    need = registers_per_thread(module.kernels["k"])
    assert need == 3
    for name in PASSES:
        module = rewrite(module, name).module
        assert registers_per_thread(module.kernels["k"]) <= need


def test_pairs_leave_gaps() -> None:
    """Two live units and a pair need four registers, but with a pair from an odd one on five, so less is done."""
    body = "\n".join(["mov.u64 %rd1, 1;", BODY, "st.shared.u64 [16], %rd1;"])
    module = kernel(body)
    need = registers_per_thread(module.kernels["k"])
    for name in PASSES:
        module = rewrite(module, name).module
        assert registers_per_thread(module.kernels["k"]) <= need
