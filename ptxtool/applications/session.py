"""One process of an application on the simulated GPU: its memory, its modules, its launches.

A session answers the requests of one connection. Its machine works on a file of memory that the process maps at the
same addresses. What the user has to know goes to `Reporter`; the process gets the error code that CUDA has for it.

A launch without time takes the seconds that its instructions need at one warp instruction per SM and cycle, so that an
application that measures time ends.
"""

import contextlib
import mmap
import os
import signal
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from ptxtool.applications.device import device_record
from ptxtool.applications.fat_binary import HELP, chosen, ptx_images
from ptxtool.applications.protocol import LAUNCH, NEEDS, PARAMETER, Error, Gone, Message, Request
from ptxtool.applications.recording import PendingRecord, Recorder
from ptxtool.applications.settings import Settings
from ptxtool.applications.textures import texture_object
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.source import Source
from ptxtool.results.applications import Launch

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.loaded_modules import LoadedKernel, LoadedModule
    from ptxtool.ir.nodes import Function

_ERRORS = {
    "E301": Error.OUT_OF_RESOURCES,
    "E401": Error.INVALID_VALUE,
    "E402": Error.OUT_OF_RESOURCES,
    "E403": Error.NOT_SUPPORTED,
    "E404": Error.ILLEGAL_ADDRESS,
    "E405": Error.MISALIGNED,
    "E406": Error.TIMEOUT,
    "E407": Error.TIMEOUT,
    "E408": Error.TIMEOUT,
    "E413": Error.ASSERT,
    "E415": Error.STACK,
}
"""What CUDA returns for what stops a launch; `_error_of` has the rest."""
_MOST_GRID, _MOST_BLOCK, _MOST_THREADS = (2**31 - 1, 65535, 65535), (1024, 1024, 64), 1024
_LOOK_SECONDS = 0.2
"""How often a launch looks whether its process still lives."""


@dataclass
class Reporter:
    """Where messages for the user go, and what the report at the end tells."""

    tell: Callable[[Diagnostic | str], object]
    """Called with each diagnostic and each note, when it comes."""
    launches: list[Launch] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Calls of the application that the runtime does not have, each once."""
    recorder: Recorder | None = None
    """Records launches, of all processes."""
    _told: set[tuple[str, Source | None, int]] = field(default_factory=set)

    def problem(self, problem: PtxError, context: str = "") -> None:
        """Report why a call failed, and which one."""
        for diagnostic in problem.diagnostics:
            message = f"{context}: {diagnostic.message}" if context else diagnostic.message
            self.diagnostic(replace(diagnostic, message=message))

    def diagnostic(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic; of those at one place of a text, in launch after launch, the first is told."""
        self.problems.append(diagnostic)
        place = diagnostic.code, diagnostic.source, diagnostic.start
        if diagnostic.source is None or place not in self._told:
            self._told.add(place)
            self.tell(diagnostic)


class Session:
    """The simulated GPU of one process."""

    def __init__(self, settings: Settings, reporter: Reporter, gone: Callable[[], bool]):
        """`gone` says whether the process has ended; a launch asks it."""
        from ptxsim.machine import Machine

        self.settings, self.reporter, self._gone = settings, reporter, gone
        self.memory_file = os.memfd_create("ptxtool-device", os.MFD_CLOEXEC)
        os.ftruncate(self.memory_file, settings.memory_bytes)
        self._memory = mmap.mmap(self.memory_file, settings.memory_bytes)
        self.machine = Machine(settings.gpu, memory=self._memory, options=self._options_of_machine())
        self.process = 0
        self.target = settings.target or 0
        self.seconds = 0.0
        self._limits: dict[str, int] = {}
        self._options: dict[int, LaunchOptions] = {}
        self._printed: list[str] = []
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
        it; otherwise that of the PTX that runs."""
        if self.settings.target:
            return self.settings.target
        own = self.settings.gpu.target.removeprefix("sm_")
        newest = max(targets, default=75)
        if not self.settings.gpu_chosen or not own.isdigit():
            return newest
        if any(target <= int(own) for target in targets) or not targets:
            return int(own)
        self.reporter.tell(
            f"ptxtool exec: the application has no PTX for sm_{own} ({self.settings.gpu.name}) or older: "
            f"that for sm_{min(targets)} runs"
        )
        return min(targets)

    # ---- memory

    def _malloc(self, data: bytes) -> tuple[int, bytes]:
        n_bytes, align = struct.unpack("<QQ", data)
        try:
            address = self.machine.heap.malloc(n_bytes, align)
        except PtxError as problem:
            self.reporter.problem(problem, f"an allocation of {n_bytes} bytes")
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
                replace(self.settings.options, **{name: n_bytes})
            except PtxError as problem:
                self.reporter.problem(problem, "cudaDeviceSetLimit")
                return Error.INVALID_VALUE, b""
            self._limits[name] = n_bytes
            self._options.clear()
        return Error.SUCCESS, b""

    # ---- modules

    def _module(self, data: bytes) -> tuple[int, bytes]:
        try:
            image = chosen(ptx_images(data), self.target)
            if image is None:
                what = "a module of the application has no PTX, only machine code"
                raise error("E501", what, help=f"{HELP}; code compiled with -rdc=true has none either")
            name = f"{_program(self.process)}.{len(self._modules) + 1}.sm_{image.target}.ptx"
            self._modules.append(self.machine.load(image.text().decode("utf-8", "surrogateescape"), name))
        except PtxError as problem:
            self.reporter.problem(problem)
            return Error.NO_KERNEL_IMAGE if problem.diagnostics[0].code == "E501" else Error.INVALID_PTX, b""
        return Error.SUCCESS, struct.pack("<I", len(self._modules) - 1)

    def _kernel(self, data: bytes) -> tuple[int, bytes]:
        module, name = self._modules[struct.unpack_from("<I", data)[0]], _text(data[4:])
        kernel = module.kernels.get(name)
        if kernel is None:
            self.reporter.problem(error("E205", f"no kernel '{name}' in {module.name}", help=HELP))
            return Error.INVALID_FUNCTION, b""
        self._kernels.append(kernel)
        parameters = (PARAMETER.pack(p.offset, p.n_bytes) for p in kernel.parameters)
        head = struct.pack("<II", len(self._kernels) - 1, len(kernel.parameters))
        return Error.SUCCESS, head + b"".join(parameters)

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

    # ---- launches

    def _launch(self, data: bytes) -> tuple[int, bytes]:
        number, *extents, cooperative, dynamic_shared = LAUNCH.unpack_from(data)
        kernel, grid, block = self._kernels[number], tuple(extents[:3]), tuple(extents[3:])
        parameters = data[LAUNCH.size :].ljust(kernel.parameter_bytes, b"\0")
        self._printed.clear()
        entry = Launch(len(self.reporter.launches) + 1, kernel.name, grid, block)
        record: PendingRecord | None = None
        try:
            _check_extents(grid, block)
            if cooperative:
                self._check_cooperative(kernel, grid, block, dynamic_shared)
            record = self._record(entry, kernel, dynamic_shared, parameters)
            with self._watched():
                entry = self._run(entry, kernel, dynamic_shared, parameters)
        except PtxError as problem:
            code = _error_of(problem)
            self.reporter.problem(problem, str(entry))
            entry = replace(entry, error=code)
        except Gone:
            self.reporter.tell(f"ptxtool exec: {entry}: the process has ended, and so has the launch")
            if record is not None:
                record.discard()
            raise
        if record is not None:
            record.end(entry)
        self.reporter.launches.append(entry)
        self.seconds += entry.seconds
        return entry.error, struct.pack("<d", self.seconds) + "".join(self._printed).encode(
            "utf-8", "surrogateescape"
        )

    def _record(
        self, entry: Launch, kernel: "LoadedKernel", dynamic_shared: int, parameters: bytes
    ) -> PendingRecord | None:
        """Begin to record a launch, if it is to be."""
        if self.reporter.recorder is None:
            return None
        settings = {"dynamic_shared": dynamic_shared, **self._limits}
        return self.reporter.recorder.begin(entry, kernel, parameters, self.machine.heap, settings)

    def _run(self, entry: Launch, kernel: "LoadedKernel", dynamic_shared: int, parameters: bytes) -> Launch:
        options = self._options.get(dynamic_shared)
        if options is None:
            changes: dict[str, Any] = {
                "dynamic_shared": dynamic_shared,
                "output": self._printed.append,
                **self._limits,
            }
            options = self._options[dynamic_shared] = replace(self.settings.options, **changes)
        hertz = 1e6 * self.settings.gpu.clocks.core_mhz
        if self.settings.timed:
            timed = self.machine.launch(
                kernel, entry.grid, entry.block, parameters=parameters, options=options
            )
            seconds = timed.cycles / hertz
            entry = replace(entry, cycles=timed.cycles, out_of_bounds=timed.out_of_bounds)
            return replace(entry, warp_instructions=timed.warp_instructions, seconds=seconds)
        found = self.machine.run(kernel, entry.grid, entry.block, parameters=parameters, options=options)
        for diagnostic in found.problems:
            self.reporter.diagnostic(replace(diagnostic, message=f"{entry}: {diagnostic.message}"))
        seconds = found.warp_instructions / (hertz * self.settings.gpu.sm.count)
        findings = len(found.problems) + found.lost_problems
        entry = replace(entry, findings=findings, out_of_bounds=found.out_of_bounds)
        return replace(entry, warp_instructions=found.warp_instructions, seconds=seconds)

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """End the launch with `Gone` when its process does."""
        if threading.current_thread() is not threading.main_thread():
            yield  # no other thread has signals; the next answer finds out
            return

        def look(*_: object) -> None:
            if self._gone():
                raise Gone

        before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _check_cooperative(
        self, kernel: "LoadedKernel", grid: tuple[int, ...], block: tuple[int, ...], dynamic_shared: int
    ) -> None:
        """A cooperative launch has all its CTAs resident at once. Raises E402."""
        most = self._resident(kernel.function, prod(block), dynamic_shared) * self.settings.gpu.sm.count
        if self.settings.timed and prod(grid) > most:
            what = f"a cooperative launch of {prod(grid)} CTAs: {self.settings.gpu.name} holds {most} of them at once"
            raise _Refused(what, "launch as many as cudaOccupancyMaxActiveBlocksPerMultiprocessor says", 720)

    # ---- what a kernel needs

    def _needs(self, data: bytes) -> tuple[int, bytes]:
        from ptxsim.lowering.variable_layout import lay_out
        from ptxtool.analysis.regalloc.register_need import registers_per_thread

        kernel = self._kernels[struct.unpack("<I", data)[0]]
        function, layout = kernel.function, lay_out(kernel.function)
        major, minor = function.module.version
        return Error.SUCCESS, NEEDS.pack(
            registers_per_thread(function),
            _MOST_THREADS,
            10 * major + minor,
            self.target,
            layout.static_shared_bytes,
            len(layout.constant_bytes),
            0,
        )

    def _occupancy(self, data: bytes) -> tuple[int, bytes]:
        number, threads, dynamic_shared = struct.unpack("<IIQ", data)
        resident = self._resident(self._kernels[number].function, threads, dynamic_shared)
        return Error.SUCCESS, struct.pack("<I", resident)

    def _resident(self, function: "Function", threads: int, dynamic_shared: int) -> int:
        """CTAs of a kernel that an SM holds; 0 where none fits."""
        from ptxsim.lowering.variable_layout import lay_out
        from ptxtool.analysis.occupancy.occupancy import occupancy
        from ptxtool.analysis.regalloc.register_need import registers_per_thread

        registers = self.settings.options.registers or registers_per_thread(function)
        scratchpad = lay_out(function).static_shared_bytes + dynamic_shared
        try:
            return occupancy(self.settings.gpu, threads, registers, scratchpad).resident_ctas
        except PtxError:
            return 0

    # ---- what is wrong

    def _missing(self, data: bytes) -> tuple[int, bytes]:
        name = _text(data)
        if name not in self.reporter.missing:
            self.reporter.missing.append(name)
            self.reporter.tell(
                f"ptxtool exec: {name} is not implemented and returns cudaErrorNotSupported "
                "(docs/exec.md has those that are, and how to add one)"
            )
        return Error.SUCCESS, b""

    def _refused(self, data: bytes) -> tuple[int, bytes]:
        self.reporter.problem(error("E401", _text(data), help="look at the call in the application"))
        return Error.SUCCESS, b""

    _HANDLERS: ClassVar["dict[int, Callable[[Session, bytes], tuple[int, bytes]]]"] = {
        Message.MALLOC: _malloc,
        Message.FREE: _free,
        Message.MODULE: _module,
        Message.KERNEL: _kernel,
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
    }


class _Refused(PtxError):
    """A launch that CUDA refuses with an error of its own."""

    def __init__(self, message: str, help: str, code: int = Error.INVALID_CONFIGURATION):
        super().__init__(Diagnostic("E402", message, help=help))
        self.error = code


def _error_of(problem: PtxError) -> int:
    """What CUDA returns for a launch that was stopped, or never began."""
    if isinstance(problem, _Refused):
        return problem.error
    code = problem.diagnostics[0].code
    return _ERRORS.get(code, Error.INVALID_PTX if code[1] in "12" else Error.LAUNCH_FAILURE)


def _check_extents(grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    """Raises E402 for a grid or a block that no GPU takes."""
    for what, extent, most in (("grid", grid, _MOST_GRID), ("block", block, _MOST_BLOCK)):
        if any(not 1 <= n <= limit for n, limit in zip(extent, most, strict=True)):
            raise _Refused(
                f"this {what} cannot be launched", f"each size is 1 to {', '.join(map(str, most))} (x, y, z)"
            )
    if prod(block) > _MOST_THREADS:
        raise _Refused(f"{prod(block)} threads in a block", f"a block has at most {_MOST_THREADS}")


def _program(process: int) -> str:
    """The name of a process's executable."""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return "application"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
