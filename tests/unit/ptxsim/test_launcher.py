"""`ptxsim.launch` as a user calls it: wrong options are reported before anything runs."""

from typing import Any

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxtool.analysis.regalloc.register_need import register_need
from ptxtool.base.diag import PtxError

TEXT = """\
.version 4.0
.target sm_20
.address_size 64
.const .align 4 .b8 table[16];
.visible .entry k(.param .u64 x)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<5>;
    .shared .align 4 .b8 tile[64];
    ld.param.u64 %d1, [x];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %d2, %r2, 4;
    mov.u64 %d3, table;
    add.s64 %d3, %d3, %d2;
    ld.const.u32 %r3, [%d3];
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d4, %d1, %d2;
    st.global.u32 [%d4], %r3;
    ret;
}
"""


def launch(**changes: Any) -> ptxsim.SimResult:
    options: dict[str, Any] = {"grid": 1, "block": 32, "args": [np.zeros(32, np.uint32)]} | changes
    return ptxsim.launch(ptxtool.parse(TEXT, name="k.ptx").kernels["k"], **options)


def test_registers_are_counted_as_for_occupancy() -> None:
    """With a call, too: its registers come after those that live across it."""
    functions = """.func f(.param .u32 a)
{
    .reg .b32 %x<7>;
    mov.u32 %x0, 1;  mov.u32 %x1, 2;  mov.u32 %x2, 3;  mov.u32 %x3, 4;  mov.u32 %x4, 5;  mov.u32 %x5, 6;
    add.u32 %x0, %x0, %x1;  add.u32 %x0, %x0, %x2;  add.u32 %x0, %x0, %x3;  add.u32 %x0, %x0, %x4;
    add.u32 %x0, %x0, %x5;
    ret;
}
"""
    call = "{ .param .u32 a; st.param.u32 [a], %r3; call f, (a); }\n    st.global.u32 [%d4], %r3;"
    text = TEXT.replace(".visible", functions + ".visible").replace("st.global.u32 [%d4], %r3;", call)
    for each in (TEXT, text):
        kernel = ptxtool.parse(each, name="k.ptx").kernels["k"]
        result = ptxsim.launch(kernel, 1, 32, [np.zeros(32, np.uint32)])
        assert result.registers == register_need(kernel).registers
    assert result.registers == 3 + 6  # %d4 and %r3 live across the call, and %x0 to %x5


def test_scratchpad_is_counted_as_the_caller_says() -> None:
    """64 bytes of the launch; 49152 of an SM. What is private under sharing is a tenth of what there is."""
    tiled = launch(dynamic_shared=64)
    assert (tiled.scratchpad_bytes, tiled.resident_ctas, tiled.limiter) == (64, 8, "ctas")
    counted = launch(dynamic_shared=64, scratchpad=10240, share_scratchpad=90)
    assert (counted.scratchpad_bytes, counted.unshared_ctas, counted.shared_pairs) == (10240, 0, 4)
    assert counted.private_scratchpad == 6
    assert launch(dynamic_shared=64, scratchpad=0).scratchpad_bytes == 0


def test_every_launch_of_a_kernel_has_the_plan_of_its_own_options() -> None:
    kernel, x = ptxtool.parse(TEXT, name="k.ptx").kernels["k"], np.zeros(32, np.uint32)
    for _ in range(2):  # the second time with plans that are known
        shared, alone = (
            ptxsim.launch(kernel, 8, 32, [x], scratchpad=10240, share_scratchpad=n) for n in (90, 0)
        )
        assert (shared.shared_pairs, alone.shared_pairs) == (4, 0)
        stopped, whole = (ptxsim.launch(kernel, 1, 32, [x], max_cycles=n) for n in (5, None))
        assert (stopped.status, whole.status) == ("max-cycles", "done")
        assert [ptxsim.launch(kernel, n, 32, [x]).n_ctas for n in (1, 2)] == [1, 2]
        assert ptxsim.launch(kernel, 1, 32, [x], hotspots=True).hotspots
        assert whole.hotspots is None


def test_constants_fill_module_variables() -> None:
    x = np.zeros(32, np.uint32)
    launch(args=[x], constants={"table": np.array([5, 6, 7, 8], np.uint32)})
    assert x.tolist() == [5, 6, 7, 8] * 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": 2.5}, "E401.*grid 2.5 is not one to three positive whole numbers.*grid=128"),
        ({"grid": None}, "E401.*grid None"),
        ({"grid": "8"}, "E401.*grid '8'"),
        ({"block": (8, 0)}, r"E401.*block \(8, 0\)"),
        ({"block": ()}, r"E401.*block \(\)"),
        ({"args": None}, "E401.*args is None.*a list with one value per parameter"),
        ({"args": []}, "E401.*takes 1 argument, not 0.*its parameters are x"),
        ({"dynamic_shared": -1}, "E401.*dynamic_shared = -1.*at least 0"),
        ({"dynamic_shared": 1.5}, "E401.*dynamic_shared = 1.5"),
        ({"dynamic_shared": None}, "E401.*dynamic_shared = None"),
        ({"registers": 1.5}, "E401.*registers = 1.5"),
        ({"registers": -1}, "E401.*registers = -1"),
        ({"max_cycles": 0}, "E401.*max_cycles = 0.*at least 1"),
        ({"share_registers": 150}, "E502.*share_registers = 150"),
        ({"scheduler": "fifo"}, "E502.*no warp scheduler 'fifo'.*gto, lrr, old, owf"),
        ({"gpu": "gt200"}, "E502.*no GPU named 'gt200'.*'ptxtool gpus' lists them"),
        ({"constants": {"table": 3}}, "k.ptx:4:1: error.E401.*int for variable 'table'"),
        ({"constants": {"table": "abc"}}, "k.ptx:4:1: error.E401.*str for variable 'table'"),
        ({"constants": {"table": np.zeros(5, "f4")}}, "k.ptx:4:1: error.E401.*20 bytes .* of 16 bytes"),
        (
            {"constants": {"tile": np.zeros(5, "f4")}},
            "E401.*no module variable named 'tile'.*there are table",
        ),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, dict) else "",
)
def test_what_cannot_be_is_reported(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PtxError, match=f"(?s){message}"):
        launch(**changes)


def test_a_name_is_no_kernel() -> None:
    with pytest.raises(PtxError, match=r"(?s)E401.*kernel is 'k'.*\.kernels\["):
        ptxsim.launch("k", 1, 32)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block": 1600}, "1600 threads in whole warps of 1536"),
        ({"block": (32, 32), "registers": 33}, "36864 registers of 32768"),
        ({"dynamic_shared": 49153}, "49156 bytes of scratchpad of 49152"),
    ],
    ids=["threads", "registers", "scratchpad"],
)
def test_a_cta_that_does_not_fit_is_reported_at_the_kernel(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PtxError) as caught:
        launch(**changes)
    text = str(caught.value)
    assert text.startswith(
        "k.ptx:5:1: error[E402]: one CTA does not fit on an SM of tesla-c2050: it needs " + message
    )
    assert "\n    5 | .visible .entry k(.param .u64 x)\n      | ^^^^" in text
    assert "\n   help: use fewer threads" in text


def test_counters_have_the_names_of_gpgpu_sim() -> None:
    result = launch(grid=3)
    stats = result.stats
    assert stats["cycles"] == result.cycles
    assert stats["warp_insn"] == 3 * 11
    assert stats["thread_insn"] == 32 * stats["warp_insn"]
    assert stats["gpu_ipc"] == stats["thread_insn"] / stats["cycles"]
    assert stats["issued_w32"] == stats["sched_issued"] == stats["warp_insn"]
    waits = stats["sched_stall"] + stats["sched_w0_idle"] + stats["sched_w0_scoreboard"]
    assert waits + stats["sched_issued"] == 2 * stats["active_cycles"]
    assert stats["l1d_accesses"] == stats["l1d_misses"] == stats["global_stores"] == 3
    assert stats["l2_accesses"] == stats["l2_misses"] + stats["l2_pending_hits"] + stats["l2_hits"] > 0
    assert {"stall_shd_mem", "shmem_bank_conflict", "dram_reads", "dram_writes"} <= stats.keys()
    assert result.to_dict()["stats"] == stats
