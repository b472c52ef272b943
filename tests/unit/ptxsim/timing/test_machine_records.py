"""The records of a machine before a launch: what a GPU file puts into them, and machines that they cannot hold."""

import pytest
from built import GPU

from ptxsim.base.wide_masks import mask_of
from ptxsim.timing.machine_records import (
    check_machine,
    l1_records,
    memory_records,
    needs_wide,
    sm_records,
)
from ptxsim.timing.sm_state import SM, SM_WIDE
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

VOLTA = load_gpu("gpgpusim42-qv100")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sm.warps=129", "sm.warps: 129"),
        ("sm.ctas=65", "sm.ctas: 65"),
        ("sm.schedulers=5", "sm.schedulers: 5"),
        ("sm.warp_size=16", "sm.warp_size is 16"),
        ("pipeline.register_banks=12", "pipeline.register_banks: 12"),
        ("pipeline.register_banks=64", "pipeline.register_banks: 64"),
        ("pipeline.collectors_sp=39", "pipeline collectors: 49"),  # with 8 and 2 others
        ("pipeline.id_oc_mem=13", "pipeline entries of a port: 13"),
        (
            "pipeline.collectors_mem=18",
            "before the LDST unit: 21",
        ),  # and two entries, and the head of the unit
        ("ldst.shared_pipe_cycles=65", "ldst.shared_pipe_cycles: 65"),
        ("l1t.result_fifo=100000", "l1t.result_fifo' is 100000"),
        ("l1c.mshr_waiters=100000", "l1c.mshr_waiters' is 100000"),
    ],
)
def test_machines_that_cannot_be_held_are_refused(setting: str, message: str) -> None:
    def hold(gpu: Gpu) -> None:
        check_machine(gpu)
        sm_records(gpu)

    with pytest.raises(PtxError) as refused:
        hold(with_settings(GPU, [setting]))
    (problem,) = refused.value.diagnostics
    assert problem.code == "E502"
    assert message in problem.message


@pytest.mark.parametrize(
    ("gpu", "settings", "message"),
    [
        (GPU, ["pipeline.sub_cores=true"], "pipeline.sub_cores without pipeline.collectors_shared"),
        (GPU, ["pipeline.collector_steps=2"], "latency.mul.fp32.unit is 'EITHER', but there are six classes"),
        (GPU, ['latency.alu.int.unit="INT"'], "latency.alu.int.unit is 'INT', but there are three classes"),
        (
            VOLTA,
            ['latency.alu.int.unit="EITHER"'],
            "latency.alu.int.unit is 'EITHER', but there are six classes",
        ),
        (VOLTA, ["pipeline.int_units=0"], "is 'INT', but pipeline.int_units is 0"),
        (VOLTA, ["pipeline.dp_units=6"], "pipeline.dp_units does not go into 4 sub-cores"),
        (VOLTA, ["pipeline.id_oc_int=2"], "pipeline.id_oc_int does not go into 4 sub-cores"),
        (VOLTA, ["pipeline.collectors_shared=6"], "pipeline.collectors_shared does not go into 4"),
        (VOLTA, ["sm.schedulers=3"], "does not go into 3 sub-cores"),
        (VOLTA, ["pipeline.ports_shared=0"], "shared collector units without ports"),
        (
            VOLTA,
            ['pipeline.collector_step="ldst"'],
            "six classes with other banks or another step",
        ),
        (VOLTA, ["pipeline.out_ports_shared=17"], "pipeline out-ports: 17"),
    ],
)
def test_classes_have_units_and_sub_cores_their_parts(gpu: Gpu, settings: list[str], message: str) -> None:
    with pytest.raises(PtxError) as refused:
        check_machine(with_settings(gpu, settings))
    (problem,) = refused.value.diagnostics
    assert problem.code == "E502"
    assert message in problem.message


def test_partitions_have_as_many_banks() -> None:
    settings = ["sm.register_partitions=3", 'pipeline.bank_function="reg"']
    with pytest.raises(PtxError, match=r"E502.*16 register banks in 3 partitions"):
        check_machine(with_settings(GPU, settings))


def test_warps_belong_to_schedulers_in_turn() -> None:
    sms = sm_records(with_settings(GPU, ["sm.warps=8", "sm.schedulers=3"])).array
    assert sms["supervised"][0].tolist() == [0b01001001, 0b10010010, 0b00100100, 0]
    sms = sm_records(with_settings(GPU, ["sm.warps=128", "sm.schedulers=1"])).array
    assert [mask_of(mask) for mask in sms["supervised"][0]] == [(1 << 128) - 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("settings", "is_wide"),
    [(["sm.warps=64", "sm.ctas=32"], False), (["sm.warps=65"], True), (["sm.ctas=33"], True)],
)
def test_only_large_sms_have_wide_records(settings: list[str], is_wide: bool) -> None:
    gpu = with_settings(GPU, settings)
    assert needs_wide(gpu) == is_wide
    assert sm_records(gpu).array.dtype == (SM_WIDE if is_wide else SM)


def test_a_perfect_cache_is_one_line_that_is_there() -> None:
    sm = sm_records(with_settings(GPU, ["fetch.perfect=true"])).array[0]
    assert (int(sm["l1i"]["sets"]), int(sm["l1i"]["ways"]), int(sm["l1i"]["line_shift"])) == (1, 1, 40)
    assert sm["l1i"]["tag"][0] == 1
    assert int(sm["l1c"]["sets"]) == 64


def test_sets_that_are_no_power_of_two_have_no_mask() -> None:
    masks = [sm_records(with_settings(GPU, [f"fetch.sets={n}"])).array["l1i"]["set_mask"][0] for n in (3, 4)]
    assert masks == [-1, 3]


def test_a_machine_of_80_sms_has_records_of_megabytes() -> None:
    """A process that simulates it takes 410 MiB, of which the interpreter and machine code are more than half."""
    gpu = load_gpu("gpgpusim42-qv100")
    of_sms, of_l1s, of_memory = sm_records(gpu), l1_records(gpu), memory_records(gpu)
    assert sum(records.array.nbytes for records in (of_sms, of_l1s, of_memory)) < 256 << 20
