"""Launches on a machine whose unified memory each kernel divides: CTAs and L1, worked out by hand, and results.

The pool of `gtx980-finereg` is 278528 bytes beside 131072 of registers, a way of its L1 6144 bytes; 8 ways are kept, so
that CTAs may take 229376 bytes.
"""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.switching import launch_waiting, waiting_kernel

import ptxsim
import ptxtool
from ptxsim.launch_options import LaunchOptions
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

TWICE = """
.version 4.0
.target sm_35
.address_size 64
.visible .entry twice(.param .u64 p, .param .u64 o, .param .u32 n)
{
	.reg .b64 %l<5>;
	.reg .b32 %r<8>;
	.reg .pred %q;
	ld.param.u64 %l0, [p];
	mov.u32 %r5, %tid.x;
	mul.wide.u32 %l1, %r5, 128;
	add.s64 %l4, %l0, %l1;
	mov.u32 %r0, 0;
	mov.u32 %r1, 0;
PASS:
	ld.param.u32 %r2, [n];
	mov.s64 %l2, %l4;
LINE:
	ld.global.u32 %r3, [%l2];
	add.u32 %r0, %r0, %r3;
	add.s64 %l2, %l2, 4096;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %q, %r2, 0;
	@%q bra LINE;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %q, %r1, 2;
	@%q bra PASS;
	ld.param.u64 %l3, [o];
	mul.wide.u32 %l1, %r5, 4;
	add.s64 %l3, %l3, %l1;
	st.global.u32 [%l3], %r0;
	ret;
}
"""
"""A warp reads 32 n lines, 128 bytes each, twice, and stores the sums of its lanes' words."""


def one_sm(*settings: str) -> Gpu:
    return with_settings(load_gpu("gtx980-finereg"), ("sm.count=1", *settings))


def read_twice(n: int, machine: ptxsim.Machine, memory: Any = None, **options: Any) -> tuple[int, int, Any]:
    """Hits and misses of the loads of 32 n lines, and the result."""
    kernel = ptxtool.parse(TWICE).kernels["twice"]
    words = np.arange(1024 * n, dtype=np.uint32) if memory is None else memory
    sums = np.zeros(32, np.uint32)
    result = machine.launch(kernel, 1, 32, [words, sums, n], **options)
    assert (sums == 2 * words[::32].reshape(n, 32).sum(axis=0, dtype=np.uint32)).all()
    l1 = result.l1
    stores_missed = l1["stores"] - l1["store_hits"]
    return l1["hits"] - l1["store_hits"], l1["misses"] - stores_missed, result


def test_the_l1_is_what_is_left() -> None:
    # 1024 lines: of 384 (48 sets x 8) each is replaced before it is read again, of 2160 (48 x 45) none
    hits, misses, small = read_twice(32, ptxsim.Machine(one_sm()))
    assert (hits, misses, small.unified) == (0, 2048, None)
    hits, misses, large = read_twice(32, ptxsim.Machine(one_sm(), scheme="unified"))
    assert (hits, misses, large.unified.l1_ways) == (1024, 1024, 45)
    assert large.cycles < small.cycles
    # with 176128 bytes of shared memory: (278528 - 176128) // 6144 = 16 ways are 768 lines
    machine = ptxsim.Machine(one_sm(), scheme="unified")
    hits, misses, some = read_twice(32, machine, dynamic_shared=176128)
    assert (hits, misses, some.unified.l1_ways) == (0, 2048, 16)


def resident(*shape: int, shared: int = 0, scheme: str) -> int:
    """The CTAs of `warps` warps with `live` registers live while they wait, of `registers`."""
    result = launch_waiting(*shape, dynamic_shared=shared, switching=scheme)
    return int(result.switching.resident_most if result.switching else result.resident_ctas)


@pytest.mark.parametrize(
    ("scheme", "shape", "shared", "ctas"),
    [
        # 8 x 32 x 48 x 4 = 49152 a CTA: n x 49152 - 131072 <= 229376 up to n = 7; the file has 65536 // 12288 = 5
        ("none", (8, 7, 48), 0, 5),
        ("unified", (8, 7, 48), 0, 7),
        # 2 x 32 x 32 x 4 = 8192 a CTA: n x 8192 <= 360448 up to n = 44; the file has 32
        ("virtual-thread", (2, 10, 32), 0, 32),
        ("virtual-thread-unified", (2, 10, 32), 0, 44),
        # and 4096 of shared memory: n x 12288 <= 360448 up to n = 29; shared memory has 24
        ("virtual-thread-unified", (2, 10, 32), 4096, 29),
        # the most live registers are where addresses are computed, 9 + 2 x 2 with 10 at the wait: 2 x 13 x 128 = 3328 a
        # CTA. 229376 // 3328 = 68, that is 1768 entries; 1768 // (2 * 10) = 88 wait, and 16 are in the ACRF
        ("finereg-unified", (2, 10, 32), 0, 104),
        # 16 x 4096 + n x (3328 + 4096) <= 229376 up to n = 22, and 16
        ("finereg-unified", (2, 10, 32), 4096, 38),
        ("finereg", (2, 10, 32), 4096, 24),
    ],
)
def test_resident_ctas(scheme: str, shape: tuple[int, ...], shared: int, ctas: int) -> None:
    assert resident(*shape, shared=shared, scheme=scheme) == ctas


def test_a_machine_splits_anew_for_each_launch() -> None:
    machine = ptxsim.Machine(one_sm(), scheme="unified")
    memory = np.arange(8192, dtype=np.uint32)
    launches = [read_twice(8, machine, memory, dynamic_shared=n) for n in (0, 0, 10000, 10000, 0)]
    assert [result.unified.l1_ways for *_, result in launches] == [45, 45, 43, 43, 45]
    misses = [missed for _, missed, _ in launches]
    assert misses == [256, 0, 256, 0, 256], "the L1 is kept while the split is the same"


@pytest.mark.parametrize("scheme", ["unified", "virtual-thread-unified", "finereg-unified"])
@pytest.mark.parametrize("name", ["layerforward", "reduction", "saxpy"])
def test_samples_leave_the_same_memory(name: str, scheme: str) -> None:
    launch, kernel = sample(name)
    expected, found = launch.arguments(), launch.arguments()
    given: dict[str, Any] = {"dynamic_shared": launch.dynamic_shared}
    ptxsim.run(kernel, launch.grid, launch.block, expected, **given)
    given |= {"gpu": "gtx980-finereg", "registers": launch.registers, "scheme": scheme}
    result = ptxsim.launch(kernel, launch.grid, launch.block, found, **given)
    assert result.unified.scheme == scheme
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours, theirs)


def refused(gpu: str = "gtx980-finereg", registers: int = 8, **options: Any) -> str:
    kernel = ptxtool.parse(waiting_kernel(3), name="k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel, 2, 64, [np.zeros(128, np.uint32)], gpu=gpu, registers=registers, **options)
    (reported,) = caught.value.diagnostics
    assert reported.help
    assert reported.source
    return f"{reported.code}: {reported.message}"


def test_what_is_refused() -> None:
    sharing = refused(scheme="unified", share_registers=90)
    assert (
        sharing
        == "E502: unified memory (unified) together with sharing of registers or scratchpad: not simulated"
    )
    for scheme in ("unified", "virtual-thread-unified", "finereg-unified"):
        assert "switching.unified_bytes is 0" in refused(gpu="tesla-c2050", scheme=scheme)
        assert refused(scheme=scheme, dynamic_shared=300000).startswith("E402")
    assert refused(scheme="finereg-unified", registers=600).startswith(
        "E402"
    )  # 64 lanes: 38400 of the ACRF's 32768
    options = LaunchOptions(scheme="unified", registers=600)
    kernel = ptxtool.parse(waiting_kernel(3)).kernels["k"]
    done = ptxsim.launch(kernel, 2, 64, [np.zeros(128, np.uint32)], gpu="gtx980-finereg", options=options)
    assert done.unified.limiter == "grid"
