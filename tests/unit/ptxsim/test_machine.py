"""Several kernels in a row: what stays in the machine between them, and what their counters come to."""

import json
import resource

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

GPUS = ("tesla-c2050", "gpgpusim42-c2050")
HEAD = ".version 6.0\n.target sm_35\n.address_size 64\n"
KERNELS = f"""{HEAD}
.global .align 4 .u32 counter = 5;
.const .align 4 .u32 limit = 7;
.visible .entry empty()
{{
	ret;
}}
.visible .entry touch(.param .u32 n)
{{
	.reg .b32 %r<4>;
	ld.param.u32 %r1, [n];
	ld.const.u32 %r2, [limit];
	add.u32 %r3, %r1, %r2;
	ret;
}}
.visible .entry load(.param .u64 x)
{{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r4, [%d2];
	add.u32 %r5, %r4, 1;
	ret;
}}
.visible .entry add(.param .u64 x, .param .u32 n)
{{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r4, [%d2];
	add.u32 %r4, %r4, %r5;
	st.global.u32 [%d2], %r4;
	ret;
}}
.visible .entry count(.param .u64 out)
{{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [out];
	atom.global.add.u32 %r1, [counter], 1;
	ld.const.u32 %r2, [limit];
	st.global.v2.u32 [%d1], {{%r1, %r2}};
	ret;
}}
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Function]:
    return dict(parse(KERNELS, "kernels.ptx").kernels)


def test_kernels_of_one_cta_walk_over_the_sms(kernels: dict[str, Function]) -> None:
    """GPGPU-Sim 4.2: an empty kernel takes 10 cycles where its code is in the L1I, and 139 more where it is in the L2
    (timing-model-42 sections 1.2 and 1.8). The first of all fetches it from DRAM, the next one goes to the next SM."""
    machine = ptxsim.Machine("gpgpusim42-c2050")
    cycles = [machine.launch(kernels["empty"], 1, 32).cycles for _ in range(18)]
    assert cycles[0] > 10 + 139 + 100
    assert cycles[1:] == [10 + 139] * 13 + [10] * 4


def test_lines_of_constants_and_parameters_are_missed_once_per_sm(kernels: dict[str, Function]) -> None:
    """240 launches on 14 SMs: 28 misses, one line of parameters and one of constants each (timing-model-42 1.10)."""
    machine = ptxsim.Machine("gpgpusim42-c2050")
    for n in range(240):
        machine.launch(kernels["touch"], 1, 32, [n])
    assert machine.totals.stats["l1c_misses"] == 28
    assert machine.totals.stats["l1c_accesses"] == 480
    assert machine.totals.ctas == 240


@pytest.mark.parametrize("gpu", GPUS)
def test_the_second_launch_has_no_cold_misses(gpu: str, kernels: dict[str, Function]) -> None:
    """14 CTAs, one for each SM: the code and the parameters are there. In 3.2.2 so is the data, in the L1D; 4.2
    empties that when an SM has nothing left to run, and finds the data in the L2."""
    x = np.arange(14 * 32, dtype=np.uint32)
    machine = ptxsim.Machine(gpu)
    first, second = (machine.launch(kernels["load"], 14, 32, [x]) for _ in range(2))
    for name in ("l1i_misses", "l1c_misses"):
        assert first.stats[name] == 14
        assert second.stats[name] == 0
    kept = gpu == "tesla-c2050"
    assert (second.l1["hits"], second.l1["misses"]) == ((14, 0) if kept else (0, 14))
    assert second.l2["misses"] == 0
    assert second.dram["reads"] == 0
    # two L1I lines would be 139 each and L1C 286; what is left is a chain of 9 instructions around a load, which takes
    # 4 cycles from the L1D and 182 from the L2
    assert second.cycles < first.cycles - 139 - 100
    assert second.cycles < (100 if kept else 300)


@pytest.mark.parametrize("gpu", GPUS)
def test_what_a_kernel_wrote_is_in_the_l2(gpu: str, kernels: dict[str, Function]) -> None:
    """Two CTAs an SM, so that the CTAs of the second launch meet what others wrote: all lines hit in the L2."""
    x = np.zeros(28 * 32, np.uint32)
    machine = ptxsim.Machine(gpu)
    machine.launch(kernels["add"], 28, 32, [x, 2])
    after = machine.launch(kernels["load"], 28, 32, [x])
    assert after.dram["reads"] == 0
    assert after.l2["misses"] == 0
    assert x.tolist() == [2] * len(x)


def test_open_rows_stay_open(kernels: dict[str, Function]) -> None:
    """The second launch reads the other half of a DRAM row (4 KB: 16 chunks of 256 bytes, every 1536 bytes) that
    the first has opened; on a machine of its own the row would have to be opened."""
    x = np.zeros(64 * 1024, np.uint32)
    machine = ptxsim.Machine("tesla-c2050")
    machine.launch(kernels["load"], 1, 32, [x])
    second = machine.launch(kernels["load"], 1, 32, [x[2 * 1536 // 4 :]])
    assert (second.dram["requests"], second.dram["row_hits"], second.dram["activates"]) == (1, 1, 0)
    alone = ptxsim.launch(kernels["load"], 1, 32, [x[2 * 1536 // 4 :]])
    assert alone.dram["activates"] >= 1


def test_copies_between_launches_go_through_the_l2(kernels: dict[str, Function]) -> None:
    """4.2: what was copied last is in the L2; 2 MB of it push everything else out (timing-model-42 section 3.6)."""
    x, large = np.zeros(14 * 32, np.uint32), np.zeros(1 << 19, np.uint32)
    machine = ptxsim.Machine("gpgpusim42-c2050")
    assert (
        machine.launch(kernels["load"], 14, 32, [x]).stats["l2_misses"] == 6
    )  # sectors of code and parameters
    machine.copy(large)
    assert machine.launch(kernels["load"], 14, 32, [x]).dram["reads"] == 14 * 4  # a line is four sectors
    machine.copy(large, x)
    assert machine.launch(kernels["load"], 14, 32, [x]).dram["reads"] == 0
    machine.copy(large)
    x += 1  # changed on the host: copied again
    assert machine.launch(kernels["load"], 14, 32, [x]).dram["reads"] == 0


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("scheduler", ["lrr", "gto", "two_level:2"])
def test_a_sequence_gives_the_same_bytes_twice(
    gpu: str, scheduler: str, kernels: dict[str, Function]
) -> None:
    """With and without event skip too; memory is what the kernels make of it without time."""
    texts: list[str] = []
    memories: list[list[int]] = []
    for skip in (True, True, False):
        x, out = np.arange(60 * 64, dtype=np.uint32), np.zeros(2, np.uint32)
        machine = ptxsim.Machine(gpu, scheduler=scheduler, event_skip=skip)
        for n in range(3):
            machine.launch(kernels["add"], 60, 64, [x, n])
            machine.launch(kernels["count"], 1, 1, [out])
        texts.append(json.dumps([r.to_dict() for r in machine.results]) + machine.totals.to_json())
        memories.append([*x.tolist(), *out.tolist()])
    assert texts[0] == texts[1] == texts[2]
    assert memories[0] == [n + 0 + 1 + 2 for n in range(60 * 64)] + [7, 7]  # counter: 5, 6, 7; limit: 7
    assert memories[0] == memories[1] == memories[2]


def test_totals_are_sums(kernels: dict[str, Function]) -> None:
    x = np.zeros(28 * 32, np.uint32)
    machine = ptxsim.Machine("tesla-c2050")
    results = [machine.launch(kernels["add"], grid, 32, [x, 1]) for grid in (28, 3)]
    totals = machine.totals
    assert totals.cycles == sum(r.cycles for r in results)
    assert totals.ctas == 31
    assert totals.thread_instructions == 31 * 32 * 12
    assert totals.thread_ipc == totals.thread_instructions / totals.cycles
    for name in ("sched_w0_idle", "l1d_misses", "l2_accesses", "dram_reads", "warp_insn"):
        assert totals.stats[name] == sum(r.stats[name] for r in results)
    assert "gpu_ipc" not in totals.stats
    printed = totals.to_dict()
    assert printed["gpu_tot_sim_cycle"] == totals.cycles
    assert printed["gpu_tot_issued_cta"] == 31


@pytest.mark.parametrize("timed", [True, False])
def test_variables_and_constants_keep_what_they_hold(timed: bool, kernels: dict[str, Function]) -> None:
    machine = ptxsim.Machine()
    execute = machine.launch if timed else machine.run
    out = np.zeros(2, np.uint32)
    seen: list[list[int]] = []
    execute(kernels["count"], 1, 1, [out])
    seen.append(out.tolist())
    execute(kernels["count"], 1, 1, [out], constants={"limit": np.array(99, np.uint32)})
    seen.append(out.tolist())
    machine.run(kernels["count"], 1, 1, [out])
    seen.append(out.tolist())
    assert seen == [[5, 7], [6, 99], [7, 99]]


def test_kernels_of_two_modules_have_variables_and_code_of_their_own(kernels: dict[str, Function]) -> None:
    other = parse(KERNELS.replace("limit = 7", "limit = 8"), "other.ptx").kernels["count"]
    machine = ptxsim.Machine("gpgpusim42-c2050")
    out = np.zeros(2, np.uint32)
    for kernel, expected in ((kernels["count"], [5, 7]), (other, [5, 8]), (kernels["count"], [6, 7])):
        machine.run(kernel, 1, 1, [out])
        assert out.tolist() == expected
    first = machine.launch(kernels["empty"], 14, 32)
    second = machine.launch(parse(KERNELS, "third.ptx").kernels["empty"], 14, 32)
    assert first.stats["l1i_misses"] == second.stats["l1i_misses"] == 14


HEAP = f"""{HEAD}
.extern .func (.param .b64 r) malloc (.param .b64 n);
.global .align 8 .u64 head;
.visible .entry make()
{{
	.reg .b64 %d<4>;
	.reg .b32 %r<2>;
	{{
		.param .b64 n;
		.param .b64 r;
		st.param.b64 [n], 64;
		call.uni (r), malloc, (n);
		ld.param.b64 %d1, [r];
	}}
	mov.u32 %r1, 42;
	st.u32 [%d1], %r1;
	st.global.u64 [head], %d1;
	ret;
}}
.visible .entry use(.param .u64 out)
{{
	.reg .b64 %d<4>;
	.reg .b32 %r<2>;
	ld.global.u64 %d1, [head];
	ld.u32 %r1, [%d1];
	ld.param.u64 %d2, [out];
	st.global.u32 [%d2], %r1;
	ret;
}}
"""


@pytest.mark.parametrize("timed", [True, False])
def test_what_malloc_gave_is_there_in_the_next_kernel(timed: bool) -> None:
    module, out = parse(HEAP, "heap.ptx"), np.zeros(1, np.uint32)
    machine = ptxsim.Machine()
    execute = machine.launch if timed else machine.run
    execute(module.kernels["make"], 1, 1)
    execute(module.kernels["use"], 1, 1, [out])
    assert out.tolist() == [42]


def test_a_launch_without_time_changes_memory_only(kernels: dict[str, Function]) -> None:
    x = np.zeros(14 * 32, np.uint32)
    machine = ptxsim.Machine("gpgpusim42-c2050")
    machine.run(kernels["add"], 14, 32, [x, 5])
    assert x.tolist() == [5] * len(x)
    assert machine.totals.cycles == 0
    timed = machine.launch(kernels["load"], 14, 32, [x])
    assert timed.stats["l1i_misses"] == 14
    assert machine.totals.launches == 1


def test_single_launches_are_as_on_a_fresh_machine(kernels: dict[str, Function]) -> None:
    for gpu in GPUS:
        x, y = np.zeros(60 * 64, np.uint32), np.zeros(60 * 64, np.uint32)
        alone = ptxsim.launch(kernels["add"], 60, 64, [x, 1], gpu=gpu)
        first = ptxsim.Machine(gpu).launch(kernels["add"], 60, 64, [y, 1])
        assert alone.to_json() == first.to_json()


def test_nothing_follows_a_launch_that_was_stopped(kernels: dict[str, Function]) -> None:
    x = np.zeros(60 * 64, np.uint32)
    machine = ptxsim.Machine()
    assert machine.launch(kernels["add"], 60, 64, [x, 1], max_cycles=50).status == "max-cycles"
    with pytest.raises(PtxError, match=r"E401.*'add'.*has not ended"):
        machine.launch(kernels["add"], 60, 64, [x, 1])


def test_a_launch_that_is_refused_changes_nothing(kernels: dict[str, Function]) -> None:
    machine = ptxsim.Machine()
    x = np.zeros(32, np.uint32)
    with pytest.raises(PtxError, match="E401"):
        machine.launch(kernels["add"], 1, 32, [x])
    with pytest.raises(PtxError, match="E401"):
        machine.launch(kernels["add"], 1, 32, [x, 1], gpu=load_gpu("tesla-c2050"))
    with pytest.raises(PtxError, match="E401"):
        machine.copy([1, 2])
    machine.launch(kernels["add"], 1, 32, [x, 1])
    assert x.tolist() == [1] * 32


def test_a_bad_access_names_the_buffer_in_a_later_launch_too(kernels: dict[str, Function]) -> None:
    machine = ptxsim.Machine()
    x, y = np.zeros(64, np.uint32), np.zeros(32, np.uint32)
    machine.launch(kernels["add"], 2, 32, [x, 1])
    with pytest.raises(PtxError, match=r"E404.*after buffer 'y'"):
        machine.launch(kernels["add"], 2, 32, [y, 1], names=["y", "n"])


def test_memory_is_flat_over_many_launches(kernels: dict[str, Function]) -> None:
    machine = ptxsim.Machine("tesla-c2050")
    x = np.zeros(14 * 32, np.uint32)
    for _ in range(20):
        machine.launch(kernels["add"], 14, 32, [x, 1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        machine.launch(kernels["add"], 14, 32, [x, 1])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8 * 1024  # kilobytes
    assert x.tolist() == [220] * len(x)
