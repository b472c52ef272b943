"""A kernel under test: registers, cycles, and findings as failed assertions."""

from pathlib import Path

import numpy as np
import pytest
from scalekernel import SCALE

from ptxtool.external import ptxas
from ptxtool.testing.kernel import KernelLoader, KernelUnderTest

# every lane of a warp adds to the same word of shared memory without an atomic: a race between the two warps
RACE = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry race()
{
\t.shared .b32 sum;
\t.reg .b32 %r<3>;
\tld.shared.u32 %r1, [sum];
\tadd.u32 %r2, %r1, 1;
\tst.shared.u32 [sum], %r2;
\tret;
}
"""


@pytest.fixture
def scale(tmp_path: Path) -> KernelUnderTest:
    (tmp_path / "scale.ptx").write_text(SCALE)
    return KernelLoader(tmp_path)("scale.ptx")


def test_registers_are_ours_without_ptxas(scale: KernelUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "ptxas_usage", lambda module: None)
    # before mad.lo: %rd1 is two registers, %f1, %r1, %r2 and %r3 are one each
    assert scale.live_registers == 6
    assert scale.registers == 6
    scale.assert_registers(6)
    with pytest.raises(AssertionError, match=r"(?s)has 6 registers per thread, 5 are allowed.*%rd1"):
        scale.assert_registers(5)


def test_a_race_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "race.ptx").write_text(RACE)
    kernel = KernelLoader(tmp_path)(tmp_path / "race.ptx")
    with pytest.raises(AssertionError, match=r"error\[E410\]"):
        kernel.run(1, 64, [], check=["races"])
    assert kernel.run(1, 64, [], check=()).problems == ()


def test_errors_of_a_text_and_of_a_launch(tmp_path: Path, scale: KernelUnderTest) -> None:
    (tmp_path / "wrong.ptx").write_text(SCALE.replace("%f1;", "%f9;"))
    with pytest.raises(AssertionError, match=r"wrong\.ptx:18:\d+: error\[E201\]"):
        KernelLoader(tmp_path)("wrong.ptx")
    with pytest.raises(AssertionError, match=r"error\[E401\]"):
        scale.run(1, 32, [np.zeros(32, np.float32)])


@pytest.mark.slow
def test_cycles(scale: KernelUnderTest) -> None:
    x = np.ones(64, np.float32)
    result = scale.assert_cycles(100_000, 2, 32, [x, np.float32(2)])
    assert x.tolist() == [2.0] * 64
    with pytest.raises(AssertionError, match=f"takes {result.cycles} cycles, 10 are allowed"):
        scale.assert_cycles(10, 2, 32, [x, np.float32(2)])
