"""The memory of a launch: arguments, buffers, constants, and the context record that compiled code works on.

Global memory is the device's (`device.py`): a fresh one, or that of a machine on which other kernels ran before.
Numbers go to parameter memory, or to the start of every CTA's shared memory for PTXPlus. After the run `read_back`
copies buffers to the caller's arrays.

All of the arrays live as long as the image does; compiled code holds their addresses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxsim.base.notice import need_parts
from ptxsim.base.options import HEAP_BYTES, RawParameters
from ptxsim.base.program import (
    AT_ONCE,
    BULK,
    BULK_BUCKETS,
    BULK_ENTRIES,
    CONST,
    CONTEXT,
    ENGINE_COPIES,
    GLOBAL,
    KEPT_WORDS,
    TENSOR_BYTES,
    TENSOR_MAP_BYTES,
    TRANSFER,
    WHEN_AWAITED,
    WHEN_DUE,
    Program,
)
from ptxsim.execute.codes import PARAM_WINDOW
from ptxsim.execute.parts import parts_of
from ptxsim.execute.tensor.tiles import SCRATCH_WORDS
from ptxsim.lowering import variable_layout
from ptxsim.lowering.variable_layout import GLOBAL_BASE, OPAQUE, Parameter, VariableLayout
from ptxsim.memory_image.device import WORKSPACE_BYTES, Device
from ptxsim.memory_image.heap import aligned
from ptxsim.memory_image.tensor_maps import TensorMap
from ptxsim.memory_image.texture_handles import TextureHandles
from ptxsim.memory_image.texture_objects import Sampler, Surface, Texture, class_of, fits
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.ir.variables import round_up
from ptxtool.isa.types import TYPES

MOST_SHARED_BYTES = 1 << 24
"""Of a CTA in a run with time, far above any GPU's: `ptxtool occupancy` says what fits on one."""

PRINT_BYTES = 4 << 20
"""The print buffer. It is emptied when it is half full, and when the run pauses or ends."""

_INTEGERS = (int, np.integer, bool, np.bool_)
_NUMBERS = (*_INTEGERS, float, np.floating)
_OPAQUES = (Texture, Sampler, Surface)
_RESERVED_OFFSETS = {
    "reserved_smem_offset_begin": 0,
    "reserved_smem_offset_0": 0,
    "reserved_smem_offset_1": 512,
}
"""Offsets of special registers in the reserved part of shared memory; the others point to its end. guess: PTX does not
specify them; cooperative groups need 288 bytes from `_1` on."""


@dataclass
class MemoryImage:
    """The memory of a launch. Build it with `MemoryImage.build`."""

    context: Any
    """One CONTEXT record."""
    shared_image: Any
    """uint8: the initial contents of a CTA's shared memory."""
    arena: Any = field(repr=False)
    """uint8: global memory from GLOBAL_BASE on."""
    param: Any = field(repr=False)
    constants: Any = field(repr=False)
    device: Device = field(repr=False)
    host: Any = field(default=None, repr=False)
    """uint8: the print buffer."""
    reserved_shared: int = 0
    """The end of the kernel's shared memory, and the start of the reserved part if there is one."""
    is_late: bool = False
    """Asynchronous operations complete when they are waited for."""
    workspace: int = 0
    """Where the memory for barriers of the grid lies, if the kernel asks for it."""
    bounds: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """Start and end of what the kernel can access beside the device's buffers and variables."""
    bulk: Any = field(default=None, repr=False)
    """The `BULK` record of a program with bulk copies."""
    transfers: Any = field(default=None, repr=False)
    """Its bulk copies that have not completed, or those of the copy engines."""
    engines: Any = field(default=None, repr=False)
    """The copy engine of each SM, in a timed run."""
    keep: tuple[Any, ...] = field(default=(), repr=False)
    names: dict[int, str] = field(default_factory=dict, repr=False)
    """The names of buffers in reports, by address: the first parameter that has the buffer, or the caller's name."""

    @classmethod
    def build(
        cls,
        program: Program,
        kernel: Function,
        gpu: Gpu,
        args: Sequence[Any],
        *,
        constants: Mapping[str, Any] | None = None,
        textures: Mapping[str, Any] | None = None,
        dynamic_shared: int = 0,
        warp_slots: int | None = None,
        names: Sequence[str] = (),
        heap_bytes: int = HEAP_BYTES,
        device: Device | None = None,
        tolerant: bool = False,
        late: bool = False,
    ) -> "MemoryImage":
        """Lay out memory for a launch on a machine, in addition to the contents of its `device`.

        `constants` are values of module variables by name, `textures` those of variables of opaque types. `warp_slots`
        is the number of warps that can be resident at a time (default: the machine's). `names` are the arguments' names
        in reports (default: those of the parameters). `tolerant`: accesses outside of all buffers, but near them or on
        the heap, are counted instead of ending the run. `late`: asynchronous operations complete when they are waited
        for. Raises E401 for arguments that do not match the parameters.
        """
        need_parts(parts_of(program.uops))
        layout: VariableLayout = program.layout
        device = device or Device(gpu)
        raw = args if isinstance(args, RawParameters) else None
        if raw is None:
            _check_arguments(layout, kernel, args, device.allocator is not None)
        else:
            _check_raw(layout, kernel, raw)
        passed = [] if raw is not None else [*zip(layout.parameters, args, strict=True)]
        given = [a for p, a in passed if _is_buffer(p, a)]
        given += [a.array for _, a in passed if isinstance(a, TensorMap) and isinstance(a.array, np.ndarray)]
        constant_memory = device.load(kernel.module, layout)
        starts = device.place(given)
        heap, heap_bytes = device.heap(heap_bytes if program.allocates else 0)
        wants_workspace = any(name in variable_layout.WORKSPACE_REGISTERS for name in layout.launch_rows)
        workspace = device.workspace() if wants_workspace else 0
        if device.end > PARAM_WINDOW:
            what = f"the buffers of the launch take {device.end - GLOBAL_BASE} bytes, more than the address space"
            head = kernel.source, kernel.start, kernel.body_start
            raise error("E402", what, *head, "give smaller buffers and a smaller grid")
        arena = device.fill(tolerant)
        _fill_variables(layout, kernel, constants or {}, arena, constant_memory)
        param = aligned(max(layout.param_bytes, 16))
        table = TextureHandles(layout, kernel, textures or {}, device.textures)
        for parameter, value in passed:
            if isinstance(value, _OPAQUES):
                value = table.handle(value)
            if isinstance(value, TensorMap):
                value = value.encode(starts.get(id(value.array), value.array))
            data = _bytes(parameter, starts[id(value)] if _is_buffer(parameter, value) else value)
            data = data[: parameter.copied_bytes]
            at = parameter.offset - layout.param_start
            param[at : at + len(data)] = np.frombuffer(data, np.uint8)
        if raw is not None:
            _copy_raw(layout, raw, param)
        shared_bytes = round_up(layout.static_shared_bytes + dynamic_shared, 4)
        reserved = shared_bytes
        if any(name in variable_layout.RESERVED_REGISTERS for name in layout.launch_rows):
            reserved = round_up(shared_bytes, 16)
            shared_bytes = reserved + variable_layout.RESERVED_BYTES
        if shared_bytes > MOST_SHARED_BYTES:
            what = f"a CTA of '{kernel.name}' takes {shared_bytes} bytes of shared memory; at most {MOST_SHARED_BYTES}"
            help = "declare smaller '.shared' variables, or give less dynamic shared memory"
            raise error("E402", f"{what} are possible", kernel.source, kernel.start, kernel.body_start, help)
        shared_image = np.zeros(shared_bytes, np.uint8)
        if program.is_ptxplus:
            end = layout.param_start + layout.param_bytes
            shared_image[layout.param_start : end] = param[: layout.param_bytes]
        slots = gpu.sm.count * gpu.sm.warps if warp_slots is None else warp_slots
        image = cls(np.zeros(1, CONTEXT), shared_image, arena, param, constant_memory, device)
        called = names or [p.name for p in layout.parameters]
        for (p, a), name in reversed([*zip(passed, called, strict=False)]):
            if _is_buffer(p, a):
                image.names[starts[id(a)]] = name
        image.host = np.zeros(PRINT_BYTES if program.prints else 8, np.uint8)
        image.reserved_shared, image.is_late = reserved, late
        image.workspace = workspace
        if tolerant:
            image.context["tolerated_start"], image.context["tolerated_end"] = device.tolerated
        image._fill_context(program, (heap, heap_bytes), table, slots, dynamic_shared)
        return image

    def _fill_context(
        self, program: Program, heap: tuple[int, int], table: TextureHandles, slots: int, dynamic_shared: int
    ) -> None:
        layout: VariableLayout = program.layout
        r32, constant32 = _rows(program.constants32, program.rows32 * slots, np.uint32)
        for name, row in layout.launch_rows.items():
            if name in variable_layout.RESERVED_REGISTERS:
                r32[row] = self.reserved_shared + _RESERVED_OFFSETS.get(name, variable_layout.RESERVED_BYTES)
                continue
            if name in variable_layout.WORKSPACE_REGISTERS:
                r32[row] = self.workspace >> 32 if name == "envreg1" else self.workspace & 0xFFFF_FFFF
                continue
            added = 0, layout.static_shared_bytes, variable_layout.RESERVED_BYTES
            r32[row] = dynamic_shared + sum(added[: variable_layout.SIZE_REGISTERS.index(name) + 1])
        r64, constant64 = _rows(program.constants64, program.rows64 * slots, np.uint64)
        predicates = np.zeros(max(1, program.rows_p * slots), np.uint32)
        threads = 32 * slots
        try:
            local = aligned(max(1, layout.local_bytes * threads))
            calls = np.zeros(max(1, program.call_words * slots), np.int64)
        except MemoryError:
            what = f"{layout.local_bytes} bytes of local memory for each of {threads} threads are too many"
            raise error("E402", what, help="give a smaller stack (--stack-bytes, stack_bytes)") from None
        bounds = [
            (s.address, s.address + s.size) for s in layout.symbols.values() if s.space == GLOBAL and s.size
        ]
        if heap[1]:
            bounds.append((heap[0], sum(heap)))
        if any(name in variable_layout.WORKSPACE_REGISTERS for name in layout.launch_rows):
            bounds.append((self.workspace, self.workspace + WORKSPACE_BYTES))
        self.bounds = tuple(bounds)
        allocations = self.device.ranges(bounds)
        textures = table.array()
        tiles = np.zeros(SCRATCH_WORDS if program.multiplies_tiles else 1, np.float64)
        late = np.zeros(KEPT_WORDS * slots if program.multiplies_tiles and self.is_late else 0, np.int64)
        tensor = np.zeros(TENSOR_BYTES // 8 * slots if program.has_tensor_memory else 0, np.int64)
        has_bulk = program.has_bulk_copies
        groups = np.zeros(32 * slots if has_bulk else 0, np.int64)
        of_cta = r32, r64, predicates, local, calls, late, tensor, groups
        self.keep = (*of_cta, allocations, textures, table, tiles)
        x = self.context[0]
        for name, array in {
            "r32": r32,
            "r64": r64,
            "predicates": predicates,
            "scratch32": r32[-1:],
            "scratch64": r64[-1:],
            "global_memory": self.arena,
            "allocations": allocations,
            "constant_memory": self.constants,
            "param_memory": self.param,
            "local_memory": local,
            "textures": textures,
            "instructions": program.instructions,
            "uops": program.uops,
            "call_stack": calls,
            "host_memory": self.host,
            "tile_scratch": tiles,
        }.items():
            x[name] = array.ctypes.data
        x["late_products"] = late.ctypes.data if len(late) else 0
        x["tensor_memory"] = tensor.ctypes.data if len(tensor) else 0
        if has_bulk:
            self.bulk = np.zeros(1, BULK)
            self.transfers = np.zeros(1 + BULK_BUCKETS * BULK_ENTRIES if self.is_late else 1, TRANSFER)
            x["bulk"], x["bulk_groups"] = self.bulk.ctypes.data, groups.ctypes.data
            self.bulk["transfers"] = self.transfers.ctypes.data
            self.bulk["when"] = WHEN_AWAITED if self.is_late else AT_ONCE
        for name in ("rows32", "rows64", "rows_p", "call_words"):
            x[name] = getattr(program, name)
        x["constant_rows32"], x["constant_rows64"] = constant32, constant64
        x["total_rows32"], x["total_rows64"], x["total_rows_p"] = len(r32), len(r64), len(predicates)
        x["global_base"], x["global_bytes"] = GLOBAL_BASE, self.device.used_bytes
        x["constant_bytes"], x["param_bytes"] = len(layout.constant_bytes), layout.param_bytes
        x["local_bytes"], x["shared_bytes"] = layout.local_bytes, len(self.shared_image)
        x["n_allocations"], x["n_textures"] = len(allocations), len(textures)
        x["n_instructions"], x["n_uops"] = len(program.instructions), len(program.uops)
        x["cluster_shape"], x["has_pairs"] = 1, program.has_pairs
        x["host_bytes"], x["heap_start"], x["heap_bytes"] = self.host.nbytes, *heap

    def follow_device(self) -> None:
        """Take over where the device's memory lies, and what it has, after images of other launches were built."""
        x, device = self.context[0], self.device
        allocations = device.ranges(self.bounds)
        self.arena, self.keep = device.arena, (*self.keep, allocations)
        x["global_memory"], x["allocations"] = self.arena.ctypes.data, allocations.ctypes.data
        x["global_bytes"], x["n_allocations"] = device.used_bytes, len(allocations)
        if x["tolerated_end"]:
            x["tolerated_start"], x["tolerated_end"] = device.tolerated

    def time_bulk_copies(self, engines: Any, warps: int) -> None:
        """Give bulk copies to copy engines, one `ENGINE` record an SM, with so many warp slots each."""
        if self.bulk is not None:
            self.engines, self.transfers = engines, np.zeros(1 + len(engines) * ENGINE_COPIES, TRANSFER)
            self.bulk["transfers"], self.bulk["engines"] = self.transfers.ctypes.data, engines.ctypes.data
            self.bulk["when"], self.bulk["warps"] = WHEN_DUE, warps

    @property
    def buffers(self) -> list[tuple[int, Any]]:
        """Address and array of every buffer of the device."""
        return self.device.buffers

    @property
    def of_cta(self) -> tuple[Any, ...]:
        """The arrays that are one CTA's where the image has the slots of one: registers, local memory, calls, products
        that are kept, tensor memory, numbers of bulk groups."""
        return self.keep[:8]

    def read_back(self) -> None:
        """Copy every buffer to the caller's array."""
        self.device.read_back()

    def variables(self, layout: VariableLayout) -> dict[str, Any]:
        """Copies of the module's variables in global memory, as arrays of bytes."""
        return {
            symbol.name: self.arena[start : start + symbol.size].copy()
            for symbol in layout.symbols.values()
            if symbol.space == GLOBAL
            for start in [symbol.address - GLOBAL_BASE]
        }


def _rows(constants: Any, n: int, kind: type) -> tuple[Any, int]:
    """The rows of one file: constants first, then those of the warps, which are zeroed when a warp starts
    (`execute/start.py`), and a scratch row of the lane operations last. A row is aligned to cache lines."""
    n_rows = len(constants) + n + 1
    rows: Any = aligned(n_rows * 32 * np.dtype(kind).itemsize, zeroed=False).view(kind).reshape(n_rows, 32)
    rows[: len(constants)] = constants
    rows[-1] = 0
    return rows, len(constants)


def _is_buffer(parameter: Parameter, value: Any) -> bool:
    """Whether an argument is a buffer to point to; an array for a structure is passed by value."""
    return isinstance(value, np.ndarray) and not parameter.is_array


def _fill_variables(
    layout: VariableLayout, kernel: Function, constants: Mapping[str, Any], arena: Any, constant_memory: Any
) -> None:
    """Write the values given for module variables."""
    for name, value in constants.items():
        symbol = layout.symbols.get(name)
        if symbol is None or symbol.space not in (GLOBAL, CONST):
            known = sorted(s.name for s in layout.symbols.values() if s.space in (GLOBAL, CONST))
            help = f"there are {', '.join(known)}" if known else "the module has none"
            raise error("E401", f"no module variable named '{name}'", kernel.source, help=help)
        declared = (i for i in kernel.module.declarations() if any(d.name == name for d in i.declarators))
        start, end = next(((item.start, item.end) for item in declared), (0, 0))
        array: Any = np.asarray(value) if isinstance(value, np.ndarray | np.generic) else None
        if array is None or array.dtype.kind not in "biufcV":
            what = type(value).__name__ if array is None else f"an array of {array.dtype}"
            message = f"{what} for variable '{name}'"
            raise error("E401", message, kernel.source, start, end, "give a numpy array of its type")
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if len(data) > symbol.size:
            message = f"{len(data)} bytes for variable '{name}' of {symbol.size} bytes"
            raise error("E401", message, kernel.source, start, end, "give an array of its type and length")
        memory, start = (arena, GLOBAL_BASE) if symbol.space == GLOBAL else (constant_memory, 0)
        memory[symbol.address - start : symbol.address - start + len(data)] = data


# ---- arguments


def _check_raw(layout: VariableLayout, kernel: Function, raw: bytes) -> None:
    """E401 for parameters that do not have the bytes of the kernel's: to the end of the last one, or as a structure of
    all of them, which ends at a multiple of the largest alignment."""
    last = max((p.offset - layout.param_start + p.size for p in layout.parameters), default=0)
    if not last <= len(raw) <= round_up(last, max((4, *(p.align for p in layout.parameters)))):
        help = "give them as the kernel declares them, each at a multiple of its alignment"
        what = f"{counted(len(raw), 'byte')} of parameters for kernel '{kernel.name}', which has {last}"
        raise error("E401", what, kernel.source, kernel.start, kernel.body_start, help)


def _copy_raw(layout: VariableLayout, raw: bytes, param: Any) -> None:
    """Copy the bytes of the parameters that a launch copies."""
    for parameter in layout.parameters:
        start = parameter.offset - layout.param_start
        size = parameter.size if parameter.copied_bytes is None else parameter.copied_bytes
        param[start : start + size] = np.frombuffer(raw[start : start + size], np.uint8)


def _check_arguments(layout: VariableLayout, kernel: Function, args: Sequence[Any], by_address: bool) -> None:
    """E401, with one diagnostic per wrong argument. `by_address`: numbers are addresses of a heap, and handles."""
    parameters = layout.parameters
    names = ", ".join(p.name for p in parameters)
    if len(args) != len(parameters):
        what = f"kernel '{kernel.name}' takes {counted(len(parameters), 'argument')}, not {len(args)}"
        help = f"its parameters are {names}" if parameters else "it has no parameters"
        raise error("E401", what, kernel.source, kernel.start, kernel.body_start, help)
    problems: list[Diagnostic] = []
    for number, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1):
        if by_address and isinstance(value, _INTEGERS) and (parameter.is_pointer or parameter.type in OPAQUE):
            continue
        reason = _problem(parameter, value, layout.address_bits)
        if reason:
            declared = (d for d in kernel.parameters if any(n.name == parameter.name for n in d.declarators))
            place = next(((d.start, d.end) for d in declared), (kernel.start, kernel.body_start))
            what = f"argument {number} for '.{parameter.type} {parameter.name}': {reason[0]}"
            problems.append(Diagnostic("E401", what, kernel.source, *place, reason[1]))
    if problems:
        raise PtxError(problems)


def _problem(parameter: Parameter, value: Any, address_bits: int) -> tuple[str, str] | None:
    """What is wrong with one argument, and what to do; None if nothing is."""
    if isinstance(value, TensorMap):
        if not parameter.is_array or parameter.size != TENSOR_MAP_BYTES:
            return "a tensor map", "its parameter is '.align 64 .b8 [128]'"
        return _array_problem(value.array) if isinstance(value.array, np.ndarray) else None
    if parameter.is_array:
        if not isinstance(value, bytes | bytearray | np.void | np.ndarray):
            return f"{type(value).__name__} for {parameter.size} bytes", "give bytes, a numpy record or array"
        size = len(value) if isinstance(value, bytes | bytearray) else value.nbytes
        if size != parameter.size:
            return f"{size} bytes for {parameter.size}", "give exactly as many bytes"
        return None
    if parameter.type in OPAQUE:
        if fits(parameter.type, value):
            return None
        return f"{type(value).__name__}", f"give a {class_of(parameter.type)}"
    type_ = TYPES[parameter.type]
    if isinstance(value, _OPAQUES):
        if type_.is_float or type_.bits < address_bits or parameter.is_pointer:
            what = f"a {type(value).__name__.lower()}, which needs a number of {address_bits} bits"
            return what, "give a number"
        return None
    if isinstance(value, np.ndarray):
        return _buffer_problem(parameter, value, address_bits)
    if not isinstance(value, _NUMBERS):
        return f"{type(value).__name__} is neither a number nor a numpy array", "give one of them"
    if parameter.is_pointer:
        return "a number for a pointer", "give a numpy array"
    if type_.is_float or type_.kind == "b":
        return None
    if isinstance(value, float | np.floating):
        if float(value) != int(value):
            return f"{value} is no whole number", "give an integer"
        return None
    if not -(1 << (type_.bits - 1)) <= int(value) < 1 << type_.bits:
        return f"{value} does not fit {type_.bits} bits", "give a smaller number"
    return None


def _buffer_problem(parameter: Parameter, value: Any, address_bits: int) -> tuple[str, str] | None:
    type_ = TYPES[parameter.type]
    is_signed_word = type_.is_signed and type_.bits == 32 and not parameter.is_pointer
    if type_.is_float or type_.bits < address_bits or is_signed_word:
        return "an array for a number", "give a number"
    return _array_problem(value)


def _array_problem(value: Any) -> tuple[str, str] | None:
    """Why an array cannot be a buffer."""
    if value.dtype.kind not in "biufcV":
        return f"an array of {value.dtype}", "give an array of numbers"
    if value.dtype.byteorder == ">":
        return "an array in big-endian byte order", "convert it with .astype"
    if not value.flags.c_contiguous:
        advice = "pass numpy.ascontiguousarray(...) and copy the result back"
        return "an array that is not C-contiguous", advice
    if not value.flags.writeable:
        return "an array that is read-only", "pass a copy: the kernel updates buffers in place"
    return None


def _bytes(parameter: Parameter, value: Any) -> bytes:
    """An argument as the bytes of its parameter."""
    if parameter.is_array:
        return bytes(value) if isinstance(value, bytes | bytearray) else bytes(value.tobytes())
    type_ = TYPES["u64" if parameter.type in OPAQUE else parameter.type]
    if type_.is_float:
        kinds: dict[int, Any] = {16: np.float16, 32: np.float32, 64: np.float64}
        return bytes(kinds[type_.bits](value).tobytes())
    if isinstance(value, float | np.floating) and type_.kind == "b" and type_.bits in (32, 64):
        return bytes((np.float32(value) if type_.bits == 32 else np.float64(value)).tobytes())
    return (int(value) & ((1 << type_.bits) - 1)).to_bytes(type_.bytes, "little")
