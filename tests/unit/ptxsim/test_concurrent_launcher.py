"""Launches on streams as a whole: the same bits as alone, memory as in order, reports, and what is refused."""

from typing import Any

import numpy as np
import pytest
from stream_kernels import kernels, small_machine

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse
from ptxtool.results.concurrency import ConcurrentResult

POLICIES = ["one-per-sm", "leftover", "spatial"]


@pytest.mark.parametrize(
    ("gpu", "settings"),
    [("tesla-c2050", ["sm.count=2"]), ("gpgpusim42-qv100", ["sm.count=2", "dispatch.cta_launch_cycles=3"])],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_one_launch_on_a_stream_has_the_counters_of_one_alone(
    gpu: str, settings: list[str], policy: str
) -> None:
    """All counters, of two launches in a row. Two CTAs: for more, LEFTOVER does not spread them, as each SM takes what
    it has room for (in GPGPU-Sim too)."""
    machine = with_settings(load_gpu(gpu), [*settings, f'dispatch.kernels="{policy}"'])
    found, memory = [], []
    for on_stream in (False, True):
        x, m = np.arange(140, dtype=np.uint32), ptxsim.Machine(machine)
        for _ in range(2):
            if on_stream:
                m.stream().launch(kernels()["reversed"], 2, 70, [x])
                m.synchronize()
            else:
                m.launch(kernels()["reversed"], 2, 70, [x])
        found.append([result.to_dict() for result in m.results])
        memory.append(x.tolist())
    assert found[0] == found[1]
    assert memory == [list(range(140))] * 2  # reversed twice


def three_launches(policy: str, event_skip: bool) -> ConcurrentResult:
    """Two streams, and a third launch that waits for both: x + 5, y reversed, then x reversed."""
    machine = ptxsim.Machine(
        small_machine(f'dispatch.kernels="{policy}"', "sm.ctas=3"), event_skip=event_skip
    )
    x, y = np.arange(300, dtype=np.uint32), np.arange(240, dtype=np.uint32)
    one, other = machine.stream(), machine.stream()
    one.launch(kernels()["add"], 3, 100, [x, 5])
    other.launch(kernels()["reversed"], 6, 40, [y])
    one.wait(other.record())
    one.launch(kernels()["reversed"], 5, 60, [x])
    result = machine.synchronize()
    assert result is not None
    assert np.array_equal(x.reshape(5, 60)[:, ::-1].reshape(-1), np.arange(300) + 5)
    assert np.array_equal(y.reshape(6, 40)[:, ::-1].reshape(-1), np.arange(240))
    return result


@pytest.mark.parametrize("policy", POLICIES)
def test_memory_is_as_after_launches_in_order(policy: str) -> None:
    """And every counter is the same where no cycle is skipped."""
    result = three_launches(policy, event_skip=True)
    assert result.launches[2].first_cycle > max(launch.end_cycle for launch in result.launches[:2])
    assert result.overlap_cycles > 0
    assert result.to_dict() == three_launches(policy, event_skip=False).to_dict()


def test_what_is_printed_is_that_of_all_launches() -> None:
    text = """.version 6.0
.target sm_20
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 words[4] = {72, 105, 10, 0};
.visible .entry say()
{
	.reg .b32 %r<2>;
	.reg .b64 %d<3>;
	mov.u64 %d1, words;
	cvta.global.u64 %d1, %d1;
	mov.u64 %d2, 0;
	{
	.param .b64 f;
	.param .b64 v;
	.param .b32 r;
	st.param.b64 [f], %d1;
	st.param.b64 [v], %d2;
	call.uni (r), vprintf, (f, v);
	}
	ret;
}
"""
    machine = ptxsim.Machine(small_machine())
    say = parse(text, "say.ptx").kernels["say"]
    for _ in range(2):
        machine.stream().launch(say, 1, 2)
    result = machine.synchronize()
    assert result is not None
    assert result.whole.printed == "Hi\n" * 4


@pytest.mark.parametrize(
    ("kernel", "args", "code", "said"),
    [
        ("add", lambda: [np.zeros(40, np.uint32), 5], "E404", "kernel 'add', CTA (1,0,0), thread (8,0,0)"),
        ("stuck", lambda: [np.zeros(1, np.uint32)], "E406", "kernel 'stuck', cycle "),
    ],
)
def test_a_fault_is_reported_with_its_launch(kernel: str, args: Any, code: str, said: str) -> None:
    machine = ptxsim.Machine(small_machine())
    machine.stream().launch(kernels()["spin"], 1, 32, [50])
    machine.stream().launch(kernels()[kernel], 2, 32, args())
    with pytest.raises(PtxError) as caught:
        machine.synchronize()
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert said in found.message
    assert found.source is not None
    line = found.source.text[found.start : found.end]
    assert line.startswith("ld.global" if code == "E404" else "bar.sync")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"share_registers": 50}, "on a stream with sharing of registers or scratchpad"),
        ({"scheme": "virtual-thread"}, "on a stream with a register scheme"),
        ({"cluster": 2}, "on a stream with clusters"),
        ({"hotspots": True}, "on a stream with hot spots"),
        ({"timeline": "t.json"}, "on a stream with a timeline"),
    ],
)
def test_what_is_simulated_alone_only_is_refused(changes: dict[str, Any], said: str) -> None:
    machine = ptxsim.Machine("tesla-c2050")
    x = np.zeros(2048, np.uint32)
    machine.stream().launch(kernels()["add"], 8, 256, [x, 1], **changes)
    with pytest.raises(PtxError, match=said) as caught:
        machine.synchronize()
    assert caught.value.diagnostics[0].code == "E502"


def test_bulk_copies_are_simulated_alone_only() -> None:
    text = """.version 8.0
.target sm_90
.visible .entry k() { cp.async.bulk.commit_group; ret; }
"""
    machine = ptxsim.Machine("tesla-c2050")
    machine.stream().launch(parse(text).kernels["k"], 1, 32, [])
    with pytest.raises(PtxError, match="on a stream with bulk copies"):
        machine.synchronize()


def test_a_run_has_one_scheduler() -> None:
    machine = ptxsim.Machine(small_machine())
    machine.stream().launch(kernels()["spin"], 1, 32, [1])
    machine.stream().launch(kernels()["spin"], 1, 32, [1], scheduler="gto")
    with pytest.raises(PtxError, match="'scheduler' differs among launches"):
        machine.synchronize()
