"""Records of a simulation that goes: which of them launches after it may use."""

from built import GPU, built
from msgspec.structs import replace

from ptxsim.base.pool import record_pool
from ptxsim.timing.machine_records import memory_records, sm_records


def test_a_simulation_returns_its_records_with_an_empty_wheel() -> None:
    gpu = replace(GPU)  # records of its own
    found = built(gpu=gpu)
    sms, memory = found.sms, found.memory
    sms["wheel"][3, 5], sms["next_dynamic_id"][3] = 1, 2
    found.recycle()
    assert record_pool.acquire(sm_records, gpu).array is sms
    assert not sms["wheel"].any()
    assert record_pool.acquire(memory_records, gpu).array is memory


def test_memory_that_is_kept_is_not_returned() -> None:
    gpu = replace(GPU)
    found = built(gpu=gpu)
    found.keep_memory()
    found.recycle()
    assert record_pool.acquire(sm_records, gpu).array is found.sms
    assert record_pool.acquire(memory_records, gpu).array is not found.memory


def test_records_are_returned_once() -> None:
    gpu = replace(GPU)
    found = built(gpu=gpu)
    found.recycle()
    found.recycle()
    first, second = (record_pool.acquire(sm_records, gpu).array for _ in range(2))
    assert first is not second
