"""SMs with more than 64 warps, or more than 32 CTAs: results stay what they are, and each warp has its turn.

Their records are wide (`timing/sm_state.py`). An SM with 33 places for CTAs has them too: a run that fills fewer takes
the same cycles on both kinds of records, to the last counter.
"""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernels.measure import parsed
from random_ptx.programs import launch, write

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

SETTINGS = (
    "sm.warps=128",
    "sm.threads=4096",
    "sm.ctas=64",
    "sm.registers=131072",
    "sm.scratchpad_bytes=196608",
)
LARGE = with_settings(load_gpu("gtx980-finereg"), ["sm.count=1", *SETTINGS])
SCHEDULERS = (
    "lrr",
    "gto",
    "old",
    "rrr",
    "two_level:5",
    "two_level:100",
    "static_limit:9",
    "owf",
    "owf_greedy",
)
OWN = """from ptxsim.jit import bit, ctz, from_bit, njit, runnable

@njit
def lowest(warps):
    return ctz(warps & -warps)

def window(sm, scheduler):
    chosen = 0
    warps = sm.supervised[scheduler] & runnable(sm)
    while warps:
        chosen |= bit(ctz(warps))
        warps &= warps - 1
    return chosen

def pick(sm, scheduler, candidates):
    later = candidates & from_bit(sm.policy[scheduler, 0])
    w = lowest(later if later else candidates)
    sm.policy[scheduler, 0] = w + 1
    return w

def wrong(sm, scheduler, candidates):
    return ctz(~candidates) if candidates & from_bit(100) else ctz(candidates)
"""

CLOCKS = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{{
	.reg .b64 %l<4>;
	.reg .b32 %r<9>;
	ld.param.u64 %l0, [p];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r0, %r1, %r2, %r0;
	mul.wide.u32 %l1, %r0, 8;
	add.s64 %l0, %l0, %l1;
	{adds}
	mov.u32 %r3, %clock;
	mov.u32 %r4, %clock;
	{adds}
	st.global.v2.u32 [%l0], {{%r3, %r4}};
	ret;
}}
"""


@pytest.mark.parametrize(("ctas", "warps"), [(5, 13), (3, 32), (4, 32), (64, 2)])
def test_all_warps_of_a_scheduler_in_turn(ctas: int, warps: int) -> None:
    """n warps of one scheduler under `lrr`, none of which ever waits for n cycles: each issues every n cycles, and the
    order is that of their slots, which begins again with the first."""
    gpu = with_settings(LARGE, ["sm.schedulers=1", "fetch.perfect=true", "l1c.perfect=true"])
    n, clocks = ctas * warps, np.zeros((ctas * warps * 32, 2), np.uint32)
    kernel = parsed(CLOCKS.format(adds="\n\t".join(["add.u32 %r5, %r5, 1;"] * 40)))
    ptxsim.launch(kernel, ctas, 32 * warps, [clocks], gpu=gpu, scheduler="lrr", registers=16)
    of_warps = clocks[::32].astype(np.int64)
    assert (of_warps[:, 1] - of_warps[:, 0] == n).all()
    turns = (of_warps[:, 0] - np.arange(n)) % n
    assert (turns == turns[0]).all()


def outcome(text: str, n_ctas: int, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The memory after a random program, and its result without the machine's name."""
    module = ptxtool.parse(text, name="random.ptx")
    memory, result = launch(
        module, lambda k, _, block, arguments: ptxsim.launch(k, n_ctas, block, arguments, **options)
    )
    assert result.ctas_done == n_ctas
    return memory, {name: value for name, value in result.to_dict().items() if name != "gpu"}


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name, value in one.items() if other[name] != value]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("warps", [65, 96, 128])
def test_random_programs(warps: int, scheduler: str) -> None:
    """Barriers, divergence, calls, atomics, shared and local memory, by all warps of an SM at once."""
    seed = 1000 * warps + SCHEDULERS.index(scheduler)
    text, gpu = write(random.Random(seed)), with_settings(LARGE, [f"sm.warps={warps}"])
    expected, _ = launch(ptxtool.parse(text, name="random.ptx"), ptxsim.run)
    options: dict[str, Any] = {"gpu": gpu, "scheduler": scheduler, "registers": 20, "max_cycles": 3_000_000}
    memory, skipped = outcome(text, 70, **options, hotspots=True)
    again, stepped = outcome(text, 70, **options, hotspots=True, event_skip=False)
    assert memory == again == expected
    assert differing(skipped, stepped) == []


SCHEMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tesla-c2050", {}),
    ("tesla-c2050", {"share_registers": 90, "registers": 300, "scheduler": "owf"}),
    ("tesla-c2050", {"share_registers": 90, "registers": 300, "dynamic": "period=50,draws=sticky"}),
    ("tesla-c2050", {"scheme": "virtual-thread", "registers": 100}),
    ("gtx980-finereg", {"scheme": "finereg", "registers": 100}),
    ("gtx980-finereg", {"scheme": "finereg-unified", "registers": 100}),
    ("gtx980-finereg", {"scheme": "release-by-name", "registers": 100}),
)


@pytest.mark.parametrize(
    ("name", "options"),
    SCHEMES,
    ids=lambda of: of if isinstance(of, str) else "-".join(map(str, of.values())),
)
def test_wide_records_count_the_same(name: str, options: dict[str, Any]) -> None:
    for seed in range(3):
        chosen = random.Random(f"{name}{options}{seed}")
        text = write(chosen)
        while options.get("scheme") == "release-by-name" and ".func" in text:  # that takes no calls
            text = write(chosen)
        found = []
        for ctas in (32, 33):
            gpu = with_settings(load_gpu(name), ["sm.count=2", f"sm.ctas={ctas}"])
            given = {"gpu": gpu, "registers": 20, "hotspots": True, "max_cycles": 3_000_000} | options
            found.append(outcome(text, 40, **given))
        assert found[0][0] == found[1][0]
        assert differing(found[0][1], found[1][1]) == []


def test_more_warps_than_are_used_change_nothing() -> None:
    """Without local memory, which lies differently on an SM of more warps."""
    kernel = parsed(CLOCKS.format(adds="\n\t".join(["add.u32 %r5, %r5, %r0;"] * 40)))
    found = []
    for warps in (64, 65, 128):
        gpu, clocks = (
            with_settings(LARGE, ["sm.threads=2048", f"sm.warps={warps}"]),
            np.zeros(100 * 512, np.uint32),
        )
        result = ptxsim.launch(kernel, 100, 256, [clocks], gpu=gpu, registers=16)
        found.append(({k: v for k, v in result.to_dict().items() if k != "gpu"}, clocks.tolist()))
    assert found[0] == found[1] == found[2]


def many_resident(**options: Any) -> Any:
    """120 warps with barriers and a loop."""
    text = write(random.Random(7))
    return outcome(text, 60, **({"gpu": LARGE, "registers": 16} | options))


def test_a_scheduler_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    expected, _ = launch(ptxtool.parse(write(random.Random(7)), name="random.ptx"), ptxsim.run)
    memory, _ = many_resident(scheduler=f"{tmp_path}/own.py:pick")
    assert memory == expected
    kernel = parsed(CLOCKS.format(adds="add.u32 %r5, %r5, 1;"))
    message = r"E416.*chose warp \d+, which cannot issue now: the candidates are .*\b1[012]\d\b"
    clocks, name = np.zeros(8192, np.uint32), f"{tmp_path}/own.py:wrong"
    with pytest.raises(PtxError, match=message):
        ptxsim.launch(kernel, 4, 1024, [clocks], gpu=LARGE, registers=16, scheduler=name)


def test_a_timeline_shows_all_warps(tmp_path: Path) -> None:
    plain = many_resident()
    recorded = many_resident(timeline=str(tmp_path / "all.json"))
    assert recorded == plain
    text = (tmp_path / "all.json").read_text()
    assert '"slot 59 warp 1"' in text


def test_what_is_too_large_is_refused() -> None:
    def refusal(setting: str) -> str:
        with pytest.raises(PtxError) as refused:
            many_resident(gpu=with_settings(LARGE, [setting]))
        return str(refused.value)

    assert "sm.warps: 129" in refusal("sm.warps=129")
    assert "at most 128" in refusal("sm.warps=129")
    assert "sm.ctas: 65" in refusal("sm.ctas=65")
