"""Streams and events: what waits for what, and when the machine runs it."""

import numpy as np
import pytest
from stream_kernels import kernels, small_machine

import ptxsim
from ptxtool.base.diag import PtxError


def test_a_launch_waits_for_the_one_before_it_and_for_events() -> None:
    machine = ptxsim.Machine(small_machine())
    one, other, third = machine.stream(), machine.stream(), machine.stream(9)
    spin = kernels()["spin"]
    first = one.launch(spin, 1, 32, [1])
    other.launch(spin, 1, 32, [1])
    one.launch(spin, 1, 32, [1])
    other.wait(first)
    third.wait(other.record())  # an event that has a second one before it
    other.launch(spin, 1, 32, [1])
    third.launch(spin, 1, 32, [1])
    result = machine.synchronize()
    assert result is not None
    assert [launch.stream for launch in result.launches] == [1, 2, 1, 2, 9]
    assert [launch.after for launch in result.launches] == [(), (), (1,), (1, 2), (1, 2)]


def test_what_has_run_is_not_waited_for() -> None:
    machine = ptxsim.Machine(small_machine())
    one, other = machine.stream(), machine.stream()
    done = one.launch(kernels()["spin"], 1, 32, [1])
    assert machine.synchronize() is not None
    assert machine.synchronize() is None
    other.wait(done)
    for stream in (other, one):
        stream.launch(kernels()["spin"], 1, 32, [1])
    result = machine.synchronize()
    assert result is not None
    assert [launch.after for launch in result.launches] == [(), ()]


def test_a_launch_of_the_machine_waits_for_all_streams() -> None:
    machine = ptxsim.Machine(small_machine())
    x = np.zeros(64, np.uint32)
    for _ in range(2):
        machine.stream().launch(kernels()["add"], 1, 32, [x[:32], 3])
    machine.launch(kernels()["add"], 2, 32, [x, 4])
    # two launches on streams that nothing orders read and write the same words: one addition can be lost
    assert x[32:].tolist() == [4] * 32
    assert set(x[:32].tolist()) <= {7, 10}
    assert machine.totals.launches == 3
    assert machine.totals.ctas == 4
    assert machine.totals.cycles == machine.concurrent_results[0].cycles + machine.results[-1].cycles
    machine.stream().launch(kernels()["add"], 1, 32, [x[:32], 1])
    machine.run(kernels()["add"], 1, 32, [x[:32], 1])
    assert set(x[:32].tolist()) <= {9, 12}


def test_an_event_of_another_machine_is_refused() -> None:
    one, other = (ptxsim.Machine(small_machine()).stream() for _ in range(2))
    with pytest.raises(PtxError, match="an event of another machine"):
        one.wait(other.record())
