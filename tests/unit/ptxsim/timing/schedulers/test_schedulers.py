"""Warp schedulers: the order each chooses, worked out by hand; what it costs; what is told of one that is wrong."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernel import cost, cycles, kernel
from msgspec.structs import replace

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.timing.schedulers import policy
from ptxsim.timing.sm_state import SM
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu

ALL = 0b111111


class Bench:
    """One scheduler with six warps, of which that in slot 0 was launched last: it is the youngest."""

    def __init__(self, name: str):
        self.policy = policy(name)
        self.sm = np.zeros(1, SM)[0]
        self.sm["dynamic_id"][:6] = [5, 0, 1, 2, 3, 4]
        self.sm["supervised"][0] = self.sm["resident"] = ALL
        self.sm["policy_number"] = self.policy.number

    def pick(self, candidates: int) -> int:
        return int(self.policy.pick(self.sm, 0, candidates))

    def window(self) -> set[int]:
        mask = int(self.policy.window(self.sm, 0))
        return {w for w in range(6) if mask >> w & 1}


def test_loose_round_robin_begins_behind_the_last_issuer() -> None:
    bench = Bench("lrr")
    assert [bench.pick(ALL) for _ in range(7)] == [0, 1, 2, 3, 4, 5, 0]
    assert [bench.pick(0b001001), bench.pick(0b001001), bench.pick(0b010011)] == [3, 0, 1]


def test_greedy_stays_until_it_cannot() -> None:
    bench = Bench("gto")
    assert bench.pick(ALL) == 0  # the greedy warp at the start
    assert bench.pick(0b111110) == 1  # the oldest
    assert bench.pick(ALL) == 1  # greedy now
    assert [bench.pick(0b111101), bench.pick(0b001100), bench.pick(ALL)] == [2, 2, 2]
    assert bench.pick(0b100001) == 5  # slot 0 is the youngest


def test_oldest_first_goes_back_to_older_ones() -> None:
    bench = Bench("old")
    assert [bench.pick(m) for m in (ALL, 0b111101, ALL, 0b100001, 0b000001)] == [1, 2, 1, 5, 0]


def test_owners_first() -> None:
    bench = Bench("owf")
    bench.sm["warp_class"][:6] = [0, 2, 1, 0, 2, 1]  # owners 0 and 3; 0 is the youngest of all
    assert [bench.pick(m) for m in (ALL, 0b110110, 0b110010, 0b010010, 0b000001)] == [3, 2, 5, 1, 0]


def test_owners_first_greedy_within_their_class() -> None:
    bench = Bench("owf_greedy")
    bench.sm["warp_class"][:6] = [0, 2, 1, 0, 2, 1]
    assert bench.pick(ALL) == 0  # the greedy warp at the start, of the best class
    assert bench.pick(0b110110) == 2  # of the best class that is there the oldest
    assert bench.pick(0b110110) == 2
    assert bench.pick(0b100000) == 5
    assert bench.pick(0b110110) == 5  # greedy: 2 is older
    assert bench.pick(0b111110) == 3  # an owner all the same
    bench.sm["warp_class"][3] = 2  # the class is that of now
    assert bench.pick(0b111110) == 2


def test_strict_round_robin_keeps_the_turn() -> None:
    bench = Bench("rrr")
    assert (bench.window(), bench.pick(0b000001), bench.window()) == ({0}, 0, {1})
    assert bench.window() == {1}  # it has not issued
    bench.sm["at_barrier"] = 0b000010
    assert (bench.window(), bench.pick(0b000100), bench.window()) == ({2}, 2, {3})
    bench.sm["finishing"] = 0b111000
    assert bench.window() == {0}
    bench.sm["in_atomic"] = 0b000101
    assert bench.window() == set()


def test_static_limit_looks_at_the_oldest_and_the_greedy_one() -> None:
    bench = Bench("static_limit:2")
    assert bench.window() == {0, 1, 2}  # the greedy one of the start, and the oldest two
    assert (bench.pick(0b000100), bench.window()) == (2, {1, 2})
    bench.sm["at_barrier"] = 0b000010
    assert bench.window() == {2, 3}
    assert (bench.pick(0b001000), bench.window()) == (3, {2, 3})
    bench.sm["resident"] = 0b100001
    assert bench.window() == {0, 5}


def test_two_levels() -> None:
    bench = Bench("two_level:2")
    bench.sm["has_head"] = ALL
    assert bench.window() == {0, 1}  # active 0 1, pending 2 3 4 5
    assert (bench.pick(0b000011), bench.pick(0b000011), bench.pick(0b000011)) == (0, 1, 0)  # active 1 0
    bench.sm["long_wait"] = 0b000010
    assert bench.window() == {0, 2}  # 1 goes to the end: active 0 2, pending 3 4 5 1
    assert bench.pick(0b000100) == 2  # from the list 2 0, 2 behind the others: active 0 2
    bench.sm["long_wait"] = 0b001111
    assert bench.window() == {3, 4}  # active 3 4, pending 5 1 0 2: 3 comes without a test
    assert bench.window() == {4, 5}  # active 4 5, pending 1 0 2 3
    bench.sm["at_barrier"] = 0b110000
    assert bench.window() == {1, 0}  # pending 2 3 4 5
    bench.sm["long_wait"] = 0
    assert (bench.pick(0b000011), bench.pick(0b000011)) == (1, 0)
    bench.sm["long_wait"] = 0b000010
    bench.sm["has_head"] = 0b111101  # what it was of has issued, and nothing is decoded yet
    assert bench.window() == {1, 0}


@pytest.mark.parametrize(
    ("scheduler", "at_once"),
    [
        *(
            (name, 4)
            for name in ("lrr", "gto", "old", "rrr", "owf", "owf_greedy", "static_limit:4", "two_level")
        ),
        *(("static_limit:1", 1), ("static_limit:2", 2), ("two_level:1", 1), ("two_level:2", 2)),
    ],
)
def test_chains_overlap_for_as_many_warps_as_a_scheduler_looks_at(scheduler: str, at_once: int) -> None:
    # 4 warps per scheduler, each a chain of additions that issue every 11 cycles (section 7.3, row 1)
    assert cost("add.f32 $r1, $r1, $r2;", block=256, scheduler=scheduler) == pytest.approx(
        44 / at_once, abs=0.3
    )


LOADS = """
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r1, $r1, 0x00000002;
	add.u32 $r1, $r1, s[0x0010];
"""
LOADS += "".join(f"\tld.global.u32 $r2, [$r1+{4096 * k}];\n\tadd.u32 $r3, $r2, $r2;\n" for k in range(6))


def test_a_load_makes_room_for_pending_warps() -> None:
    # 4 warps per scheduler, 6 loads each of about 280 cycles, one at a time: 4 x 6 x 280 where a warp has to end before
    # the next may begin, 6 x 280 where they wait together
    def run(scheduler: str) -> int:
        return cycles(LOADS, block=256, words=1 << 16, scheduler=scheduler)

    assert run("static_limit:1") > 2.5 * run("lrr")
    assert run("two_level:1") < 1.2 * run("lrr")


def test_what_is_one_policy_under_two_names() -> None:
    def run(scheduler: str) -> Any:
        result = ptxsim.launch(
            kernel(LOADS), 40, 256, [np.zeros(1 << 16, np.uint32), 1], scheduler=scheduler
        ).to_dict()
        assert result.pop("scheduler") == scheduler
        return result

    assert run("static_limit:64") == run("gto")
    assert run("owf") == run("old")  # nothing is shared
    assert run("owf_greedy") == run("gto")
    assert run("two_level") == run("two_level:6")


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


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("fifo", "no warp scheduler 'fifo'.*gto, lrr, old, owf"),
        ("two-level", "no warp scheduler 'two-level'.*did you mean 'two_level'"),
        ("lrr:3", "'lrr' takes no number.*write 'lrr'"),
        ("two_level:", "'' is no number of warps.*'two_level:6'"),
        ("two_level:0", "'0' is no number of warps"),
        ("two_level:65", "'65' is no number of warps.*from 1 to 64"),
        ("static_limit", "a number of warps is missing.*'static_limit:8'"),
        ("no.py", "names no function.*'no.py:pick'"),
        ("no.py:pick:x", "'x' is no whole number"),
    ],
)
def test_names_that_are_none(name: str, told: str) -> None:
    with pytest.raises(PtxError, match=f"(?s)E502.*{told}"):
        policy(name)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(PtxError, match=r"(?s)E501.*cannot read 'no.py'.*give the path of a Python file"):
        policy("no.py:pick")


@pytest.mark.parametrize(
    ("body", "told"),
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
def test_files_that_are_none(own: Path, body: str, told: str) -> None:
    own.write_text("# mine\n" + body)
    with pytest.raises(PtxError, match=f"(?s){told}"):
        policy(f"{own}:pick")


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sm.policy[scheduler, 0] = 3", "1:1: error.E502.*returns nothing, not the number of a warp"),
        ("return 1.5", "1:1: error.E502.*returns float64"),
        ("return sm.warps_here", "2:5: error.E502.*an SM has no field 'warps_here'"),
        ("return helper(candidates)", "2:5: error.E502.*cannot be compiled.*helper.*@njit"),
        ("return {}", "2:5: error.E502.*cannot be compiled.*DictType"),
    ],
)
def test_functions_that_cannot_be_compiled(own: Path, body: str, told: str) -> None:
    own.write_text(f"def pick(sm, scheduler, candidates):\n    {body}\n\ndef helper(x):\n    return x\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:{told}"):
        policy(f"{own}:pick")


@pytest.mark.parametrize(
    ("body", "told"),
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
def test_what_a_policy_does_wrong(own: Path, body: str, told: str) -> None:
    own.write_text(f"def pick(sm, scheduler, candidates):\n    {body}\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:.*{told}"):
        launch(f"{own}:pick")


def test_how_long_a_loaded_register_is_long() -> None:
    # 4 warps per scheduler, one active: a chain of 64 maxima (20 cycles each) that read a loaded register keeps the
    # others out, 4 x 64 x 20; where the register stays long (section 1.4) its warp goes to the queue's end in every
    # cycle, comes back after the 24 places of the queue, and the warps overlap
    chain = "\tmax.u32 $r3, $r3, $r2;\n" * 64
    machine = load_gpu("tesla-c2050")
    assert machine.pipeline.long_operation == "until-loaded"
    pipeline = replace(machine.pipeline, long_operation="until-computed")
    overlapping = replace(machine, pipeline=pipeline)

    def run(gpu: Gpu, before: str = "") -> int:
        options: dict[str, Any] = {"block": 256, "words": 1 << 16, "scheduler": "two_level:1", "gpu": gpu}
        return cycles(LOADS + before + chain, **options) - cycles(LOADS + before, **options)

    serial = 4 * 64 * 20
    assert run(machine) > 0.9 * serial
    assert run(overlapping) < 0.6 * serial
    assert run(overlapping, "\tadd.u32 $r2, $r2, $r2;\n") > 0.9 * serial  # computed: long no more
