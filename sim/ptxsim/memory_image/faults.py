"""Faults that stop a running kernel, in words: the code, what happened, and what to do.

For the timed and the functional run, which add the place in source and grid.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ptxsim.base import program as codes
from ptxsim.base.program import Program
from ptxsim.execute.codes import CLUSTER_SHIFT
from ptxsim.memory_image.address_names import describe
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Assertion

STACK_OVERFLOW = 100  # of a SIMT stack: a fault that the runs themselves find
TOUCHED_REGISTER, TOUCHED_SCRATCHPAD = 102, 103  # of sharing: use of a resource after its release mark

RELEASE_FIRST = (
    "let warps release registers with setmaxnreg.dec before others wait for them, at no barrier in between"
)
"""What to do about a deadlock at `setmaxnreg`."""


class Fault(NamedTuple):
    """A fault without its place."""

    code: str
    what: str
    help: str


_FAULTS = {
    codes.OUT_OF_BOUNDS: Fault(
        "E404", "access out of bounds", "check the buffer sizes of the launch and the index"
    ),
    codes.MISALIGNED: Fault("E405", "misaligned access", "the address must be a multiple of the access size"),
    codes.BAD_TARGET: Fault(
        "E403", "jump or call to a target that does not exist", "see where the address or index comes from"
    ),
    codes.BEYOND_TARGETS: Fault(
        "E418",
        "branch index",
        "compare the index with the number of targets before 'brx.idx', as a compiled switch does",
    ),
    STACK_OVERFLOW: Fault(
        "E403",
        "branches or calls nested too deeply",
        "split the kernel: divergence takes at most as many levels as a warp's stack has",
    ),
    codes.STACK_FULL: Fault(
        "E415", "stack overflow", "see whether the recursion ends; stack_bytes (--stack-bytes) goes deeper"
    ),
    codes.BAD_BARRIER: Fault(
        "E406", codes.BAD_BARRIER_TEXT, "there are barriers 0 to 15, and whole warps take part in one"
    ),
    codes.NO_TEXTURE: Fault(
        "E404",
        "no texture, sampler or surface of this kind",
        "give a texture, sampler or surface there: 'texture = {}' in a launch file, ptxsim.Texture in Python",
    ),
    codes.OUTSIDE: Fault(
        "E404",
        "access outside of a surface",
        "check the coordinates: x of '.b' counts bytes; '.clamp' and '.zero' allow any",
    ),
    codes.NO_BLOCK: Fault(
        "E404", "free of what is no block of the heap in use", "free what malloc has given, and once"
    ),
    codes.NO_TEXT: Fault(
        "E404", "printing from where no memory is", "check the format and the strings that it prints"
    ),
    TOUCHED_REGISTER: Fault(
        "E417",
        "a shared register that the warp has released",
        "the mark '.pragma \"release_registers\"' stands too early: a partner warp may hold the register already; "
        "make marks with the run's sharing percentage (release-registers:share=P, in a sweep share=run)",
    ),
    TOUCHED_SCRATCHPAD: Fault(
        "E417",
        "shared scratchpad that the warp has released",
        "the mark '.pragma \"release_scratchpad\"' stands too early: the partner CTA may use the place already; "
        "make marks with the run's sharing percentage (release-scratchpad:share=P, in a sweep share=run)",
    ),
    codes.NO_COLUMNS: Fault(
        "E404",
        "no columns of tensor memory are free",
        "a CTA has 512: free some with tcgen05.dealloc, or allocate fewer",
    ),
    codes.OUTSIDE_COLUMNS: Fault(
        "E404",
        "access to tensor memory that is not allocated, or no longer",
        "use columns between their tcgen05.alloc and tcgen05.dealloc; an address is lane << 16 | column",
    ),
    codes.FOREIGN_LANES: Fault(
        "E404",
        "access to lanes of tensor memory that belong to another warp",
        "a warp accesses the 32 lanes from 32 * (its number modulo 4) on: add that << 16 to the address",
    ),
    codes.NOT_TO_FREE: Fault(
        "E404",
        "tcgen05.dealloc of tensor memory that is not allocated",
        "free what tcgen05.alloc has given, once, and as many columns",
    ),
    codes.BAD_DESCRIPTOR: Fault(
        "E404",
        "an instruction descriptor that describes no product that can be simulated",
        "see docs/simulator.md: M of 64 or 128 (with .ws 32 too, of two CTAs 128 or 256), N up to 256",
    ),
    codes.NO_PEER: Fault(
        "E404",
        "an operation of two CTAs (.cta_group::2) in a CTA whose peer is not there",
        "launch clusters of two CTAs, or of four, ...; a CTA may end only when its peer does not need it: wait at the "
        "cluster's barrier",
    ),
    codes.BAD_TENSOR_MAP: Fault(
        "E404",
        "a tensor map that describes no box that can be copied so",
        "its rank is the copy's, rows of its box are multiples of 16 bytes; docs/simulator.md says what is simulated",
    ),
    codes.TRAPPED: Fault("E414", "trap", "the kernel stopped itself: follow the branches that lead there"),
}


MORE_SHARED = "give more dynamic shared memory (--dynamic-shared, dynamic_shared), or check the index"
"""What to do about an access beyond the end of shared memory."""
STAY_IN_CLUSTER = (
    "a CTA may end only when no other one of its cluster accesses its memory: wait at the cluster's barrier"
)
"""What to do about an access to the shared memory of a CTA that is not there."""


FREED_MEMORY = "free memory after the last kernel that uses it"
"""What to do about an access to memory that was freed."""
MORE_HEAP = "malloc gives 0 where its heap is full: look at what it gives, or raise heap_bytes (--heap-bytes)"
"""What to do about a null pointer in a program that takes memory from the heap."""
NULL_POINTER = "a null pointer: give the kernel a buffer there, or see where the pointer comes from"
"""What to do about one in another program."""
NULL_BYTES = 1 << 16
"""How far from 0 an address still comes from a null pointer."""


def coordinates(number: int, extents: Sequence[int]) -> str:
    """The coordinates of a thread of a CTA, or of a CTA of a grid: "(x,y,z)"."""
    x, y, _ = extents
    return f"({number % x},{number // x % y},{number // (x * y)})"


def null_advice(program: Program, space: int, address: int) -> str:
    """What to do about a null pointer; "" if the address is not near null."""
    if space != codes.GLOBAL or address >= NULL_BYTES:
        return ""
    return MORE_HEAP if program.allocates else NULL_POINTER


def shared_advice(address: int) -> str:
    """What to do about an access to shared memory out of bounds."""
    return STAY_IN_CLUSTER if address >> CLUSTER_SHIFT else MORE_SHARED


def tolerated(program: Program, image: MemoryImage) -> tuple[int, tuple[str, ...]]:
    """How many accesses of threads were outside of all buffers in a launch that tolerates them, and a remark on it."""
    n, address = (int(image.context[0][name]) for name in ("n_tolerated", "first_tolerated"))
    if n == 0:
        return 0, ()
    where = describe(program, image, codes.GLOBAL, address)
    where = where if where.startswith("address") else f"address {address:#x}, {where}"
    return n, (f"{n} access{'es' * (n != 1)} out of bounds tolerated, the first at {where}",)


def fault(program: Program, image: MemoryImage, kind: int, assertion: Assertion | None) -> Fault:
    """The description of the fault that a run has left in the image's context."""
    if kind == codes.ASSERTED:
        a = assertion or Assertion("?", "?", 0, "?")
        what = f"assertion '{a.message}' failed at {a.file}:{a.line} in '{a.function}'"
        return Fault("E413", what, "the values that it tests can be printed with printf just before it")
    found = _FAULTS.get(kind, _FAULTS[codes.TRAPPED])
    address, space = int(image.context[0]["error_address"]), int(image.context[0]["access_space"])
    is_of_host = kind in (codes.NO_BLOCK, codes.NO_TEXT)
    if is_of_host or kind in (codes.OUT_OF_BOUNDS, codes.MISALIGNED):
        heap = image.device.allocator
        place = describe(program, image, codes.GLOBAL if is_of_host else space, address)
        place = place if place.startswith("address") else f"address {address:#x}, {place}"
        if is_of_host:
            return found._replace(what=f"{found.what}: {place},")
        if kind == codes.OUT_OF_BOUNDS and space == codes.SHARED:
            found = found._replace(help=shared_advice(address))
        elif kind == codes.OUT_OF_BOUNDS:
            found = found._replace(help=null_advice(program, space, address) or found.help)
            if heap is not None and space == codes.GLOBAL and heap.freed(address) is not None:
                found = found._replace(help=FREED_MEMORY)
        return found._replace(what=f"{found.what} at {place},")
    if kind in (codes.OUTSIDE_COLUMNS, codes.FOREIGN_LANES, codes.NOT_TO_FREE):
        return found._replace(what=f"{found.what}: lane {address >> 16}, column {address & 0xFFFF},")
    if kind == codes.BEYOND_TARGETS:
        index, n = address & 0xFFFF_FFFF, address >> 32
        return found._replace(what=f"{found.what} {index} outside its {n} target{'s' * (n != 1)}")
    if kind == TOUCHED_SCRATCHPAD:
        return found._replace(what=f"{found.what}: {describe(program, image, codes.SHARED, address)},")
    if kind == codes.STACK_FULL:
        return found._replace(what=f"{found.what} beyond {program.layout.stack_bytes} bytes")
    if kind == codes.NO_TEXTURE:
        return found._replace(what=f"{found.what} at address {address:#x}")
    return found
