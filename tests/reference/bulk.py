"""Bulk copies and tensor maps of the reference interpreter.

For `steps.py`. A copy is made when it is executed. A box of a tensor is a list of elements, each with its coordinates
and its place in the box; a place is a byte of shared memory by the tables of the manual: of line i, 128 bytes, chunk j
lies where chunk j ^ (i % 8) would (swizzle 128B), j ^ (i % 4) with 64B, j ^ (i % 2) with 32B.

A tensor map's 128 bytes are read as `ptxsim/execute/bulk/tensor_maps.py` describes them.

Reference: NVIDIA, "Parallel Thread Execution ISA", 5.5 (tensors), 9.7.9.25 to 9.7.9.28.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxtool.ir.nodes import Immediate, Instruction, Memory, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from reference.access import Step, memory_operand
from reference.asynchronous import Mbarrier
from reference.decode import Operands, Reader, Unsupported, Warp, access
from reference.memory import CTA_BYTES, WINDOWS, Fault, rank_named
from reference.op import Op

BULK_MEANINGS = frozenset(
    {
        *("bulk_copy", "bulk_reduce", "bulk_tensor", "bulk_tensor_reduce", "bulk_prefetch", "bulk_commit"),
        *("bulk_wait", "st_bulk", "tensormap_replace", "tensormap_copy", "try_cancel", "query_cancel"),
    }
)
_WORD, _LONG, _SHORT = TYPES["b32"], TYPES["b64"], TYPES["u16"]
_TYPES = ("u1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f4", "f8", "bf16", "f4", "f4", "b4", "b4p", "b6p")
_PACKED = {"b4": (4, 4, 64), "b4p": (4, 4, 128), "b6p": (6, 6, 128)}
"""Of types of less than a byte: bits in global memory, and bits in shared memory, of which 16 begin so far apart."""


def _wrap(value: int, like: Any) -> Any:
    bits = like.itemsize * 8
    value &= (1 << bits) - 1
    if like.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return like.type(value)


def _flushed(value: Any) -> Any:
    return np.copysign(np.float32(0), value) if abs(value) < np.float32(2.0**-126) else value


def combined(name: str, kind: str, old: bytes, new: bytes, keeps: bool = False) -> bytes:
    """What a reduction leaves: `old` lay there, of a numpy type or "bf16". Sums of f32 flush subnormals or not."""
    if kind == "bf16":
        a, b = (np.frombuffer(b"\0\0" + part, "<f4")[0] for part in (old, new))
        result = np.float64(a) + np.float64(b) if name == "add" else min(a, b) if name == "min" else max(a, b)
        bits = int(np.frombuffer(np.float32(result).tobytes(), "<u4")[0])
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")
    a, b = (np.frombuffer(part, f"<{kind}")[0] for part in (old, new))
    if kind[0] == "f":
        if name == "add":
            flush = _flushed if kind == "f4" and not keeps else lambda value: value
            return bytes(flush(flush(a) + flush(b)).tobytes())
        return bytes((min(a, b) if name == "min" else max(a, b)).tobytes())
    x, y = int(a), int(b)
    value = {
        "add": x + y,
        "min": min(x, y),
        "max": max(x, y),
        "and": x & y,
        "or": x | y,
        "xor": x ^ y,
        "inc": 0 if x >= y else x + 1,
        "dec": y if x == 0 or x > y else x - 1,
    }[name]
    return bytes(_wrap(value, np.dtype(f"<{kind}")).tobytes())


def swizzled(byte: int, mode: int, atomicity: int) -> int:
    """The address at which a byte lies."""
    line, column = divmod(byte, 128)
    atom = {0: 16, 1: 32, 3: 64}[atomicity]
    chunk, rest = divmod(column, atom)
    if mode == 3:
        chunk ^= line % (128 // atom)
    elif mode == 2:
        chunk ^= line % 4
    elif mode == 1:
        chunk ^= line % 2
    return line * 128 + chunk * atom + rest


@dataclass
class Map:
    """A tensor map."""

    data: bytes

    def word(self, k: int) -> int:
        return int.from_bytes(self.data[4 * k : 4 * k + 4], "little")

    def long(self, k: int) -> int:
        return self.word(k) | self.word(k + 1) << 32

    def field(self, shift: int) -> int:
        return self.word(2) >> shift & 15

    @property
    def rank(self) -> int:
        return self.field(0) + 1

    @property
    def kind(self) -> str:
        return _TYPES[self.field(4)]

    @property
    def n_bytes(self) -> int:
        return 2 if self.kind == "bf16" else int(self.kind[1])

    def fill(self) -> bytes:
        if self.field(20) == 0:
            return bytes(self.n_bytes)
        return (0x7FF8 << 48 if self.n_bytes == 8 else (1 << 8 * self.n_bytes - 1) - 1).to_bytes(
            self.n_bytes, "little"
        )

    def address(self, at: tuple[int, ...]) -> int | None:
        """Of an element; None outside of the tensor."""
        if any(not 0 <= c < self.word(4 + d) for d, c in enumerate(at)):
            return None
        return (
            self.long(0) + at[0] * self.n_bytes + sum(c * self.long(20 + 2 * d) for d, c in enumerate(at[1:]))
        )

    def corner(self, d: int) -> tuple[int, int]:
        word = self.word(28 + d)
        low, high = word & 0xFFFF, word >> 16
        return low - (low >> 15 << 16), high - (high >> 15 << 16)

    def tile(self, start: list[int]) -> Iterator[tuple[int, ...]]:
        """The coordinates of the elements of a box, in the order of their places."""
        ranges = [
            range(0, self.word(9 + d), 1 if d == 0 else max(1, self.word(14 + d))) for d in range(self.rank)
        ]
        for index in itertools.product(*reversed(ranges)):
            yield tuple(s + i for s, i in zip(start, reversed(index), strict=True))

    def gather(self, start: list[int]) -> Iterator[tuple[int, ...]]:
        for row in start[1:]:
            for i in range(self.word(9)):
                yield start[0] + i, row

    def pixels(self, start: list[int], offsets: list[int]) -> Iterator[tuple[int, ...]]:
        """im2col: the pixels of all images in the bounding box, in order, from the first one on."""
        spatial = self.rank - 2
        ranges = []
        for d in range(spatial):
            low, high = self.corner(d)
            ranges.append(range(low, self.word(5 + d) + high, max(1, self.word(15 + d))))
        first = tuple(reversed(start[1:]))
        taken = 0
        for image in itertools.count(start[-1]):
            for place in itertools.product(*reversed(ranges)):
                if (image, *place) < first:
                    continue
                if taken == self.word(10):
                    return
                taken += 1
                moved = [c + o for c, o in zip(reversed(place), offsets, strict=True)]
                for c in range(self.word(9)):
                    yield start[0] + c, *moved, image

    def along_w(self, start: list[int], halo: int, moved: int, by_32: bool) -> Iterator[tuple[int, ...]]:
        """im2col::w: pixels of one H and D, image after image; after the last, or every 32nd of 128, some more."""
        low, high = self.corner(0)
        end, step = self.word(5) + high, max(1, self.word(15))

        def pixels() -> Iterator[tuple[int, int]]:
            for image in itertools.count(start[-1]):
                for w in range(start[1] if image == start[-1] else low, end, step):
                    yield w + moved, image

        groups = [(32 * g, 32 * g + 32 + halo) for g in range(4)] if by_32 else [(0, self.word(10) + halo)]
        for first, last in groups:
            for w, image in itertools.islice(pixels(), first, last):
                for c in range(self.word(9)):
                    yield start[0] + c, w, *start[2:-1], image


def _mask_type(match: Match) -> Type:
    """Of a mask of CTAs."""
    return _WORD if "multicast::cluster::32b" in match.modifiers else _SHORT


def _named(instruction: Instruction, match: Match) -> dict[str, Operand]:
    return {spec.name: operand for spec, operand in zip(match.operands, instruction.operands, strict=False)}


def _bytes(warp: Warp, space: str, start: int, n: int) -> bytes:
    """Load bytes."""
    at = np.arange(start, start + n, dtype=np.uint64)
    return bytes(access(warp, space, at, np.zeros(n, np.intp), 1).astype(np.uint8).tobytes())


def _put(warp: Warp, space: str, start: int, data: bytes) -> None:
    at = np.arange(start, start + len(data), dtype=np.uint64)
    values = np.frombuffer(data, np.uint8).astype(np.uint64)
    access(warp, space, at, np.zeros(len(data), np.intp), 1, values)


def _packed_copy(warp: Warp, of_map: Map, elements: list[tuple[int, ...]], target: int, stores: bool) -> None:
    """Copy elements of 4 or 6 bits one by one, each a string of bits, the first one of a byte in its lower bits."""
    in_global, in_shared, distance = _PACKED[of_map.kind]
    if stores and of_map.kind == "b6p":
        in_shared = 8

    def bits(space: str, place: Callable[[int], int], first: int, value: int | None = None) -> int:
        found = 0
        for k in range(in_global):
            byte, bit = place((first + k) // 8), (first + k) % 8
            old = _bytes(warp, space, byte, 1)[0]
            found |= (old >> bit & 1) << k
            if value is not None:
                _put(warp, space, byte, bytes([old & ~(1 << bit) | (value >> k & 1) << bit]))
        return found

    def of_shared(byte: int) -> int:
        inside = swizzled(target % CTA_BYTES + byte, of_map.field(12), of_map.field(16))
        return inside + target // CTA_BYTES * CTA_BYTES

    for k, at in enumerate(elements):
        here = k // 16 * distance + k % 16 * in_shared
        if any(not 0 <= c < of_map.word(4 + d) for d, c in enumerate(at)):
            if not stores:
                bits("shared", of_shared, here, 0)
            continue
        row = of_map.long(0) + sum(c * of_map.long(20 + 2 * d) for d, c in enumerate(at[1:]))
        there = at[0] * in_global

        def of_global(byte: int, row: int = row) -> int:
            return row + byte

        if stores:
            bits("global", of_global, there, bits("shared", of_shared, here))
        else:
            bits("shared", of_shared, here, bits("global", of_global, there))


def _signal(warp: Warp, address: int, n_bytes: int) -> None:
    """complete-tx on an mbarrier."""
    if address % 8:
        raise Fault("E405", address, 8, 0)
    state = Mbarrier.of(int.from_bytes(_bytes(warp, "shared", address, 8), "little"))
    state.tx -= n_bytes
    state.end_phase()
    _put(warp, "shared", address, state.bits.to_bytes(8, "little"))


def _targets(
    ctas: int | None, target: int, mbarrier: int, parity: int | None = None
) -> Iterator[tuple[int, int]]:
    """The addresses in every CTA of a mask, the mbarrier's in that of its pair with a parity; or as they are."""
    if ctas is None:
        yield target, mbarrier
        return
    for rank in range(32):
        if ctas >> rank & 1:
            told = rank if parity is None else rank // 2 * 2 + parity
            yield (rank + 1) * CTA_BYTES + target % CTA_BYTES, (told + 1) * CTA_BYTES + mbarrier % CTA_BYTES


class BulkCopies:
    """The part of the decoder that knows bulk copies."""

    operands: Operands

    def _copies_by_lane(self, do: Callable[[Warp, int], None]) -> Step:
        def step(warp: Warp) -> None:
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                try:
                    do(warp, lane)
                except Fault as fault:
                    fault.position = position
                    raise

        return step

    def _bulk_copy(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._plain_copy(instruction, match, i, None, "")

    def _bulk_reduce(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        name = next(
            m for m in match.modifiers if m in ("add", "min", "max", "inc", "dec", "and", "or", "xor")
        )
        kind = {"u": "u", "b": "u", "s": "i", "f": "f"}[op.type.name[0]] + str(op.type.bits // 8)
        return self._plain_copy(instruction, match, i, name, "bf16" if op.type.name == "bf16" else kind)

    def _plain_copy(self, instruction: Instruction, match: Match, i: int, how: str | None, kind: str) -> Step:
        named = _named(instruction, match)
        stores, loads = "bulk_group" in match.modifiers, any(m.endswith(".global") for m in match.modifiers)
        if any("report::validity" in m for m in match.modifiers):
            raise Unsupported("a report of validity")
        spaces = "global" if stores else "shared", "global" if loads else "shared"
        to, of = (
            self.operands.address(memory_operand(named[name]), space, i)
            for name, space in zip(("dst", "src"), spaces, strict=True)
        )
        tells = None if stores else self.operands.address(memory_operand(named["mbar"]), "shared", i)
        read = {
            name: self.operands.read(named[name], type_, i)
            for name, type_ in {
                **dict.fromkeys(("size", "left", "right"), _WORD),
                "ctas": _mask_type(match),
                "bytes": _SHORT,
            }.items()
            if name in named
        }

        def do(warp: Warp, lane: int) -> None:
            value = {name: int(reader(warp)[lane]) for name, reader in read.items()}
            size, start, source = value["size"], int(to(warp)[lane]), int(of(warp)[lane])
            for address in (size, source, start):
                if address % 16:
                    raise Fault("E405", address, 16, 0)
            left, right = value.get("left", 0), value.get("right", 0)
            data = _bytes(warp, spaces[1], source + left, size - left - right)
            barrier = int(tells(warp)[lane]) if tells else 0
            for target, mbarrier in _targets(value.get("ctas"), start, barrier):
                before = _bytes(warp, spaces[0], target + left, len(data))
                after = bytearray(data)
                if how is not None:
                    n = 2 if kind == "bf16" else int(kind[1])
                    for k in range(0, size, n):
                        after[k : k + n] = combined(
                            how, kind, before[k : k + n], data[k : k + n], "noftz" in match.modifiers
                        )
                for k in range(len(data)):
                    if not value.get("bytes", 0xFFFF) >> k % 16 & 1:
                        after[k] = before[k]
                _put(warp, spaces[0], target + left, bytes(after))
                if tells:
                    _signal(warp, mbarrier, size)

        return self._copies_by_lane(do)

    def _bulk_tensor(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._tensor_copy(instruction, match, i, None)

    def _bulk_tensor_reduce(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        name = next(
            m for m in match.modifiers if m in ("add", "min", "max", "inc", "dec", "and", "or", "xor")
        )
        return self._tensor_copy(instruction, match, i, name)

    def _tensor_copy(self, instruction: Instruction, match: Match, i: int, how: str | None) -> Step:
        named = _named(instruction, match)
        stores = "bulk_group" in match.modifiers
        memory = memory_operand(named["map"])
        where = self.operands.address(Memory("", memory.base, memory.offset), "", i)
        vector = memory.coordinates[-1]
        assert isinstance(vector, Vector)
        coordinates = [self.operands.read(item, _WORD, i) for item in vector.items]
        moves: list[Reader] = []
        given = named.get("offsets", named.get("halo"))
        if given is not None:
            items = given.items if isinstance(given, Vector) else (given,)
            moves = [self.operands.read(item, _SHORT, i) for item in items]
        shared = self.operands.address(memory_operand(named["src" if stores else "dst"]), "shared", i)
        tells = None if stores else self.operands.address(memory_operand(named["mbar"]), "shared", i)
        masks = self.operands.read(named["ctas"], _mask_type(match), i) if "ctas" in named else None

        def do(warp: Warp, lane: int) -> None:
            address = int(where(warp)[lane])
            of_map = Map(_bytes(warp, "", address, 128))
            start = [int(np.int32(np.uint32(r(warp)[lane]))) for r in coordinates]
            if "tile::gather4" in match.modifiers or "tile::scatter4" in match.modifiers:
                elements = [*of_map.gather(start)]
            elif "halo" in named:
                halo, moved = (int(r(warp)[lane]) for r in moves)
                elements = [*of_map.along_w(start, halo, moved, "im2col::w::128" in match.modifiers)]
            elif "im2col" in match.modifiers or "im2col_no_offs" in match.modifiers:
                offsets = [int(r(warp)[lane]) for r in moves] or [0] * (of_map.rank - 2)
                elements = [*of_map.pixels(start, offsets)]
            else:
                elements = [*of_map.tile(start)]
            n, mode, atomicity = of_map.n_bytes, of_map.field(12), of_map.field(16)
            begin = int(shared(warp)[lane])
            if begin % 128:
                raise Fault("E405", begin, 128, 0)
            barrier = int(tells(warp)[lane]) if tells else 0
            ctas = int(masks(warp)[lane]) if masks else None
            if of_map.kind in _PACKED:
                for target, mbarrier in _targets(ctas, begin, barrier):
                    _packed_copy(warp, of_map, elements, target, stores)
                    if tells:
                        _signal(warp, mbarrier, len(elements) * _PACKED[of_map.kind][0] // 8)
                return
            for target, mbarrier in _targets(ctas, begin, barrier):
                if ctas is not None and "cta_group::2" in match.modifiers:
                    parity = rank_named(barrier, warp.cta.rank) % 2
                    rank = (target // CTA_BYTES - 1) // 2 * 2 + parity
                    mbarrier = (rank + 1) * CTA_BYTES + barrier % CTA_BYTES
                for k, at in enumerate(elements):
                    of = of_map.address(at)
                    inside = swizzled(target % CTA_BYTES + k * n, mode, atomicity)
                    inside += target // CTA_BYTES * CTA_BYTES
                    if stores and of is not None:
                        data = _bytes(warp, "shared", inside, n)
                        if how is not None:
                            data = combined(how, of_map.kind, _bytes(warp, "global", of, n), data)
                        _put(warp, "global", of, data)
                    elif not stores:
                        data = of_map.fill() if of is None else _bytes(warp, "global", of, n)
                        _put(warp, "shared", inside, data)
                if tells:
                    _signal(warp, mbarrier, len(elements) * n)

        return self._copies_by_lane(do)

    def _bulk_wait(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return lambda warp: None

    _bulk_commit = _bulk_prefetch = _bulk_wait

    def _st_bulk(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        address = self.operands.address(memory_operand(instruction.operands[0]), "shared", i)
        sizes = self.operands.read(instruction.operands[1], _LONG, i)

        def do(warp: Warp, lane: int) -> None:
            start = int(address(warp)[lane])
            start -= WINDOWS["shared"] if start >= WINDOWS["shared"] else 0
            _put(warp, "shared", start, bytes(int(sizes(warp)[lane])))

        return self._copies_by_lane(do)

    def _tensormap_replace(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        named = _named(instruction, match)
        space = "shared" if "shared::cta" in match.modifiers else "global"
        space = space if space == "shared" or "global" in match.modifiers else ""
        address = self.operands.address(memory_operand(named["map"]), space, i)
        value = self.operands.read(named["value"], _LONG if op.type.bits == 64 else _WORD, i)
        ordinal = named.get("ordinal")
        k = integer(ordinal.text) if isinstance(ordinal, Immediate) else 0
        words = {
            "global_address": 0,
            "global_dim": 4 + k,
            "box_dim": 9 + k,
            "element_stride": 14 + k,
            "global_stride": 20 + 2 * k,
        }
        nibbles = {
            "rank": 0,
            "elemtype": 1,
            "interleave_layout": 2,
            "swizzle_mode": 3,
            "swizzle_atomicity": 4,
            "fill_mode": 5,
        }
        name = next(m for m in match.modifiers if m in words or m in nibbles)

        def do(warp: Warp, lane: int) -> None:
            start, new = int(address(warp)[lane]), int(value(warp)[lane])
            if name in words:
                _put(warp, space, start + 4 * words[name], new.to_bytes(op.type.bits // 8, "little"))
                return
            at, low = divmod(nibbles[name], 2)
            at += 8
            byte = _bytes(warp, space, start + at, 1)[0]
            byte = byte & 0x0F | (new & 15) << 4 if low else byte & 0xF0 | new & 15
            _put(warp, space, start + at, bytes([byte]))

        return self._copies_by_lane(do)

    def _tensormap_copy(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        to = self.operands.address(memory_operand(instruction.operands[0]), "global", i)
        of = self.operands.address(memory_operand(instruction.operands[1]), "shared", i)

        def do(warp: Warp, lane: int) -> None:
            _put(warp, "global", int(to(warp)[lane]), _bytes(warp, "shared", int(of(warp)[lane]), 128))

        return self._copies_by_lane(do)

    def _try_cancel(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """No request is granted. `.multicast` answers every CTA of the cluster."""
        space = "shared" if "shared::cta" in match.modifiers else ""
        answer, barrier = (
            self.operands.address(memory_operand(operand), space, i) for operand in instruction.operands
        )

        def do(warp: Warp, lane: int) -> None:
            window = 0 if space else WINDOWS["shared"]
            to, mbarrier = (int(place(warp)[lane]) - window for place in (answer, barrier))
            ctas = (
                (1 << len(warp.cta.cluster.ctas)) - 1
                if "multicast::cluster::all" in match.modifiers
                else None
            )
            for one, other in _targets(ctas, to, mbarrier):
                _put(warp, "shared", one, bytes(16))
                _signal(warp, other, 16)

        return self._copies_by_lane(do)

    def _query_cancel(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """Of an answer: bit 0 whether the request was granted, then x, y, z in words 1 to 3."""
        halves = [self.operands.read(h, _LONG, i) for h in self.operands.halves(instruction.operands[1], i)]

        def word(warp: Warp, k: int) -> Any:
            return halves[k // 2](warp) >> np.uint64(32 * (k % 2)) & np.uint64(0xFFFFFFFF)

        if "is_canceled" in match.modifiers:
            write, _ = self.operands.write_pair(instruction.operands[0], i)
            return lambda warp: write(warp, word(warp, 0) & np.uint64(1) != 0, warp.executing)
        if "v4" in match.modifiers:
            vector = instruction.operands[0]
            assert isinstance(vector, Vector)
            writers = [self.operands.write(item, _WORD, i) for item in vector.items[:3]]

            def step(warp: Warp) -> None:
                for k, write_one in enumerate(writers):
                    write_one(warp, word(warp, 1 + k), warp.executing)

            return step
        k = "xyz".index(next(m for m in match.modifiers if m.startswith("get_first"))[-1])
        write_word = self.operands.write(instruction.operands[0], _WORD, i)
        return lambda warp: write_word(warp, word(warp, 1 + k), warp.executing)
