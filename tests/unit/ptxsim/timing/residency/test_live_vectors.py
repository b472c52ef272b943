"""Live-register vectors: what a look-up costs, and the direct-mapped cache that they come from."""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from waiting_ctas import wait

import ptxsim
from ptxsim.base.jit import for_python
from ptxsim.timing.residency import live_vectors
from ptxsim.timing.residency.switch_records import NOWHERE, SWITCH
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

enter_vector = for_python(live_vectors.enter_vector)


def test_looking_up_takes_its_time() -> None:
    slow, fast = (wait(3, f"switching.vector_hit_cycles={n}").cycles for n in (51, 1))
    # what delays CTA 2's beginning is over when it is needed; what delays CTA 1's coming back is not
    assert slow - fast == 50


@pytest.mark.parametrize("entries", [1, 32])
def test_a_small_vector_cache_misses_more(entries: int) -> None:
    launch, kernel = sample("conv1")
    options: dict[str, Any] = {"registers": launch.registers, "switching": "finereg"}
    gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.count=2", f"switching.vector_entries={entries}"])
    found = ptxsim.launch(kernel, (40, 4), launch.block, launch.arguments(), gpu=gpu, **options).switching
    looked_up = found.vector_hits + found.vector_misses
    assert looked_up > 30
    assert found.vector_misses > looked_up / 2 if entries == 1 else found.vector_misses < looked_up / 2


@pytest.mark.parametrize(
    ("instruction", "entry"),
    [
        (7, 7),
        (32, 1),  # bits 5 to 9 are mixed with bits 0 to 4: 0 ^ 1
        (33, 0),  # 1 ^ 1
        (1024 + 5, 4),  # and bits 10 to 14: 5 ^ 1 (bit 10 alone of these; bits 5 to 9 are 0)
    ],
)
def test_the_entry_of_a_vector_is_a_hash_of_its_instruction(instruction: int, entry: int) -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["vector_entries"], switch["vector_tag"] = 32, NOWHERE
    switch["vector_wanted"] = instruction
    enter_vector(switch)
    assert np.flatnonzero(switch["vector_tag"] != NOWHERE).tolist() == [entry]
    assert int(switch["vector_tag"][entry]) == int(switch["vector_came"]) == instruction
    assert int(switch["vector_wanted"]) == NOWHERE
