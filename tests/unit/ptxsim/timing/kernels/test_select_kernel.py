"""Which launch gives an SM its next CTA, worked out by hand on two SMs. `spin` accesses no memory: what runs on another
SM changes nothing."""

import numpy as np
import pytest
from stream_kernels import kernels, small_machine

import ptxsim
from ptxtool.results.concurrency import ConcurrentResult

ROUNDS = 20


def spin_twice(policy: str, first: int, second: int, *settings: str, threads: int = 32) -> ConcurrentResult:
    """So many CTAs of `spin` on one stream, and on another so many of twice its rounds."""
    machine = ptxsim.Machine(small_machine(f'dispatch.kernels="{policy}"', *settings))
    for grid, rounds in ((first, ROUNDS), (second, 2 * ROUNDS)):
        machine.stream().launch(kernels()["spin"], grid, threads, [rounds])
    found = machine.synchronize()
    assert found is not None
    return found


def alone(rounds: int, grid: int = 1) -> int:
    """The cycle in which the last CTA of `spin` ends where nothing else runs."""
    machine = ptxsim.Machine(small_machine())
    return machine.launch(kernels()["spin"], grid, 32, [rounds]).cycles - 1


@pytest.mark.parametrize("policy", ["one-per-sm", "spatial"])
def test_two_kernels_of_a_cta_each_take_as_long_as_the_longer_one(policy: str) -> None:
    # cycle 0: SM 0 takes the only CTA of the first; SM 1 that of the second
    found = spin_twice(policy, 1, 1)
    first, second = found.launches
    assert (first.first_cycle, second.first_cycle) == (0, 0)
    assert (first.end_cycle, second.end_cycle) == (alone(ROUNDS), alone(2 * ROUNDS))
    assert found.cycles == second.end_cycle + 1
    assert found.overlap_cycles == first.end_cycle


def test_an_sm_with_one_kernel_waits_until_it_is_empty() -> None:
    """4 CTAs of the first, at most 2 on an SM (a small grid spreads): cycle 0 SM 0 and SM 1, cycle 1 again. Both SMs
    have two equal warps then, so both are empty in the cycle in which a run of the first alone ends; the two CTAs of
    the second begin there, one on each."""
    found = spin_twice("one-per-sm", 4, 2)
    first, second = found.launches
    end = alone(ROUNDS, grid=4)
    assert (first.first_cycle, first.end_cycle) == (0, end)
    assert second.first_cycle == end
    # from then on as if it were alone: its two CTAs do not share an SM
    assert second.end_cycle == end + alone(2 * ROUNDS)
    assert found.overlap_cycles == 0


def test_leftovers_go_to_the_next_kernel() -> None:
    """Cycle 0: two CTAs of the first. Cycle 1: its other two. Cycle 2: the two of the second, on the same SMs, which
    have 8 slots each."""
    first, second = spin_twice("leftover", 4, 2).launches
    assert (first.first_cycle, second.first_cycle) == (0, 2)


@pytest.mark.parametrize(
    ("setting", "begins"),
    [
        ("sm.ctas=3", True),
        ("sm.ctas=2", False),  # two of the first are all that an SM takes
        ("sm.warps=3", True),
        ("sm.warps=2", False),
        # a register and a predicate: 4 registers a thread, which are the unit, so 128 a CTA of a warp
        ("sm.registers=384", True),
        ("sm.registers=320", False),
    ],
)
def test_leftovers_are_slots_warps_and_registers(setting: str, begins: bool) -> None:
    settings = [setting] + (["sm.threads=96"] if setting == "sm.warps=3" else [])
    settings += ["sm.threads=64"] if setting == "sm.warps=2" else []
    first, second = spin_twice("leftover", 4, 2, *settings).launches
    assert first.registers == second.registers
    assert (second.first_cycle == 2) == begins
    if (
        not begins
    ):  # until the CTA that was launched in cycle 0 has ended; its warp has a scheduler of its own
        assert second.first_cycle == alone(ROUNDS)


def test_sms_are_divided_among_the_kernels_that_have_ctas() -> None:
    """Cycle 0: SM 0 takes one of the first, SM 1 one of the second; cycle 1 again. The second has none left then: both
    SMs are for the first, but SM 0 has the two CTAs that it takes of it and SM 1 runs those of the second."""
    found = spin_twice("spatial", 4, 2)
    first, second = found.launches
    assert (first.first_cycle, second.first_cycle) == (0, 0)
    two = ptxsim.Machine(small_machine("sm.count=1")).launch(kernels()["spin"], 2, 32, [ROUNDS]).cycles - 1
    # its other two begin on SM 0 when the first of its CTAs has ended there
    assert first.end_cycle > two
    assert first.cta_cycles < 4 * first.cycles


@pytest.mark.parametrize(
    ("policy", "sms"),
    [
        # SMs 0 and 1, 2 and 3, 4 and 5 are for a launch each, which has no CTA for a third one in cycle 0
        ("spatial", [[0, 1], [2, 3], [4, 5]]),
        # cycle 0: the six of the first; cycle 1: of the second, beside them; cycle 2: of the third
        ("leftover", [[0, 1, 2, 3, 4, 5]] * 3),
        # cycle 0: the six of the first, one on each SM, as a small grid spreads
        ("one-per-sm", [[0, 1, 2, 3, 4, 5]]),
    ],
)
def test_the_sms_of_the_first_ctas(policy: str, sms: list[list[int]]) -> None:
    machine = ptxsim.Machine(small_machine("sm.count=6", f'dispatch.kernels="{policy}"'))
    places = [np.full(6, 99, np.uint32) for _ in range(3)]
    for each in places:
        machine.stream().launch(kernels()["placed"], 6, 32, [each])
    result = machine.synchronize()
    assert result is not None
    assert [each[: len(want)].tolist() for each, want in zip(places, sms, strict=False)] == sms
    assert max(each.max() for each in places) == 5
    begins = [launch.first_cycle for launch in result.launches]
    assert begins[: len(sms)] == ([0, 1, 2] if policy == "leftover" else [0] * len(sms))


def test_warps_of_ctas_of_different_shapes_do_not_overlap() -> None:
    """3 warps and 2 warps and 4 on one SM, at multiples of their own: 0 to 2; 4 and 5; 8 to 11."""
    machine = ptxsim.Machine(small_machine("sm.count=1", 'dispatch.kernels="leftover"'))
    lines = [np.arange(n, dtype=np.uint32) for n in (96, 64, 128)]
    for line in lines:
        machine.stream().launch(kernels()["reversed"], 1, len(line), [line])
    found = machine.synchronize()
    assert found is not None
    assert [x.first_cycle for x in found.launches] == [0, 1, 2]
    assert found.whole.core["barriers"] == 3 + 2 + 4
    for line in lines:
        assert line.tolist() == list(range(len(line)))[::-1]
