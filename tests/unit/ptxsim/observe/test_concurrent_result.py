"""The shares of launches in a run that was stopped: counted up to the end."""

from stream_kernels import kernels, small_machine

import ptxsim


def test_a_run_that_the_limit_ends_has_counters_so_far() -> None:
    """The first is done within 100 cycles, the second (12,000 instructions) is not, the third waits for it."""
    machine = ptxsim.Machine(small_machine(), max_cycles=1000)
    machine.stream().launch(kernels()["spin"], 1, 32, [2])
    long = machine.stream()
    for _ in range(2):
        long.launch(kernels()["spin"], 1, 32, [4000])
    result = machine.synchronize()
    assert result is not None
    assert (result.status, result.cycles) == ("max-cycles", 1000)
    first, second, third = result.launches
    assert first.ctas_done == 1
    assert 0 < first.end_cycle < 100
    assert (second.ctas_done, second.first_cycle, second.end_cycle, second.cycles) == (0, 0, -1, 1000)
    assert second.cta_cycles == 1000
    assert (third.ready_cycle, third.first_cycle, third.end_cycle, third.cycles) == (-1, -1, -1, 0)
    assert third.warp_instructions == 0
    assert result.whole.kernel == "spin"
    assert result.whole.grid == (3, 1, 1)
