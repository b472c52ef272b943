"""Tensor memory and its products in the reference interpreter.

For `reference_steps.py`. A CTA's memory is an array of 128 lanes by 512 columns. Everything happens when it is
executed. Where elements lie is written as the manual has it: by lane and column of each register, by row and column of
D, by the canonical layouts of shared memory (as in `warpgroups.py`). What two CTAs do together is done for each of
them, with its own tensor and shared memory.

Reference: NVIDIA, "Parallel Thread Execution ISA", 9.7.16 (TensorCore 5th generation family instructions).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ptxsim.execute.tensor.tensor_model import accumulation
from ptxtool.ir.nodes import Immediate, Instruction, Memory, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import Step
from reference.asynchronous import Mbarrier
from reference.decode import Operands, Reader, Warp, access
from reference.matrix import Number, bits_of, dot
from reference.memory import CTA_BYTES, WINDOWS, Fault
from reference.numbers import LANES
from reference.op import Op
from reference.warpgroups import field_of

_WORD, _LONG = TYPES["b32"], TYPES["b64"]
TENSOR_MEANINGS = frozenset(
    f"tcgen05_{name}" for name in ("alloc", "dealloc", "nothing", "ld", "st", "cp", "shift", "mma", "commit")
)
_TINY = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_TYPES = {
    "f16": {0: "f16", 1: "bf16"}, "tf32": {2: "tf32"}, "f8f6f4": _TINY, "i8": {0: "u8", 1: "s8"}, "mxf8f6f4": _TINY,
    "mxf4": {1: "e2m1"}, "mxf4nvf4": {1: "e2m1"},
}  # fmt: skip
_DEPTHS = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
_WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "e3m2": 6, "e2m3": 6, "e2m1": 4}
_LINES = {0: 1, 6: 2, 4: 4, 2: 8, 1: 8}  # chunks of a line by the descriptor's swizzle mode


@dataclass
class _TensorMemory:
    """A CTA's tensor memory."""

    cells: Any = field(default_factory=lambda: np.zeros((128, 512), np.uint32))
    used: set[int] = field(default_factory=set)  # columns

    def check(self, columns: range) -> None:
        if not set(columns) <= self.used:
            raise Fault("columns that are not allocated", columns.start)


def _memory(warp: Warp) -> _TensorMemory:
    return _memory_of(warp.cta)  # type: ignore[attr-defined]


def _memory_of(cta: Any) -> _TensorMemory:
    if not hasattr(cta, "tensor_memory"):
        cta.tensor_memory = _TensorMemory()
    found: _TensorMemory = cta.tensor_memory
    return found


def _group(warp: Warp, op: Op) -> list[tuple[int, _TensorMemory]]:
    """Where the shared memory of each CTA of an operation begins, and its tensor memory; the even one first."""
    own: Any = warp.cta  # type: ignore[attr-defined]
    if not op.has("cta_group::2"):
        return [(0, _memory(warp))]
    ctas, first = own.cluster.ctas, own.rank & ~1
    if first + 1 >= len(ctas):
        raise Fault("no peer CTA", own.rank)
    return [((rank + 1) * CTA_BYTES, _memory_of(ctas[rank])) for rank in (first, first + 1)]


def register_place(shape: str, thread: int, register: int, split: int) -> tuple[int, int]:
    """Lane and column, from the address on, of a thread's register."""
    group, member = divmod(thread, 4)
    if shape == "32x32b":
        return thread, register
    if shape == "16x64b":
        return group + (8 if member >= 2 else 0), 2 * register + member % 2
    if shape == "16x128b":
        repetition, lower = divmod(register, 2)
        return group + 8 * lower, 4 * repetition + member
    if shape == "16x256b":
        repetition, rest = divmod(register, 4)
        return group + 8 * (rest // 2), 8 * repetition + 2 * member + rest % 2
    half, lane = divmod(thread, 16)
    return lane, register + half * split


def result_place(m: int, n: int, folds: bool, row: int, column: int) -> tuple[int, int]:
    """Lane and column of an element of D in a CTA's tensor memory (layouts A to G; C is as F)."""
    if m == 128:
        return row, column
    if not folds:
        warp, rest = divmod(row, 16)
        return 32 * warp + rest, column
    blocks = 128 // m  # of columns, one below the other
    block, rest = divmod(column, n // blocks)
    return row + m * block, rest


def zero_columns(mask: int, m: int, n: int) -> list[bool]:
    """Which columns of B are zeros, by a zero-column mask descriptor, as the manual's examples have it."""
    if not field_of(mask, 39, 1):
        return [False] * n
    found = []
    for part in range(128 // m):
        spans = [[False] * (field_of(mask, 48, 8) + 1), [True] * (field_of(mask, 40, 8) + 1)]
        if field_of(mask, 32 + part, 1):
            spans.reverse()
        pattern = (spans[0] + spans[1]) * n
        start = field_of(mask, 8 * part, 8)
        found += pattern[start : start + n * m // 128]
    return found


def indices(cells: Any, kind: str, lane: int, column: int) -> list[int]:
    """The 4 bits of metadata of each chunk of the row of A that D has in a lane."""
    if kind in ("f16", "tf32"):  # 16 rows in 16 lanes: by half of k, and by row; a word has two rows
        lower, row = lane // 16 * 16, lane % 16
        halves = [
            int(cells[lower + 8 * half + row % 8, column]) >> 16 * (row // 8) & 0xFFFF for half in (0, 1)
        ]
        return [half >> 4 * chunk & 15 for half in halves for chunk in range(4)]
    return [int(cells[lane, column + word]) >> 4 * chunk & 15 for word in (0, 1) for chunk in range(8)]


def spread(kind: str, row: list[int], found: list[int]) -> list[int]:
    """A whole row of A, from its elements that are stored."""
    whole = [0] * (2 * len(row))
    elements = iter(row)
    for chunk, index in enumerate(found):
        if kind == "tf32":
            whole[2 * chunk + (index == 0b1110)] = next(elements)
            continue
        wide = 2 if kind.startswith("mxf4") else 1
        for place in (index & 3, index >> 2):
            for j in range(wide):
                whole[(4 * chunk + place) * wide + j] = next(elements)
    return whole


def shared_place(descriptor: int, across: bool, per_chunk: int, line: int, along: int) -> tuple[int, int]:
    """Address of the chunk, and number in it, of an element: row (or column) `line`, number `along` of k."""
    start, leading, stride = (16 * field_of(descriptor, low, 14) for low in (0, 16, 32))
    mode = field_of(descriptor, 61, 3)
    chunks, atom = _LINES[mode], 4 if mode == 1 else 8
    if across:
        element, chunk, place = line % per_chunk, line // per_chunk, along
        if chunks == 1:
            leading, stride = stride, leading
    else:
        element, chunk, place = along % per_chunk, along // per_chunk, line
    address = start + place // atom * stride + place % atom * 16 * chunks
    address += chunk // chunks * leading + chunk % chunks * 16
    pattern = (address >> 7) - field_of(descriptor, 49, 3)
    if mode == 1:
        address ^= (pattern % 4) * 32
    else:
        address ^= (pattern % chunks) * 16
    return address, element


def _number(operand: Operand) -> int:
    assert isinstance(operand, Immediate)
    return integer(operand.text)


def _chunk(warp: Warp, address: int) -> int:
    """16 bytes of shared memory."""
    where = np.array([address, address + 8], np.uint64)
    low, high = access(warp, "shared", where, np.zeros(2, np.intp), 8).tolist()
    return int(low) | int(high) << 64


def _one(read: Reader, warp: Warp, lane: int) -> int:
    return int(read(warp)[lane])


class Tensors:
    """The part of the decoder that knows tensor memory."""

    operands: Operands

    def _tensor_address(self, operand: Operand, i: int) -> Reader:
        assert isinstance(operand, Memory)
        assert operand.base is not None
        base = self.operands.read(operand.base, _WORD, i)
        if operand.offset is None:
            return base
        offset = self.operands.read(operand.offset, _WORD, i)
        return lambda warp: base(warp) + offset(warp) & np.uint64(0xFFFFFFFF)

    def _tcgen05_nothing(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return lambda warp: None

    def _tcgen05_alloc(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        memory = instruction.operands[0]
        assert isinstance(memory, Memory)
        space = self.operands.space(memory, "shared" if op.has("shared::cta") else "")
        address = self.operands.address(memory, space, i)
        columns = self.operands.read(instruction.operands[1], _WORD, i)

        def step(warp: Warp) -> None:
            _group(warp, op)
            tensor, n = _memory(warp), _one(columns, warp, 0)
            free = [c for c in range(0, 512 - n + 1, 32) if not tensor.used & set(range(c, c + n))]
            if not free:
                raise Fault("no columns are free", 0)
            tensor.used |= set(range(free[0], free[0] + n))
            access(warp, space, address(warp)[:1], np.zeros(1, np.intp), 4, np.array([free[0]], np.uint64))

        return step

    def _tcgen05_dealloc(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        address, columns = (self.operands.read(o, _WORD, i) for o in instruction.operands)

        def step(warp: Warp) -> None:
            first = _one(address, warp, 0)
            own = range(first, first + _one(columns, warp, 0))
            _memory(warp).check(own)
            _memory(warp).used -= set(own)

        return step

    def _places(
        self, instruction: Instruction, match: Match, i: int
    ) -> tuple[tuple[Operand, ...], Callable[[Warp], list[list[tuple[int, int]]]]]:
        """The registers of a load or store, and lane and column of each of them in each thread."""
        registers = next(o for o in instruction.operands if not isinstance(o, Memory | Immediate))
        items = registers.items if isinstance(registers, Vector) else (registers,)
        address = self._tensor_address(next(o for o in instruction.operands if isinstance(o, Memory)), i)
        split = next((_number(o) for o in instruction.operands if isinstance(o, Immediate)), 0)
        shape = match.one_of("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
        packed = bool(match.one_of("pack::16b", "unpack::16b"))

        def places(warp: Warp) -> list[list[tuple[int, int]]]:
            lane, column = divmod(_one(address, warp, 0), 1 << 16)
            found = []
            for r in range(len(items)):
                spots = [register_place(shape, thread, r, 0) for thread in range(LANES)]
                moved = [split if shape == "16x32bx2" and t >= 16 else 0 for t in range(LANES)]
                spots = [
                    (lane + y, column + m + (2 * x if packed else x))
                    for (y, x), m in zip(spots, moved, strict=True)
                ]
                for _, x in spots:
                    _memory(warp).check(range(x, x + 1 + packed))
                found.append(spots)
            return found

        return items, places

    def _tcgen05_ld(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        items, places = self._places(instruction, match, i)
        writers = [self.operands.write(o, _WORD, i) for o in items]
        reduced = (
            self.operands.write(instruction.operands[1], _WORD, i) if match.one_of("min", "max") else None
        )

        def step(warp: Warp) -> None:
            cells = _memory(warp).cells.tolist()
            for write, spots in zip(writers, places(warp), strict=True):
                if op.has("pack::16b"):
                    values = [cells[y][x] & 0xFFFF | (cells[y][x + 1] & 0xFFFF) << 16 for y, x in spots]
                else:
                    values = [cells[y][x] for y, x in spots]
                write(warp, np.array(values, np.uint64), warp.executing)
            if reduced is not None:
                name = match.one_of("min", "max")
                rows = [[cells[y][x] for y, x in spots] for spots in places(warp)]
                found = [_reduced(name, op, column) for column in zip(*rows, strict=True)]
                reduced(warp, np.array(found, np.uint64), warp.executing)

        return step

    def _tcgen05_st(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        items, places = self._places(instruction, match, i)
        readers = [self.operands.read(o, _WORD, i) for o in items]

        def step(warp: Warp) -> None:
            cells = _memory(warp).cells
            for read, spots in zip(readers, places(warp), strict=True):
                for value, (y, x) in zip(read(warp).tolist(), spots, strict=True):
                    if op.has("unpack::16b"):
                        cells[y, x], cells[y, x + 1] = value & 0xFFFF, value >> 16
                    else:
                        cells[y, x] = value

        return step

    def _tcgen05_cp(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        address = self._tensor_address(instruction.operands[0], i)
        descriptor = self.operands.read(instruction.operands[1], _LONG, i)
        shape = match.one_of("128x256b", "4x256b", "128x128b", "64x128b", "32x128b")
        rows, bits = (int(part) for part in shape.removesuffix("b").split("x"))
        # which 32 lanes the first and the second 32 rows go to
        targets = {
            "warpx4": [[0, 1, 2, 3]],
            "warpx2::02_13": [[0, 2], [1, 3]],
            "warpx2::01_23": [[0, 1], [2, 3]],
        }
        parts = targets.get(
            match.one_of("warpx4", "warpx2::02_13", "warpx2::01_23"), [[part] for part in range(rows // 32)]
        )
        small = 4 if op.has("b4x16_p64") else 6 if op.has("b6x16_p32") else 0

        def copy(warp: Warp, lane: int) -> None:
            first_lane, first = divmod(_one(address, warp, lane), 1 << 16)
            where = _one(descriptor, warp, lane)
            _memory(warp).check(range(first, first + bits // 32))
            for (shared, tensor), row, chunk in itertools.product(
                _group(warp, op), range(rows), range(bits // 128)
            ):
                place, _ = shared_place(where, False, 1, row, chunk)
                data = _chunk(warp, shared + place)
                if small:
                    elements = [data >> small * j & ((1 << small) - 1) for j in range(16)]
                    data = sum((e << 2 if small == 4 else e) << 8 * j for j, e in enumerate(elements))
                # of four rows each is for the first lane of a warp
                lanes = [32 * row] if rows == 4 else [32 * part + row % 32 for part in parts[row // 32]]
                for lane_of_part in lanes:
                    for j in range(4):
                        tensor.cells[first_lane + lane_of_part, first + 4 * chunk + j] = (
                            data >> 32 * j & 0xFFFFFFFF
                        )

        return self._each(copy)

    @staticmethod
    def _each(act: Callable[[Warp, int], None]) -> Step:
        """Every executing thread does it."""

        def step(warp: Warp) -> None:
            for lane in np.flatnonzero(warp.executing).tolist():
                act(warp, lane)

        return step

    def _tcgen05_shift(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        address = self._tensor_address(instruction.operands[0], i)

        def shift(warp: Warp, lane: int) -> None:
            first_lane, first = divmod(_one(address, warp, lane), 1 << 16)
            _memory(warp).check(range(first, first + 8))
            for _, tensor in _group(warp, op):
                cells = tensor.cells[first_lane:, first : first + 8]
                cells[:-1] = cells[1:].copy()

        return self._each(shift)

    def _tcgen05_commit(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        memory = instruction.operands[0]
        assert isinstance(memory, Memory)
        address = self.operands.address(memory, "shared", i)
        many = instruction.operands[1:]
        wide = TYPES["u32" if op.has("multicast::cluster::32b") else "u16"]
        mask = self.operands.read(many[0], wide, i) if many else None

        def commit(warp: Warp, lane: int) -> None:
            where = int(address(warp)[lane])
            where -= WINDOWS["shared"] if where >= WINDOWS["shared"] else 0
            if mask is None:
                arrive(warp, where)
                return
            for rank in range(32):
                if _one(mask, warp, lane) >> rank & 1:
                    arrive(warp, (rank + 1) * CTA_BYTES + where % CTA_BYTES)

        def arrive(warp: Warp, place: int) -> None:
            where = np.array([place], np.uint64)
            barrier = Mbarrier.of(int(access(warp, "shared", where, np.zeros(1, np.intp), 8)[0]))
            barrier.pending -= 1
            barrier.end_phase()
            access(warp, "shared", where, np.zeros(1, np.intp), 8, np.array([barrier.bits], np.uint64))

        return self._each(commit)

    def _tcgen05_mma(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        is_sparse = ".sp" in match.form.base
        names = [
            "d",
            "a",
            "b",
            *(["meta"] if is_sparse else []),
            "i",
            *(("sa", "sb") if match.one_of("block_scale") else ()),
        ]
        if isinstance(instruction.operands[len(names)], Vector):
            names.append("lanes")
        stationary = ".ws" in match.form.base
        names += ["enable", "zeros" if stationary else "scale"]
        named = dict(zip(names, instruction.operands, strict=False))
        zeros = self.operands.read(named["zeros"], _LONG, i) if "zeros" in named else None
        kind = match.one_of(*(f"kind::{name}" for name in _TYPES)).removeprefix("kind::")
        in_tensor = isinstance(named["a"], Memory)
        of_a = self._tensor_address(named["a"], i) if in_tensor else self.operands.read(named["a"], _LONG, i)
        of_b, what = self.operands.read(named["b"], _LONG, i), self.operands.read(named["i"], _WORD, i)
        of_d, enable = self._tensor_address(named["d"], i), self.operands.truth(named["enable"], i)
        masks: list[Reader] = []
        if "lanes" in named:
            lanes = named["lanes"]
            assert isinstance(lanes, Vector)
            masks = [self.operands.read(o, _WORD, i) for o in lanes.items]
        scales = [self._tensor_address(named[name], i) for name in ("sa", "sb") if name in named]
        divided = _number(named["scale"]) if "scale" in named else 0
        count = 1 if kind == "mxf8f6f4" else 4 if match.one_of("scale_vec::4X", "block16") else 2
        metadata = self._tensor_address(named["meta"], i) if is_sparse else None
        k = 2 * _DEPTHS[kind] if is_sparse else _DEPTHS[kind]

        def factor(
            warp: Warp, shared: int, descriptor: int, across: bool, name: str, lines: int, k: int = k
        ) -> list[list[int]]:
            width = _WIDTHS.get(name, 8)
            per_chunk = 32 if kind.startswith("mxf4") else 16 if width < 8 else 128 // width
            rows = []
            for line in range(lines):
                row = []
                for j in range(k):
                    place, element = shared_place(descriptor, across, per_chunk, line, j)
                    row.append(_chunk(warp, shared + place) >> element * width & ((1 << width) - 1))
                rows.append(row)
            return rows

        def number(bits: int, name: str, scale: int | None, scale_name: str) -> Number:
            found = Number(bits << 2 if name == "e2m1" else bits, name)
            return found if scale is None else found.scaled(scale, scale_name)

        def multiply(warp: Warp, lane: int) -> None:
            fields, group = _one(what, warp, lane), _group(warp, op)
            n = 8 * field_of(fields, 17, 6)
            m = 128 * field_of(fields, 27, 2) if kind.startswith("mx") else 16 * field_of(fields, 24, 5)
            m //= len(group)  # rows of a CTA
            folds = stationary or (len(group) == 2 and m == 64 and not is_sparse)
            a = _TYPES[kind][field_of(fields, 7, 3)]
            b = _TYPES[kind][field_of(fields, 10, 2 if kind.startswith("mxf4") else 3)]
            d = "s32" if kind == "i8" else "f32"
            if kind in ("f16", "f8f6f4") and field_of(fields, 4, 2) == 0:
                d = "f16"
            right = []
            for shared, _ in group:
                where, is_across = _one(of_b, warp, lane), bool(field_of(fields, 16, 1))
                mask = _one(zeros, warp, lane) if zeros else 0
                shift = field_of(mask, 56, 6)
                lines = factor(warp, shared, where, is_across, b, n // len(group) + shift)[shift:]
                right += [
                    [0] * k if is_zero else row
                    for row, is_zero in zip(lines, zero_columns(mask, m, n), strict=False)
                ]
            for half, (shared, tensor) in enumerate(group):
                if in_tensor:
                    left = self._tensor_rows(tensor, _one(of_a, warp, lane), kind, a, m, folds)
                    left = left[1:] + left[-1:] if op.has("ashift") else left
                else:
                    where, is_across = _one(of_a, warp, lane), bool(field_of(fields, 15, 1))
                    left = factor(warp, shared, where, is_across, a, m, _DEPTHS[kind])
                if metadata is not None:
                    at = _one(metadata, warp, lane) & 0xFFFF
                    at += field_of(fields, 0, 2) if kind in ("f16", "tf32") else 0
                    for row in range(m):
                        y = (result_place(m, n, folds, row, 0)[0] + (_one(of_d, warp, lane) >> 16)) % 128
                        left[row] = spread(kind, left[row], indices(tensor.cells, kind, y, at))
                numbers: list[list[list[Any]]] = []
                keys: list[list[Any]] = [[], []]  # what a row or column consists of
                for side, (rows, name) in enumerate(((left, a), (right, b))):
                    scale_name = "ue8m0" if field_of(fields, 23, 1) else "ue4m3"
                    made = []
                    for line, row in enumerate(rows):
                        own: list[int | None] = [None] * count
                        if scales:
                            at = _one(scales[side], warp, lane) & 0xFFFF
                            # the second half of B's columns, where they lie below the first
                            lower, rest = divmod(line, n // 2) if side and folds else (0, line)
                            first = field_of(fields, 4 if side else 29, 2)
                            word = int(tensor.cells[64 * lower + rest % 32, at + rest // 32])
                            own = [word >> 8 * (first + j) & 0xFF for j in range(count)]
                        keys[side].append((tuple(row), tuple(own)))
                        if kind == "i8":
                            made.append([bits - 256 if name == "s8" and bits > 127 else bits for bits in row])
                        else:
                            made.append(
                                [
                                    number(v, name, own[j // (k // count)], scale_name)
                                    for j, v in enumerate(row)
                                ]
                            )
                        if field_of(fields, 14 if side else 13, 1):
                            for element in made[-1]:
                                element.value = -element.value
                    numbers.append(made)
                first_lane, first = divmod(_one(of_d, warp, lane), 1 << 16)
                before = tensor.cells.copy()
                known: dict[Any, int] = {}  # equal rows and columns have equal elements
                for row in range(m):
                    for column in range(n):
                        y, x = result_place(m, n, folds, row, column)
                        y, x = (y + first_lane) % 128, x + first
                        _memory(warp).check(range(x, x + 1))
                        start = int(before[y, x]) if enable(warp)[lane] else 0
                        key = keys[0][row], keys[1][column], start
                        if key not in known:
                            of = numbers[0][row], numbers[1][column]
                            known[key] = _element(*of, start, kind, a, d, divided, fields)
                        bits = known[key]
                        if not masks or not _one(masks[4 * half + y // 32], warp, lane) >> y % 32 & 1:
                            tensor.cells[y, x] = bits

        return self._each(multiply)

    @staticmethod
    def _tensor_rows(
        tensor: _TensorMemory, address: int, kind: str, name: str, m: int, folds: bool
    ) -> list[list[int]]:
        """A from tensor memory: bytes have elements of 4 and 6 bits, `.e2m1` in bits 2 to 5; mxf4 packs them."""
        first_lane, first = divmod(address, 1 << 16)
        container = 4 if kind.startswith("mxf4") else max(_WIDTHS.get(name, 8), 8)
        k, rows = _DEPTHS[kind], []
        for row in range(m):
            lane = row if folds else result_place(m, 8, False, row, 0)[0]
            data = 0
            for j in range(k * container // 32):
                data |= int(tensor.cells[(first_lane + lane) % 128, first + j]) << 32 * j
            found = [data >> container * j & ((1 << container) - 1) for j in range(k)]
            if container == 8 and name == "e2m1":
                found = [bits >> 2 & 15 for bits in found]
            rows.append(found)
        return rows


def _element(
    left: list[Any], right: list[Any], start: int, kind: str, a: str, d: str, divided: int, fields: int
) -> int:
    """The bits of an element of the result."""
    if d == "s32":
        total = start - (1 << 32) if start >> 31 else start
        total += sum(x * y for x, y in zip(left, right, strict=True))
        if field_of(fields, 3, 1):
            total = max(-(1 << 31), min((1 << 31) - 1, total))
        return total & 0xFFFFFFFF
    if d == "f16":
        start &= 0xFFFF
    if divided:
        value = Number(start, d).value
        if isinstance(value, Fraction):  # exact where the tests have it
            start = bits_of(value / (1 << divided), d, 23)
    result = dot(left, right, start, d, d, accumulation(100, a))
    return result


def _reduced(name: str, op: Op, words: Sequence[int]) -> int:
    """The least or greatest of words as numbers of the type; of floats a NaN loses or, with `.NaN`, wins."""
    if not op.type.is_float:
        signed = op.type.is_signed
        return {"min": min, "max": max}[name](words, key=lambda w: w - (w >> 31 << 32) if signed else w)
    floats = np.array(words, np.uint32).view(np.float32)
    if op.has("abs"):
        floats = np.abs(floats)
    missing = np.isnan(floats)
    if missing.all() or (op.has("NaN") and missing.any()):
        return 0x7FFFFFFF
    # -0 is less than +0
    ordered = sorted(floats[~missing].tolist(), key=lambda x: (x, math.copysign(1, x)))
    return int(np.float32(ordered[0 if name == "min" else -1]).view(np.uint32))
