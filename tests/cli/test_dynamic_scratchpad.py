"""What a launch adds to the declared scratchpad: whether it limits the resident CTAs (timing-model-42 section 4.3)."""

from pathlib import Path

import pytest
from smallkernel import Cli

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError

TEXT = """.version 4.0
.target sm_35
.address_size 64
.extern .shared .align 4 .b8 more[];
.visible .entry k()
{
	.reg .b32 %r<3>;
	.shared .align 4 .b8 tile[4096];
	st.shared.u32 [more+20476], %r1;
	ld.shared.u32 %r2, [tile];
	ret;
}
"""


def resident(gpu: str, dynamic: int) -> int:
    kernel = ptxtool.parse(TEXT, name="k.ptx").kernels["k"]
    return ptxsim.launch(kernel, 14 * 8, 32, gpu=gpu, dynamic_shared=dynamic, registers=8).resident_ctas


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("tesla-c2050", 2),
        ("gpgpusim42-c2050", 8),
        ("gpgpusim42-gtx480", 8),
    ],  # 48 KB: of 4 + 20 KB two, of 4 KB eight
)
def test_it_counts_where_the_machine_says_so(gpu: str, expected: int) -> None:
    assert resident(gpu, 20480) == expected


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050"])
def test_one_cta_has_to_fit(gpu: str) -> None:
    assert resident(gpu, 45056) == (1 if gpu == "tesla-c2050" else 8)
    with pytest.raises(PtxError, match=r"E402.*does not fit"):
        resident(gpu, 45060)


def test_occupancy_of_a_launch_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(TEXT)
    (tmp_path / "launch.toml").write_text(
        'kernel = "k"\ngrid = 28\nblock = 32\nregisters = 8\ndynamic_shared = 20480\n'
    )
    for gpu, expected in (("tesla-c2050", 2), ("gpgpusim42-c2050", 8)):
        done = cli("occupancy", str(tmp_path / "k.ptx"), "--gpu", gpu)
        assert done.stdout.startswith(f"{expected} resident CTAs"), done
