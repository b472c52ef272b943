"""Changes of runs as they are written, and the runs that come of them."""

from pathlib import Path

import pytest
from scalekernel import LAUNCH, SCALE

from ptxsim.launch_options import LaunchOptions
from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.cli.completion import CHANGE_KEYS
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.ir.nodes import Module
from ptxtool.results.kernel_runs import KernelRun, RefusedRun
from ptxtool.runs.kernel_runs import KEYS, read_change, run_kernel


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("scheme=finereg", {"scheme": "finereg"}),
        ("gpu=gtx480, scheduler=two_level:4", {"gpu": "gtx480", "scheduler": "two_level:4"}),
        ("passes=unroll-decls,reorder-decls{order=text}", {"passes": "unroll-decls,reorder-decls{order=text}"}),
        ("passes=allocate:max-regs=20,registers=20", {"passes": "allocate:max-regs=20", "registers": "20"}),
        ("share_registers=90,name=shared", {"share-registers": "90", "name": "shared"}),
        ("set=sm.count=7;sm.ctas=4", {"set": "sm.count=7;sm.ctas=4"}),
    ],
)  # fmt: skip
def test_changes_are_read(text: str, change: dict[str, str]) -> None:
    assert read_change(text) == change


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("finereg", "'finereg' changes nothing"),
        ("schem=finereg", "'schem=finereg' changes nothing"),
        ("x,scheme=finereg", "changes nothing"),
        ("", "'' changes nothing"),
        ("gpu=a,gpu=b", "has 'gpu' twice"),
    ],
)
def test_what_is_no_change_is_an_error(text: str, message: str) -> None:
    with pytest.raises(PtxError, match="E502") as problem:
        read_change(text)
    assert message in problem.value.diagnostics[0].message
    assert problem.value.diagnostics[0].help


def test_completion_knows_the_keys() -> None:
    assert CHANGE_KEYS == KEYS


def runs(tmp_path: Path, *changes: str) -> tuple[tuple[KernelRun, ...], tuple[RefusedRun, ...]]:
    (tmp_path / "launch.toml").write_text(LAUNCH)
    kernel = api.parse(SCALE, name="scale.ptx").kernels["scale"]

    launch = load_launch(tmp_path / "launch.toml")

    def rewrite(module: Module, passes: str) -> Module:
        return api.rewrite(module, passes, launch=launch, gpu="tesla-c2050").module

    return run_kernel(kernel, launch, LaunchOptions(), [read_change(c) for c in changes], rewrite)


def test_runs_differ_in_what_was_changed(tmp_path: Path) -> None:
    (first, small, regs, scheme, passes), refused = runs(
        tmp_path,
        "set=sm.count=7,name=half",
        "registers=32,scheduler=gto",
        "scheme=regmutex",
        "passes=unroll-decls,reorder-decls",
        "set=sm.registers=256,name=tiny",
        "passes=allocate:max-regs=1",
    )
    assert (first.name, first.changes) == ("baseline", {})
    assert first.run.result.hotspots is not None
    assert (small.name, small.changes) == ("half", {"set": "sm.count=7"})
    assert (first.run.result.n_sms, small.run.result.n_sms) == (14, 7)
    assert (first.run.result.registers, regs.run.result.registers) == (20, 32)
    assert regs.run.result.scheduler == "gto"
    assert regs.kernel is first.kernel
    assert scheme.kernel is not first.kernel  # allocated, as the scheme needs
    assert passes.name == "passes=unroll-decls,reorder-decls"
    assert [run.run.problems for run in (first, small, regs, scheme, passes)] == [()] * 5
    # 256 registers are too few for a CTA of the kernel; no address fits into one register
    assert [(run.name, run.to_dict()["code"]) for run in refused] == [
        ("tiny", "E402"),
        ("passes=allocate:max-regs=1", "E301"),
    ]
    assert "registers" in refused[0].reason


@pytest.mark.parametrize(
    "change",
    ["registers=many", "registers=0", "gpu=nothing", "scheme=nothing", "set=7", "scheduler=nothing"],
)
def test_values_that_are_none_are_errors(tmp_path: Path, change: str) -> None:
    with pytest.raises(PtxError) as problem:
        runs(tmp_path, change)
    assert problem.value.diagnostics[0].code in ("E501", "E502")
