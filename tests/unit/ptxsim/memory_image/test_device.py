"""Where buffers lie on a device that outlasts launches, and what is copied when."""

import numpy as np
import pytest

from ptxsim.lowering.variable_layout import GLOBAL_BASE, lay_out
from ptxsim.memory_image.device import Device
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

TEXT = """.version 6.0
.target sm_35
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .u32 limit = 7;
.visible .entry k(.param .u64 x)
{
	.global .align 4 .u32 own = 8;
	ret;
}
.visible .entry other()
{
	.global .align 4 .u32 own = 9;
	ret;
}
"""


def device(name: str = "tesla-c2050") -> Device:
    return Device(load_gpu(name))


def words(n: int, value: int = 0) -> np.ndarray:
    return np.full(n, value, np.uint32)


def test_an_array_has_one_address_for_good() -> None:
    d, x, y = device(), words(64), words(64)
    first = d.place([x, y, x])
    assert first == {id(x): GLOBAL_BASE, id(y): GLOBAL_BASE + 512}  # 256 bytes and a gap, rounded up to 256
    d.fill()
    z = words(1)
    assert d.place([y, z]) == {id(y): GLOBAL_BASE + 512, id(z): GLOBAL_BASE + 1024}


def test_views_of_the_same_memory_are_the_same_buffer() -> None:
    d, x = device(), words(64)
    assert d.place([x[:]])
    start = GLOBAL_BASE
    inside, same = x[8:], x[:64]
    assert d.place([inside, same]) == {id(inside): start + 32, id(same): start}
    assert len(d.buffers) == 1


def test_parts_of_a_buffer_in_the_same_launch_lie_within_it() -> None:
    d, x = device(), words(64)
    low, high = x[:32], x[32:]
    assert d.place([high, x, low]) == {id(x): GLOBAL_BASE, id(low): GLOBAL_BASE, id(high): GLOBAL_BASE + 128}


def test_arrays_that_overlap_in_part_are_refused() -> None:
    x = words(64)
    with pytest.raises(PtxError, match=r"E401.*overlap in part"):
        device().place([x[:40], x[20:]])


def test_a_larger_array_takes_the_place_of_its_parts() -> None:
    d, x = device(), words(64, 3)
    d.place([x[:8]])
    d.fill()
    start = d.place([x])[id(x)]
    assert [address for address, _ in d.buffers] == [start]
    assert d.fill()[start - GLOBAL_BASE :][:256].view(np.uint32).tolist() == [3] * 64


def test_what_is_copied_when() -> None:
    d, x, y = device(), words(64), words(64)
    d.place([x, y])
    d.fill()
    both = [(GLOBAL_BASE, 256), (GLOBAL_BASE + 512, 256)]
    assert d.take_copies() == both
    d.fill()
    assert d.take_copies() == []
    y[3] = 1
    d.fill()
    assert d.take_copies() == both[1:]


def test_copies_that_are_asked_for() -> None:
    """Those before the first launch wait for its module, whose variables lie before all buffers."""
    d, x, y = device(), words(64), words(64)
    kernel = parse(TEXT, "t.ptx").kernels["k"]
    d.copy([y])
    d.load(kernel.module, lay_out(kernel))
    start = GLOBAL_BASE + 768  # after three variables
    assert d.place([x, y]) == {id(y): start, id(x): start + 512}
    d.fill()
    assert d.take_copies() == [(start, 256), (start + 512, 256)]
    d.copy([x, y, x])
    assert d.take_copies() == [(start + 512, 256), (start, 256), (start + 512, 256)]


def test_what_a_kernel_wrote_goes_back_and_is_no_copy() -> None:
    d, x = device(), words(64)
    d.place([x])
    d.fill()[:4] = 255
    d.read_back()
    assert x[0] == 0xFFFFFFFF
    d.take_copies()
    d.fill()
    assert d.take_copies() == []


def test_growth_keeps_what_is_there() -> None:
    d, x = device(), words(64, 1)
    d.place([x])
    d.fill()[:4] = 9
    d.read_back()
    d.place([words(100_000)])
    assert d.fill()[:256].view(np.uint32).tolist() == x.tolist()
    assert x[0] == 0x09090909


def test_the_place_of_a_freed_buffer_is_given_to_one_of_its_size() -> None:
    d, x, y = device(), words(64), words(64)
    d.place([x, y])
    d.free([x])
    larger, equal = words(200), words(64)
    assert d.place([larger, equal]) == {id(larger): GLOBAL_BASE + 1024, id(equal): GLOBAL_BASE}
    with pytest.raises(PtxError, match="E401"):
        d.free([x])


def test_buffers_side_by_side_stay_so_across_launches() -> None:
    """With `adjacent_buffers` the caches see no gap: megabytes that no index tells lie between."""
    d, unseen = device("gpgpusim42-c2050"), 6 << 20
    x, y, z = words(64), words(65), words(1)
    a = d.place([x, y])
    d.heap(1000)
    b = d.place([z])
    assert [a[id(x)] % unseen, a[id(y)] % unseen, b[id(z)] % unseen] == [0, 256, 256 + 512]
    assert b[id(z)] > sum(d.heap(0))


def test_modules_lie_behind_each_other() -> None:
    d = device()
    one, two = parse(TEXT, "one.ptx"), parse(TEXT, "two.ptx")
    layout = lay_out(one.kernels["k"])
    d.load(one, layout)
    d.place([words(64)])
    origin = d.origin(two)
    assert (origin.variables, origin.constants, origin.code) == (GLOBAL_BASE + 768 + 512, 256, 16)
    second = lay_out(two.kernels["k"], origin=origin)
    constants = d.load(two, second)
    arena = d.fill()
    assert arena[:4].view(np.uint32)[0] == arena[origin.variables - GLOBAL_BASE :][:4].view(np.uint32)[0] == 5
    assert constants[256:260].view(np.uint32)[0] == 7
    assert d.origin(one) == layout.origin


def test_variables_lie_at_the_same_places_for_every_kernel_of_a_module() -> None:
    kernels = parse(TEXT, "t.ptx").kernels
    k, other = lay_out(kernels["k"]), lay_out(kernels["other"])
    assert k.symbols["counter"] == other.symbols["counter"]
    assert (k.symbols["own"].address, k.symbols["other::own"].address) == (
        other.symbols["k::own"].address,
        other.symbols["own"].address,
    )
    assert k.global_bytes == other.global_bytes
