"""Launch bounds that ptxas ignores or no launch meets, and setmaxnreg without those it needs."""

import pytest
from bound_samples import SAMPLES, Sample, kernel
from diagnosed import reported

BOUNDS = [s for s in SAMPLES if "enable_smem_spilling" not in s.text]


def codes(text: str) -> tuple[str, ...]:
    return tuple(code for _, code, _ in reported(text))


@pytest.mark.parametrize("sample", BOUNDS, ids=lambda s: " ".join(s.text.split())[50:120])
def test_what_ptxas_remarks_upon(sample: Sample) -> None:
    assert codes(sample.text) == sample.codes


def test_the_place_is_that_of_the_directive() -> None:
    text = kernel(".maxntid 1024 .minnctapersm 3 .maxnreg 300")
    assert reported(text) == [(5, "W213", ".minnctapersm 3"), (5, "W213", ".maxnreg 300")]


def test_each_kernel_that_reaches_setmaxnreg_has_its_own_bounds() -> None:
    before = (
        ".func h() { setmaxnreg.dec.sync.aligned.u32 40; ret; } .func g() { call h; ret; }"
        ".entry right() .maxnreg 64 { call g; ret; } .entry wrong() { call g; ret; }"
    )
    assert codes(kernel(".maxnreg 64", "call g;", before)) == ("W212",)


def test_a_target_without_known_limits_has_none() -> None:
    assert codes(kernel(".maxntid 1024 .minnctapersm 30", arch="sm_999", version="99.0")) == ("W201", "W201")
