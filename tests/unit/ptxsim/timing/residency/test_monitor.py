"""CTA switching: Virtual Thread and FineReg (timing-model section 6.1). Resident CTAs are row 23 of `microkernels`.

The small cases are of one SM with one place for a CTA, and loads of 40000 cycles, so that what happens can be told by
hand. Kernels are `microkernels.switching.waiting_kernel`: a CTA loads, waits, stores, and ends with the
acknowledgement, as far away again.
"""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.switching import LONG, waiting_kernel
from mixed_kernel import run_mixed
from msgspec.structs import replace
from uncompiled import output_of

import ptxsim
import ptxsim.timing.residency.switching_setup
import ptxtool
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

SCHEMES = ("virtual-thread", "finereg")
LIVE = 20


def one_place(*settings: str, far: bool = True) -> Gpu:
    """One SM with a place for one CTA, and an ACRF of 1024 registers: a warp of 32."""
    gpu = load_gpu("gtx980-finereg")
    own = ("sm.count=1", "sm.ctas=1", "switching.acrf_registers=1024", *(LONG if far else ()))
    return with_settings(gpu, (*own, *settings))


def wait(n_ctas: int, *settings: str, live: int = LIVE, warps: int = 1, **options: Any) -> Any:
    """Run so many CTAs with so many registers live while they wait."""
    kernel = ptxtool.parse(waiting_kernel(live)).kernels["k"]
    memory = np.zeros(32 * warps * n_ctas, np.uint32)
    given = {"gpu": one_place(*settings), "switching": "finereg", "registers": 32} | options
    result = ptxsim.launch(kernel, n_ctas, 32 * warps, [memory], **given)
    thread = np.arange(len(memory), dtype=np.uint32)
    assert (memory == np.uint32(live - 1) * thread + np.uint32(live * (live - 1) // 2)).all()
    return result


# ---- Virtual Thread


def test_two_ctas_wait_at_the_same_time() -> None:
    alone, one_by_one = (wait(n, switching="none").cycles for n in (1, 2))
    assert alone > 80_000  # the load, then the store
    assert one_by_one > 2 * 80_000
    both = wait(2, switching="virtual-thread")
    # only the stores come one after the other: a CTA that waits for an acknowledgement keeps its place
    assert 3 * 40_000 < both.cycles < 3 * 40_000 + 1000
    # the first gives way to the second, the second to the first when its load is there, which then ends
    assert both.switching.switches == 2
    assert (both.switching.resident_most, both.switching.active_most) == (2, 1)


def test_a_swap_takes_its_time() -> None:
    slow, fast = (wait(2, f"switching.swap_cycles={n}", switching="virtual-thread").cycles for n in (124, 24))
    # when the first one's load is there, it comes back; the second comes back when the first has ended
    assert slow - fast == 2 * 100


def test_registers_limit_what_is_resident() -> None:
    # 65536 registers, 4096 for a CTA of 4 warps x 32 lanes x 32; one is active
    result = wait(40, warps=4, switching="virtual-thread")
    assert result.switching.resident_most == result.switching.resident_limit == 16
    assert result.switching.evictions == result.switching.vector_misses == 0


# ---- FineReg


def test_live_registers_come_and_go() -> None:
    """CTA 0 stalls; the vector of the instruction at which it waits comes too late. CTA 1 stalls, is evicted, and CTA 2
    begins; when the load of CTA 1 is there they change places; when CTA 1 has ended CTA 2 comes back."""
    found = wait(3).switching
    assert (found.switches, found.evictions, found.restores) == (2, 2, 2)
    assert (found.vector_misses, found.vector_hits) == (1, 2)
    assert (found.pcrf_most, found.depletion_cycles) == (LIVE, 0)
    assert (found.resident_most, found.active_most) == (2, 1)


@pytest.mark.parametrize("first", [2, 5, 104])
def test_restoring_takes_its_time(first: int) -> None:
    slow, fast = (wait(3, f"switching.restore_first_cycles={n}").cycles for n in (first, 1))
    # CTA 1 and CTA 2 come back: the first register, then 19; the eviction at the same time as one takes 20 cycles
    assert slow - fast == 2 * (first - 1)


def test_looking_up_takes_its_time() -> None:
    slow, fast = (wait(3, f"switching.vector_hit_cycles={n}").cycles for n in (51, 1))
    # what delays CTA 2's beginning is over when it is needed; what delays CTA 1's coming back is not
    assert slow - fast == 50


@pytest.mark.parametrize("entries", [1, LIVE - 1])
def test_without_room_a_cta_stays(entries: int) -> None:
    found = wait(6, f"switching.pcrf_entries={entries}")
    assert found.switching.switches == found.switching.pcrf_most == 0
    # CTA 0 waits for its vector, and behind CTA 5 there is nobody to give way to
    assert 4 * 40_000 < found.switching.depletion_cycles < 4 * 40_500
    assert found.switching.resident_most == 1
    assert wait(6, f"switching.pcrf_entries={LIVE}").switching.resident_most == 2


def test_patience() -> None:
    assert wait(4, "switching.stalled_cycles=45000").switching.switches == 0
    late, early = (wait(3, f"switching.stalled_cycles={n}") for n in (300, 0))
    assert late.switching.switches == early.switching.switches == 2


@pytest.mark.parametrize("entries", [1, 32])
def test_a_small_vector_cache_misses_more(entries: int) -> None:
    launch, kernel = sample("conv1")
    options: dict[str, Any] = {"registers": launch.registers, "switching": "finereg"}
    gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.count=2", f"switching.vector_entries={entries}"])
    found = ptxsim.launch(kernel, (40, 2), launch.block, launch.arguments(), gpu=gpu, **options).switching
    looked_up = found.vector_hits + found.vector_misses
    assert looked_up > 30
    assert found.vector_misses > looked_up / 2 if entries == 1 else found.vector_misses < looked_up / 2


def test_what_is_not_live_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vectors leave out what is needed, a kernel that is switched computes something else."""
    live = ptxsim.timing.residency.switching_setup.live_rows

    def without_any(*arguments: Any) -> Any:
        counts, kept = live(*arguments)
        return counts, np.zeros_like(kept)

    wait(3)
    monkeypatch.setattr(ptxsim.timing.residency.switching_setup, "live_rows", without_any)
    with pytest.raises((AssertionError, PtxError)):
        wait(3)


def test_live_registers_are_counted_in_words() -> None:
    """A 64-bit register takes two entries, a predicate none."""
    text = waiting_kernel(3).replace(
        "\tld.global.cg", "\t.reg .pred %p;\n\tsetp.eq.u32 %p, %r1, 7;\n\tmov.u64 %l3, 5;\n\tld.global.cg"
    )
    text = text.replace("\tst.global.u32", "\t@%p mov.u64 %l3, 6;\n\tcvt.u32.u64 %r70, %l3;\n\tst.global.u32")
    kernel = ptxtool.parse(text).kernels["k"]
    found = ptxsim.launch(
        kernel, 3, 32, [np.zeros(256, np.uint32)], gpu=one_place(), switching="finereg", registers=32
    )
    assert found.switching.pcrf_most == 3 + 2


# ---- nothing else changes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "grid"), [("reduction", (60,)), ("conv1", (30, 4)), ("nw1", (40,)), ("saxpy", (60,))]
)
def test_samples_compute_the_same(name: str, grid: tuple[int, ...], scheme: str) -> None:
    gpu = load_gpu("gtx980-finereg")
    gpu = replace(gpu, sm=replace(gpu.sm, count=2, ctas=4))
    launch, kernel = sample(name)
    results: list[tuple[Any, bytes]] = []
    for options in ({"switching": "none"}, {"switching": scheme}, {"switching": scheme, "event_skip": False}):
        arguments = launch.arguments()
        given: dict[str, Any] = {
            "registers": launch.registers,
            "dynamic_shared": launch.dynamic_shared,
        } | options
        result = ptxsim.launch(kernel, grid, launch.block, arguments, hotspots=True, gpu=gpu, **given)
        results.append((result, b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))))
    (without, expected), (skipped, memory), (stepped, other) = results
    assert memory == other == expected
    assert skipped.switching.switches > 10
    assert skipped.thread_instructions == without.thread_instructions
    assert skipped.to_dict() == stepped.to_dict()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("scheduler", ["lrr", "two_level:2"])
def test_event_skip_changes_nothing(scheme: str, scheduler: str) -> None:
    gpu = with_settings(load_gpu("tesla-c2050"), ["sm.ctas=2", "sm.count=3"])
    options = {"gpu": gpu, "switching": scheme, "scheduler": scheduler, "registers": 40}
    skipped, stepped = (run_mixed(29, 250, event_skip=skip, **options) for skip in (True, False))
    assert skipped == stepped
    assert skipped[0]["switching"]["switches"] > 0


def test_launches_in_a_row() -> None:
    kernel = ptxtool.parse(waiting_kernel(LIVE)).kernels["k"]
    machine = ptxsim.Machine(one_place(far=False), switching="finereg", registers=32)
    first, second = (machine.launch(kernel, 6, 32, [np.zeros(192, np.uint32)]) for _ in range(2))
    assert first.switching.resident_most >= 2
    assert second.ctas_done == 6


CODE = """
import numpy as np, ptxsim, ptxtool
from microkernels.switching import waiting_kernel
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.count=1", "sm.ctas=2", "switching.acrf_registers=2048"])
memory = np.zeros(320, np.uint32)
kernel = ptxtool.parse(waiting_kernel(6)).kernels["k"]
print(ptxsim.launch(kernel, 5, 64, [memory], gpu=gpu, switching="finereg", registers=16, hotspots=True).to_json())
print(memory.tolist())
"""


def test_without_compilation_the_same() -> None:
    compiled, interpreted = (output_of(CODE, compiled=c) for c in (True, False))
    assert '"switches": 0' not in compiled
    assert compiled == interpreted


# ---- what cannot be


def refused(text: str = "", **options: Any) -> str:
    kernel = ptxtool.parse(text or waiting_kernel(3), name="k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel, 2, 32, [np.zeros(64, np.uint32)], **options)
    (told,) = caught.value.diagnostics
    assert told.help
    return f"{told.code}: {told.message}"


def test_unknown_scheme() -> None:
    assert refused(switching="fine-reg") == "E502: no CTA switching named 'fine-reg'"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_others(scheme: str, tmp_path: Any) -> None:
    head = f"E502: CTA switching ({scheme}) together with "
    assert refused(switching=scheme, share_registers=90) == head + "sharing of registers or scratchpad"
    assert refused(switching=scheme, timeline=tmp_path / "t.json") == head + "a timeline"
    copies = waiting_kernel(3).replace("sm_35", "sm_80").replace(".version 4.0", ".version 7.0")
    copies = copies.replace("\tret;", "\tcp.async.wait_all;\n\tret;")
    assert refused(copies, switching=scheme) == head + "asynchronous copies"


def test_finereg_with_functions() -> None:
    text = (
        waiting_kernel(3)
        .replace(".visible", ".func f() { ret; }\n.visible", 1)
        .replace("\tld.global.cg", "\tcall f;\n\tld.global.cg")
    )
    assert refused(text, switching="finereg").endswith("together with functions that are called")
    kernel = ptxtool.parse(text).kernels["k"]
    options: dict[str, Any] = {"gpu": one_place(), "switching": "virtual-thread"}
    assert ptxsim.launch(kernel, 3, 32, [np.zeros(96, np.uint32)], **options).switching.switches == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["switching.ctas=129"], "switching.ctas is 129"),
        (["switching.warps=1024"], "switching.warps is 1024"),
        (["switching.vector_entries=300"], "switching.vector_entries is 300"),
        (["switching.pcrf_entries=1025"], "are 65568 registers, of 65536"),
    ],
)
def test_options_that_cannot_be(settings: list[str], message: str) -> None:
    gpu = with_settings(load_gpu("gtx980-finereg"), settings)
    assert message in refused(gpu=gpu, switching="finereg")


def test_a_cta_that_does_not_fit() -> None:
    gpu = load_gpu("gtx980-finereg")
    # 32 lanes x 1100 registers are more than 32768, and fewer than 65536
    assert "it needs 35200 registers of 32768" in refused(gpu=gpu, switching="finereg", registers=1100)
    few = with_settings(gpu, ["switching.warps=1"])
    kernel = ptxtool.parse(waiting_kernel(3)).kernels["k"]
    with pytest.raises(PtxError, match=r"a CTA of 2 warps where 1 may be resident"):
        ptxsim.launch(kernel, 2, 64, [np.zeros(128, np.uint32)], gpu=few, switching="finereg")
