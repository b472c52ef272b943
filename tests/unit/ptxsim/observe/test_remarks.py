"""What a run says besides its counters."""

import numpy as np
from kernels import ptx, ptxplus

import ptxsim
from ptxtool import api

STRAIGHT = "mov.u32 %r1, 1;\n" * 1200 + "ret;"
"""9600 bytes of code, which every warp reads once: a warp by itself waits for each line."""


def run(body: str, **changes: object) -> ptxsim.SimResult:
    settings = [f"{key}={value}" for key, value in changes.items()]
    return ptxsim.launch(ptx(body), 1, 32, [np.zeros(4, np.uint32)], gpu=api.gpu(settings=settings))


def test_a_machine_older_than_the_text() -> None:
    (remark,) = run("ret;", **{"fetch.perfect": "true"}).remarks
    assert remark == "compiled for sm_70, a newer GPU than the machine (sm_20)"
    assert run("ret;", **{"fetch.perfect": "true", "target": '"sm_70"'}).remarks == ()
    assert run("ret;", **{"fetch.perfect": "true", "target": '""'}).remarks == ()
    kernel = ptxplus("exit;")
    assert ptxsim.launch(kernel, 1, 32, [0], gpu=api.gpu(settings=["fetch.perfect=true"])).remarks == ()


def test_slots_lost_to_the_instruction_cache() -> None:
    lost = run(STRAIGHT, target='""')
    share = lost.core["instruction_miss_slots"] / sum(lost.slots.values())
    assert share > 0.3
    (remark,) = lost.remarks
    assert remark == (
        f"{share:.0%} of the issue slots are lost to instruction misses: 2048 bytes of cache, 9608 of code "
        "(--set fetch.ways=N)"
    )
    short = run("ret;", target='""')  # its only line is missed, but no cache would have it
    assert short.core["instruction_miss_slots"] > sum(short.slots.values()) / 10
    assert short.remarks == ()
    perfect = run(STRAIGHT, **{"fetch.perfect": "true", "target": '""'})
    assert (perfect.core["instruction_miss_slots"], perfect.remarks) == (0, ())


def test_lost_slots_do_not_depend_on_skipping_and_are_at_least_those_of_hotspots() -> None:
    found = [
        ptxsim.launch(ptx(STRAIGHT), 8, 96, [np.zeros(4, np.uint32)], **options)
        for options in ({}, {"event_skip": False}, {"hotspots": True})
    ]
    slots = [result.core["instruction_miss_slots"] for result in found]
    assert slots[0] == slots[1] == slots[2]
    assert found[2].hotspots is not None
    assert found[2].slots["idle"] >= slots[2] >= found[2].hotspots.reasons["instruction_miss"] > 0
