"""The state of launches that run at the same time before their first cycle."""

from typing import Any

import numpy as np
from stream_kernels import kernels, small_machine

import ptxsim
from ptxsim.base.kernel_records import LEFTOVER, RUNNING, WAITING
from ptxsim.timing.concurrent import build_concurrent as builder


def test_what_launches_need_is_in_their_records(monkeypatch: Any) -> None:
    """Three launches: the second waits for the first, and the third finds no place."""
    settings = ['dispatch.kernels="leftover"', "dispatch.concurrent_kernels=1", "dispatch.launch_cycles=50"]
    machine = ptxsim.Machine(small_machine(*settings))
    built = []
    original = builder.build_concurrent

    def build(*arguments: Any) -> Any:
        built.append(original(*arguments))
        run, records = built[0].run[0], built[0].arrays["kernels"]
        assert records["state"].tolist() == [RUNNING, WAITING, WAITING]
        assert records["waits_for"].tolist() == [0, 1, 0]
        assert records["n_successors"].tolist() == [1, 0, 0]
        assert int(built[0].arrays["successors"][0]) == 1
        assert records["ready_cycle"].tolist() == [50, 0, 0]
        # 6 CTAs on two SMs: 3 on each; 128 bytes of registers: 32 threads with the 4 that are the unit
        assert records["resident_ctas"].tolist() == [3, 1, 1]
        assert records["registers"].tolist() == [128, 128, 8 * 32]
        assert records["scratchpad"].tolist() == [0, 0, 512]
        assert (int(run["n_ctas"]), int(run["next_ready"]), int(run["kernel_policy"])) == (8, 50, LEFTOVER)
        assert run["running"][:2].tolist() == [0, -1]
        # a CTA slot has shared memory for the largest CTA
        assert built[0].sms["shared_bytes"].tolist() == [512, 512]
        contexts = built[0].context
        assert contexts["instructions"].tolist() == [int(run["code"])] * 3
        assert len(set(contexts["param_memory"].tolist())) == 3
        assert len(set(contexts["global_memory"].tolist())) == 1
        # launches of one kernel share its registers
        assert contexts["r32"][0] == contexts["r32"][1] != contexts["r32"][2]
        return built[0]

    monkeypatch.setattr("ptxsim.concurrent_launcher.build_concurrent", build)
    one, x = machine.stream(), np.arange(32, dtype=np.uint32)
    one.launch(kernels()["spin"], 6, 32, [3])
    one.launch(kernels()["spin"], 1, 32, [3])
    machine.stream().launch(kernels()["reversed"], 1, 32, [x], registers=8)
    assert machine.synchronize() is not None
    assert built
    assert x.tolist() == list(range(32))[::-1]
