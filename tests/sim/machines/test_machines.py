"""The packaged machines at work: right results on each, and FineReg's 64 warps, 32 CTAs and four schedulers by hand."""

from typing import Any

import msgspec
import numpy as np
import pytest
from kernels import sample
from microkernel import cycles, kernel, loop
from microkernels.measure import cost
from microkernels.memory import HOP, POINTER, ring
from uncompiled import output_of

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.gpu_names import gpu_names
from ptxtool.parse import parse

FINEREG = "gtx980-finereg"
SAMPLES = {"sgemm": (4, 5), "hotspot": (7, 5), "reduction": (90,), "saxpy": (90,)}


def memory(arguments: list[Any]) -> bytes:
    return b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("gpu", gpu_names())
def test_samples_compute_the_same_on_every_machine(gpu: str, name: str) -> None:
    launch, function = sample(name)
    timed, plain = launch.arguments(), launch.arguments()
    result = ptxsim.launch(
        function,
        SAMPLES[name],
        launch.block,
        timed,
        gpu=gpu,
        scheduler="gto",
        registers=launch.registers,
        dynamic_shared=launch.dynamic_shared,
    )
    done = ptxsim.run(function, SAMPLES[name], launch.block, plain, dynamic_shared=launch.dynamic_shared)
    assert memory(timed) == memory(plain)
    assert result.warp_instructions == done.warp_instructions
    assert result.n_sms == load_gpu(gpu).sm.count
    assert sum(result.slots.values()) == result.active_cycles * result.n_schedulers


def one_sm(**fetch: int) -> Gpu:
    """FineReg's machine with one SM, and another width of fetch."""
    gpu = load_gpu(FINEREG).with_sm(count=1)
    return msgspec.structs.replace(gpu, fetch=msgspec.structs.replace(gpu.fetch, **fetch))


def rate(line: str, warps: int, gpu: Gpu) -> float:
    """Warp instructions a cycle that an SM adds when each of its warps executes one `line` more."""

    def slope(n: int) -> int:
        body = "\n".join("\t" + line.replace("@", str(k % 8)) for k in range(n))
        text = loop("", body)
        few, many = (cycles(text, trips, 2, 16 * warps, gpu=gpu) for trips in (4, 12))
        return many - few

    return 32 * 8 * warps / (slope(48) - slope(16))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nop;", 4.0),  # four schedulers, four SPs, two fetches of two instructions
        ("mov.u32 $r@, $r12;", 4.0),  # collector units: 12 busy for 2 cycles each, 6 a cycle
        ("rcp.f32 $r@, $r12;", 0.125),  # one SFU that an instruction holds for 8 cycles
        ("mul.lo.u32 $r@, $r12, $r13;", 1.0),  # the same SFU for 1 cycle
    ],
)
def test_finereg_peak_rates(line: str, expected: float) -> None:
    assert rate(line, 64, one_sm()) == pytest.approx(expected, rel=0.015)  # greedy warps end one by one


def test_one_fetch_a_cycle_caps_four_schedulers_at_two_instructions() -> None:
    assert rate("nop;", 64, one_sm(per_cycle=1)) == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.f32 $r1, $r1, $r2;", 13),  # L + 5 + s with GTX750Ti's latencies: 6 + 5 + 2
        ("mad.f32 $r1, $r1, $r2, $r3;", 14),
        ("mul.lo.u32 $r1, $r1, $r2;", 20),
    ],
)
def test_finereg_distances(line: str, expected: int) -> None:
    def slope(n: int) -> int:
        text = loop("", "\n".join(["\t" + line] * n))
        return cycles(text, 12, gpu=FINEREG) - cycles(text, 4, gpu=FINEREG)

    assert (slope(48) - slope(16)) / (8 * 32) == expected


def test_32_ctas_of_two_warps_fill_64_warp_slots() -> None:
    result = ptxsim.launch(
        kernel("\tbar.sync 0;\n"), 64, 64, [np.zeros(4, np.uint32), 1], gpu=one_sm(), registers=8
    )
    assert (result.resident_ctas, result.limiter) == (32, "threads")
    assert result.stats["barriers"] == 128
    assert result.warp_instructions == 64 * 2 * 2


REVERSE = """.version 3.0
.target sm_20
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .u32 %r<8>; .reg .u64 %d<6>; .reg .pred %p;
	.shared .align 4 .u32 s[1024];
	ld.param.u64 %d0, [a];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r2, %r1, 1024, %r0;
	mul.wide.u32 %d1, %r2, 4;
	add.u64 %d1, %d0, %d1;
	ld.global.u32 %r3, [%d1];
	mov.u32 %r4, s;
	shl.b32 %r5, %r0, 2;
	add.u32 %r5, %r4, %r5;
	st.shared.u32 [%r5], %r3;
	bar.sync 0;
	sub.u32 %r6, 1023, %r0;
	shl.b32 %r6, %r6, 2;
	add.u32 %r6, %r4, %r6;
	ld.shared.u32 %r3, [%r6];
	setp.lt.u32 %p, %r0, 500;
	@%p add.u32 %r3, %r3, 1000000;
	atom.shared.add.u32 %r7, [s], 0;
	st.global.u32 [%d1], %r3;
	exit;
}
"""


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "old", "rrr", "two_level:3", "static_limit:5", "owf"])
def test_the_last_warp_slot_works_like_the_others(scheduler: str) -> None:
    """Two CTAs of 32 warps at once: warp 63, whose mask is the sign bit, fetches, meets barriers, waits and retires."""
    function = parse(REVERSE, "reverse.ptx").kernels["k"]
    seen = []
    for skip in (True, False):
        values = np.arange(6 * 1024, dtype=np.uint32)
        result = ptxsim.launch(
            function, 6, 1024, [values], gpu=one_sm(), scheduler=scheduler, registers=16, event_skip=skip
        )
        assert result.resident_ctas == 2
        rows = values.reshape(6, 1024)
        expected = np.arange(6 * 1024, dtype=np.uint32).reshape(6, 1024)[:, ::-1].copy()
        expected[:, :500] += 1000000
        assert (rows == expected).all()
        seen.append(result.to_dict())
    assert seen[0] == seen[1]


COUNTERS = """
import numpy as np
import ptxsim
from ptxtool.parse import parse
from test_machines import REVERSE, one_sm

values = np.arange(2048, dtype=np.uint32)
kernel = parse(REVERSE, "reverse.ptx").kernels["k"]
print(ptxsim.launch(kernel, 2, 1024, [values], gpu=one_sm(), registers=16, scheduler="rrr").to_json(), values.tolist())
"""


def test_64_warps_count_the_same_without_compilation() -> None:
    without, compiled = (output_of(COUNTERS, compiled=c, beside=__file__) for c in (False, True))
    assert without == compiled


LIMITS = [
    ("sm", "warps", 129),
    ("sm", "ctas", 65),
    ("sm", "schedulers", 5),
    ("sm", "count", 161),  # of 160
    ("sm", "warp_size", 64),
    ("pipeline", "sp_units", 48),
    ("pipeline", "id_oc_sp", 9),
    ("pipeline", "collectors_sp", 48),
    ("pipeline", "register_banks", 65),
    ("ldst", "shared_pipe_cycles", 65),
    ("fetch", "sets", 4096),
    ("fetch", "mshr_entries", 9),
    ("fetch", "line_bytes", 127),
    ("fetch", "line_bytes", 256),
    ("l1c", "mshr_waiters", 65),
    ("l1c", "line_bytes", 48),
    ("l1d", "sets", 4096),
    ("l1d", "mshr_entries", 513),
    ("l1d", "mshr_waiters", 65),
    ("l1d", "line_bytes", 256),
    ("l1d", "miss_queue_read_max", 7),
    ("l1d", "latency_cycles", 129),
    ("l2", "sets", 2048),
    ("l2", "icnt_queue", 65),
    ("l2", "slices", 33),
    ("icnt", "injection_queue_flits", 4),
    ("icnt", "buffer_flits", 300),
    ("dram", "channels", 17),
    ("dram", "banks", 1),
    ("dram", "banks", 64),
    ("dram", "scheduler_queue", 129),
    ("dram", "return_queue", 600),
    ("dram", "write_queue", 129),
]


@pytest.mark.parametrize(("part", "key", "value"), LIMITS)
def test_what_the_simulator_cannot_hold_is_refused_by_name(part: str, key: str, value: int) -> None:
    gpu = load_gpu("tesla-c2050")
    wrong = msgspec.structs.replace(
        gpu, **{part: msgspec.structs.replace(getattr(gpu, part), **{key: value})}
    )
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel(""), 1, 32, [np.zeros(4, np.uint32), 1], gpu=wrong)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E502"
    assert part in diagnostic.message or f"{part}.{key}" in diagnostic.help


def test_the_largest_machine_runs_and_what_is_larger_names_its_key() -> None:
    """160 SMs and 64 channels with two slices each."""

    def launch(*settings: str) -> ptxsim.SimResult:
        gpu = ptxtool.api.gpu("h100", settings=settings)
        return ptxsim.launch(kernel("\tbar.sync 0;\n"), 288, 64, [np.zeros(4, np.uint32), 1], gpu=gpu)

    largest = launch("sm.count=160")
    assert (largest.n_sms, largest.stats["barriers"]) == (160, 288 * 2)
    for settings, message, most in (
        (("sm.count=161",), "sm.count: 161", 160),
        (("dram.channels=65", "l2.slices=130"), "'l2.slices' is 130", 128),
        (("dram.channels=65", "l2.slices=65", "dram.slices_per_channel=1"), "'dram.channels' is 65", 64),
    ):
        with pytest.raises(PtxError) as caught:
            launch(*settings)
        (diagnostic,) = caught.value.diagnostics
        assert message in diagnostic.message
        assert diagnostic.help == f"the simulator holds at most {most}"


READ_ALL = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r1, %r1, 256, %r2;
	mul.wide.u32 %l2, %r1, 128;
	add.s64 %l1, %l1, %l2;
	ld.global.u32 %r3, [%l1];
	ret;
}
"""


@pytest.mark.parametrize(("sets", "misses"), [(1024, 0), (64, 16384)])
def test_an_l2_of_many_lines_holds_them(sets: int, misses: int) -> None:
    # 2 MB in 16384 lines: 12 slices of 1024 sets and 8 ways have 12 MB, those of 64 sets 768 KB, which LRU never hits
    gpu = ptxtool.api.gpu("tesla-c2050", settings=[f"l2.sets={sets}"])
    machine = ptxsim.Machine(gpu)
    words = np.zeros(16384 * 32, np.uint32)
    function = parse(READ_ALL, "all.ptx").kernels["k"]
    counts = [machine.launch(function, 64, 256, [words]).stats["l2_misses"] for _ in range(2)]
    assert counts[0] >= 16384
    assert counts[1] == pytest.approx(misses, rel=0.02)


def test_a_long_pipe_before_the_l1() -> None:
    # 5 cycles to its first place, as many as it has: timing-model-42 section 3.8 has 40 for 35
    gpu = ptxtool.api.gpu("gpgpusim42-c2050", settings=["l1d.latency_cycles=100"])
    assert cost(HOP, 10, setup=POINTER, words=ring([0]), block=1, gpu=gpu)() == 100 + 5


def test_many_units_change_nothing_that_waits_for_none() -> None:
    # one warp in a chain: 40 SPs are as fast as 2
    gpu = ptxtool.api.gpu("tesla-c2050", settings=["pipeline.sp_units=40"])
    assert cost("add.f32 %f1, %f1, %f2;", gpu=gpu)() == 11
