"""Parts of the machine that a setting takes away: each does what it says, and results stay what they are.

Figures are worked out by hand in the comments, from timing-model sections 1.2, 1.5, 1.8 and 3.4.
"""

from typing import Any

import pytest
from mixed_kernel import run_mixed

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")


ALL = [
    "pipeline.bank_conflicts=false",
    "pipeline.ex_wb=3",
    "fetch.perfect=true",
    "l1c.perfect=true",
    "icnt.head_of_line=false",
    "icnt.packet_gap_cycles=0",
    "dram.reorder_window=1",
]


@pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
def test_without_all_of_it_results_and_event_skip_stay(gpu: Any) -> None:
    machine = with_settings(gpu, ALL)
    skipped, memory = run_mixed(40, 96, gpu=machine)
    stepped, other = run_mixed(40, 96, gpu=machine, event_skip=False)
    _, whole = run_mixed(40, 96, gpu=gpu)
    assert {k: v for k, v in skipped.items() if stepped[k] != v} == {}
    assert memory == other == whole
