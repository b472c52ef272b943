"""The address map of requests, and their pool (timing-model section 3.4): expected places are worked out by hand."""

import pytest
from memory_machine import Machine

from ptxsim.base.jit import for_python
from ptxsim.timing.memory import requests
from ptxsim.timing.memory.memory_setup import make_memory
from ptxtool.formats.gpu import load_gpu

take = for_python(requests.new_request)
drop = for_python(requests.drop_request)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        # (slice, set, bank, row); 1536 bytes are one round over the channels
        (0, (0, 0, 0, 0)),
        (128, (0, 1, 0, 0)),
        (256, (2, 0, 0, 0)),
        (5 * 256, (10, 0, 0, 0)),
        (6 * 256, (1, 0, 1, 0)),  # rest 0x100: the other slice of channel 0, bank bit 0
        (12 * 256, (0, 2, 0, 0)),  # rest 0x200: without bit 8 0x100, set 2
        # rest 0x2000: bank bit 1; without bit 8 0x1000, set 32
        (6 * 0x2000, (0, 32, 2, 0)),
        # rest 0x8300 in channel 1: bits 15 and 8; without bit 8 0x4100, line 0x82, set 2
        (6 * 0x8300 + 256, (3, 2, 9, 0)),
        (6 * 0x30000, (0, 0, 0, 3)),
    ],
)
def test_address_map(line: int, place: tuple[int, int, int, int]) -> None:
    machine = Machine()
    assert machine.send(line)
    q = machine.m["request"][0]
    assert (q["slice"], q["set"], q["bank"], q["row"]) == place


def test_the_pool_is_a_stack() -> None:
    """The request that was dropped last is the next one taken: few of them are ever touched."""
    m = make_memory(load_gpu("tesla-c2050"))[0]
    assert [take(m), take(m)] == [0, 1]
    drop(m, 0)
    assert int(m["n_free"]) == int(m["pool"]) - 1
    assert [take(m), take(m)] == [0, 2]
