"""The global memory of a machine: the addresses of variables, buffers and the heap, and their contents.

For `image.py`, which uses a new one for every single launch, and that of the machine otherwise. One arena from
GLOBAL_BASE on: the variables of the first launch's module, its buffers, each at the next multiple of 256 with a gap
after it, so that an access beyond a buffer is detected; then heap and workspace, then what later launches add.
Addresses do not change, and contents stay from launch to launch.

An array stands for a buffer until it is freed. An array that lies within another one is a part of its buffer. Before a
launch every buffer whose array has changed is copied to the device, after it every buffer that the kernel has changed
is copied back. `copies` lists the former, which the caches of some machines see, and explicit copies (`copy`).

A machine whose memory is allocated by address has an `allocator` (heap.py): then the arena is the heap's memory, which
never moves, modules, buffers, heap and workspace are blocks of it, and a module's constants lie in it too.

Limits: arrays that overlap in part are refused within one launch; between launches the later one replaces the earlier
one. The heap of kernels keeps the size that the first kernel with a heap asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ptxsim.base.program import CONST, GLOBAL, TEXTURE
from ptxsim.lowering.instructions.control import code_bytes
from ptxsim.lowering.variable_layout import (
    ALIGNMENT,
    GLOBAL_BASE,
    ModuleBase,
    Symbol,
    VariableLayout,
    lay_out,
)
from ptxsim.memory_image.heap import BEFORE_FIRST, Heap, aligned, memory_of
from ptxsim.memory_image.texture_handles import KeptTextures
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Module
from ptxtool.ir.variables import round_up

MARGIN = BEFORE_FIRST
"""Bytes before and after all buffers, for accesses that a launch tolerates; a heap has its own."""
WORKSPACE_BYTES = 256
"""The memory of a cooperative launch for barriers of the grid; every kernel that asks for it gets it."""


@dataclass
class _Loaded:
    """A module whose variables are on the device."""

    module: Module
    origin: ModuleBase
    symbols: list[Symbol]
    """Its variables in global and constant memory, and those of opaque types."""
    constants: Any
    """uint8: its constant memory, from constant address 0 on."""
    constants_start: int = 0
    """Where they lie in global memory; 0: they do not."""


class Device:
    """Memory that outlasts a launch. `place`, `load` and `heap` assign addresses, `fill` copies the contents."""

    def __init__(self, gpu: Gpu):
        self.arena: Any = np.zeros(0, np.uint8)
        """Global memory from GLOBAL_BASE on."""
        self.end = GLOBAL_BASE
        """The first address after all assigned ones."""
        self.buffers: list[tuple[int, Any]] = []
        """Address and array."""
        self.copies: list[tuple[int, int]] = []
        """Address and bytes of the copies to the device since `take_copies` was last called."""
        self._adjacent = gpu.l2.adjacent_buffers
        # a gap that changes no index of a cache, channel or bank; its untouched megabytes cost address space only
        self._unseen = gpu.dram.channels << 20
        self._after_buffers = 0
        self._addresses: dict[tuple[int, int], int] = {}
        """Of every buffer by the place and size of its array's memory; by its identity if it has no bytes."""
        self._holes: dict[int, list[int]] = {}
        """Addresses of buffers that were freed, by their sizes."""
        self._awaited: list[Any] = []
        """Arrays that were copied before there was a module, whose variables lie before all buffers."""
        self._new: set[int] = set()
        """Addresses of buffers that have not been copied yet."""
        self._initial: list[tuple[int, bytes]] = []
        """First values of variables that have not been written yet, and their address."""
        self._ranges: list[tuple[int, int]] = []
        """Start and end of all other ranges: variables, heap, workspace."""
        self.variables: list[tuple[int, int]] = []
        """Start and end of every variable in global memory, of all modules."""
        self._modules: dict[int, _Loaded] = {}
        self._constants_end = 0
        self._heap = (0, 0)
        self._workspace = 0
        self.allocator: Heap | None = None
        self.textures: KeptTextures | None = None
        self._tolerant = False
        """Whether the arena has a margin, and zeros in all gaps."""

    def open(self, memory: Any) -> Heap:
        """The allocator: over `memory`, a number of bytes or a buffer, at the first call. Addresses that were assigned
        before stay as they are. Raises E401 and E402."""
        if self.allocator is None:
            arena = memory_of(memory)
            if self.end - GLOBAL_BASE > len(arena):
                what = f"{len(arena)} bytes of memory for {self.end - GLOBAL_BASE} bytes in use"
                raise error("E402", what, help="give the machine more 'memory'")
            self._move(arena)
            self.allocator = Heap(arena, self.end)
        return self.allocator

    def may_be_written(self, times: int) -> bool:
        """`Heap.may_be_written`; without a heap no other process has this memory."""
        return self.allocator is not None and self.allocator.may_be_written(times)

    def _allocate(self, n_bytes: int) -> int:
        """An address for so many bytes."""
        if self.allocator is not None:
            return self.allocator.reserve(n_bytes)
        start = round_up(self.end, ALIGNMENT)
        self.end = start + n_bytes
        return start

    def origin(self, module: Module) -> ModuleBase:
        """Where a module's variables and code begin, or would begin if it were loaded."""
        loaded = self._modules.get(id(module))
        if loaded is None and self.allocator is not None:
            loaded = self.add(module)
        if loaded is not None:
            return loaded.origin
        return self._next_origin(round_up(self.end, ALIGNMENT))

    def _next_origin(self, variables: int) -> ModuleBase:
        """The origin of the next module if its variables begin there."""
        code = sum(code_bytes(each.module) for each in self._modules.values())
        return ModuleBase(variables, round_up(self._constants_end, ALIGNMENT), code)

    def add(self, module: Module) -> _Loaded:
        """Place the variables and constants of a module, which has a kernel, on the heap; without any it takes no
        memory. Raises E402 and E206."""
        loaded = self._modules.get(id(module))
        if loaded is None:
            kernel = next(iter(module.kernels.values()))
            n_bytes = len(lay_out(kernel, origin=self._next_origin(GLOBAL_BASE)).global_bytes)
            layout = lay_out(
                kernel, origin=self._next_origin(self._allocate(n_bytes) if n_bytes else GLOBAL_BASE)
            )
            at = layout.origin.variables - GLOBAL_BASE
            self.arena[at : at + n_bytes] = np.frombuffer(layout.global_bytes, np.uint8)
            loaded = self._keep(module, layout)
        if not loaded.constants_start and any(symbol.space == CONST for symbol in loaded.symbols):
            start, n_bytes = self._allocate(len(loaded.constants)), len(loaded.constants)
            self.arena[start - GLOBAL_BASE : start - GLOBAL_BASE + n_bytes] = loaded.constants
            self._lay_constants(loaded, start, n_bytes)
        return loaded

    def _lay_constants(self, loaded: _Loaded, start: int, n_bytes: int) -> None:
        """Make bytes of the arena the constant memory of a module."""
        loaded.constants = self.arena[start - GLOBAL_BASE : start - GLOBAL_BASE + n_bytes]
        loaded.constants_start = start
        places = (s for s in loaded.symbols if s.space == CONST and s.size)
        self.variables += [(start + s.address, start + s.address + s.size) for s in places]

    def add_like(self, module: Module, origin: ModuleBase, constants: int) -> _Loaded:
        """Place another text of a module at its variables and constants; its code follows that of all modules. Raises
        E401 as `add_at` does."""
        self.add_at(module, replace(origin, code=self._next_origin(origin.variables).code), constants)
        return self._modules[id(module)]

    def add_at(self, module: Module, origin: ModuleBase, constants: int) -> None:
        """Place a module whose variables have their addresses and contents on the heap already, and its constants at
        `constants` (0: there are none). Nothing to do for one that is there. Raises E401 where no block is large
        enough."""
        assert self.allocator is not None
        if id(module) in self._modules:
            return
        layout = lay_out(next(iter(module.kernels.values())), origin=origin)
        needed = [(origin.variables, len(layout.global_bytes)), (constants, len(layout.constant_bytes))]
        for address, n_bytes in needed:
            block = self.allocator.allocation(address)
            if n_bytes and (block is None or address + n_bytes > sum(block)):
                what = f"the module's variables take {n_bytes} bytes at {address:#x}, where no such block is"
                raise error("E401", what, help="give the origin at which the module was loaded")
        loaded = self._keep(module, layout)
        if layout.constant_bytes:
            self._lay_constants(loaded, constants, len(loaded.constants))

    def load(self, module: Module, layout: VariableLayout) -> Any:
        """Place the variables of a module, laid out at its origin, with their initial values; its constant memory."""
        loaded = self._modules.get(id(module))
        if loaded is None:
            loaded, origin = self._keep(module, layout), layout.origin
            self.end = origin.variables + round_up(len(layout.global_bytes), ALIGNMENT)
            self._ranges.append((origin.variables, origin.variables + len(layout.global_bytes)))
            self._initial.append((origin.variables, layout.global_bytes))
        return loaded.constants

    def _keep(self, module: Module, layout: VariableLayout) -> _Loaded:
        """Remember a module that is placed, with its constants."""
        constants = aligned(max(len(layout.constant_bytes), 16))
        constants[: len(layout.constant_bytes)] = np.frombuffer(layout.constant_bytes, np.uint8)
        self._constants_end = max(self._constants_end, len(layout.constant_bytes))
        symbols = [s for s in layout.symbols.values() if s.space in (GLOBAL, CONST, TEXTURE)]
        self.variables += [(s.address, s.address + s.size) for s in symbols if s.space == GLOBAL and s.size]
        loaded = self._modules[id(module)] = _Loaded(module, layout.origin, symbols, constants)
        return loaded

    # ---- buffers

    def place(self, arrays: Sequence[Any]) -> dict[int, int]:
        """The addresses of the arrays of a launch, by identity. Raises E401 for two that overlap in part."""
        arrays = [*self._awaited, *arrays]
        self._awaited.clear()
        before = list(self.buffers)
        found: dict[int, int] = {}
        if self.allocator is not None:
            views = {id(a): self.allocator.address_of(a) for a in arrays}
            found = {key: address for key, address in views.items() if address is not None}
        for array in _outermost([a for a in arrays if id(a) not in found]):
            found[id(array)] = self._address(array, before)
        for array in arrays:
            if id(array) not in found:
                found[id(array)] = self._addresses.get(_key(array)) or self._inside(array)
        return found

    def _address(self, array: Any, before: list[tuple[int, Any]]) -> int:
        """The address of an array; `before` are the buffers of earlier launches."""
        known = self._addresses.get(_key(array))
        if known is not None:
            return known
        if before and array.nbytes:
            inside = self._inside(array)
            if inside:
                return inside
            self.free([b for _, b in before if _overlap(b, array)])
        size = round_up(array.nbytes + (not self._adjacent), ALIGNMENT)
        if self.allocator is not None:
            start = self.allocator.reserve(max(array.nbytes, 1))
        elif self._holes.get(size):
            start = self._holes[size].pop()
        elif self._adjacent:
            start = self._after_buffers
            start += -(-(self.end - start) // self._unseen) * self._unseen
            self._after_buffers = start + size
            self.end = self._after_buffers + self._unseen
        else:
            start = round_up(self.end, ALIGNMENT)
            self.end = start + size
        self.buffers.append((start, array))
        self._addresses[_key(array)] = start
        self._new.add(start)
        return start

    def _inside(self, array: Any) -> int:
        """The address of an array that is a part of a buffer's array; 0 if it is not."""
        first = _first(array)
        for start, whole in self.buffers:
            if _first(whole) <= first and first + array.nbytes <= _first(whole) + whole.nbytes:
                return start + first - _first(whole)
        return 0

    def free(self, arrays: Sequence[Any]) -> None:
        """Remove the buffers of these arrays; later buffers of the same size reuse their addresses. Raises E401."""
        for array in arrays:
            start = self._addresses.pop(_key(array), None)
            self._awaited = [a for a in self._awaited if a is not array]
            if start is None:
                what = "an array that is no buffer of the machine"
                raise error("E401", what, help="free what was given to it")
            self.buffers = [b for b in self.buffers if b[0] != start]
            self._new.discard(start)
            if self.allocator is not None and self.allocator.allocation(start):
                self.allocator.release(start)
                continue
            size = round_up(array.nbytes + (not self._adjacent), ALIGNMENT)
            self._holes.setdefault(size, []).append(start)

    def copy(self, arrays: Sequence[Any]) -> None:
        """Copies of arrays between host and device, one after the other; an array that is no buffer becomes one."""
        if not self._modules and self.allocator is None:
            self._awaited += arrays
            return
        starts = self.place(arrays)
        self.fill()
        copied = set(self.copies)
        self.copies += [c for a in arrays if (c := (starts[id(a)], a.nbytes)) not in copied]

    def take_copies(self) -> list[tuple[int, int]]:
        """Address and bytes of all copies since the last call."""
        taken, self.copies = self.copies, []
        return taken

    # ---- heap and workspace

    def heap(self, n_bytes: int) -> tuple[int, int]:
        """Address and size of the heap of `malloc`; allocated at the first call with more than 0 bytes."""
        if n_bytes and not self._heap[1]:
            self._heap = (self._allocate(n_bytes & -16), n_bytes & -16)
            self._ranges.append((self._heap[0], sum(self._heap)))
        return self._heap

    def workspace(self) -> int:
        """The address of zeroed memory for barriers of the grid."""
        if not self._workspace:
            self._workspace = self._allocate(WORKSPACE_BYTES)
            self._ranges.append((self._workspace, self._workspace + WORKSPACE_BYTES))
        return self._workspace

    # ---- contents

    @property
    def used_bytes(self) -> int:
        """Of the arena: no address beyond them was ever assigned."""
        return len(self.arena) if self.allocator is None else self.allocator.most - GLOBAL_BASE

    @property
    def contents(self) -> Any:
        """The used bytes of the arena."""
        return self.arena[: self.used_bytes]

    def ranges(self, others: Sequence[tuple[int, int]]) -> Any:
        """Start and end of all variables, buffers and blocks, and of others: uint64 (n, 2), ascending, at least one."""
        found = {*others, *self.variables}
        found |= {(start, start + array.nbytes) for start, array in self.buffers if array.nbytes}
        if self.allocator is None or not len(self.allocator.ranges):
            return np.array(sorted(found) or [(0, 0)], np.uint64)
        if not found:
            return self.allocator.ranges
        both = np.concatenate([self.allocator.ranges, np.array(list(found), np.uint64)])
        return both[both[:, 0].argsort()]

    @property
    def tolerated(self) -> tuple[int, int]:
        """Start and end of the addresses that can be accessed where the launch tolerates it (`fill(tolerant=True)`)."""
        margin = MARGIN if self.allocator is None else 0
        return GLOBAL_BASE - margin, GLOBAL_BASE + len(self.arena)

    def fill(self, tolerant: bool = False) -> Any:
        """Allocate all assigned addresses, and copy new and changed buffers to them; returns the arena.

        `tolerant`: accesses outside of all buffers are possible, up to `MARGIN` bytes before the first and after the
        last one.
        """
        self._reserve(tolerant)
        for start, values in self._initial:
            at = start - GLOBAL_BASE
            self.arena[at : at + len(values)] = np.frombuffer(values, np.uint8)
        self._initial.clear()
        for start, array in self.buffers:
            at = start - GLOBAL_BASE
            data = array.reshape(-1).view(np.uint8)
            if start in self._new or not _is_same(self.arena[at : at + array.nbytes], data):
                self.arena[at : at + array.nbytes] = data
                self.copies.append((start, array.nbytes))
        self._new.clear()
        if self._workspace:
            at = self._workspace - GLOBAL_BASE
            self.arena[at : at + WORKSPACE_BYTES] = 0
        return self.arena

    def _reserve(self, tolerant: bool) -> None:
        """Enlarge the arena if necessary; untouched parts cost address space only.

        The first arena consists of buffers, which `fill` will write, and of gaps, which no access reaches; it is zeroed
        for a heap only, and where accesses outside of buffers are tolerated.
        """
        begins_to_tolerate = tolerant and not self._tolerant
        self._tolerant |= tolerant
        needed = self.end - GLOBAL_BASE + (MARGIN if self._tolerant else ALIGNMENT)
        if self.allocator is not None or (needed <= len(self.arena) and not begins_to_tolerate):
            return
        if self._tolerant:
            self._move(aligned(MARGIN + needed + needed // 2)[MARGIN:])
        elif len(self.arena):
            self._move(aligned(needed + needed // 2))
        else:
            self.arena = aligned(needed, zeroed=self._heap[1] > 0)

    def _move(self, arena: Any) -> None:
        """Copy all contents to another arena, and use that from now on."""
        old, self.arena = self.arena, arena
        ranges = [(start, start + array.nbytes) for start, array in self.buffers if start not in self._new]
        for start, end in (*ranges, *self._ranges):
            part = old[start - GLOBAL_BASE : end - GLOBAL_BASE]
            self.arena[start - GLOBAL_BASE : start - GLOBAL_BASE + len(part)] = part

    def read_back(self) -> None:
        """Copy every buffer that a kernel has changed to its array."""
        for start, array in self.buffers:
            at = start - GLOBAL_BASE
            data = self.arena[at : at + array.nbytes]
            target = array.reshape(-1).view(np.uint8)
            if not _is_same(target, data):  # an unchanged read-only input is not written
                target[:] = data


def _is_same(one: Any, other: Any) -> bool:
    """Whether two arrays of bytes are equal; compared by words, which is faster."""
    words = len(one) & -8
    return np.array_equal(one[:words].view(np.uint64), other[:words].view(np.uint64)) and np.array_equal(
        one[words:], other[words:]
    )


def _first(array: Any) -> int:
    """The address of an array's memory on the host."""
    return int(array.__array_interface__["data"][0])


def _key(array: Any) -> tuple[int, int]:
    return (_first(array), array.nbytes) if array.nbytes else (id(array), 0)


def _overlap(one: Any, other: Any) -> bool:
    return _first(one) < _first(other) + other.nbytes and _first(other) < _first(one) + one.nbytes


def _outermost(arrays: Sequence[Any]) -> list[Any]:
    """The arrays of a launch, each once, without those that lie within another. Raises E401 where two only overlap."""
    distinct: dict[tuple[int, int], Any] = {}
    for array in arrays:
        distinct.setdefault(_key(array), array)
    spans = sorted((first, first + n) for first, n in distinct if n)
    if all(one[1] <= other[0] for one, other in pairwise(spans)):
        return list(distinct.values())
    inner: set[tuple[int, int]] = set()
    for first, end in spans:
        for other, other_end in spans:
            if (other, other_end) == (first, end) or other >= end or other_end <= first:
                continue
            if other <= first and end <= other_end:
                inner.add((first, end - first))
            elif not (first <= other and other_end <= end):
                what = "two arrays among the arguments overlap in part"
                raise error("E401", what, help="give the array that both are parts of, or a copy of one")
    return [array for key, array in distinct.items() if key not in inner]
