"""Records that launches use one after the other: nothing of a launch is in them when the next one gets them."""

import gc
import threading
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.base.pool import record_pool
from ptxsim.timing.machine_records import l1_records, memory_records, sm_records
from ptxsim.timing.memory.memory_state import L1
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

GPUS = ("tesla-c2050", "gpgpusim42-c2050")
HEAD = ".version 6.0\n.target sm_35\n.address_size 64\n"
# one lane less goes on at every branch, and they meet one after the other: entries 30 deep
LEAVE = "\n".join(f"\tsetp.le.u32 %p1, %r1, {n};\n\t@%p1 bra $E{n};" for n in range(30))
MEET = "\n".join(f"$E{n}:\n\tadd.u32 %r9, %r9, {n};" for n in reversed(range(30)))
KERNELS = f"""{HEAD}
.const .align 4 .b8 table[4096];
.tex .u64 image;
.visible .entry all(.param .u64 x, .param .u32 n)
{{
	.reg .b32 %r<12>;
	.reg .b64 %d<6>;
	.reg .f32 %f<6>;
	.reg .pred %p<4>;
	.local .align 16 .b8 frame[64];
	.shared .align 4 .b8 tile[1024];
	ld.param.u64 %d1, [x];
	ld.param.u32 %r8, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r3, %r2, %r3, %r1;
	mul.lo.u32 %r4, %r3, 97;
	rem.u32 %r4, %r4, %r8;
	mul.wide.u32 %d2, %r4, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r5, [%d2];
	st.local.v4.u32 [frame+16], {{%r1, %r2, %r3, %r5}};
	ld.local.v2.u32 {{%r6, %r7}}, [frame+24];
	mul.wide.u32 %d3, %r1, 4;
	mov.u64 %d4, table;
	add.u64 %d4, %d4, %d3;
	ld.const.u32 %r9, [%d4];
	and.b32 %r1, %r1, 31;
{LEAVE}
{MEET}
	mov.u32 %r10, tile;
	cvt.u32.u64 %r11, %d3;
	add.u32 %r10, %r10, %r11;
	st.shared.u32 [%r10], %r9;
	bar.sync 0;
	ld.shared.u32 %r9, [%r10];
	cvt.rn.f32.u32 %f1, %r1;
	tex.2d.v4.f32.f32 {{%f2, %f3, %f4, %f5}}, [image, {{%f1, %f1}}];
	cvt.rzi.u32.f32 %r10, %f2;
	add.u32 %r9, %r9, %r10;
	atom.global.add.u32 %r5, [%d2], %r9;
	membar.gl;
	sin.approx.f32 %f1, %f1;
	ret;
}}
.visible .entry bad(.param .u64 x)
{{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4096;
	add.u64 %d1, %d1, %d2;
	ld.global.u32 %r2, [%d1];
	st.global.u32 [%d1], %r2;
	ret;
}}
"""
N = 1 << 18


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> None:
    """The collector need not look for rubbish in what other tests have left: it does for every test here."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def empty_pool() -> None:
    """Machines of other tests have given back theirs."""
    gc.collect()
    record_pool._pool.clear()


@pytest.fixture(scope="module")
def kernels() -> dict[str, Function]:
    return dict(parse(KERNELS, "kernels.ptx").kernels)


def launch(kernel: Function, gpu: Gpu, **options: Any) -> tuple[ptxsim.SimResult, np.ndarray]:
    x = np.arange(N, dtype=np.uint32)
    image = ptxsim.Texture(np.arange(1 << 12, dtype=np.float32).reshape(64, 64))
    given: dict[str, Any] = {
        "grid": 56,
        "block": 256,
        "textures": {"image": image},
        "registers": 24,
    } | options
    return ptxsim.launch(kernel, args=[x, N], gpu=gpu, **given), x


def stock(gpu: Gpu) -> list[record_pool.PooledRecords]:
    return [records for records in record_pool._pool if records.gpu is gpu]


@pytest.mark.parametrize("name", GPUS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scheduler": "two_level", "share_registers": 90},
        {"scheduler": "owf", "share_registers": 90, "dynamic": True},
        {"max_cycles": 700},
        {"max_cycles": 2500, "scheduler": "gto"},
        {"grid": 1, "block": 32},
        {"grid": 2, "block": 64, "event_skip": False, "scheduler": "two_level"},
        {"grid": 3, "block": 64, "scheduler": "static_limit:1", "max_cycles": 150},
        {"grid": 4, "block": 192, "scheduler": "rrr", "share_registers": 90},
        {"scheme": "virtual-thread"},
        {"scheme": "finereg", "grid": 200, "block": 64},
        {"scheme": "regmutex"},
    ],
    ids=str,
)
def test_what_is_given_back_is_as_it_was_made(
    name: str, options: dict[str, Any], kernels: dict[str, Function]
) -> None:
    gpu = load_gpu(name)
    launch(kernels["all"], gpu, **options)
    found = stock(gpu)
    assert {records.array.dtype.itemsize for records in found} == {
        make(gpu).array.dtype.itemsize for make in (sm_records, memory_records)
    } | {L1.itemsize}
    for records in found:
        assert_new(records)


@pytest.mark.parametrize("name", GPUS)
def test_a_sequence_of_kernels_gives_back_each_ones_sms_as_they_were_made(
    name: str, kernels: dict[str, Function]
) -> None:
    gpu = load_gpu(name)
    machine = ptxsim.Machine(gpu)
    x = np.arange(N, dtype=np.uint32)
    image = ptxsim.Texture(np.arange(1 << 12, dtype=np.float32).reshape(64, 64))
    for _ in range(2):
        machine.launch(kernels["all"], 56, 256, [x, N], textures={"image": image}, registers=24)
    (records,) = stock(gpu)  # the memory goes on, and so do the last one's SMs
    assert_new(records)
    del machine
    assert len(stock(gpu)) == 4
    for records in stock(gpu):
        assert_new(records)


@pytest.mark.parametrize("name", ["tesla-c2050", "gpgpusim42-c2050", "gpgpusim42-qv100"])
def test_small_grids_of_a_sequence_leave_no_trace_on_any_sm(name: str, kernels: dict[str, Function]) -> None:
    gpu = load_gpu(name)
    machine = ptxsim.Machine(gpu)
    x, y = (np.arange(1 << 10, dtype=np.uint32) for _ in range(2))
    image = ptxsim.Texture(np.arange(1 << 12, dtype=np.float32).reshape(64, 64))
    for buffer, scheduler in ((x, "lrr"), (y, "gto"), (y, "two_level")):  # each on the SMs after those before
        machine.launch(
            kernels["all"],
            2,
            64,
            [buffer, len(buffer)],
            textures={"image": image},
            registers=24,
            scheduler=scheduler,
        )
    del machine
    assert len(record_pool._pool) == 4
    for records in record_pool._pool:
        assert_new(records)


def test_a_machine_in_the_middle_of_a_launch_gives_nothing_back(kernels: dict[str, Function]) -> None:
    gpu = load_gpu("tesla-c2050")
    machine = ptxsim.Machine(gpu)
    with pytest.raises(PtxError, match="E404"):
        machine.launch(kernels["bad"], 1, 256, [np.zeros(32, np.uint32)])
    before = [id(records) for records in stock(gpu)]
    del machine
    assert [id(records) for records in stock(gpu)] == before


def assert_new(records: record_pool.PooledRecords) -> None:
    assert records.kind is not None
    records.restore()
    new = records.kind(records.gpu).array
    assert records.array.tobytes() == new.tobytes(), records.array.dtype


@pytest.mark.parametrize("name", GPUS)
def test_launches_do_not_see_those_before(name: str, kernels: dict[str, Function]) -> None:
    gpu = load_gpu(name)
    first, x = launch(kernels["all"], gpu)
    launch(kernels["all"], gpu, share_registers=90, scheduler="gto", registers=63, max_cycles=900)
    with pytest.raises(PtxError, match="E404"):
        ptxsim.launch(kernels["bad"], 28, 256, [np.zeros(32, np.uint32)], gpu=gpu)
    again, y = launch(kernels["all"], gpu)
    assert again.to_json() == first.to_json()
    assert np.array_equal(x, y)


def test_a_launch_that_ended_with_an_error_gives_nothing_back(kernels: dict[str, Function]) -> None:
    gpu = load_gpu("tesla-c2050")
    taken = [id(records.array) for records in stock(gpu)]
    with pytest.raises(PtxError, match="E404"):
        ptxsim.launch(kernels["bad"], 1, 256, [np.zeros(32, np.uint32)], gpu=gpu)
    assert len([records for records in stock(gpu) if id(records.array) in taken]) == max(0, len(taken) - 3)


def test_launches_at_the_same_time_have_records_of_their_own(kernels: dict[str, Function]) -> None:
    gpu = load_gpu("tesla-c2050")
    expected, _ = launch(kernels["all"], gpu)
    results: list[str] = []

    def run() -> None:
        results.extend(launch(kernels["all"], gpu)[0].to_json() for _ in range(3))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected.to_json()] * 9


def test_records_are_handed_out_once() -> None:
    gpu = load_gpu("tesla-c2050")
    one, other = (record_pool.acquire(sm_records, gpu) for _ in range(2))
    assert one is not other
    record_pool.release(one)
    assert record_pool.acquire(sm_records, gpu) is one
    assert record_pool.acquire(memory_records, gpu).array.dtype != one.array.dtype


def test_the_stock_is_bounded() -> None:
    gpu = load_gpu("tesla-c2050")
    for records in [record_pool.acquire(sm_records, gpu) for _ in range(20)]:
        record_pool.release(records)
    assert len(record_pool._pool) == record_pool._CAPACITY


def test_machines_share_the_records_that_do_not_tell_them_apart() -> None:
    one = load_gpu("tesla-c2050")
    other = with_settings(one, ["l2.rop_cycles=77", "latency.add.int.latency=5"])
    for kind in (sm_records, l1_records):
        records = record_pool.acquire(kind, one)
        record_pool.release(records)
        assert record_pool.acquire(kind, other) is records
        assert records.gpu is other
    more = with_settings(one, ["l1d.mshr_entries=7"])
    records = record_pool.acquire(l1_records, one)
    record_pool.release(records)
    assert record_pool.acquire(l1_records, more).array is not records.array


@pytest.mark.parametrize("names", [GPUS, GPUS[::-1], ("gpgpusim42-qv100", "gpgpusim42-qv100")])
def test_the_memory_of_a_machine_of_one_layout_becomes_that_of_another(
    names: tuple[str, str], kernels: dict[str, Function]
) -> None:
    first, second = map(load_gpu, names)
    launch(kernels["all"], first)
    (used,) = [records for records in record_pool._pool if records.kind is memory_records]
    differs = ["l2.rop_cycles=77", "dram.bank_groups=2", "icnt.output_packets=9", "dram.scheduler_queue=8"]
    differs += [
        "l2.store_miss=" + second.l2.store_miss,
        f"l2.sets={first.l2.sets}",
        f"l2.ways={first.l2.ways}",
    ]
    other = with_settings(second, [*differs, "l2.set_hash=linear", "l2.mshr_entries=9"])
    records = record_pool.acquire(memory_records, other)
    assert records.array is used.array
    assert_new(records)
    assert record_pool.acquire(memory_records, other).array is not used.array


def test_used_records_are_those_with_a_mark_or_noted() -> None:
    marks = np.zeros(5, np.int64), np.zeros(5, np.uint8)
    used = record_pool.UsedRecords(marks)
    assert used.indices().tolist() == []
    marks[0][2], marks[1][3] = 7, 1
    assert used.indices().tolist() == [2, 3]
    marks[0][:] = 0
    used.note([0])
    assert used.indices().tolist() == [0, 2, 3]
    used.clear()
    assert used.indices().tolist() == [3]
    used.note(slice(None))
    assert used.indices() == slice(None)


def test_without_marks_all_records_are_used() -> None:
    used = record_pool.UsedRecords()
    used.note([3])
    used.clear()
    assert used.indices() == slice(None)


def test_only_used_records_are_restored_whole() -> None:
    array = np.zeros(3, [("used", "i8"), ("all", "i8"), ("some", "i4", (4,))])
    records = record_pool.PooledRecords(load_gpu("tesla-c2050"), array, [array["used"]])
    records.plan(array, of_used=True).restore_fields({"some": 2})
    records.plan(array).restore_fields({"used": 0, "some": 0})
    array["used"][1] = 1
    array["all"], array["some"] = 5, 6
    records.restore()
    assert array["used"].tolist() == array["all"].tolist() == [0, 0, 0]
    assert array["some"].tolist() == [[6] * 4, [0, 0, 6, 6], [6] * 4]
