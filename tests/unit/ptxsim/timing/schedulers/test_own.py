"""A user's own policy: loaded, compiled, run, and every mistake reported at its place."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernel import kernel
from policy_bench import ALL, Bench

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.timing.schedulers import policy
from ptxtool.base.diag import PtxError

LOADS = """
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r1, $r1, 0x00000002;
	add.u32 $r1, $r1, s[0x0010];
"""
LOADS += "".join(f"\tld.global.u32 $r2, [$r1+{4096 * k}];\n\tadd.u32 $r3, $r2, $r2;\n" for k in range(6))


OWN = """from numba import njit

from ptxsim.jit import bit, ctz


@njit
def last(mask):
    w = 0
    while mask:
        w = ctz(mask)
        mask &= mask - 1
    return w


def pick(sm, scheduler, candidates):
    return ctz(candidates)


def highest(sm, scheduler, candidates):
    return last(candidates)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def launch(scheduler: str) -> Any:
    return ptxsim.launch(kernel(LOADS), 4, 256, [np.zeros(1 << 16, np.uint32), 1], scheduler=scheduler)


def test_a_scheduler_of_ones_own(own: Path) -> None:
    first, highest = launch(f"{own}:pick"), launch(f"{own}:highest")
    assert first.scheduler == f"{own}:pick"
    assert first.warp_instructions == highest.warp_instructions == launch("lrr").warp_instructions
    bench = Bench(f"{own}:highest")
    assert [bench.pick(m) for m in (ALL, 0b000111)] == [5, 2]


def test_its_window_and_number(own: Path) -> None:
    text = "\n\ndef window(sm, scheduler):\n    return (1 << sm.policy_number) - 1\n"
    own.write_text(OWN + text)
    bench = Bench(f"{own}:pick:3")
    assert (bench.policy.has_window, bench.window()) == (True, {0, 1, 2})
    own.write_text(OWN + text.replace("sm.policy_number", "8"))
    assert (
        launch(f"{own}:pick").cycles == (without := launch(f"{own}:pick")).cycles
    )  # all eight warps of a CTA
    assert without.slots["idle"] > 0


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(PtxError, match=r"(?s)E501.*cannot read 'no.py'.*give the path of a Python file"):
        policy("no.py:pick")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def pick(sm, scheduler, candidates)\n    return 1\n", "2:1: error.E502.*not Python"),
        ("import nothing_of_this_name\n", "2:1: error.E502.*ModuleNotFoundError"),
        (
            "def pik(sm, scheduler, candidates):\n    return 1\n",
            "E502.*no function 'pick'.*did you mean 'pik'",
        ),
        ("pick = 3\n", "E502.*no function 'pick'.*are: none"),
        (
            "def pick(sm, candidates):\n    return 1\n",
            "2:1: error.E502.*'pick.sm, candidates.' cannot be called",
        ),
        (
            "def pick(sm, scheduler, candidates):\n    return 1\ndef window(sm):\n    return 1\n",
            r"4:1: error.E502.*'window\(sm\)' cannot be called with 2 arguments",
        ),
    ],
)
def test_files_that_are_none(own: Path, body: str, message: str) -> None:
    own.write_text("# mine\n" + body)
    with pytest.raises(PtxError, match=f"(?s){message}"):
        policy(f"{own}:pick")


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sm.policy[scheduler, 0] = 3", "1:1: error.E502.*returns nothing, not the number of a warp"),
        ("return 1.5", "1:1: error.E502.*returns float64"),
        ("return sm.warps_here", "2:5: error.E502.*an SM has no field 'warps_here'"),
        ("return helper(candidates)", "2:5: error.E502.*cannot be compiled.*helper.*@njit"),
        ("return {}", "2:5: error.E502.*cannot be compiled.*DictType"),
    ],
)
def test_functions_that_cannot_be_compiled(own: Path, body: str, message: str) -> None:
    own.write_text(f"def pick(sm, scheduler, candidates):\n    {body}\n\ndef helper(x):\n    return x\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:{message}"):
        policy(f"{own}:pick")


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            "window(sm, scheduler):\n    return 1 << sm.index",
            "1:1: .*'window' returns int64, not a mask of warps",
        ),
        (
            "pick(sm, scheduler, mask):\n    return ctz(mask & jit.bit(3))",
            "2:5: .*cannot be compiled.*and_",
        ),
    ],
)
def test_masks_that_are_too_narrow_for_large_sms(own: Path, function: str, message: str) -> None:
    pick = "" if function.startswith("pick") else "\n\ndef pick(sm, scheduler, mask):\n    return ctz(mask)\n"
    own.write_text(f"def {function}\n{pick}\nfrom ptxsim import jit\nfrom ptxsim.jit import ctz\n")
    narrow = policy(f"{own}:pick")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:{message}") as refused:
        narrow.for_records(is_wide=True)
    assert "128 bits" in str(refused.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return 70",
            "1:1: error.E416.*'pick' chose warp 70, which cannot issue now: the candidates are 0\n",
        ),
        ("return -1", "1:1: error.E416.*chose warp -1"),
        ("return 0 if candidates == 1 else 9", "1:1: error.E416.*chose warp 9"),
        (
            "if candidates:\n        raise ValueError('what now')\n    return 0",
            "3:9: error.E416.*'pick' raised ValueError: what now",
        ),
        ("return sm.policy[scheduler, 900]", "error.E416.*'pick' raised IndexError.*136 numbers"),
    ],
)
def test_what_a_policy_does_wrong(own: Path, body: str, message: str) -> None:
    own.write_text(f"def pick(sm, scheduler, candidates):\n    {body}\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:.*{message}"):
        launch(f"{own}:pick")
