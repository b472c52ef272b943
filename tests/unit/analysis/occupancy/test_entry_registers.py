"""Registers at a kernel's entry: the numbers are those that ptxas 13.0 prints for such kernels with `setmaxnreg`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bound_samples import kernel

from ptxtool import parse
from ptxtool.analysis.occupancy.entry_registers import (
    adjusts_registers,
    entry_registers,
    ignored_ctas,
    launched_registers,
)
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.nodes import Function

BOUNDS = {
    ".maxnreg 50": 50,
    ".maxnreg 168": 168,
    ".maxnreg 255": 255,
    ".maxnreg 256": 255,  # more than a thread has: ignored, and so are bounds that it would contradict
    ".maxntid 384 .minnctapersm 1": 168,  # 65536 / 384 = 170
    ".maxntid 128 .minnctapersm 1": 255,
    ".maxntid 256 .minnctapersm 3": 80,  # 85
    ".maxntid 100 .minnctapersm 3": 168,  # four whole warps each
    ".maxnreg 96 .maxntid 384 .minnctapersm 2": 80,
    ".maxnreg 64 .maxntid 384 .minnctapersm 1": 64,
    ".reqntid 16, 8 .minnctapersm 4": 128,
}
ADJUST = "setmaxnreg.dec.sync.aligned.u32 40;"


def of(bounds: str, body: str = ADJUST, before: str = "", arch: str = "sm_90a") -> Function:
    return parse(kernel(bounds, body, before, arch)).kernels["k"]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_what_ptxas_prints(bounds: str) -> None:
    assert entry_registers(of(bounds)) == BOUNDS[bounds]


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_ptxas_prints_it(bounds: str, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(kernel(bounds, ADJUST))
    command = ["ptxas", "-arch=sm_90a", "-v", "k.ptx", "-o", "k.cubin"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    found = re.search(r"Used (\d+) registers", printed)
    assert found is not None
    assert int(found.group(1)) == BOUNDS[bounds]


@pytest.mark.parametrize("bounds", ["", ".maxntid 128", ".minnctapersm 2", ".maxntid 1024 .minnctapersm 9"])
def test_bounds_that_fix_nothing(bounds: str) -> None:
    assert entry_registers(of(bounds)) is None
    assert launched_registers(of(bounds)) == 0
    assert launched_registers(of(bounds), 40) == 40


def test_an_unknown_target_has_64_k_registers() -> None:
    assert entry_registers(of(".maxntid 1024 .minnctapersm 1", arch="sm_999")) == 64


def test_ctas_that_exceed_an_sm_are_ignored_for_a_reason() -> None:
    k = of(".maxntid 1024 .minnctapersm 9")
    reason = ignored_ctas(k, k.directives[1], block_bound(k))
    assert reason is not None
    assert reason[0] == "9 CTAs of 1024 threads exceed the 2048 of an SM"


def test_a_launch_has_whole_units_of_eight() -> None:
    assert launched_registers(of(".maxnreg 50")) == 56
    assert launched_registers(of(".maxnreg 255")) == 256
    assert launched_registers(of(".maxnreg 56"), 20) == 24


def test_they_are_the_registers_of_a_launch_where_the_kernel_adjusts_them() -> None:
    assert registers_per_thread(of(".maxnreg 80")) == 80
    assert registers_per_thread(of(".maxnreg 80", "")) == 1
    assert registers_per_thread(of("")) == 1


def test_functions_that_a_kernel_may_call_count() -> None:
    before = f".func f() {{ {ADJUST} ret; }} .entry other() {{ {ADJUST} ret; }}"
    assert adjusts_registers(of("", "call f;", before))
    assert not adjusts_registers(of("", "", f".entry other() {{ {ADJUST} ret; }}"))
