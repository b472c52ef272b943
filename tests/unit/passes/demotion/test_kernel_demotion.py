"""How far a kernel is demoted for an occupancy, and why no further, by hand."""

from collections.abc import Mapping

import pytest

from ptxtool.analysis.occupancy.cuda_limits import cuda_target
from ptxtool.analysis.sharing.issue_counts import IssueCounts
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize, PassContext
from ptxtool.passes.pipeline import RewriteResult, rewrite

NOTHING: Mapping[str, CtaSize] = {}


def kernel(n: int, directives: str = ".reqntid 192", target: str = "sm_52", at_once: int = 1) -> str:
    """n registers that live at once, so many named by each instruction."""
    kind = {1: "", 4: ".v4"}[at_once]
    groups = [", ".join(f"%r{k + j}" for j in range(at_once)) for k in range(0, n, at_once)]
    names = [f"{{{group}}}" if at_once > 1 else group for group in groups]
    loads = "".join(f"ld.shared{kind}.u32 {name}, [{16 * k}];\n" for k, name in enumerate(names))
    stores = "".join(f"st.shared{kind}.u32 [{16 * k}], {name};\n" for k, name in enumerate(names))
    head = f".version 8.0\n.target {target}\n.address_size 64\n"
    return f"{head}.entry k() {directives} {{\n.reg .b32 %r<{n}>;\n{loads}{stores}ret;\n}}\n"


def done(text: str, options: str, gpu: str = "", ctas: Mapping[str, CtaSize] = NOTHING) -> RewriteResult:
    context = PassContext(cuda_target(gpu) if gpu else None, ctas)
    return rewrite(parse(text, "k.ptx"), f"demote:{options}", context=context)


def remark(*given: str) -> str:
    (found,) = done(*given).remarks
    return found.message


CFD = "14 registers demoted to 10752 bytes of shared memory (192 threads): 68 -> 56 registers per thread"


def test_an_occupancy() -> None:
    """RegDem's cfd: 4 CTAs of 6 warps with 68 registers, 6 with 56. The same in warps, and of the caller's machine."""
    reached = f"{CFD}; 4 -> 6 CTAs on an SM of sm_52"
    assert remark(kernel(68), "occupancy=0.5625") == reached
    assert remark(kernel(68), "occupancy=36") == reached
    assert remark(kernel(68, target="sm_90"), "occupancy=36", "sm_52") == reached


def test_the_largest_count_that_reaches_it() -> None:
    """5 CTAs, 30 warps, have room for 64 registers each."""
    assert "68 -> 64 registers per thread; 4 -> 5 CTAs" in remark(kernel(68), "occupancy=30")


def test_shared_memory_ends_it() -> None:
    """22 slots of 768 bytes leave 5 CTAs in 96 KB."""
    assert remark(kernel(68), "occupancy=1.0") == (
        f"{CFD}; 4 -> 6 CTAs on an SM of sm_52; "
        "16896 bytes of shared memory for 48 registers would leave no more than 6 CTAs on an SM"
    )


def test_threads_end_it() -> None:
    """10 CTAs of 6 warps are 60 of the 64."""
    found = remark(kernel(35), "occupancy=64")
    assert found.startswith("5 registers demoted to 3840 bytes")
    assert found.endswith("8 -> 10 CTAs on an SM of sm_52; threads limit an SM to 10 CTAs")


def test_candidates_end_it() -> None:
    """One of four registers can be demoted: 12 of 48. 40 registers take 10, for 6 CTAs; 32, for 8, would take 18."""
    assert remark(kernel(48, ".reqntid 256", "sm_90", 4), "occupancy=1.0") == (
        "10 registers demoted to 10240 bytes of shared memory (256 threads): 48 -> 40 registers per thread; "
        "5 -> 6 CTAs on an SM of sm_90; "
        "no other register can be demoted: each occurs together with these, or is in flight"
    )


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        (kernel(68), "24", "nothing to do: 24 of 64 warps are on an SM"),
        (kernel(32, ".reqntid 256"), "0.5", "nothing to do: 64 of 64 warps are on an SM"),
        (kernel(28), "1.0", "nothing is demoted: threads limit an SM to 10 CTAs"),
        (
            kernel(40, ".reqntid 256", at_once=4)
            .replace("{", "{\n.shared .b8 own[11264];", 1)
            .replace("[0]", "[own]"),
            "1.0",
            "nothing is demoted: 10240 bytes of shared memory for 32 registers would leave no more than "
            "6 CTAs on an SM",
        ),
    ],
)
def test_nothing(text: str, wanted: str, message: str) -> None:
    result = done(text, f"occupancy={wanted}")
    assert [r.message for r in result.remarks] == [message]
    assert result.module.source.text == text


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        (kernel(40), "65", "an SM of sm_52 has 64 warps"),
        (kernel(40, target="sm_13"), "0.5", "the limits of an SM of '.target sm_13' are unknown"),
        (kernel(40), "1.5", "occupancy cannot be '1.5'"),
        (kernel(40), "0", "occupancy cannot be '0'"),
        (kernel(40), "0.5:count=2", "or occupancy=W"),
        (kernel(40), "0.5:counts=x.json", "demote:rule=accesses has no use for 'counts'"),
    ],
)
def test_refused(text: str, wanted: str, message: str) -> None:
    with pytest.raises(PtxError, match="E301") as caught:
        done(text, f"occupancy={wanted}")
    assert message in str(caught.value)


def test_slots_that_cost_residency_are_reported() -> None:
    """16 CTAs of 128 threads have 6144 bytes each; 13 slots of 512 bytes leave 14."""
    found = remark(kernel(32, ".reqntid 128"), "count=13")
    assert found.endswith("; its shared memory costs residency: 16 -> 14 CTAs on an SM of sm_52")


def test_the_launch_has_the_size_of_ctas() -> None:
    """Its dynamic shared memory counts, too: 12,000 bytes more leave no room for what 32 registers take."""
    ctas = {"k": CtaSize(192, 0)}
    result = done(kernel(68, ""), "occupancy=36", ctas=ctas)
    assert result.remarks[0].message == f"{CFD}; 4 -> 6 CTAs on an SM of sm_52"
    assert ".maxntid 192" in result.module.source.text
    (found,) = done(kernel(40, ""), "occupancy=48", ctas={"k": CtaSize(256, 12000)}).remarks
    assert found.message == "nothing to do: 48 of 64 warps are on an SM"
    (found,) = done(kernel(40, ""), "occupancy=64", ctas={"k": CtaSize(256, 12000)}).remarks
    assert found.message.startswith("nothing is demoted: 10240 bytes of shared memory for 32 registers")


def test_measured_counts() -> None:
    """All registers are named twice; %r5's instructions were never issued."""
    issues = [1] * 17
    issues[5] = issues[8 + 5] = 0
    read: list[str] = []

    def read_counts(path: str) -> IssueCounts:
        read.append(path)
        return IssueCounts(path, "k", issues)

    pipeline = "demote:count=1:rule=frequency:counts=run.json"
    text = rewrite(parse(kernel(8)), pipeline, read_counts).module.source.text
    assert read == ["run.json"]
    assert "%r5," not in text
    assert "%r0," in text
