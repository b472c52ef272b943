"""Memory of a launch at addresses that the caller fixes: a recorded launch, replayed.

    memory = FixedMemory({0x1001_0000: x, 0x1002_0000: y}, ModuleBase(variables=0x1000_0000), constants=0x1000_0100)
    ptxsim.launch(kernel, grid, block, [0x1001_0000, 1024], memory=memory)

Every array is a block of the heap (heap.py) at its address, and is updated in place after the launch. Pointers within
blocks, in structures and in memory stay valid, and caches, channels and banks are those of the recorded launch. Where
the kernel's module has an origin, its variables are blocks as well: the arrays have their contents, those of constants
too.

A machine's heap becomes these blocks as well: a recorded list of launches, replayed with warm caches. Other blocks of
the program are freed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxsim.lowering.variable_layout import GLOBAL_BASE, ModuleBase
from ptxsim.memory_image.device import WORKSPACE_BYTES, Device
from ptxsim.memory_image.heap import MEMORY_BYTES, MOST_MEMORY_BYTES
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function, Module

_MORE_BYTES = 64 << 20
"""After the last block and the kernels' heap: for variables without an address. guess: more than modules have."""


@dataclass(frozen=True, eq=False)
class FixedMemory:
    """The memory before a launch; afterwards the arrays have its contents."""

    blocks: Mapping[int, Any] = field(repr=False)
    """Arrays (C-contiguous, writable) by address, a multiple of 256."""
    origin: ModuleBase | None = None
    """Where the kernel's module begins; None: anywhere, and its variables have their initial values."""
    constants: int = 0
    """With an origin: the address of the block of the module's constants, 0 without constants."""

    def device(self, gpu: Gpu, module: Module, heap_bytes: int) -> Device:
        """A device with this memory and the module. Raises E401 as `put` does."""
        last = max((GLOBAL_BASE, *(address + array.nbytes for address, array in self._checked())))
        needed = last - GLOBAL_BASE + heap_bytes + WORKSPACE_BYTES + _MORE_BYTES
        device = Device(gpu)
        device.open(min(needed, MOST_MEMORY_BYTES))
        self.put(device, module)
        return device

    def put(self, device: Device, module: Module) -> None:
        """Make this the memory of a device, and place the module.

        Raises E401 for blocks that overlap or are outside of global memory, for an origin where the module's variables
        have no block, and for a device with buffers, which are arrays of the caller's.
        """
        if device.buffers:
            help = "use a machine without arrays among its arguments, or ptxsim.launch"
            raise error("E401", "fixed memory for a machine that has buffers", help=help)
        own = (self.origin.variables, self.constants) if self.origin else ()
        sizes = {address: array.nbytes for address, array in self._checked()}
        device.open(MEMORY_BYTES).replace(sizes, own)
        for address, array in self.blocks.items():
            self._part(device, address, array)[:] = array.reshape(-1).view(np.uint8)
        if self.origin is not None:
            device.add_at(module, self.origin, self.constants)

    def _checked(self) -> Iterator[tuple[int, Any]]:
        """The blocks in order. Raises E401 for what is no array of memory."""
        for address, array in sorted(self.blocks.items()):
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or not array.flags.writeable:
                help = "give C-contiguous arrays that can be written"
                raise error("E401", f"the memory at {address:#x} is {type(array).__name__}", help=help)
            yield address, array

    def read_back(self, device: Device) -> None:
        """Copy the contents of all blocks to the arrays."""
        for address, array in self.blocks.items():
            array.reshape(-1).view(np.uint8)[:] = self._part(device, address, array)

    def _part(self, device: Device, address: int, array: Any) -> Any:
        return device.arena[address - GLOBAL_BASE : address - GLOBAL_BASE + array.nbytes]


def device_of(
    kernel: Function, gpu: Gpu, memory: FixedMemory | None, heap_bytes: int, kept: Device | None
) -> Device | None:
    """The device of a launch: a new one with its fixed memory, or the one that its machine keeps, which gets it; None:
    a new one.

    Raises what `FixedMemory.put` raises.
    """
    if memory is None:
        return kept
    if kept is None:
        return memory.device(gpu, kernel.module, heap_bytes)
    memory.put(kept, kernel.module)
    return kept
