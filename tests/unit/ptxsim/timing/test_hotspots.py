"""Hotspots on the host: names of reasons and counts, and sums that agree with the plain counters of a launch."""

from typing import Any

import pytest
from kernels import sample

import ptxsim
from ptxsim.timing.core import reason_codes
from ptxtool.results.hotspots import REASONS


def test_reasons_are_named_in_the_order_of_their_codes() -> None:
    codes = [getattr(reason_codes, name.upper()) for name in REASONS]
    assert codes == list(range(reason_codes.N_REASONS))
    idle, scoreboard = reason_codes.WINDOW, reason_codes.HELD
    for code, reason in zip(codes, REASONS.values(), strict=True):
        assert reason.kind == ("idle" if code <= idle else "scoreboard" if code <= scoreboard else "stall")


def test_counts_of_an_instruction_are_named_in_the_order_of_their_codes() -> None:
    assert [getattr(reason_codes, name.upper()) for name in reason_codes.COUNTS] == list(range(8))


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050", "gtx980-finereg"])
@pytest.mark.parametrize("scheduler", ["lrr", "gto", "two_level:4"])
@pytest.mark.parametrize(("name", "grid"), [("sgemm", (14, 2)), ("hotspot", (14, 5)), ("reduction", (90,))])
def test_reasons_sum_to_the_kinds_and_change_nothing(
    name: str, grid: tuple[int, ...], scheduler: str, gpu: str
) -> None:
    launch, code = sample(name)
    options = {"registers": launch.registers, "dynamic_shared": launch.dynamic_shared}

    def once(**more: Any) -> ptxsim.SimResult:
        return ptxsim.launch(
            code, grid, launch.block, launch.arguments(), scheduler=scheduler, gpu=gpu, **options, **more
        )

    plain, asked = once(), once(hotspots=True)
    found = asked.hotspots
    assert found is not None
    data = asked.to_dict()
    assert data.pop("hotspots")["kinds"] == plain.slots
    assert data == plain.to_dict()
    # every SM's reasons are compared with its slots where they are read; here what is charged to instructions
    for reason in REASONS:
        at = sum(s.reasons.get(reason, 0) for s in found.instructions)
        assert at + found.elsewhere.get(reason, 0) == found.reasons[reason]
        assert sum(reasons[reason] for reasons in found.per_sm) == found.reasons[reason]
    assert sum(s.issues for s in found.instructions) == found.reasons["issued"] == plain.warp_instructions
    assert sum(s.lanes for s in found.instructions) == plain.thread_instructions
    assert sum(n * lanes for lanes, n in plain.issued_by_lanes.items()) == sum(
        s.active for s in found.instructions
    )
    assert sum(s.divergent for s in found.instructions) == plain.core["divergent_branches"]
    assert sum(s.caused for s in found.instructions) <= found.slots
    kinds = found.kinds(found.reasons)
    assert {kind: kinds[kind] for kind in plain.slots} == plain.slots
