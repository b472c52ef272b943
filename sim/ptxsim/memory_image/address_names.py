"""Addresses in words: the buffer or variable, and the distance from it."""

from ptxsim.base.program import CONST, GLOBAL, LOCAL, PARAM, SHARED, Program
from ptxsim.execute.codes import CLUSTER_SHIFT, FIRST_RANK, RANK_SHIFT
from ptxsim.memory_image.image import MemoryImage

_SIZES = {SHARED: "shared_bytes", LOCAL: "local_bytes", CONST: "constant_bytes", PARAM: "param_bytes"}
_SPACES = {SHARED: "shared memory", LOCAL: "local memory", CONST: "constant memory", PARAM: "the parameters"}


def describe(program: Program, image: MemoryImage, space: int, address: int) -> str:
    """An address of a space: "byte 3 of buffer 'x'", "4 bytes after variable 'tile' in shared memory"."""
    if space == SHARED and address >> CLUSTER_SHIFT:
        rank, offset = (address >> CLUSTER_SHIFT) - 1, address & ((1 << CLUSTER_SHIFT) - 1)
        if program.has_pairs and address >> RANK_SHIFT >= FIRST_RANK:
            rank = (address >> RANK_SHIFT) - FIRST_RANK
        return (
            f"address {offset:#x} in shared memory of the cluster's CTA {rank}, which has ended or is smaller"
        )
    named = _named_ranges(program, image, space, address)
    where = "" if space == GLOBAL else f" in {_SPACES.get(space, 'memory')}"
    for start, end, name in named:
        if start <= address < end:
            return f"byte {address - start} of {name}{where}"
    heap = image.device.allocator if space == GLOBAL else None
    if heap is not None and heap.freed(address) is not None:
        return heap.described(address)
    before = max((r for r in named if r[1] <= address), default=None)
    after = min((r for r in named if r[0] > address), default=None)
    if space != GLOBAL:
        size = int(image.context[0][_SIZES.get(space, "param_bytes")])
        if before is None or address >= size:
            return f"address {address:#x}{where}, which has {size} bytes"
    elif before is None or (after is not None and after[0] - address < address - before[1]):
        if after is not None and address >= int(image.context[0]["global_base"]):
            return f"{_bytes(after[0] - address)} before {after[2]}"
        if before is None:
            return f"address {address:#x}, where no buffer is"
    distance = address - before[1]
    if space == GLOBAL and distance > 1 << 24:
        return f"address {address:#x}, where no buffer is"
    return f"{_bytes(distance)} after {before[2]}{where}" if distance else f"right after {before[2]}{where}"


def variable_at(program: Program, offset: int) -> str:
    """The variable of shared memory that contains a byte; "" if none does."""
    variables = (s for s in program.layout.symbols.values() if s.space == SHARED)
    return next((s.name for s in variables if 0 <= offset - s.address < s.size), "")


def in_frame(program: Program, image: MemoryImage, i: int, frame: int, address: int) -> str:
    """A byte of local memory, seen from instruction i of a function whose frame begins at `frame`."""
    function, index = program.positions[i]
    offset = address - frame
    known = program.layout.frames.get(function.name)
    if known is not None and 0 <= offset < known.size:
        for name, places in known.variables.items():
            for place in places:
                if place.offset <= offset < place.offset + place.size and place.first <= index < place.last:
                    what = f"variable '{name}' ({_bytes(place.size)})"
                    return f"byte {offset - place.offset} of {what} of '{function.name}'"
    in_kernel = function is program.positions[0][0]
    if known is None or (in_kernel and (offset < known.size or not program.layout.calls)):
        return describe(program, image, LOCAL, address)
    if offset < known.size:
        return f"byte {address} of the stack, where '{function.name}' or a caller has its variables"
    return (
        f"byte {address} of the stack, {_bytes(offset - known.size)} above the variables of '{function.name}'"
    )


def _bytes(n: int) -> str:
    return f"{n} byte{'s' * (n != 1)}"


def _named_ranges(
    program: Program, image: MemoryImage, space: int, address: int
) -> list[tuple[int, int, str]]:
    """The variables and buffers of a space, and the blocks next to an address: start, end, name."""
    found = [
        (s.address, s.address + s.size, f"variable '{s.name}' ({_bytes(s.size)})")
        for s in program.layout.symbols.values()
        if s.space == space and s.size
    ]
    if space == GLOBAL:
        for start, array in image.buffers:
            name = image.names.get(start, "")
            found.append((start, start + array.nbytes, f"buffer '{name}' ({_bytes(array.nbytes)})"))
        heap, size = int(image.context[0]["heap_start"]), int(image.context[0]["heap_bytes"])
        found += [(heap, heap + size, f"the heap ({_bytes(size)})")] * bool(size)
        if image.device.allocator is not None:
            found += image.device.allocator.near(address)
    return sorted(found)
