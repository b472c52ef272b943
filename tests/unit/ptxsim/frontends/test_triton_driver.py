"""The simulator as Triton's driver: launches of PTX as Triton asks for them, tensors that overlap, what is refused."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ptxsim.frontends.triton_driver import Tensor, TritonSimulator
from ptxsim.launch_options import LaunchOptions
from ptxtool.base.diag import PtxError

TEXT = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry shift(.param .u64 from, .param .u64 to, .param .u32 n, .param .u64 scratch, .param .u64 profile)
.reqntid 64
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 ret;
	mul.wide.u32 %rd3, %r2, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	st.global.u32 [%rd5], %r3;
	ret;
}
"""
SIGNATURE = {"from": "*i32", "to": "*i32", "n": "i32", "BLOCK": "constexpr"}


def metadata(**changes: Any) -> SimpleNamespace:
    return SimpleNamespace(
        **{"name": "shift", "num_warps": 2, "shared": 0, "global_scratch_size": 16, "num_ctas": 1, **changes}
    )


def simulator(timed: bool = False, **options: Any) -> TritonSimulator:
    return TritonSimulator(None, "tesla-c2050", timed, LaunchOptions(**options) if options else None)


def launch(on: TritonSimulator, *args: Any, grid: int = 1, hooks: tuple[Any, Any] = (None, None)) -> None:
    _, ptx, *_ = on.utils.load_binary("shift", TEXT, 0, 0)
    start = on.launcher_cls(SimpleNamespace(signature=SIGNATURE), metadata())
    start(grid, 1, 1, 0, ptx, None, "about", *hooks, *args, 64)


def test_a_launch_changes_tensors_in_place() -> None:
    on = simulator()
    source, to = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    seen: list[str] = []
    launch(on, Tensor(source), Tensor(to), 50, hooks=(seen.append, seen.append))
    assert (to == np.where(source < 50, source, 0)).all()
    assert seen == ["about", "about"]
    assert [result.ctas for result in on.results] == [1]
    launch(on, Tensor(source), Tensor(to), 64, grid=0)
    assert len(on.results) == 1


def test_tensors_that_overlap_are_one_block() -> None:
    values = np.arange(100, dtype=np.int32)
    launch(simulator(), Tensor(values[:64]), Tensor(values[30:]), 20)
    assert values[30:50].tolist() == [*range(20)]
    assert values[50:].tolist() == [*range(50, 100)]
    launch(simulator(), Tensor(values), Tensor(values), 64)
    assert values[30:50].tolist() == [*range(20)]


def test_strided_tensors_cover_what_lies_between() -> None:
    rows = np.arange(128, dtype=np.int32).reshape(8, 16)
    part, to = Tensor(rows[:, 2:4]), np.zeros(64, np.int32)
    assert (part.stride(), part.stride(0), part.element_size(), part.shape) == ((16, 1), 16, 4, (8, 2))
    launch(simulator(), part, Tensor(to), 64)
    assert (to == np.arange(2, 66)).all()


def test_reads_outside_of_all_tensors_are_found() -> None:
    with pytest.raises(PtxError, match="E404"):
        launch(simulator(), Tensor(np.zeros(8, np.int32)), Tensor(np.zeros(64, np.int32)), 64)


def test_time_of_launches_and_of_benchmarks() -> None:
    on = simulator(timed=True)
    tensors = Tensor(np.arange(64, dtype=np.int32)), Tensor(np.zeros(64, np.int32))
    launch(on, *tensors, 64)
    (result,) = on.results
    assert result.cycles > 0
    quiet = simulator()
    measured = quiet.get_benchmarker()(lambda: launch(quiet, *tensors, 64), quantiles=(0.5, 0.2))
    assert measured == pytest.approx([result.cycles / 575e3] * 2)  # 575 MHz, and the caches are as cold
    assert quiet.results == []
    assert quiet.get_benchmarker()(lambda: None) == 0


def test_what_cannot_be_launched() -> None:
    on = simulator()
    values = np.zeros(64, np.int32)
    with pytest.raises(PtxError, match="negative strides"):
        launch(on, Tensor(values[::-1]), Tensor(values), 64)
    with pytest.raises(PtxError, match="an argument of type str"):
        launch(on, Tensor(values), Tensor(values), "64")
    with pytest.raises(PtxError, match="a tensor on a GPU"):
        launch(on, SimpleNamespace(data_ptr=lambda: 0, is_cuda=True), Tensor(values), 64)
    with pytest.raises(PtxError, match="2 CTAs per program"):
        on.launcher_cls(SimpleNamespace(signature=SIGNATURE), metadata(num_ctas=2))
    with pytest.raises(PtxError, match="tensor descriptor"):
        on.launcher_cls(SimpleNamespace(signature={"x": "tensordesc<fp16[8]>"}), metadata())
    with pytest.raises(PtxError, match="to machine code"):
        on.utils.load_binary("shift", b"\x7fELF", 0, 0)
    with pytest.raises(PtxError, match="device 1"):
        on.set_current_device(1)
    with pytest.raises(PtxError, match="get_benchmarker"):
        on.get_device_interface()
    assert (on.get_current_device(), on.get_current_stream(0)) == (0, 0)
    assert on.utils.get_device_properties(0)["max_shared_mem"] == 227 << 10
