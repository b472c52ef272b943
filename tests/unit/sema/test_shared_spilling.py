"""The pragma that spills to shared memory, where ptxas refuses it or finds no room."""

import pytest
from bound_samples import FULL, SAMPLES, Sample
from diagnosed import reported

SPILLING = [s for s in SAMPLES if "enable_smem_spilling" in s.text]


@pytest.mark.parametrize("sample", SPILLING, ids=lambda s: " ".join(s.text.split())[50:120])
def test_what_ptxas_says(sample: Sample) -> None:
    assert tuple(code for _, code, _ in reported(sample.text)) == sample.codes


def test_no_room_is_left() -> None:
    assert reported(FULL) == [(8, "W214", '.pragma "enable_smem_spilling";')]
    assert reported(FULL.replace("49152", "49148")) == []
