"""When an SM may do a cycle before the others: at cycle 100, for its next work in cycle 110."""

from typing import Any

import numpy as np
import pytest
from built import GPU

import ptxtool
from ptxsim.base.jit import uncached
from ptxsim.timing.core import ahead
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.sm_state import ALL_MEMORY_FREE, PENDING, RUN, SM
from ptxtool.formats.samples import sample_file

NOW, FOLLOWING = 100, 110
MEMORY = make_memory(GPU)


@uncached
def may_go_on(run: Any, sm: Any, memory: Any, now: int) -> Any:
    return ahead.may_go_on(run[0], sm[0], memory[0], now)


def allowed(
    following: int = FOLLOWING,
    reply: int = FOREVER,
    memory_next: int = FOREVER,
    sent: int = 0,
    is_open: tuple[int, ...] = (),
    **changes: int,
) -> bool:
    """Whether an idle SM may go on, with changes of its record or that of the run."""
    run, sm = np.zeros(1, RUN), np.zeros(1, SM)
    run["ahead"], run["horizon"], run["stop_cycle"], run["wheel"], run["response_hops"] = (
        64,
        12,
        1 << 40,
        63,
        2,
    )
    run["sm_next"][0, 0] = following
    run["is_open"][0, list(is_open)] = 1
    sm["memory_free"], sm["pending_free_n"] = ALL_MEMORY_FREE, PENDING
    wake = changes.pop("wake", None)
    if wake is not None:
        sm["wakes"][0, wake & 63] = 1
    for name, value in changes.items():
        (run if name in (run.dtype.names or ()) else sm)[name] = value
    MEMORY["next"] = memory_next
    MEMORY["replies"]["out_due"][0, 0] = reply
    MEMORY["requests"]["input"]["flits"][0, 0] = sent
    return bool(may_go_on(run, sm, MEMORY, NOW))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"following": NOW + 63}, True),
        ({"following": NOW + 64}, False),
        ({"ahead": 0}, False),
        ({"stop_cycle": FOLLOWING}, False),
        ({"timeline": 1}, False),
    ],
)
def test_as_far_as_the_run_allows(changes: dict[str, int], expected: bool) -> None:
    assert allowed(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"has_head": 1, "outside": 1}, True),  # its warp is not ready
        ({"has_head": 1, "outside": 1, "ready": 1}, False),
        ({"has_head": 1, "outside": 1, "blocked": 1}, False),
        ({"has_head": 1, "ready": 1}, True),  # no access beyond the SM
        ({"has_head": 1, "outside": 1, "wake": FOLLOWING}, False),  # ready in that cycle
        ({"has_head": 1, "outside": 1, "wake": FOLLOWING + 1}, True),
        ({"sent": 1}, False),
        ({"finishing": 1}, False),  # a CTA may end
        ({"finishing": 1, "storing": 1}, True),
        ({"is_open": (0,), "n_ctas": 5, "next_cta": 4}, False),  # one may start
        ({"is_open": (0,), "n_ctas": 5, "next_cta": 5}, True),
        ({"is_open": (1, 70), "n_ctas": 5}, True),  # on another SM
    ],
)
def test_nothing_that_others_see_may_happen(changes: dict[str, Any], expected: bool) -> None:
    assert allowed(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"reply": FOLLOWING - 2}, False),  # two hops to the LDST unit: there in that cycle
        ({"reply": FOLLOWING - 1}, True),
        ({"following": NOW + 12, "storing": 1}, True),  # the memory does nothing before
        ({"following": NOW + 12, "storing": 1, "memory_next": NOW + 12}, False),
        ({"following": NOW + 11, "storing": 1, "memory_next": NOW + 11}, True),  # no reply is as fast
        ({"following": NOW + 12, "memory_next": NOW + 12}, True),  # the SM waits for none
        ({"following": NOW + 12, "pending_free_n": PENDING - 1, "memory_next": NOW + 12}, False),
    ],
)
def test_no_reply_may_arrive(changes: dict[str, int], expected: bool) -> None:
    assert allowed(**changes) == expected


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-qv100"])
def test_the_order_of_sms_changes_nothing(gpu: str) -> None:
    """A limit of cycles makes all SMs go together: networks of flits and of packets."""
    folder = sample_file("saxpy").parent
    kernel = ptxtool.load(folder / "kernel.ptx").kernels["saxpy"]
    found = [
        ptxtool.simulate(kernel, folder / "launch.toml", gpu=gpu, **limit).result.stats
        for limit in ({}, {"max_cycles": 10**9})
    ]
    assert found[0] == found[1]
