"""The core without compilation (`NUMBA_DISABLE_JIT=1`) gives the compiled run's answers, counter by counter.

So the core can be debugged with a debugger, and no result depends on how numba treats a number's width.
"""

import pytest
from uncompiled import output_of

CODE = """
import hashlib, sys
import numpy as np
import ptxsim
from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse

name, grid, share, scheduler = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
machine = "tesla-c2050"
if name == "wide":  # the same on one SM with room for all CTAs: 72 warps of 128
    machine = with_settings(load_gpu(machine), ["sm.count=1", "sm.warps=128", "sm.threads=4096", "sm.registers=131072"])
if name in ("full", "wide"):  # 24 warps: divergence, a barrier, 64-bit integers that wrap, doubles, an atomic
    text = '''.version 3.0
.target sm_20
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .u32 %r<6>; .reg .u64 %d<4>; .reg .f64 %f<3>; .reg .pred %p<2>;
	ld.param.u64 %d0, [a];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r2, %r1, 768, %r0;
	mul.wide.u32 %d1, %r2, 8;
	add.u64 %d2, %d0, %d1;
	ld.global.u64 %d3, [%d2];
	bar.sync 0;
	setp.lt.u32 %p0, %r0, 700;
	@%p0 bra L;
	mul.lo.u64 %d3, %d3, 0x1E3779B97F4A7C15;
L:
	cvt.rn.f64.u64 %f0, %d3;
	div.rn.f64 %f1, %f0, 0d4008000000000000;
	atom.global.add.u64 %d3, [%d0+1024], 0;
	st.global.f64 [%d2], %f1;
	exit;
}'''
    kernel = parse(text).kernels["k"]
    block, options = 768, {}
    arguments = [np.arange(768 * grid, dtype=np.uint64) << np.uint64(40)]
else:
    launch = load_launch(resource_dir("samples") / name / "launch.toml")
    kernel = parse(launch.file.read_bytes(), str(launch.file)).kernels[launch.kernel]
    block, arguments = launch.block, launch.arguments()
    options = {"registers": launch.registers, "dynamic_shared": launch.dynamic_shared}
result = ptxsim.launch(
    kernel, grid, block, arguments, share_registers=share, scheduler=scheduler, max_cycles=8000, hotspots=True,
    gpu=machine, **options
)
print(result.to_json())
for a in arguments:
    print(hashlib.sha256(np.asarray(a).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "grid", "share", "scheduler"),
    [
        ("reduction", 2, 0, "lrr"),
        ("full", 1, 0, "two_level:3"),
        ("wide", 3, 0, "rrr"),
    ],
)
def test_same_without_compilation(name: str, grid: int, share: int, scheduler: str) -> None:
    arguments = [name, str(grid), str(share), scheduler]
    assert output_of(CODE, *arguments, compiled=False) == output_of(CODE, *arguments, compiled=True)
