"""One process of an application on the simulated GPU: its memory, its modules, its launches.

A session answers the requests of one connection. Its machine works on a file of memory that the process maps at the
same addresses. What the user has to know goes to `Reporter`; the process gets the error code that CUDA has for it.
"""

import mmap
import os
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from ptxtool.applications.device import device_record
from ptxtool.applications.fat_binary import module_text
from ptxtool.applications.host_writes import may_be_written
from ptxtool.applications.launching import MOST_THREADS, Launcher
from ptxtool.applications.protocol import LAUNCH, NEEDS, PARAMETER, TEXTURE, Error, Gone, Message, Request
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.settings import Settings
from ptxtool.applications.textures import texture_object
from ptxtool.base.diag import PtxError, error
from ptxtool.base.mangled import shown_name
from ptxtool.ir.blocks import numbers

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.loaded_modules import LoadedKernel, LoadedModule

_SYMBOL = re.compile(r"\b_Z\w+")
_OLDEST_TARGET = 75
"""That the compilers of CUDA 13 know: sm_75."""
_MORE_MEMORY = (
    "give the device more than it has with --memory, such as 3g, or the application a smaller problem"
)


class Session:
    """The simulated GPU of one process."""

    def __init__(self, settings: Settings, reporter: Reporter, gone: Callable[[], bool]):
        """`gone` says whether the process has ended; a launch asks it."""
        from ptxsim.machine import Machine

        self.settings, self.reporter = settings, reporter
        self.memory_file = os.memfd_create("ptxtool-device", os.MFD_CLOEXEC)
        n_bytes = settings.memory_bytes
        os.ftruncate(self.memory_file, n_bytes * (1 + settings.tracks_writes))
        self._memory = mmap.mmap(self.memory_file, n_bytes)
        self.machine = Machine(settings.gpu, memory=self._memory, options=self._options_of_machine())
        if settings.tracks_writes:
            self.machine.heap.track_writes(mmap.mmap(self.memory_file, n_bytes, offset=n_bytes))
        self.machine.heap.may_be_written = lambda times: may_be_written(self.process, times)
        self.launcher = Launcher(settings, reporter, self.machine, gone)
        self.process = 0
        self.target = settings.target or 0
        self._modules: list[LoadedModule] = []
        self._kernels: list[LoadedKernel] = []

    def _options_of_machine(self) -> "LaunchOptions | None":
        return self.settings.options if self.settings.timed else None

    def close(self) -> None:
        """Give the memory back. The machine keeps a view of it until it is collected."""
        os.close(self.memory_file)

    def answer(self, request: Request) -> tuple[int, bytes, tuple[int, ...]]:
        """The error, the bytes and the files that answer a request. Raises `Gone` for what is no request."""
        if request.kind == Message.HELLO:
            return Error.SUCCESS, self._hello(request.data), (self.memory_file,)
        handler = self._HANDLERS.get(request.kind)
        if handler is None:
            raise Gone
        code, data = handler(self, request.data)
        return code, data, ()

    def _hello(self, data: bytes) -> bytes:
        self.process, _, *targets = struct.unpack(f"<{len(data) // 4}I", data)
        self.target = self._target(targets)
        name = self.settings.gpu.name.encode()
        return device_record(self.settings, self.target) + name

    def _target(self, targets: list[int]) -> int:
        """The compute capability of the device: the chosen one; that of the machine, if the application has PTX for
        it; otherwise that of the PTX that runs. An application without PTX loads or compiles it later, for what today's
        compilers know: 7.5 or newer."""
        if self.settings.target:
            self._note_newer(self.settings.target, "", targets)
            return self.settings.target
        own = self.settings.gpu.target.removeprefix("sm_")
        newest = max(targets, default=_OLDEST_TARGET)
        if not self.settings.gpu_chosen or not own.isdigit():
            return newest
        if not targets:
            return max(int(own), _OLDEST_TARGET)
        self._note_newer(int(own), f" ({self.settings.gpu.name})", targets)
        return max(int(own), min(targets))

    def _note_newer(self, target: int, of: str, targets: list[int]) -> None:
        if targets and min(targets) > target:
            what = f"the application has no PTX for sm_{target}{of} or older"
            self.reporter.tell(f"ptxtool exec: {what}: that for sm_{min(targets)} runs")

    # ---- memory

    def _malloc(self, data: bytes) -> tuple[int, bytes]:
        n_bytes, align = struct.unpack("<QQ", data)
        try:
            address = self.machine.heap.malloc(n_bytes, align)
        except PtxError as problem:
            lacking = replace(problem.diagnostics[0], help=_MORE_MEMORY)
            self.reporter.problem(PtxError(lacking), f"an allocation of {n_bytes} bytes")
            return Error.OUT_OF_MEMORY, b""
        return Error.SUCCESS, struct.pack("<Q", address)

    def _free(self, data: bytes) -> tuple[int, bytes]:
        (address,) = struct.unpack_from("<Q", data)
        try:
            self.machine.heap.free(address)
        except PtxError as problem:
            self.reporter.problem(problem, _text(data[8:]))
            return Error.INVALID_VALUE, b""
        return Error.SUCCESS, b""

    def _range(self, data: bytes) -> tuple[int, bytes]:
        address, n_bytes = struct.unpack_from("<QQ", data)
        place = self.machine.heap.described(address)
        what = f"{_text(data[16:])}: no {n_bytes} bytes at {address:#x}, {place}"
        self.reporter.problem(
            error("E404", what, help="look at the pointer and at the size of its allocation")
        )
        return Error.SUCCESS, b""

    def _limit(self, data: bytes) -> tuple[int, bytes]:
        limit, n_bytes = struct.unpack("<IQ", data)
        name = {0: "stack_bytes", 2: "heap_bytes"}.get(limit)
        if name is not None:
            try:
                self.launcher.limit(name, n_bytes)
            except PtxError as problem:
                self.reporter.problem(problem, "cudaDeviceSetLimit")
                return Error.INVALID_VALUE, b""
        return Error.SUCCESS, b""

    # ---- modules

    def _module(self, data: bytes) -> tuple[int, bytes]:
        """Load a module; what is wrong is the answer's text, for programs that read the compiler's log."""
        try:
            text, target = module_text(data, self.target)
            name = f"{_program(self.process)}.{len(self._modules) + 1}{target}.ptx"
            self._modules.append(self.machine.load(text.decode("utf-8", "surrogateescape"), name))
        except PtxError as problem:
            self.reporter.problem(problem)
            is_missing = problem.diagnostics[0].code == "E501"
            return Error.NO_KERNEL_IMAGE if is_missing else Error.INVALID_PTX, str(problem).encode()
        return Error.SUCCESS, struct.pack("<I", len(self._modules) - 1)

    def _kernel(self, data: bytes) -> tuple[int, bytes]:
        module, name = self._modules[struct.unpack_from("<I", data)[0]], _text(data[4:])
        kernel = module.kernels.get(name)
        if kernel is None:
            known = ", ".join(sorted(module.kernels)[:5]) or "none"
            help = f"its kernels: {known}" + ", ..." * (len(module.kernels) > 5)
            self.reporter.problem(error("E205", f"no kernel '{name}' in {module.name}", help=help))
            return Error.INVALID_FUNCTION, b""
        self._kernels.append(kernel)
        parameters = (PARAMETER.pack(p.offset, p.n_bytes) for p in kernel.parameters)
        head = struct.pack("<II", len(self._kernels) - 1, len(kernel.parameters))
        return Error.SUCCESS, head + b"".join(parameters)

    def _kernels_of(self, data: bytes) -> tuple[int, bytes]:
        module = self._modules[struct.unpack("<I", data)[0]]
        return Error.SUCCESS, b"".join(name.encode() + b"\0" for name in module.kernels)

    def _variable(self, data: bytes) -> tuple[int, bytes]:
        module, name = self._modules[struct.unpack_from("<I", data)[0]], _text(data[4:])
        found = module.symbols.get(name)
        if found is None:  # nvcc leaves out what no kernel uses
            return Error.INVALID_SYMBOL, b""
        return Error.SUCCESS, struct.pack("<QQ", *found)

    def _texture(self, data: bytes) -> tuple[int, bytes]:
        try:
            handle = self.machine.texture(texture_object(data, self.machine.heap))
        except PtxError as problem:
            self.reporter.problem(problem, "a texture or surface object")
            return Error.INVALID_VALUE, b""
        return Error.SUCCESS, struct.pack("<Q", handle)

    def _untexture(self, data: bytes) -> tuple[int, bytes]:
        try:
            self.machine.free_texture(struct.unpack("<Q", data)[0])
        except PtxError as problem:
            self.reporter.problem(problem, "the end of a texture or surface object")
            return Error.INVALID_VALUE, b""
        return Error.SUCCESS, b""

    def _bind(self, data: bytes) -> tuple[int, bytes]:
        """Bind a texture or surface reference: a variable of a module."""
        module, name = self._modules[struct.unpack_from("<I", data)[0]], _text(data[4 + TEXTURE.size :])
        try:
            module.bind(name, texture_object(data[4 : 4 + TEXTURE.size], self.machine.heap))
        except PtxError as problem:
            self.reporter.problem(problem, f"the reference '{name}'")
            return Error.INVALID_VALUE, b""
        return Error.SUCCESS, b""

    def _unbind(self, data: bytes) -> tuple[int, bytes]:
        module, name = self._modules[struct.unpack_from("<I", data)[0]], _text(data[4:])
        try:
            module.bind(name, None)
        except PtxError as problem:
            self.reporter.problem(problem, f"the reference '{name}'")
            return Error.INVALID_VALUE, b""
        return Error.SUCCESS, b""

    # ---- launches

    def _launch(self, data: bytes) -> tuple[int, bytes]:
        number, *extents, dynamic_shared = LAUNCH.unpack_from(data)
        kernel, grid, block = self._kernels[number], tuple(extents[:3]), tuple(extents[3:6])
        cooperative, cluster = extents[6], tuple(extents[7:]) if extents[7] else None
        parameters = data[LAUNCH.size :].ljust(kernel.parameter_bytes, b"\0")
        code, printed = self.launcher.launch(
            kernel, grid, block, parameters, dynamic_shared, bool(cooperative), cluster
        )
        return code, struct.pack("<d", self.launcher.seconds) + printed.encode("utf-8", "surrogateescape")

    # ---- what a kernel needs

    def _needs(self, data: bytes) -> tuple[int, bytes]:
        from ptxtool.analysis.regalloc.register_need import registers_per_thread

        function = self.launcher.text_of(self._kernels[struct.unpack("<I", data)[0]]).function
        shared_bytes, constant_bytes = self.launcher.static_bytes(function)
        architecture = "".join(filter(str.isdigit, function.module.target))
        return Error.SUCCESS, NEEDS.pack(
            registers_per_thread(function),
            MOST_THREADS,
            int(architecture or 0),  # cudaFuncAttributes.ptxVersion; CUB chooses by it what it launches
            self.target,
            shared_bytes,
            constant_bytes,
            0,
        )

    def _occupancy(self, data: bytes) -> tuple[int, bytes]:
        number, threads, dynamic_shared = struct.unpack("<IIQ", data)
        kernel = self.launcher.text_of(self._kernels[number], threads, dynamic_shared)
        resident = self.launcher.resident(kernel.function, threads, dynamic_shared)
        heads = (numbers(d) for d in kernel.function.directives if d.name == "reqnctapercluster")
        return Error.SUCCESS, struct.pack("<II", resident, prod(next(heads, ())))

    # ---- what is wrong

    def _missing(self, data: bytes) -> tuple[int, bytes]:
        name = _text(data)
        if name not in self.reporter.missing:
            self.reporter.missing.append(name)
            code = "cudaErrorNotSupported" if "cuda" in name else "CUDA_ERROR_NOT_SUPPORTED"
            self.reporter.tell(
                f"ptxtool exec: {name} is not implemented and returns {code} "
                "(docs/exec.md has those that are, and how to add one)"
            )
        return Error.SUCCESS, b""

    def _refused(self, data: bytes) -> tuple[int, bytes]:
        text = _SYMBOL.sub(lambda found: shown_name(found[0]), _text(data))
        self.reporter.problem(error("E401", text, help="look at the call in the application"))
        return Error.SUCCESS, b""

    _HANDLERS: ClassVar["dict[int, Callable[[Session, bytes], tuple[int, bytes]]]"] = {
        Message.MALLOC: _malloc,
        Message.FREE: _free,
        Message.MODULE: _module,
        Message.KERNEL: _kernel,
        Message.KERNELS: _kernels_of,
        Message.VARIABLE: _variable,
        Message.LAUNCH: _launch,
        Message.OCCUPANCY: _occupancy,
        Message.MISSING: _missing,
        Message.REFUSED: _refused,
        Message.RANGE: _range,
        Message.LIMIT: _limit,
        Message.NEEDS: _needs,
        Message.TEXTURE: _texture,
        Message.UNTEXTURE: _untexture,
        Message.BIND: _bind,
        Message.UNBIND: _unbind,
    }


def _program(process: int) -> str:
    """The name of a process's executable."""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return "application"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
