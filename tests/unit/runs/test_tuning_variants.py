"""The variants of a kernel: which there are, how each is made, what is declined."""

from collections import Counter

import pytest
from crowded import crowded

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize
from ptxtool.runs.tuning_variants import Enumerated, enumerate_variants, without_other_kernels

GPU = load_gpu("tesla-c2050")
CTA = CtaSize(256)


def kernel(head: str = "", more: str = "") -> Function:
    return parse(crowded(head) + more, "crowded.ptx").kernels["crowded"]


@pytest.fixture(scope="module")
def found() -> Enumerated:
    return enumerate_variants(kernel(), CTA, GPU)


def test_every_combination_is_a_variant(found: Enumerated) -> None:
    """Two register counts bring a CTA each: 24 and 20; three rules, three switches; original, local, local-shared."""
    names = [v.name for v in found.variants] + [d.name for d in found.declined]
    assert len(names) == len(set(names)) == 1 + 2 * (2 + 3 * 2**3)
    methods = Counter(v.method for v in found.variants)
    assert (methods["original"], methods["local"], methods["local-shared"]) == (1, 2, 2)
    assert found.variants[0].name == "original"
    assert "demote 20 frequency banks+substitute+hoist" in names
    assert found.end == "threads limit an SM to 6 CTAs"


def test_what_a_variant_needs(found: Enumerated) -> None:
    """Of demotion to 24: 25 - 24 + 2 registers of 4 * 256 bytes; five CTAs of eight warps on 48."""
    by_name = {v.name: v for v in found.variants}
    original, demoted, local = (by_name[name] for name in ("original", "demote 24 accesses", "local 24"))
    assert (original.registers, original.shared_bytes, original.occupancy.resident_ctas) == (25, 0, 4)
    assert (demoted.shared_bytes, demoted.occupancy.resident_ctas) == (3072, 5)
    assert demoted.registers <= 24
    assert demoted.pipeline == "allocate,demote:registers=24:rule=accesses:threads=256,compact"
    assert demoted.occupancy.fraction == pytest.approx(40 / 48)
    assert local.pipeline == "allocate:max-regs=24"
    for variant in found.variants:
        text = parse(variant.text).kernels["crowded"]
        assert variant.instructions == len(text.instructions)


def test_predictions_are_at_the_best_occupancy(found: Enumerated) -> None:
    """At 20 registers all 48 warps are resident: 4 of 6 CTAs leave (2 / 3) ** -0.86281 times the stalls."""
    original = found.variants[0]
    assert max(v.occupancy.fraction for v in found.variants) == 1
    assert original.predicted_regdem == pytest.approx(original.prediction.stalls * (2 / 3) ** -0.86281)
    assert original.predicted == max(original.predicted_regdem, 48 * original.prediction.busy)


def test_equal_texts_are_known(found: Enumerated) -> None:
    texts = {v.name: v.text for v in found.variants}
    same = [v for v in found.variants if v.same_as]
    assert len(texts) - len(same) == len(set(texts.values()))
    assert all(texts[v.name] == texts[v.same_as] for v in same)


def test_the_head_bounds_the_threads() -> None:
    """With `.reqntid` no threads are given to the passes, and no `.maxntid` is added."""
    found = enumerate_variants(kernel(".reqntid 256\n"), CTA, GPU)
    assert not [v for v in found.variants if "threads=" in v.pipeline or ".maxntid" in v.text]
    assert len(found.variants) > 4


def test_other_kernels_stay_as_they_are() -> None:
    other = ".visible .entry other() {\n\t.reg .b32 %r<3>;\n\tmov.u32 %r2, 1;\n\tret;\n}\n"
    found = enumerate_variants(kernel(more=other), CTA, GPU)
    assert all(other in v.text for v in found.variants)
    alone = without_other_kernels(kernel(more=other))
    assert [*alone.kernels] == ["crowded"]


def test_called_functions_are_rewritten() -> None:
    called = ".func f() {\n\t.reg .b32 %own<3>;\n\tmov.u32 %own2, 1;\n\tret;\n}\n"
    text = (
        crowded()
        .replace(".visible", called + ".visible", 1)
        .replace("\tret;\n}\n", "\tcall f, ();\n\tret;\n}\n", 2)
    )
    text = text.replace("\tcall f, ();\n\tret;\n}\n", "\tret;\n}\n", 1)  # not in itself
    found = enumerate_variants(parse(text, "k.ptx").kernels["crowded"], CTA, GPU)
    assert all("%own" not in v.text for v in found.variants)


def test_nothing_to_gain() -> None:
    """At 64 threads per CTA all eight CTAs are resident."""
    found = enumerate_variants(kernel(), CtaSize(64), GPU)
    assert [v.name for v in found.variants] == ["original"]
    assert found.declined == ()


def test_dynamic_shared_memory_counts() -> None:
    """24,576 bytes of a launch leave room for two CTAs, whatever their registers."""
    found = enumerate_variants(kernel(), CtaSize(256, 24576), GPU)
    assert [v.name for v in found.variants] == ["original"]
    assert found.variants[0].shared_bytes == 24576


def test_ctas_that_do_not_fit() -> None:
    with pytest.raises(PtxError, match="E402"):
        enumerate_variants(kernel(), CtaSize(256, 65536), GPU)


def test_ptxplus_is_compacted_and_has_no_spills() -> None:
    """35 registers are declared and 20 needed, with which all six CTAs are resident: there is nothing to gain."""
    hotspot = api.kernel(api.load("hotspot"))
    found = enumerate_variants(hotspot, CTA, GPU)
    assert [(v.name, v.pipeline, v.registers) for v in found.variants] == [("original", "compact", 20)]
    larger = enumerate_variants(api.kernel(api.load("sgemm")), CtaSize(128), GPU)
    assert {v.method for v in larger.variants} <= {"original", "demote"}


@pytest.mark.slow
def test_ptxplus_has_every_combination() -> None:
    """35 registers to 32: seven CTAs become eight; three rules, three switches, and nothing is declined."""
    sgemm = api.kernel(api.load("sgemm"))
    found = enumerate_variants(sgemm, CtaSize(128, 512), GPU)
    assert found.declined == ()
    assert len({v.name for v in found.variants}) == 1 + 3 * 2**3
    assert all(v.registers <= 32 for v in found.variants[1:])
    by_name = {v.name: v for v in found.variants}
    plain, changed = (by_name[f"demote 32 accesses{on}"] for on in ("", " substitute+hoist"))
    assert changed.pipeline == (
        "compact,demote:registers=32:rule=accesses:threads=128,substitute-demotion-registers,"
        "drop-redundant-demotions,hoist-demotion-loads,compact"
    )
    assert changed.instructions < plain.instructions
