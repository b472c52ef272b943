"""Launches of one run on the host's side: programs one after the other, and each of them alone again."""

from typing import Any

import numpy as np
import pytest
from stream_kernels import kernels, small_machine

from ptxsim.launch_options import LaunchOptions
from ptxsim.launcher import prepare_launch
from ptxsim.streams import StreamLaunch
from ptxsim.timing.concurrent.build_concurrent import build_concurrent
from ptxsim.timing.concurrent.members import (
    Member,
    alone,
    first_instructions,
    joined_program,
    kernel_records,
    left_over,
)
from ptxsim.timing.machine_state import MachineState

GPU = small_machine()
# instructions of each, with the end of the text
SPIN, ADD = 5, 12


@pytest.fixture(scope="module")
def members() -> list[Member]:
    state, x = MachineState(GPU), np.zeros(64, np.uint32)
    options = LaunchOptions(gpu=GPU)
    launches = [
        StreamLaunch(kernels()["spin"], 1, 32, [4], options, 1, ()),
        StreamLaunch(kernels()["add"], (2, 1), 40, [x, 3], options, 2, ()),
        StreamLaunch(kernels()["spin"], 3, 64, [4], options, 1, (0, 1)),
    ]
    prepared = [
        prepare_launch(each.kernel, each.grid, each.block, each.args, options, state) for each in launches
    ]
    return [
        Member(p.kernel, p.program, p.image, p.plan, p.registers, each.stream, each.after)
        for p, each in zip(prepared, launches, strict=True)
    ]


def test_programs_lie_one_after_the_other(members: list[Member]) -> None:
    assert first_instructions(members) == [0, SPIN, SPIN + ADD, 2 * SPIN + ADD]
    joined, spin, add = joined_program(members), members[0].program, members[1].program
    assert joined.texts == spin.texts + add.texts + spin.texts
    # the branch of `spin` is its fourth instruction and goes to its second
    branches = [int(joined.instructions["target"][k]) for k in (3, SPIN + ADD + 3)]
    assert branches == [1, SPIN + ADD + 1]
    assert int(spin.instructions["target"][3]) == 1  # the launch's own is as it was
    # a launch of the same kernel has the same addresses: its code is in the caches once
    addresses = joined.instructions["address"].tolist()
    assert addresses[:SPIN] == addresses[SPIN + ADD :]
    assert joined.n_registers == add.n_registers


def test_records_have_the_shape_of_each(members: list[Member]) -> None:
    records = kernel_records(members)
    assert records["n_ctas"].tolist() == [1, 2, 3]
    assert records["threads_per_cta"].tolist() == [32, 40, 64]
    assert records["warps_per_cta"].tolist() == [1, 2, 2]
    assert records["first_instruction"].tolist() == [0, SPIN, SPIN + ADD]
    assert records["end_instruction"].tolist() == [SPIN, SPIN + ADD, 2 * SPIN + ADD]


def test_a_launch_alone_has_its_warps_and_its_own_instructions(members: list[Member]) -> None:
    simulation: Any = build_concurrent(members, GPU, MachineState(GPU))
    sm = simulation.sms[1]
    # slot 0: a CTA of launch 0 with warp 0; slot 1: one of launch 1 with warps 2 and 3
    sm["cta_kernel"][:2] = 0, 1
    sm["cta_slot"][[0, 2, 3]] = 0, 1, 1
    simulation.sms["resident"][1], simulation.sms["finishing"][1] = 0b1101, 0b0001
    sm["stack_pc"][0, 2] = SPIN + 6
    simulation.run["fault_instruction"] = SPIN + 7
    assert left_over(simulation) == 1
    found = alone(simulation, 1)
    assert found.program is members[1].program
    assert found.sms["resident"].tolist() == [0, 0b1100]
    assert int(found.sms[1]["stack_pc"][0, 2]) == 6
    assert int(found.run["fault_instruction"][0]) == 7
    assert simulation.sms["resident"].tolist() == [0, 0b1101]
