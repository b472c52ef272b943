"""What works on Fermi works on a machine of today: sharing, register schemes, hot spots, timelines, waiting lanes.

Everything runs on two SMs, most of it of `v100`; a run counts the same whether cycles are skipped or not.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse

TEXT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry turned(.param .u64 a)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	.shared .align 4 .b32 tile[256];
	ld.param.u64 %d1, [a];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r2, %r2, 256, %r1;
	mul.wide.u32 %d2, %r2, 4;
	add.u64 %d1, %d1, %d2;
	ld.global.u32 %r3, [%d1];
	shl.b32 %r4, %r1, 2;
	mov.u32 %r5, tile;
	add.u32 %r4, %r5, %r4;
	st.shared.u32 [%r4], %r3;
	bar.sync 0;
	sub.u32 %r6, 255, %r1;
	shl.b32 %r6, %r6, 2;
	add.u32 %r6, %r5, %r6;
	ld.shared.u32 %r3, [%r6];
	setp.lt.u32 %p, %r1, 100;
	@!%p bra DONE;
	add.u32 %r3, %r3, 1000000;
DONE:
	st.global.u32 [%d1], %r3;
	ret;
}
"""
"""A CTA turns its 256 numbers round, and adds a million to the first hundred."""
CTAS = 24
KERNEL = parse(TEXT, "turned.ptx").kernels["turned"]


@cache
def two_sms(name: str, *settings: str) -> Gpu:
    return with_settings(load_gpu(name), ["sm.count=2", *settings])


def run(gpu: Gpu, **options: Any) -> ptxsim.SimResult:
    """The kernel under these options: its results have to be right, and the counters those of every cycle by itself."""
    before = np.arange(CTAS * 256, dtype=np.uint32)
    expected = before.reshape(CTAS, 256)[:, ::-1].copy()
    expected[:, :100] += 1000000
    results = []
    for skip in (False, True):
        values = before.copy()
        given = {"registers": 60} | options
        results.append(ptxsim.launch(KERNEL, CTAS, 256, [values], gpu=gpu, event_skip=skip, **given))
        assert (values.reshape(CTAS, 256) == expected).all()
    assert results[0].to_dict() == results[1].to_dict()
    return results[1]


@pytest.mark.parametrize(
    "name",
    ["gpgpusim42-titanx", "gpgpusim42-titanv", "gpgpusim42-qv100", "rtx2060", "rtx4090", "h100", "b200"],
)
def test_every_cycle_by_itself_counts_the_same(name: str) -> None:
    run(two_sms(name))


@pytest.mark.parametrize(
    "settings",
    [
        ('l1d.allocation="fill"', 'l1d.stores="local-back"', 'l1d.store_miss="pass"', "l1d.dirty_percent=0"),
        ("icnt.sms_per_port=2", 'dispatch.kernels="leftover"'),
        (
            "pipeline.sub_cores=false",
            "pipeline.collectors_shared=0",
            *(f"pipeline.collectors_{name}=2" for name in ("sp", "sfu", "mem", "int", "dp", "tensor")),
            *(f"pipeline.ports_{name}=2" for name in ("int", "dp", "tensor")),
        ),
    ],
)
def test_parts_of_other_machines(settings: tuple[str, ...]) -> None:
    run(two_sms("gpgpusim42-qv100", *settings))


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        # 72 x 256 = 18432 registers: 3 CTAs, and 10240 of 65536 are left for 5 more of 1843.2 each
        ({"share_registers": 90, "registers": 72}, 3),
        ({"share_registers": 90, "registers": 72, "scheduler": "owf", "dynamic": True}, 3),
        # 22528 bytes: 4 CTAs, and 8192 of 98304 are left for 3 more of 2252.8 each
        ({"share_scratchpad": 90, "dynamic_shared": 21504, "registers": 16}, 3),
    ],
)
def test_sharing(options: dict[str, Any], pairs: int) -> None:
    found = run(two_sms("v100"), **options)
    assert found.shared_pairs == pairs


@pytest.mark.parametrize(
    ("scheme", "switches"),
    [
        ("virtual-thread", True),
        ("reg-dram", True),
        ("finereg", True),
        ("unified", False),
        ("finereg-unified", True),
        ("release-by-name", False),
    ],
)
def test_register_schemes(scheme: str, switches: bool) -> None:
    found = run(two_sms("v100", "sm.ctas=2"), scheme=scheme)
    assert bool(found.switching and found.switching.switches) == switches


def test_a_machine_without_a_pool_says_so() -> None:
    with pytest.raises(PtxError, match=r"E502.*switching.unified_bytes is 0, there is no unified memory"):
        run(two_sms("gpgpusim42-qv100"), scheme="unified")


def test_hot_spots_and_a_timeline_change_nothing(tmp_path: Path) -> None:
    gpu = two_sms("v100")
    plain = run(gpu).to_dict()
    asked = run(gpu, hotspots=True)
    data = asked.to_dict()
    assert data.pop("hotspots")["kinds"] == asked.slots
    assert data == plain
    assert asked.hotspots is not None
    assert sum(s.issues for s in asked.hotspots.instructions) == asked.warp_instructions
    path = tmp_path / "t.json"
    assert run(gpu, timeline=path).to_dict() == plain
    assert "CTA 23" in path.read_text(encoding="utf-8")


LOCK = """.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 mutex;
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %d<2>;
	ld.param.u64 %d1, [out];
SPIN:
	atom.global.cas.b32 %r1, [mutex], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra SPIN;
	ld.volatile.global.u32 %r2, [%d1];
	add.u32 %r2, %r2, 1;
	st.volatile.global.u32 [%d1], %r2;
	atom.global.exch.b32 %r1, [mutex], 0;
	ret;
}
"""


def test_lanes_that_wait_for_each_other_make_progress() -> None:
    """Each lane of a warp takes a lock: it gets it from Volta on, and waits for ever where a warp has a stack."""
    kernel = parse(LOCK, "lock.ptx").kernels["k"]
    out = np.zeros(1, np.uint32)
    ptxsim.launch(kernel, 1, 32, [out], gpu=two_sms("v100"))
    assert out[0] == 32
    with pytest.raises(PtxError, match="E407"):
        ptxsim.launch(kernel, 1, 32, [out], gpu=two_sms("gpgpusim42-qv100"))
