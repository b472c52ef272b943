"""`simulate_triton`: a Triton script runs unchanged, on the simulator instead of a GPU.

Triton asks its active driver for the target to compile for, to load what it compiled, and to launch it; here that is
the simulator. The stage of Triton's compiler that would make machine code keeps the PTX instead: neither ptxas nor a
GPU is needed. Autotuning chooses by simulated cycles. Tensors stay in the memory of this process, and a launch copies
what they cover, gaps of strided ones included, to device memory and back: tensors that overlap are one block there, and
addresses have the alignment that Triton compiled for.

Not handled: tensor descriptors, tuples as arguments, several CTAs per program, addresses given as numbers, CUDA graphs,
and torch on the device "cuda", so code that torch.compile generates.

Reference: triton-lang, python/triton/backends/driver.py and compiler/compiler.py (`CompiledKernel`).
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from ptxsim.base.notice import say_if_compiling
from ptxsim.frontends.python_kernels import wrong
from ptxsim.frontends.triton_kernels import check_ctas
from ptxsim.launch_options import LaunchOptions
from ptxsim.loaded_modules import LoadedKernel
from ptxsim.machine import Machine
from ptxtool.base.diag import error
from ptxtool.ir.blocks import block_bound

_SHARED_BYTES, _THREADS, _ALIGNMENT = 227 << 10, 1024, 256


def simulate_triton(
    *,
    cc: tuple[int, int] = (8, 0),
    gpu: str = "tesla-c2050",
    timed: bool = False,
    options: LaunchOptions | None = None,
) -> "TritonSimulator":
    """Make the simulator Triton's active driver, and return it. Call it before the first launch.

    `cc` is the compute capability to compile for; `gpu` the machine that times launches, of autotuning or, with
    `timed`, all. `options` are those of every launch. Raises E402 for an unknown GPU; ImportError without Triton.
    """
    from triton import knobs
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    simulator = TritonSimulator(GPUTarget("cuda", 10 * cc[0] + cc[1], 32), gpu, timed, options)
    knobs.runtime.add_stages_inspection_hook = _keep_ptx
    driver.set_active(simulator)
    return simulator


def _keep_ptx(backend: Any = None, stages: Any = None, *_: Any) -> tuple[str, str] | None:
    """Triton's hook for the stages of its compiler; without arguments it asks for a key of its cache."""
    if stages is None:
        return "ptxsim", "ptxsim"
    stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return None


class Tensor:
    """A numpy array as an argument of Triton kernels, for programs without torch: kernels change it in place."""

    def __init__(self, array: Any):
        self.array = np.asarray(array)
        self.dtype, self.shape = self.array.dtype, self.array.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.array, dtype, copy=copy)

    def data_ptr(self) -> int:
        """The address of the first element in this process."""
        return int(self.array.ctypes.data)

    def element_size(self) -> int:
        """Bytes of an element."""
        return int(self.array.itemsize)

    def stride(self, axis: int | None = None) -> Any:
        """The distance of elements along an axis, or all of them, in elements."""
        strides = tuple(n // self.array.itemsize for n in self.array.strides)
        return strides if axis is None else strides[axis]


@dataclass
class TritonSimulator:
    """What Triton calls a driver; see `simulate_triton`. `results` has the result of every launch, in order."""

    target: Any
    gpu: str
    timed: bool
    options: LaunchOptions | None
    results: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = Machine(self.gpu)
        self._loaded: dict[bytes, LoadedKernel] = {}
        """By their PTX, on the machine."""
        self.utils = SimpleNamespace(
            get_device_properties=self._properties,
            load_binary=self._load_binary,
            unload_module=lambda _: None,
        )

    def tensor(self, array: Any) -> Tensor:
        """A numpy array as a tensor."""
        return Tensor(array)

    # ---- what Triton asks of a driver

    def get_current_target(self) -> Any:
        """The target to compile for."""
        return self.target

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Raises E401 for any other."""
        if device:
            raise wrong(f"device {device}", "the simulator is device 0")

    def get_current_stream(self, device: int) -> int:
        """The default stream: launches have ended when they return."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Where torch has its tensors."""
        return import_module("torch").device("cpu")

    def get_device_interface(self) -> Any:
        """Raises E401: what wants it measures time on a GPU."""
        raise wrong(
            "triton.testing.do_bench measures time on a GPU",
            "call triton.runtime.driver.active.get_benchmarker(), which takes the same function",
        )

    def get_benchmarker(self) -> Callable[..., Any]:
        """A function that returns simulated milliseconds of a call: of all its launches, with cold caches."""
        return self._milliseconds

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        """What launches a compiled kernel."""
        types = list(source.signature.values())
        for kind in types:
            if not isinstance(kind, str) or kind.startswith("tensordesc"):
                what = f"kernel '{metadata.name}' has a tensor descriptor or a tuple as an argument"
                raise wrong(what, "pass pointers and numbers")
        check_ctas(metadata)

        def start(
            x: int, y: int, z: int, stream: int, ptx: bytes, packed: Any, about: Any, *rest: Any
        ) -> None:
            enter, leave, *args = rest
            if enter is not None:
                enter(about)
            values = [value for kind, value in zip(types, args, strict=True) if kind != "constexpr"]
            self._launch(ptx, metadata, (x, y, z), values)
            if leave is not None:
                leave(about)

        return start

    def _properties(self, device: int) -> dict[str, int]:
        gpu = self.machine.gpu
        shared = gpu.sm.scratchpad_bytes if self.timed else _SHARED_BYTES
        return {
            "max_shared_mem": shared,
            "max_num_regs": gpu.sm.registers,
            "multiprocessor_count": gpu.sm.count,
            "warpSize": 32,
            "sm_clock_rate": 1000 * gpu.clocks.core_mhz,
            "mem_clock_rate": 1000 * gpu.clocks.dram_mhz,
        }

    def _load_binary(
        self, name: str, ptx: bytes, shared: int, device: int
    ) -> tuple[bytes, bytes, int, int, int]:
        """The module and the kernel, which are one PTX text; registers, spills and the most threads of a CTA."""
        if ptx.startswith(b"\x7fELF"):
            what = f"Triton compiled '{name}' to machine code"
            raise error(
                "E403", what, help="call simulate_triton before the first launch; use Triton 3.5 or newer"
            )
        return ptx, ptx, 0, 0, _THREADS

    # ---- launches

    def _launch(self, ptx: bytes, metadata: Any, grid: tuple[int, int, int], values: Sequence[Any]) -> None:
        if 0 in grid:
            return
        kernel = self._loaded.get(ptx)
        if kernel is None:
            module = self.machine.load(ptx, f"{metadata.name}.ptx")
            kernel = self._loaded[ptx] = next(iter(module.kernels.values()))
        bound = block_bound(kernel.function)
        block = bound.threads if bound and bound.is_exact else 32 * int(metadata.num_warps)
        options = self.options or LaunchOptions(output=_print)
        options = replace(options, dynamic_shared=int(metadata.shared))
        blocks = _Blocks(self.machine, [value for value in values if hasattr(value, "data_ptr")])
        try:
            args = [blocks.address(v) if hasattr(v, "data_ptr") else _number(v) for v in values]
            args += blocks.scratch(metadata, prod(grid), len(kernel.parameters) - len(args))
            say_if_compiling("launch" if self.timed else "run")
            run = self.machine.launch if self.timed else self.machine.run
            self.results.append(run(kernel, grid, block, args, options=options))
            blocks.copy_back()
        finally:
            blocks.free()

    def _milliseconds(
        self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any
    ) -> Any:
        kept = self.machine, self._loaded, self.timed, self.results
        self.machine, self._loaded, self.timed, self.results = Machine(self.gpu), {}, True, []
        try:
            call()
            milliseconds = 1e3 * self.machine.clock
        finally:
            self.machine, self._loaded, self.timed, self.results = kept
        return milliseconds if quantiles is None else [milliseconds] * len(quantiles)


class _Blocks:
    """The memory that tensors cover, and their copies on the device: tensors that overlap share one block."""

    def __init__(self, machine: Machine, tensors: Sequence[Any]):
        self._heap = machine.heap
        self._blocks: list[tuple[int, int, int]] = []
        """First address here, bytes, and its address on the device."""
        self._allocated: list[int] = []
        ranges: list[list[int]] = []
        for start, end in sorted(_extent(tensor) for tensor in tensors):
            if ranges and start < ranges[-1][1]:
                ranges[-1][1] = max(end, ranges[-1][1])
            else:
                ranges.append([start, end])
        for start, end in ranges:
            ahead = start % _ALIGNMENT
            address = self._malloc(ahead + end - start) + ahead
            self._blocks.append((start, end - start, address))
            if end > start:
                self._heap.view(address, end - start)[:] = _bytes_at(start, end - start)

    def address(self, tensor: Any) -> int:
        """Where a tensor's first element is on the device."""
        at = int(tensor.data_ptr())
        for start, n_bytes, address in self._blocks:
            if start <= at < start + max(n_bytes, 1):
                return address + at - start
        raise AssertionError("a tensor without a block")

    def scratch(self, metadata: Any, programs: int, n: int) -> list[int]:
        """Addresses of the scratch memory that a kernel takes after its arguments: none, one or two of them."""
        sizes = [getattr(metadata, f"{kind}_scratch_size", 0) or 0 for kind in ("global", "profile")]
        addresses = []
        for size in sizes[:n]:
            address = self._malloc(size * programs) if size else 0
            if size:
                self._heap.fill(address, 0, size * programs)
            addresses.append(address)
        return addresses

    def copy_back(self) -> None:
        """Copy the blocks to the tensors."""
        for start, n_bytes, address in self._blocks:
            if n_bytes:
                _bytes_at(start, n_bytes)[:] = self._heap.view(address, n_bytes)

    def free(self) -> None:
        """Free them on the device."""
        for address in self._allocated:
            self._heap.free(address)

    def _malloc(self, n_bytes: int) -> int:
        address = self._heap.malloc(max(n_bytes, 1))
        self._allocated.append(address)
        return address


def _extent(tensor: Any) -> tuple[int, int]:
    """The addresses from a tensor's first element to its last. Raises E401 for strides below zero and GPU tensors."""
    if getattr(tensor, "is_cuda", False):
        raise wrong("a tensor on a GPU", "make it on the CPU")
    shape, strides = tensor.shape, tensor.stride()
    if any(stride < 0 for stride in strides):
        raise wrong("a tensor with negative strides", "copy it: np.ascontiguousarray")
    start, size = int(tensor.data_ptr()), int(tensor.element_size())
    if not prod(shape):
        return start, start
    return start, start + size * (1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)))


def _bytes_at(address: int, n_bytes: int) -> Any:
    """Memory of this process as a uint8 array."""
    return np.frombuffer(memoryview((ctypes.c_uint8 * n_bytes).from_address(address)), np.uint8)


def _number(value: Any) -> Any:
    """A number as a launch takes it. Raises E401 for what is none."""
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, int | float | np.generic):
        return value
    raise wrong(
        f"an argument of type {type(value).__name__}", "give tensors (`simulator.tensor`) and numbers"
    )


def _print(text: str) -> None:
    print(text, end="")
