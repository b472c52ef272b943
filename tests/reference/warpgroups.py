"""Matrix instructions of warp groups in the reference interpreter.

For `reference_steps.py`. Each warp multiplies its 16 rows when it executes the instruction. Matrices in shared memory
are found by the canonical layouts: nested coordinates with a stride each, in units of 16 bytes (T elements), and a
swizzle, which exchanges bits of the byte address.

Reference: NVIDIA, "Parallel Thread Execution ISA", 9.7.15 (asynchronous warpgroup-level matrix instructions).
"""

from collections.abc import Callable

import numpy as np

from ptxtool.ir.nodes import Immediate, Instruction, Operand, Unary, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import Step
from reference.decode import Operands, Reader, Warp, access
from reference.matrix import Matrix, expand, gather, mma_places, scatter, shape_of
from reference.op import Op

_WORD, _LONG = TYPES["b32"], TYPES["b64"]
_WIDTHS = {"f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "b1": 1}
_WARP_ROWS = 16
_LINES = {0: 1, 3: 2, 2: 4, 1: 8}  # chunks of a line by the descriptor's swizzle mode

WARP_GROUP_MEANINGS = frozenset({"wgmma", "wgmma_fence", "wgmma_commit", "wgmma_wait"})


def field_of(descriptor: int, low: int, bits: int) -> int:
    """Bits of a descriptor."""
    return descriptor >> low & ((1 << bits) - 1)


def element_place(descriptor: int, across: bool, width: int, line: int, along: int) -> tuple[int, int]:
    """Byte address and bit of an element: of row (or column) `line`, number `along` of k."""
    start, leading, stride = (16 * field_of(descriptor, low, 14) for low in (0, 16, 32))
    line_chunks = _LINES[field_of(descriptor, 62, 2)]
    per_chunk = 128 // width
    if (
        across
    ):  # ((T, W, m), (8, k)): ((1, T, leading), (W T, stride)), without a swizzle the strides are exchanged
        element, chunk = line % per_chunk, line // per_chunk
        if line_chunks == 1:
            leading, stride = stride, leading
        offset = chunk // line_chunks * leading + chunk % line_chunks * 16
        offset += along // 8 * stride + along % 8 * 16 * line_chunks
    else:  # ((8, m), (T, W)): ((W T, stride), (1, T)), from one group of W chunks to the next `leading`
        element, chunk = along % per_chunk, along // per_chunk
        offset = line // 8 * stride + line % 8 * 16 * line_chunks
        offset += chunk // line_chunks * leading + chunk % line_chunks * 16
    address = start + offset
    pattern = field_of(address, 7, 3) - field_of(descriptor, 49, 3)
    for bit in range(line_chunks.bit_length() - 1):
        if pattern >> bit & 1:
            address ^= 16 << bit
    return address + element * width // 8, element * width % 8


def _number(operand: Operand) -> int:
    if isinstance(operand, Unary):
        assert isinstance(operand.operand, Immediate)
        return -integer(operand.operand.text)
    assert isinstance(operand, Immediate)
    return integer(operand.text)


def load(
    warp: Warp, descriptor: int, across: bool, width: int, first: int, lines: int, length: int
) -> Matrix:
    """Rows of A, or columns of B, from shared memory, in bits."""
    places = [
        element_place(descriptor, across, width, first + line, along)
        for line in range(lines)
        for along in range(length)
    ]
    addresses = np.array([address for address, _ in places], np.uint64)
    found = access(warp, "shared", addresses, np.zeros(len(places), np.intp), max(width // 8, 1)).tolist()
    values = [value >> bit & ((1 << width) - 1) for value, (_, bit) in zip(found, places, strict=True)]
    return [values[line * length : (line + 1) * length] for line in range(lines)]


class WarpGroups:
    """The part of the decoder that knows products of warp groups."""

    operands: Operands
    _dots: Callable[..., Callable[[list[int], list[int], int], int]]

    def _wgmma(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        d, a, b = match.type, match.stype, match.utype
        _, n, k = shape_of(instruction)
        named = dict(zip((o.name for o in match.form.operands), instruction.operands, strict=False))
        width, d_width = _WIDTHS.get(a, 8), _WIDTHS.get(d, 8)
        columns = k // 2 if "meta" in named else k
        across = [name in named and _number(named[name]) == 1 for name in ("ta", "tb")]
        negative = (_number(named["na"]) if "na" in named else 1) * (
            _number(named["nb"]) if "nb" in named else 1
        )
        first, second, third = instruction.operands[:3]
        assert isinstance(first, Vector)
        readers = [self.operands.read(o, _WORD, i) for o in first.items]
        writers = [self.operands.write(o, _WORD, i) for o in first.items]
        fragment: list[Reader] = []
        if isinstance(second, Vector):
            fragment = [self.operands.read(o, _WORD, i) for o in second.items]
        of_a = None if fragment else self.operands.read(second, _LONG, i)
        of_b = self.operands.read(third, _LONG, i)
        scale = named["scale"]
        adds = self.operands.truth(scale, i) if not isinstance(scale, Immediate) else None
        metadata = self.operands.read(named["meta"], _WORD, i) if "meta" in named else None
        multiply = self._dots(instruction, match, (d, a, b, d))
        sign_bit = {"f16": 15, "bf16": 15, "tf32": 31}.get(a, 7)

        def rows(warp: Warp) -> Matrix:
            if of_a is None:
                return gather(
                    [r(warp) for r in fragment],
                    width,
                    _WARP_ROWS,
                    columns,
                    mma_places("a", (16, 8, 8), width),
                )
            return load(
                warp, int(of_a(warp)[0]), across[0], width, warp.index % 4 * _WARP_ROWS, _WARP_ROWS, columns
            )

        def place(lane: int, j: int) -> tuple[int, int]:
            return lane // 4 + j // 2 % 2 * 8, j // 4 * 8 + lane % 4 * 2 + j % 2

        def step(warp: Warp) -> None:
            left = rows(warp)
            if metadata is not None:
                words = [int(word) for word in metadata(warp)]
                left = expand(left, a, words, _number(named["sel"]), k)
            right = load(warp, int(of_b(warp)[0]), across[1], width if a == b else 8, 0, n, k)
            if negative < 0:
                left = [[bits ^ 1 << sign_bit for bits in row] for row in left]
            keeps = (
                _number(scale) if isinstance(scale, Immediate) else bool(adds is not None and adds(warp)[0])
            )
            before = gather([r(warp) for r in readers], d_width, _WARP_ROWS, n, place)
            after = [
                [multiply(row, right[x], before[y][x] if keeps else 0) for x in range(n)]
                for y, row in enumerate(left)
            ]
            for write, raw in zip(writers, scatter(after, d_width, len(writers), place), strict=True):
                write(warp, raw, warp.executing)

        return step

    def _nothing_to_wait_for(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return lambda warp: None

    _wgmma_fence = _wgmma_commit = _wgmma_wait = _nothing_to_wait_for
