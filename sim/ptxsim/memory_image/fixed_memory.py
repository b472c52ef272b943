"""Memory of a launch at addresses that the caller fixes: a recorded launch, replayed.

    memory = FixedMemory({0x1001_0000: x, 0x1002_0000: y}, ModuleBase(variables=0x1000_0000), constants=0x1000_0100)
    ptxsim.launch(kernel, grid, block, [0x1001_0000, 1024], memory=memory)

Every array is a block of the heap (heap.py) at its address, and is updated in place after the launch. Pointers within
blocks, in structures and in memory stay valid, and caches, channels and banks are those of the recorded launch. Where
the kernel's module has an origin, its variables are blocks as well: the arrays have their contents, those of constants
too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxsim.lowering.variable_layout import GLOBAL_BASE, ModuleBase
from ptxsim.memory_image.device import WORKSPACE_BYTES, Device
from ptxsim.memory_image.heap import MOST_MEMORY_BYTES
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
        """A device with this memory and the module.

        Raises E401 for blocks that overlap or are outside of global memory, and for an origin where the module's
        variables have no block.
        """
        for address, array in self.blocks.items():
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or not array.flags.writeable:
                help = "give C-contiguous arrays that can be written"
                raise error("E401", f"the memory at {address:#x} is {type(array).__name__}", help=help)
        last = max((GLOBAL_BASE, *(address + array.nbytes for address, array in self.blocks.items())))
        needed = last - GLOBAL_BASE + heap_bytes + WORKSPACE_BYTES + _MORE_BYTES
        device = Device(gpu)
        heap = device.open(min(needed, MOST_MEMORY_BYTES))
        own = (self.origin.variables, self.constants) if self.origin else ()
        for address, array in sorted(self.blocks.items()):
            heap.place(address, array.nbytes, own=address in own)
            self._part(device, address, array)[:] = array.reshape(-1).view(np.uint8)
        if self.origin is not None:
            device.add_at(module, self.origin, self.constants)
        return device

    def read_back(self, device: Device) -> None:
        """Copy the contents of all blocks to the arrays."""
        for address, array in self.blocks.items():
            array.reshape(-1).view(np.uint8)[:] = self._part(device, address, array)

    def _part(self, device: Device, address: int, array: Any) -> Any:
        return device.arena[address - GLOBAL_BASE : address - GLOBAL_BASE + array.nbytes]


def device_of(
    kernel: Function, gpu: Gpu, memory: FixedMemory | None, heap_bytes: int, kept: Device | None
) -> Device | None:
    """The device of a launch: with its fixed memory, or the one that its machine keeps; None: a new one.

    Raises E401 for a launch that has both, and what `FixedMemory.device` raises.
    """
    if memory is None:
        return kept
    if kept is not None:
        help = "allocate on the machine's heap (docs/machine.md), or use ptxsim.launch"
        raise error("E401", "fixed memory for a launch of a machine", help=help)
    return memory.device(gpu, kernel.module, heap_bytes)
