"""The settings of a machine in the record that the cycle loop reads."""

import pytest
from built import GPU

from ptxsim.base.program import DP, INT, SFU, SP, TENSOR
from ptxsim.timing.run_record import run_record
from ptxsim.timing.sharing.pairs import NON_OWNER, OWNER, SAFE, STRICT, SYMMETRIC, UNSHARED
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings


def test_collector_units_of_the_three_classes_lie_side_by_side() -> None:
    run = run_record(GPU)[0]  # 6, 8 and 2
    assert run["first_collector"].tolist() == [0, 6, 14]
    assert run["collectors"].tolist() == [0x3F, 0x3FC0, 0xC000]


def test_units_of_all_classes_lie_side_by_side() -> None:
    # four of each, in the order SP, SFU, TENSOR, DP, INT
    run = run_record(load_gpu("gpgpusim42-qv100"))[0]
    assert run["class_units"].tolist() == [4, 4, 0, 0, 4, 4, 4]
    assert run["first_unit"][[SP, SFU, TENSOR, DP, INT]].tolist() == [0, 4, 8, 12, 16]
    assert (int(run["last_sub_core"]), int(run["sub_core_banks"])) == (3, 4)


@pytest.mark.parametrize(("first_sm", "before"), [(0, 13), (1, 0), (13, 12)])
def test_the_sm_before_the_first_one_counts_as_the_last_that_got_a_cta(first_sm: int, before: int) -> None:
    run = run_record(with_settings(GPU, [f"dispatch.first_sm={first_sm}"]))[0]
    assert (int(run["last_sm"]), int(run["launched_sm"])) == (before, before)


@pytest.mark.parametrize(
    ("setting", "field", "code"),
    [
        ('sharing.lock_rule="safe"', "lock_rule", SAFE),
        ('sharing.lock_rule="strict"', "lock_rule", STRICT),
        ('sharing.lock_rule="symmetric"', "lock_rule", SYMMETRIC),
        ('sharing.unowned="owner"', "unowned_class", OWNER),
        ('sharing.unowned="unshared"', "unowned_class", UNSHARED),
        ('sharing.unowned="non-owner"', "unowned_class", NON_OWNER),
        ('pipeline.first_path="taken"', "taken_first", 1),
        ('dispatch.idle_sms="asleep"', "count_idle", 0),
    ],
)
def test_words_become_codes(setting: str, field: str, code: int) -> None:
    assert int(run_record(with_settings(GPU, [setting]))[0][field]) == code


def test_segments_as_long_as_a_line_are_none() -> None:
    found = [int(run_record(load_gpu(n))[0]["uncached_segment"]) for n in ("tesla-c2050", "gpgpusim42-c2050")]
    assert found == [0, 32]


def test_a_launch_that_changes_its_record_changes_no_other() -> None:
    run_record(GPU)["n_ctas"] = 7
    assert int(run_record(GPU)[0]["n_ctas"]) == 0
