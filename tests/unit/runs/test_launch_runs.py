"""One timed run of a launch file: whose scheduler and registers count, and a run that the cycle limit ends."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from scalekernel import LAUNCH, SCALE
from sim_results import sim_result

import ptxsim
from ptxsim.launch_options import LaunchOptions
from ptxsim.timing.schedulers import policy
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.parse import parse
from ptxtool.runs.launch_runs import chosen_policy, limit_reached, run_launch

SCALE_KERNEL = parse(SCALE, "scale.ptx").kernels["scale"]
GPU = load_gpu("tesla-c2050")


def read(text: str = LAUNCH) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def test_the_scheduler_is_the_callers_or_the_files_or_the_machines() -> None:
    launch, silent = read('scheduler = "gto"\n' + LAUNCH), read()
    own = policy("two_level:3")
    assert chosen_policy(launch, GPU, own) is own
    assert chosen_policy(launch, GPU, "old").name == "old"
    assert chosen_policy(launch, GPU, None).name == "gto"
    assert GPU.scheduler != "gto"
    assert chosen_policy(silent, GPU, None).name == GPU.scheduler


def test_only_a_wrong_scheduler_of_the_file_is_reported_at_the_file() -> None:
    for launch, asked, place in (
        (read('scheduler = "gtx"\n' + LAUNCH), None, "launch.toml"),
        (read('scheduler = "gto"\n' + LAUNCH), "gtx", None),
    ):
        with pytest.raises(PtxError) as caught:
            chosen_policy(launch, GPU, asked)
        (problem,) = caught.value.diagnostics
        assert (problem.code, problem.source and problem.source.name) == ("E502", place)


def test_neither_a_launch_file_nor_a_gpu_file_runs_code(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("raise SystemExit('was run')\n")
    name = f"{helper}:pick"
    gpu = msgspec.structs.replace(GPU, scheduler=name)
    for launch, machine in ((read(f'scheduler = "{name}"\n' + LAUNCH), GPU), (read(), gpu)):
        with pytest.raises(PtxError, match=f"command line names it: --scheduler {name}"):
            chosen_policy(launch, machine, None)
    with pytest.raises(PtxError, match="command line names it"):
        ptxsim.launch(SCALE_KERNEL, 1, 32, read().arguments(), gpu=gpu)
    assert chosen_policy(read(f'scheduler = "{name}"\n' + LAUNCH), gpu, "gto").name == "gto"


def test_the_registers_of_the_caller_go_before_those_of_the_file() -> None:
    # 32768 registers: of 128 threads with 20 each 12 CTAs fit, with 44 each 5, and an SM has 8 slots
    found = [run_launch(SCALE_KERNEL, read(), LaunchOptions(registers=n)).result for n in (None, 44)]
    assert [(r.registers, r.resident_ctas) for r in found] == [(20, 8), (44, 5)]


def test_a_run_that_did_not_end_is_not_compared() -> None:
    run = run_launch(SCALE_KERNEL, read(), LaunchOptions(max_cycles=50))
    assert run.result.cycles == 50
    assert (run.checked, [d.code for d in run.problems]) == ((), ["E408"])


def test_the_cycle_limit_is_reported_at_the_head_of_the_kernel() -> None:
    stopped = replace(sim_result(), status="max-cycles", ctas_done=3)
    reported = limit_reached(SCALE_KERNEL, stopped)
    assert reported.message == "'scale' had not ended after 1000 cycles: 3 of 10 CTAs done"
    assert (reported.code, reported.line) == ("E408", 4)


def test_scratchpad_is_the_callers_or_the_files() -> None:
    launch = read("scratchpad = 512\n" + LAUNCH)
    assert run_launch(SCALE_KERNEL, launch).result.scratchpad_bytes == 512
    assert run_launch(SCALE_KERNEL, launch, LaunchOptions(scratchpad=256)).result.scratchpad_bytes == 256
    assert run_launch(SCALE_KERNEL, read()).result.scratchpad_bytes == 0
