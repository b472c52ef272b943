"""The driver that Triton has under `ptxtool exec`: it launches through the libcuda there, as any other application.

So launches of Triton kernels are in the report, are simulated, checked, rewritten and recorded as all others. Pointers
are objects with `data_ptr()`: addresses of device memory go to the kernel as they are; tensors on the host (torch's on
the CPU) are copied to the device before a launch, gaps of strided ones included, and back after it. Tensors that
overlap share one block there, and addresses have the alignment that Triton compiled for. Autotuning chooses by the
simulated time of events.

Not handled: tensor descriptors, tuples as arguments, torch on the device "cuda".

Reference: triton-lang, python/triton/backends/driver.py and compiler/compiler.py (`CompiledKernel`).
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

_ALIGNMENT = 256
_MAJOR, _MINOR, _SMS, _SHARED, _REGISTERS, _CORE_KHZ, _MEMORY_KHZ = 75, 76, 16, 97, 12, 13, 36
"""Of CUdevice_attribute."""
_DYNAMIC_SHARED = 8
"""Of CUfunction_attribute."""
_THREADS = 1024
_INTEGERS = {f"{sign}{n}": code for n, code in ((8, "b"), (16, "h"), (32, "i"), (64, "q")) for sign in "iu"}
_FLOATS = {"fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}


class Driver(DriverBase):  # type: ignore[misc, unused-ignore]
    """What Triton calls a driver."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.utils = SimpleNamespace(
            get_device_properties=self._properties, load_binary=self._load, unload_module=lambda module: None
        )
        testing: Any = import_module("triton.testing")
        testing.do_bench = self._milliseconds  # that one measures by torch's events

    @staticmethod
    def is_active() -> bool:
        """Whether this process runs under `ptxtool exec`."""
        return "PTXTOOL_EXEC" in os.environ

    def call(self, name: str, *args: Any) -> None:
        """Make a call of the driver API. Raises RuntimeError with the name of its error."""
        error = getattr(self._cuda, name)(*args)
        if error:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(error, ctypes.byref(text))
            raise RuntimeError(f"Triton Error [CUDA]: {(text.value or b'?').decode()} from {name}")

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value

    # ---- what Triton asks of a driver

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Triton's names serve: no code of C is compiled."""
        return ty

    def get_current_target(self) -> Any:
        """The target to compile for: the compute capability of the device (`--arch`, `--gpu`)."""
        return GPUTarget("cuda", 10 * self._attribute(_MAJOR) + self._attribute(_MINOR), 32)

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Raises RuntimeError for any other."""
        if device:
            raise RuntimeError(f"device {device}: ptxtool exec has device 0")

    def get_current_stream(self, device: int) -> int:
        """The default stream: launches have ended when they return."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Where torch has its tensors."""
        return import_module("torch").device("cpu")

    def get_benchmarker(self) -> Callable[..., Any]:
        """A function that returns simulated milliseconds of a call: of all its launches."""
        return self._milliseconds

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        """What launches a compiled kernel. Raises RuntimeError for arguments and launches that cannot be."""
        types = list(source.signature.values())
        for kind in types:
            if not isinstance(kind, str) or kind.startswith("tensordesc"):
                what = f"{metadata.name} has a tensor descriptor or a tuple as an argument"
                raise RuntimeError(f"{what}: pass pointers and numbers")

        def start(
            x: int, y: int, z: int, stream: int, function: Any, packed: Any, about: Any, *rest: Any
        ) -> None:
            enter, leave, *args = rest
            if enter is not None:
                enter(about)
            given = [(kind, value) for kind, value in zip(types, args, strict=True) if kind != "constexpr"]
            if x and y and z:
                self._launch(function, metadata, (x, y, z), given)
            if leave is not None:
                leave(about)

        return start

    def _properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": self._attribute(_SHARED),
            "max_num_regs": self._attribute(_REGISTERS),
            "multiprocessor_count": self._attribute(_SMS),
            "warpSize": 32,
            "sm_clock_rate": self._attribute(_CORE_KHZ),
            "mem_clock_rate": self._attribute(_MEMORY_KHZ),
        }

    def _load(self, name: str, ptx: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """The module and the kernel; registers, spills and the most threads of a CTA."""
        if ptx.startswith(b"\x7fELF"):
            raise RuntimeError(f"Triton compiled '{name}' to machine code: use Triton 3.5 or newer")
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > 48 << 10:
            self.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, shared)
        return module, function, 0, 0, _THREADS

    # ---- launches

    def _launch(
        self, function: Any, metadata: Any, grid: tuple[int, int, int], given: Sequence[tuple[str, Any]]
    ) -> None:
        tensors = [value for _, value in given if hasattr(value, "data_ptr")]
        # the CTAs of a program are a cluster, which the kernel's `.reqnctapercluster` asks for
        grid = grid[0] * int(getattr(metadata, "num_ctas", 1) or 1), grid[1], grid[2]
        blocks = _Blocks(self, [tensor for tensor in tensors if not self._is_on_device(tensor)])
        try:
            values = [packed(kind, blocks.address(v) if hasattr(v, "data_ptr") else v) for kind, v in given]
            n = self._n_parameters(function) - len(values)
            ctas = grid[0] * grid[1] * grid[2]
            values += [struct.pack("<Q", each) for each in blocks.scratch(metadata, ctas, n)]
            buffers = [ctypes.create_string_buffer(value, len(value)) for value in values]
            pointers = (ctypes.c_void_p * max(1, len(buffers)))(*map(ctypes.addressof, buffers))
            sys.stdout.flush()
            shape = *grid, 32 * int(metadata.num_warps), 1, 1, int(metadata.shared)
            self.call("cuLaunchKernel", function, *shape, None, pointers, None)
            ctypes.CDLL(None).fflush(None)  # what the kernel printed
            blocks.copy_back()
        finally:
            blocks.free()

    def _is_on_device(self, tensor: Any) -> bool:
        sort, at = ctypes.c_int(), ctypes.c_uint64(tensor.data_ptr())
        return not self._cuda.cuPointerGetAttribute(ctypes.byref(sort), 2, at)

    def _n_parameters(self, function: Any) -> int:
        offset, n = ctypes.c_size_t(), 0
        while not self._cuda.cuFuncGetParamInfo(function, ctypes.c_size_t(n), ctypes.byref(offset), None):
            n += 1
        return n

    def _milliseconds(
        self,
        call: Callable[[], Any],
        *_: Any,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        **__: Any,
    ) -> Any:
        """Simulated milliseconds of the second of two calls: for each quantile, or in the `return_mode` of
        `triton.testing.do_bench`."""
        events = ctypes.c_void_p(), ctypes.c_void_p()
        passed = ctypes.c_float()
        for event in events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        call()  # compiles, and warms caches: so every call that is compared finds them
        self.call("cuEventRecord", events[0], None)
        call()
        self.call("cuEventRecord", events[1], None)
        self.call("cuEventElapsedTime", ctypes.byref(passed), *events)
        for event in events:
            self.call("cuEventDestroy_v2", event)
        n = len(quantiles) if quantiles is not None else 1
        is_list = n > 1 or return_mode == "all"
        return [passed.value] * n if is_list else passed.value


class _Blocks:
    """The memory that tensors of the host cover, and their copies on the device: those that overlap share one block."""

    def __init__(self, driver: Driver, tensors: Sequence[Any]):
        self._driver = driver
        self._blocks: list[tuple[int, int, int]] = []
        """First address here, bytes, and its address on the device."""
        self._allocated: list[int] = []
        ranges: list[list[int]] = []
        for start, end in sorted(map(extent, tensors)):
            if ranges and start < ranges[-1][1]:
                ranges[-1][1] = max(end, ranges[-1][1])
            else:
                ranges.append([start, end])
        for start, end in ranges:
            ahead = start % _ALIGNMENT
            at = self._malloc(ahead + end - start) + ahead
            self._blocks.append((start, end - start, at))
            if end > start:
                self._copy("cuMemcpyHtoD_v2", at, start, end - start)

    def address(self, tensor: Any) -> int:
        """Where a tensor's first element is on the device: it may be there already."""
        at = int(tensor.data_ptr())
        found = (to + at - start for start, n, to in self._blocks if start <= at < start + max(n, 1))
        return next(found, at)

    def scratch(self, metadata: Any, ctas: int, n: int) -> list[int]:
        """Addresses of the scratch memory that a kernel takes after its arguments: none, one or two of them."""
        sizes = [getattr(metadata, f"{kind}_scratch_size", 0) or 0 for kind in ("global", "profile")]
        addresses = [self._malloc(size * ctas) if size else 0 for size in sizes[:n]]
        for at, size in zip(addresses, sizes, strict=False):
            if size:
                self._driver.call("cuMemsetD8_v2", ctypes.c_uint64(at), 0, ctypes.c_size_t(size * ctas))
        return addresses

    def copy_back(self) -> None:
        """Copy the blocks to the tensors."""
        for start, n_bytes, at in self._blocks:
            if n_bytes:
                self._copy("cuMemcpyDtoH_v2", start, at, n_bytes)

    def free(self) -> None:
        """Free them on the device."""
        for at in self._allocated:
            self._driver.call("cuMemFree_v2", ctypes.c_uint64(at))

    def _copy(self, call: str, to: int, source: int, n_bytes: int) -> None:
        self._driver.call(call, ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(n_bytes))

    def _malloc(self, n_bytes: int) -> int:
        at = ctypes.c_uint64()
        self._driver.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(n_bytes, 1)))
        self._allocated.append(at.value)
        return at.value


def extent(tensor: Any) -> tuple[int, int]:
    """The addresses from a tensor's first element to its last. Raises RuntimeError for strides below zero."""
    shape, strides = tensor.shape, tensor.stride()
    if any(stride < 0 for stride in strides):
        raise RuntimeError("a tensor with negative strides: copy it")
    start, size, last = int(tensor.data_ptr()), int(tensor.element_size()), 0
    for n, stride in zip(shape, strides, strict=True):
        if not n:
            return start, start
        last += (n - 1) * stride
    return start, start + size * (1 + last)


def packed(kind: str, value: Any) -> bytes:
    """An argument's bytes. Raises RuntimeError for what is no number."""
    if kind.startswith("*"):
        return struct.pack("<Q", 0 if value is None else int(value))
    try:
        if kind in ("i1", "u1"):
            return struct.pack("<b", int(bool(value)))
        if kind in _INTEGERS:
            size = struct.calcsize(_INTEGERS[kind])
            return (int(value) % (1 << 8 * size)).to_bytes(size, "little")
        if kind == "bf16":
            return struct.pack("<f", float(value))[2:]
        return struct.pack("<" + _FLOATS[kind], float(value))
    except (TypeError, KeyError, ValueError):
        what = f"an argument of type {type(value).__name__} for {kind}"
        raise RuntimeError(f"{what}: give tensors and numbers") from None
