"""The heap of a machine: global memory by address, as cudaMalloc allocates it.

A heap lies over one stretch of the simulator's own memory that never moves, private or the caller's (such as a mapping
that another process shares): what is written there is in the kernel's memory, and nothing is copied before or after a
launch. First fit over free ranges sorted by address, adjacent ones merged. Every block begins at a multiple of 256 and
ends at least a byte before the next one, so that an access beyond its end is detected; 64 KiB before the first block
belong to none. The machine's own blocks (variables of modules, arrays that are buffers) lie between the program's.

A freed range is remembered until its bytes are allocated again: reports name it.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ptxsim.base.aligned import aligned as aligned_to
from ptxsim.base.options import whole
from ptxsim.execute.codes import PARAM_WINDOW
from ptxsim.lowering.variable_layout import ALIGNMENT, GLOBAL_BASE
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.variables import round_up

MEMORY_BYTES = 1 << 30
"""Of a heap of private memory, unless the machine has another size; untouched parts cost address space only."""
MOST_MEMORY_BYTES = PARAM_WINDOW - GLOBAL_BASE
"""The global space ends where the windows of other spaces begin."""
BEFORE_FIRST = 64 << 10


def aligned(n_bytes: int, zeroed: bool = True) -> Any:
    """Bytes that begin at a multiple of 256 in the simulator's memory."""
    return aligned_to(n_bytes, ALIGNMENT, zeroed)


def memory_of(given: Any) -> Any:
    """The bytes of a heap, uint8: those of a buffer, or so many private ones. Raises E401 and E402."""
    if isinstance(given, int | np.integer):
        whole("memory", given, 2 * BEFORE_FIRST, MOST_MEMORY_BYTES)
        try:
            return aligned(int(given))
        except MemoryError:
            help = "give the machine a smaller 'memory'"
            raise error("E402", f"no {given} bytes of memory for the heap", help=help) from None
    try:
        found = np.frombuffer(given, np.uint8)
    except (TypeError, ValueError, BufferError) as problem:
        help = "give a number of bytes, or a writable buffer such as an mmap"
        raise error("E401", f"memory is {type(given).__name__}: {problem}", help=help) from None
    whole("the size of memory", len(found), 2 * BEFORE_FIRST, MOST_MEMORY_BYTES)
    if not found.flags.writeable or found.ctypes.data % ALIGNMENT:
        what = "that cannot be written" if not found.flags.writeable else "that begins at no multiple of 256"
        raise error("E401", f"memory {what}", help="give a writable mapping of whole pages, such as an mmap")
    return found


def bytes_of(data: Any) -> Any:
    """The bytes of a buffer, as uint8. Raises E401 for what is none, or not C-contiguous."""
    try:
        return np.frombuffer(data, np.uint8)
    except (TypeError, ValueError, BufferError) as problem:
        raise error(
            "E401", f"data is {type(data).__name__}: {problem}", help="give bytes or an array"
        ) from None


class Heap:
    """Memory of a machine by address. Addresses are numbers that kernels take for pointers."""

    def __init__(self, memory: Any, first: int = GLOBAL_BASE):
        """Over `memory` (uint8, at GLOBAL_BASE); addresses before `first` belong to others."""
        self.memory = memory
        self.end = GLOBAL_BASE + len(memory)
        """The first address after the heap."""
        start = round_up(max(first, GLOBAL_BASE + BEFORE_FIRST), ALIGNMENT)
        self._first = start
        self._free = [(start, self.end)] if start < self.end else []
        """Start and end of the free ranges, ascending."""
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}
        """The bytes of every block, by its address."""
        self._owned: set[int] = set()
        """Blocks of the machine's own, which `free` refuses."""
        self._freed: list[tuple[int, int, int, int]] = []
        """Start and end of what is left of freed blocks, and these blocks' addresses and sizes; ascending."""
        self._ranges: Any = None
        self.written: Any = None
        """uint8, for each byte of `memory`: 1 if it was written since it was allocated. None: see `track_writes`."""
        self.may_be_written: Callable[[int], bool] = lambda times: False
        """Whether a launch that only repeats itself looks again, because another process may write this memory; called
        with how many times in a row it has done so."""
        self.most = start
        """The first address after all blocks that ever were."""

    def track_writes(self, written: Any) -> None:
        """Keep track of the bytes that are written from now on: by kernels that run under the check `init`, which then
        reports reads of all others, by `write` and by `fill`. Contents of the machine's own blocks count as written.

        `written` is a writable buffer with as many bytes as the memory, all 0. Bytes that are written by other means (a
        view, another process) have to be set to 1 there. Raises E401.
        """
        marks = bytes_of(written)
        if len(marks) != len(self.memory) or not marks.flags.writeable:
            help = f"give a writable buffer of {len(self.memory)} bytes"
            raise error("E401", f"a buffer of {len(marks)} bytes for written ones", help=help)
        self.written = marks
        for start in self._owned:
            self._mark(start, self._sizes[start], 1)

    def _mark(self, address: int, n_bytes: int, is_written: int) -> None:
        if self.written is not None:
            self.written[address - GLOBAL_BASE : address - GLOBAL_BASE + n_bytes] = is_written

    # ---- blocks

    def malloc(self, n_bytes: int, align: int = ALIGNMENT) -> int:
        """Allocate bytes, whose contents are undefined, at a multiple of `align` (a power of two); the address.

        Raises E401 for no bytes and for other alignments, E402 where no free range is large enough.
        """
        whole("n_bytes", n_bytes, 1)
        whole("align", align, 1)
        if align & (align - 1):
            raise error("E401", f"align = {align}", help="give a power of two")
        return self._allocate(int(n_bytes), max(int(align), ALIGNMENT))

    def free(self, address: int) -> None:
        """Free a block. Raises E404 for an address where no block begins: freed before, inside of one, or any other."""
        if address not in self._sizes or address in self._owned:
            help = "free every address that malloc returned, and once"
            raise error("E404", f"free of address {address:#x}, {self.described(address)}", help=help)
        self._release(address)

    def place(self, address: int, n_bytes: int) -> None:
        """Allocate bytes at an address, a multiple of 256. Raises E401 for another address, and where a block or no
        memory is."""
        end = address + round_up(n_bytes + 1, ALIGNMENT)
        k = bisect_right(self._free, (address, self.end)) - 1
        if address % ALIGNMENT or n_bytes < 1 or k < 0 or end > self._free[k][1]:
            help = f"a block begins at a multiple of {ALIGNMENT} from {self._first:#x} on, and ends before the next one"
            raise error("E401", f"no block of {_bytes(n_bytes)} can be at {address:#x}", help=help)
        self._take(k, address, n_bytes)

    def replace(self, sizes: Mapping[int, int], own: Collection[int] = ()) -> None:
        """Make these the blocks of the program, bytes by address: others are freed, but not the machine's own. Those in
        `own` become the machine's. Raises E401 as `place` does."""
        for address, n_bytes in self.blocks():
            if address not in self._owned and sizes.get(address) != n_bytes:
                self._release(address)
        for address, n_bytes in sizes.items():
            if self._sizes.get(address) != n_bytes:
                self.place(address, n_bytes)
        for address in own:
            if address in sizes:
                self._owned.add(address)
                self._mark(address, sizes[address], 1)
        self._ranges = None

    def reserve(self, n_bytes: int) -> int:
        """A block of the machine's own, filled with zeros. Raises E402."""
        start = self._allocate(n_bytes, ALIGNMENT)
        self._owned.add(start)
        self._mark(start, n_bytes, 1)
        self.memory[start - GLOBAL_BASE : start - GLOBAL_BASE + n_bytes] = 0
        return start

    def release(self, address: int) -> None:
        """Free a block of the machine's own."""
        self._owned.remove(address)
        self._release(address)

    def _allocate(self, n_bytes: int, align: int) -> int:
        needed = round_up(n_bytes + 1, ALIGNMENT)
        for k, (free, end) in enumerate(self._free):
            start = round_up(free, align)
            if start + needed > end:
                continue
            self._take(k, start, n_bytes)
            return start
        used, largest = sum(self._sizes.values()), max((end - start for start, end in self._free), default=0)
        what = f"no room for {n_bytes} bytes on the heap: {len(self._sizes)} blocks have {used} of "
        what += f"{len(self.memory)} bytes, the largest free range has {largest}"
        raise error(
            "E402", what, help="free memory that is not used any more, or give the machine more 'memory'"
        )

    def _take(self, k: int, start: int, n_bytes: int) -> None:
        """Make a block of a part of the k-th free range."""
        after = start + round_up(n_bytes + 1, ALIGNMENT)
        rest = [(self._free[k][0], start), (after, self._free[k][1])]
        self._free[k : k + 1] = [piece for piece in rest if piece[0] < piece[1]]
        insort(self._starts, start)
        self._sizes[start] = n_bytes
        self._cut_freed(start, after)
        self.most = max(self.most, after)
        self._ranges = None

    def _release(self, start: int) -> None:
        n_bytes = self._sizes.pop(start)
        del self._starts[bisect_left(self._starts, start)]
        self._mark(start, n_bytes, 0)
        end = start + round_up(n_bytes + 1, ALIGNMENT)
        insort(self._freed, (start, start + n_bytes, start, n_bytes))
        k = bisect_left(self._free, (start, end))
        first, last = k, k
        if k and self._free[k - 1][1] == start:
            first, start = k - 1, self._free[k - 1][0]
        if k < len(self._free) and self._free[k][0] == end:
            last, end = k + 1, self._free[k][1]
        self._free[first:last] = [(start, end)]
        self._ranges = None

    def _cut_freed(self, start: int, end: int) -> None:
        """Forget what was freed in a range that is allocated again."""
        first = max(0, bisect_right(self._freed, (start,)) - 1)
        last = bisect_left(self._freed, (end,))
        left: list[tuple[int, int, int, int]] = []
        for old, old_end, *block in self._freed[first:last]:
            pieces = (old, min(old_end, start)), (max(old, end), old_end)
            left += [(low, high, block[0], block[1]) for low, high in pieces if low < high]
        self._freed[first:last] = left

    # ---- what is where

    def allocation(self, address: int) -> tuple[int, int] | None:
        """Start and bytes of the block that holds an address; None if none does."""
        k = bisect_right(self._starts, address) - 1
        if k < 0 or address >= self._starts[k] + self._sizes[self._starts[k]]:
            return None
        return self._starts[k], self._sizes[self._starts[k]]

    def blocks(self) -> list[tuple[int, int]]:
        """Address and bytes of all blocks, the machine's own too, ascending."""
        return [(start, self._sizes[start]) for start in self._starts]

    def freed(self, address: int) -> tuple[int, int] | None:
        """Start and bytes of the freed block that held an address, where no block is now; None otherwise."""
        k = bisect_right(self._freed, (address, self.end)) - 1
        if k < 0 or address >= self._freed[k][1]:
            return None
        return self._freed[k][2], self._freed[k][3]

    def described(self, address: int) -> str:
        """Where an address lies, in words: "byte 8 of the block of 64 bytes at 0x10010000", "4 bytes after ..."."""
        found = self.allocation(address)
        if found is not None:
            owned = ", the machine's own" if found[0] in self._owned else ""
            return f"byte {address - found[0]} of {_block(*found)}{owned}"
        found = self.freed(address)
        if found is not None:
            return f"byte {address - found[0]} of {_block(*found)}, which was freed"
        near: list[tuple[int, str]] = []
        for start, end, name in self.near(address):
            distance = start - address if address < start else address - end
            side = "before" if address < start else "after"
            near.append(
                (distance, f"{_bytes(distance)} {side} {name}" if distance else f"right {side} {name}")
            )
        distance, text = min(near, default=(self.end, ""))
        return text if distance <= BEFORE_FIRST else "where no block is"

    def near(self, address: int) -> list[tuple[int, int, str]]:
        """Start, end and name of the program's last block that begins at an address or before, and of the next one."""
        k = int(np.searchsorted(self.ranges[:, 0], np.uint64(address), "right"))
        found = self.ranges[max(0, k - 1) : k + 1].tolist()
        return [(start, end, _block(start, end - start)) for start, end in found]

    @property
    def ranges(self) -> Any:
        """Start and end of all blocks of the program: uint64 (n, 2), ascending."""
        if self._ranges is None:
            starts = [start for start in self._starts if start not in self._owned]
            sizes = [self._sizes[start] for start in starts]
            first = np.array(starts, np.uint64)
            self._ranges = np.stack([first, first + np.array(sizes, np.uint64)], axis=1)
        return self._ranges

    def address_of(self, array: Any) -> int | None:
        """The address of an array whose memory lies in the heap's (`view`); None for another one."""
        at = int(array.__array_interface__["data"][0]) - int(self.memory.ctypes.data)
        return GLOBAL_BASE + at if 0 <= at < len(self.memory) else None

    # ---- contents

    def read(self, address: int, n_bytes: int) -> bytes:
        """A copy of bytes of one block. Raises E404 where they are not all of one."""
        return bytes(self._part(address, n_bytes, "read").tobytes())

    def write(self, address: int, data: Any) -> None:
        """Write the bytes of a buffer (bytes, a C-contiguous array) to one block. Raises E401 and E404."""
        values = bytes_of(data)
        self._part(address, len(values), "write")[:] = values
        self._mark(address, len(values), 1)

    def fill(self, address: int, value: int, n_bytes: int) -> None:
        """Set bytes of one block to a value of 0 to 255. Raises E401 and E404."""
        whole("value", value, 0, 255)
        self._part(address, n_bytes, "fill")[:] = value
        self._mark(address, n_bytes, 1)

    def view(self, address: int, n_bytes: int) -> Any:
        """Bytes of one block in place, as a uint8 array: an argument for kernels too. Raises E404."""
        return self._part(address, n_bytes, "view")

    def _part(self, address: int, n_bytes: int, what: str) -> Any:
        whole("n_bytes", n_bytes, 0)
        found = self.allocation(address)
        if found is None or address + n_bytes > sum(found):
            raise self._outside(address, n_bytes, what)
        return self.memory[address - GLOBAL_BASE : address - GLOBAL_BASE + n_bytes]

    def _outside(self, address: int, n_bytes: int, what: str) -> PtxError:
        message = f"{what} of {_bytes(n_bytes)} at address {address:#x}, {self.described(address)}"
        return error("E404", message, help="look at where the address comes from, and at the block's size")


def _bytes(n: int) -> str:
    return f"{n} byte{'s' * (n != 1)}"


def _block(start: int, n_bytes: int) -> str:
    return f"the block of {_bytes(n_bytes)} at {start:#x}"
