"""Matrix instructions of the reference interpreter.

For `reference_steps.py`. Matrices are lists of rows of raw bits; what PTX says about fragments is written here as the
manual has it, by thread and element. The fragments of `wmma`, which it leaves open, are simply the matrix's elements
one after the other, dealt out to the threads (and dealt out again where there are more places than elements). Sums are
exact fractions, cut as `tensor_model.py` says.

Reference: NVIDIA, "Parallel Thread Execution ISA", 9.7.14 (warp-level matrix instructions).
"""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ptxsim.execute.tensor.tensor_model import Accumulation, accumulation
from ptxtool.ir.nodes import Immediate, Instruction, Operand, Vector
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from reference.access import Step, memory_operand, space_named
from reference.decode import Operands, Reader, Unsupported, Warp, access, check_alignment
from reference.numbers import LANES, Raw
from reference.op import Op
from reference.ops import OPERATIONS

Matrix = list[list[int]]
Place = Callable[[int, int], tuple[int, int]]
"""Row and column of a thread's element."""

_WORD, _LONG = TYPES["b32"], TYPES["b64"]
_WIDTHS = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}

# ---- numbers

_EXPONENT_BITS = {
    "f32": 8,
    "tf32": 8,
    "bf16": 8,
    "f16": 5,
    "e5m2": 5,
    "e4m3": 4,
    "e3m2": 3,
    "e2m3": 2,
    "e2m1": 2,
}
_FRACTION_BITS = {
    "f32": 23,
    "tf32": 10,
    "bf16": 7,
    "f16": 10,
    "e5m2": 2,
    "e4m3": 3,
    "e3m2": 2,
    "e2m3": 3,
    "e2m1": 1,
}


@lru_cache(maxsize=1 << 16)
def _decoded(bits: int, name: str) -> tuple[Fraction | float, int]:
    """The value and the scale of a `Number`."""
    e_bits, f_bits = _EXPONENT_BITS[name], _FRACTION_BITS[name]
    if name == "tf32":
        bits >>= 13
    if name == "e2m1":
        bits >>= 2
    sign = -1 if bits >> (e_bits + f_bits) & 1 else 1
    stored, fraction = bits >> f_bits & ((1 << e_bits) - 1), bits & ((1 << f_bits) - 1)
    scale = max(stored, 1) - (2 ** (e_bits - 1) - 1)
    value = sign * (Fraction(int(stored > 0)) + Fraction(fraction, 1 << f_bits)) * Fraction(2) ** scale
    ones = stored == (1 << e_bits) - 1
    if ones and name in ("f32", "tf32", "bf16", "f16", "e5m2"):
        return math.nan if fraction else sign * math.inf, scale
    return math.nan if ones and name == "e4m3" and fraction == 7 else value, scale


class Number:
    """A small float: its value (a fraction, an infinity or NaN) and its scale, the exponent as it is stored."""

    def __init__(self, bits: int, name: str):
        self.value, self.scale = _decoded(bits, name)

    def scaled(self, scale: int, name: str) -> "Number":
        """This number times a block's scale: a power of two (`.ue8m0`), or `.e4m3` without a sign (`.ue4m3`)."""
        made = Number.__new__(Number)
        if name == "ue4m3":
            factor = Number(scale & 0x7F, "e4m3")
            power, value = factor.scale, factor.value
        else:
            power = scale - 127
            value = math.nan if scale == 0xFF else Fraction(2) ** power
        made.scale = self.scale + power
        if isinstance(self.value, Fraction) and isinstance(value, Fraction):
            made.value = self.value * value
        else:
            made.value = math.nan if isinstance(value, float) else self.value
        return made


def bits_of(value: Fraction | float, name: str, precision: int) -> int:
    """The bits of a value: `.f16` rounded to nearest even, `.f32` cut to `precision` bits of fraction."""
    e_bits, f_bits = _EXPONENT_BITS[name], _FRACTION_BITS[name]
    infinity = ((1 << e_bits) - 1) << f_bits
    if isinstance(value, float):
        if math.isnan(value):
            return (1 << (e_bits + f_bits)) - 1
        return infinity | (1 << (e_bits + f_bits) if value < 0 else 0)
    sign = 1 << (e_bits + f_bits) if value < 0 else 0
    size, least = abs(value), 2 - 2 ** (e_bits - 1)
    if not size:
        return 0
    below = size.numerator.bit_length() - size.denominator.bit_length()
    below -= Fraction(2) ** below > size  # 2**below <= size < 2**(below + 1)
    exponent = max(below, least)
    finest = Fraction(2) ** (least - f_bits)
    quantum = max(Fraction(2) ** (below - precision), finest)
    steps = round(size / quantum) if name == "f16" else math.floor(size / quantum)
    size = steps * quantum
    if size >= Fraction(2) ** (2 ** (e_bits - 1)):
        return sign | infinity
    if size < Fraction(2) ** least:
        return sign | int(size / finest)
    if size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    fraction = size / Fraction(2) ** exponent - 1
    return sign | (exponent - least + 1) << f_bits | int(fraction * (1 << f_bits))


def dot(
    a: Sequence[Number], b: Sequence[Number], start: int, c_type: str, d_type: str, model: Accumulation
) -> int:
    """The bits of a row times a column plus an element of C."""
    bits, name = start, c_type
    for first in range(0, len(a), model.products):
        last = first + model.products
        terms = [
            (x.value * y.value if x.value and y.value else _zero_times(x, y), x.scale + y.scale)
            for x, y in zip(a[first:last], b[first:last], strict=True)
        ]
        c = Number(bits, name)
        terms.append((c.value, c.scale))
        bits, name = _sum(terms, d_type, model), d_type
    return bits


def _zero_times(x: Number, y: Number) -> Fraction | float:
    """A product with a zero factor."""
    return Fraction(0) if isinstance(x.value, Fraction) and isinstance(y.value, Fraction) else math.nan


def _units(value: Fraction | float, power: int) -> int:
    """How many units of 2**power a value has, cut to a whole number."""
    assert isinstance(value, Fraction)
    above, below = value.numerator << max(-power, 0), value.denominator << max(power, 0)
    return above // below if above >= 0 else -(-above // below)


def _sum(terms: list[tuple[Fraction | float, int]], name: str, model: Accumulation) -> int:
    special = [value for value, _ in terms if isinstance(value, float)]
    if special:
        return bits_of(sum(special), name, 0)
    scales = [scale for value, scale in terms if value]
    if not scales:
        return 0
    power = max(scales) - model.unit_bits
    total = sum(_units(value, power) for value, _ in terms) * Fraction(2) ** power
    return bits_of(total, name, 10 if name == "f16" else model.result_bits)


# ---- fragments


def mma_places(part: str, shape: tuple[int, int, int], width: int) -> Place:
    """Where the elements of an `mma` fragment stand in A, B or C."""
    per = max(32 // width, 1)

    def place(lane: int, i: int) -> tuple[int, int]:
        group, thread = divmod(lane, 4)
        register, j = divmod(i, per)
        if part == "a":
            if shape[0] == 8:
                return group, thread * per + j + 4 * per * register
            return group + 8 * (register % 2), thread * per + j + 4 * per * (register // 2)
        if part == "b":
            return thread * per + j + 4 * per * register, group
        return (group if i < 2 else group + 8), thread * 2 + i % 2

    return place


def volta_places(part: str, by_columns: bool, is_f16: bool) -> Place:
    """Where the elements of `mma.m8n8k4` fragments stand; A of the four products one below the other, and so on."""

    def place(lane: int, i: int) -> tuple[int, int]:
        quad, upper = lane // 4 % 4, 4 * (lane // 16)
        if part == "a":
            row, column = (i + upper, lane % 4) if by_columns else (lane % 4 + upper, i)
        elif part == "b":
            row, column = (i, lane % 4 + upper) if by_columns else (lane % 4, i + upper)
        elif is_f16:
            row, column = lane % 4 + upper, i
        else:
            row, column = (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
        return (row, column + 8 * quad) if part == "b" else (row + 8 * quad, column)

    return place


def dealt_places(rows: int, columns: int, count: int) -> Place:
    """The elements of a matrix in order, `count` to a thread."""

    def place(lane: int, i: int) -> tuple[int, int]:
        return divmod((lane * count + i) % (rows * columns), columns)

    return place


def shape_of(instruction: Instruction) -> tuple[int, int, int]:
    for word in instruction.opcode.modifiers:
        if found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word):
            m, n, k = map(int, found.groups())
            return m, n, k
    raise Unsupported(f"'{instruction.opcode.text}' without a shape")


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def gather(values: list[Raw], width: int, rows: int, columns: int, place: Place) -> Matrix:
    """A matrix from the registers of its fragment."""
    found = [[0] * columns for _ in range(rows)]
    per, mask = max(32 // width, 1), (1 << width) - 1
    for lane in range(LANES):
        for i in range(len(values) * per):
            row, column = place(lane, i)
            if row < rows and column < columns:
                found[row][column] = int(values[i // per][lane]) >> (i % per * width) & mask
    return found


def scatter(matrix: Matrix, width: int, n_registers: int, place: Place) -> list[Raw]:
    """The registers of a fragment."""
    per = max(32 // width, 1)
    found = [np.zeros(LANES, np.uint64) for _ in range(n_registers)]
    for lane in range(LANES):
        for i in range(n_registers * per):
            row, column = place(lane, i)
            found[i // per][lane] |= np.uint64(matrix[row][column] << (i % per * width))
    return found


def expand(compressed: Matrix, name: str, metadata: list[int], selector: int, k: int) -> Matrix:
    """A sparse matrix in full: the metadata of a row says where its elements stand."""
    full = [[0] * k for _ in range(16)]
    bits_per_row = {"tf32": 2 * k, "s4": k // 2, "u4": k // 2}.get(name, k)
    for row in range(16):
        base, upper = 4 * (row % 8), row // 8
        if bits_per_row == 16:  # a thread has two rows
            text = metadata[base + selector] >> 16 * upper & 0xFFFF
        elif bits_per_row == 32 and name in ("f16", "bf16", "tf32"):  # two threads have half of two rows each
            halves = [metadata[base + 2 * selector + j] >> 16 * upper & 0xFFFF for j in range(2)]
            text = halves[0] | halves[1] << 16
        elif bits_per_row == 32:  # two threads have a row each
            text = metadata[base + 2 * selector + upper]
        else:  # two threads have the first halves of two rows, the other two the second halves
            text = metadata[base + upper] | metadata[base + 2 + upper] << 32
        for c, element in enumerate(compressed[row]):
            if name == "tf32":
                column = 2 * c + (text >> 4 * c & 3) // 2
            elif name in ("s4", "u4"):
                column = 8 * (c // 4) + 2 * (text >> 2 * (c // 2) & 3) + c % 2
            else:
                column = 4 * (c // 2) + (text >> 2 * c & 3)
            full[row][column] = element
    return full


def put_scales(rows: Matrix, scales: list[list[int]]) -> None:
    """Write above every element the scale of its chunk: bits | scale << 8."""
    for row, own in zip(rows, scales, strict=True):
        size = len(row) // len(own)
        row[:] = [bits | own[i // size] << 8 for i, bits in enumerate(row)]


def scales_of(part: str, words: Raw, byte: int, thread: int, index: int, count: int) -> list[int]:
    """The scales of row `index` of A or column `index` of B, chunk after chunk.

    Of every four threads, two (one for B) have scales: `thread` numbers the pair (the thread). The first of a pair has
    those of a row of the upper half of A, the second those of the row eight below.
    """
    quad, lower = index % 8, index // 8
    lane = quad * 4 + thread % 2 * 2 + lower if part == "a" else quad * 4 + thread % 4
    all_bytes = int(words[lane]).to_bytes(4, "little") + bytes(4)
    return list(all_bytes[byte % 4 : byte % 4 + count])


def _integer(bits: int, name: str) -> int:
    width = int(name[1:])
    return bits - (1 << width) if name[0] == "s" and bits >> (width - 1) else bits


MATRIX_MEANINGS = frozenset(
    {"mma", "mma_sp", "wmma_mma", "wmma_load", "wmma_store", "ldmatrix", "stmatrix", "movmatrix"}
)


def _fragment_widths(match: Match, names: tuple[str, ...]) -> list[int]:
    """Bits of an element of D, A, B and C in a register: `.e2m1` has 8, but 4 with the kinds for it alone."""
    widths = [_WIDTHS.get(name, 8) for name in names]
    if match.one_of("kind::mxf4", "kind::mxf4nvf4"):
        widths[1:3] = [4, 4]
    return widths


class Matrices:
    """The part of the decoder that knows matrices."""

    operands: Operands

    def _mma(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        names = (match.type, match.stype, match.utype, match.vtype)
        shape = shape_of(instruction)
        if names[1] == "f64":
            return self._mma_f64(instruction, match, op, i)
        places = [
            mma_places(part, shape, width)
            for part, width in zip("cabc", _fragment_widths(match, names), strict=True)
        ]
        copies = 1
        if shape == (8, 8, 4):
            order = [word for word in instruction.opcode.modifiers if word in ("row", "col")]
            copies = 4
            places = [
                volta_places("c", False, names[0] == "f16"),
                volta_places("a", order[0] == "col", True),
                volta_places("b", order[1] == "col", True),
                volta_places("c", False, names[3] == "f16"),
            ]
        return self._product(instruction, match, names, shape, places, i, copies)

    def _mma_sp(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        names = (match.type, match.stype, match.utype, match.vtype)
        shape = shape_of(instruction)
        places = [
            mma_places(part, shape, width)
            for part, width in zip("cabc", _fragment_widths(match, names), strict=True)
        ]
        return self._product(instruction, match, names, shape, places, i, sparse=True)

    def _wmma_mma(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        names = (match.type, match.stype, match.utype, match.vtype)
        if not match.utype:
            names = (match.type, "f16", "f16", match.stype)
        if names[1] == "f64":
            names = ("f64", "f64", "f64", "f64")
        m, n, k = shape_of(instruction)
        sizes = ((m, n), (m, k), (k, n), (m, n))
        places = [
            dealt_places(*size, len(_items(o)) * max(32 // _WIDTHS.get(name, 8), 1))
            for size, o, name in zip(sizes, instruction.operands, names, strict=False)
        ]
        return self._product(instruction, match, names, (m, n, k), places, i)

    def _product(
        self,
        instruction: Instruction,
        match: Match,
        names: tuple[str, ...],
        shape: tuple[int, int, int],
        places: list[Place],
        i: int,
        copies: int = 1,
        sparse: bool = False,
    ) -> Step:
        """D = A B + C; `copies` products stand below each other in A, C and D, beside each other in B."""
        m, n, k = shape
        a_name = names[1]
        widths = _fragment_widths(match, names)
        scales = self._scales(instruction, match, i)
        type_ = _LONG if a_name == "f64" else _WORD
        readers = [
            [self.operands.read(o, type_, i) for o in _items(given)] for given in instruction.operands[1:4]
        ]
        writers = [self.operands.write(o, type_, i) for o in _items(instruction.operands[0])]
        metadata = self.operands.read(instruction.operands[4], _WORD, i) if sparse else None
        selector = self.operands.read(instruction.operands[5], _WORD, i) if sparse else None
        element = self._dots(instruction, match, names)

        def matrix(warp: Warp, which: int, rows: int, columns: int) -> Matrix:
            values = [read(warp) for read in readers[which - 1]]
            return gather(values, widths[which], rows, columns, places[which])

        def step(warp: Warp) -> None:
            a = matrix(warp, 1, m * copies, k // 2 if sparse else k)
            if metadata is not None and selector is not None:
                words = [int(word) for word in metadata(warp)]
                pattern = "u4" if widths[1] == 4 else a_name
                a = expand(a, pattern, words, int(selector(warp)[0]), k)
            b = matrix(warp, 2, k, n * copies)
            c = matrix(warp, 3, m * copies, n)
            columns = [[row[x] for row in b] for x in range(n * copies)]
            if scales is not None:
                put_scales(a, scales("a", warp, m))
                put_scales(columns, scales("b", warp, n))
            d = [
                [element(a[y], columns[n * (y // m) + x], c[y][x]) for x in range(n)]
                for y in range(m * copies)
            ]
            for write, raw in zip(writers, scatter(d, widths[0], len(writers), places[0]), strict=True):
                write(warp, raw, warp.executing)

        return step

    def _scales(
        self, instruction: Instruction, match: Match, i: int
    ) -> "Callable[[str, Warp, int], list[list[int]]] | None":
        """The scales of the rows of A ("a") or the columns of B, where blocks are scaled."""
        if "block_scale" not in match.modifiers:
            return None
        # where it is not said: 1X for the mixed kind, 2X for .kind::mxf4
        size = match.one_of("scale_vec::1X", "scale_vec::2X", "scale_vec::4X")
        count = int(size[-2]) if size else 1 if "kind::mxf8f6f4" in match.modifiers else 2
        given: dict[str, tuple[Reader, Reader, Reader]] = {}
        for part, at in (("a", -4), ("b", -2)):
            (data,), where = map(_items, instruction.operands[at:][:2])
            byte, thread = (self.operands.read(o, TYPES["u16"], i) for o in where)
            given[part] = (self.operands.read(data, _WORD, i), byte, thread)

        def scales(part: str, warp: Warp, lines: int) -> list[list[int]]:
            words, byte, thread = (read(warp) for read in given[part])
            first = int(byte[0]), int(thread[0])
            return [scales_of(part, words, *first, line, count) for line in range(lines)]

        return scales

    def _dots(
        self, instruction: Instruction, match: Match, names: tuple[str, ...]
    ) -> Callable[[list[int], list[int], int], int]:
        """A row times a column plus an element, in bits."""
        d_name, a_name, b_name, c_name = names
        if a_name in _EXPONENT_BITS:
            target = re.search(r"_(\d+)", self.operands.kernel.module.directive("target") or "")
            model = accumulation(int(target.group(1)) if target else 70, a_name)

            kind = match.one_of("ue4m3", "ue8m0")
            shift = 2 if match.one_of("kind::mxf4", "kind::mxf4nvf4") else 0

            def number(bits: int, name: str) -> Number:
                if kind:
                    return Number((bits & 0xFF) << shift, name).scaled(bits >> 8, kind)
                return Number(bits, name)

            def floats(row: list[int], column: list[int], start: int) -> int:
                left, right = [number(v, a_name) for v in row], [number(v, b_name) for v in column]
                result = dot(left, right, start, c_name, d_name, model)
                if "satfinite" in match.modifiers:
                    value = Number(result, d_name).value
                    largest = bits_of(math.inf, d_name, 0) - 1
                    if isinstance(value, float):
                        sign = 1 << (_WIDTHS[d_name] - 1)
                        result = 0 if math.isnan(value) else largest | (sign if value < 0 else 0)
                return result

            return floats
        if a_name == "f64":
            fma = self._fma(match)

            def doubles(row: list[int], column: list[int], start: int) -> int:
                total = np.full(LANES, start, np.uint64)
                for x, y in zip(row, column, strict=True):
                    total = fma(np.full(LANES, x, np.uint64), np.full(LANES, y, np.uint64), total)
                return int(total[0])

            return doubles
        saturates, both = "satfinite" in match.modifiers, "and" in match.modifiers

        def integers(row: list[int], column: list[int], start: int) -> int:
            total = _integer(start, "s32")
            for x, y in zip(row, column, strict=True):
                if a_name == "b1":
                    total += int(x and y) if both else int(x != y)
                else:
                    total += _integer(x, a_name) * _integer(y, b_name)
            if saturates:
                total = max(-(1 << 31), min((1 << 31) - 1, total))
            return total & 0xFFFFFFFF

        return integers

    @staticmethod
    def _fma(match: Match) -> Callable[[Raw, Raw, Raw], Raw]:
        f64 = TYPES["f64"]
        op = Op("fma", f64, f64, frozenset({match.one_of("rz", "rm", "rp") or "rn"}), False, False, True)
        return lambda a, b, c: OPERATIONS["fma"](op, a, b, c)

    def _mma_f64(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """`.f64`: all threads at once, register after register of the result."""
        shape = shape_of(instruction)
        a, b, c = (
            [self.operands.read(o, _LONG, i) for o in _items(given)] for given in instruction.operands[1:4]
        )
        writers = [self.operands.write(o, _LONG, i) for o in _items(instruction.operands[0])]
        where = [mma_places(part, shape, 64) for part in "abc"]
        fma = self._fma(match)
        m, n, k = shape

        def step(warp: Warp) -> None:
            left = gather([read(warp) for read in a], 64, m, k, where[0])
            right = gather([read(warp) for read in b], 64, k, n, where[1])
            results: list[Raw] = []
            for register, read in enumerate(c):
                total = read(warp)
                spots = [where[2](lane, register) for lane in range(LANES)]
                for j in range(k):
                    x = np.array([left[row][j] for row, _ in spots], np.uint64)
                    y = np.array([right[j][column] for _, column in spots], np.uint64)
                    total = fma(x, y, total)
                results.append(total)
            for write, raw in zip(writers, results, strict=True):
                write(warp, raw, warp.executing)

        return step

    # ---- memory

    def _rows_of(self, instruction: Instruction, match: Match, at: int, i: int) -> tuple[str, Reader]:
        memory = memory_operand(instruction.operands[at])
        space = self.operands.space(memory, space_named(match))
        return space, self.operands.address(memory, space, i)

    def _ldmatrix(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        space, address = self._rows_of(instruction, match, 1, i)
        writers = [self.operands.write(o, _WORD, i) for o in _items(instruction.operands[0])]
        tall, turned = op.has("m16n16"), op.has("trans")
        width = (
            4
            if op.has("b4x16_p64")
            else 6
            if op.has("b6x16_p32")
            else op.type.bits
            if op.type.bits < 32
            else 8
        )
        n_rows = (16 if tall else 8) * len(writers) // (2 if tall else 1)

        def element(lane: int, j: int, register: int) -> tuple[int, int]:
            group, thread = divmod(lane, 4)
            if width == 16:
                return (2 * thread + j, group) if turned else (group, 2 * thread + j)
            if turned:
                return 4 * thread + j, group + 8 * (register % 2)
            return group, 4 * thread + j

        def step(warp: Warp) -> None:
            where, lanes = address(warp)[:n_rows], np.arange(n_rows)
            check_alignment(where, 16)
            low, high = (access(warp, space, where + np.uint64(o), lanes, 8) for o in (0, 8))
            rows = [int(a) | int(b) << 64 for a, b in zip(low, high, strict=True)]
            per = 2 if width == 16 else 4
            for register, write in enumerate(writers):
                first = 16 * (register // 2) if tall else 8 * register
                values = np.zeros(LANES, np.uint64)
                for lane in range(LANES):
                    for j in range(per):
                        row, column = element(lane, j, register)
                        bits = rows[first + row] >> width * column & ((1 << width) - 1)
                        values[lane] |= np.uint64(bits << 32 // per * j)
                write(warp, values, warp.executing)

        return step

    def _stmatrix(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        space, address = self._rows_of(instruction, match, 0, i)
        readers = [self.operands.read(o, _WORD, i) for o in _items(instruction.operands[1])]
        turned, bytes_ = op.has("trans"), op.has("m16n8")

        def step(warp: Warp) -> None:
            n_rows = 8 * len(readers)
            where, lanes = address(warp)[:n_rows], np.arange(n_rows)
            check_alignment(where, 16)
            size = 1 if bytes_ else 2
            for register, read in enumerate(readers):
                for lane, bits in enumerate(read(warp).tolist()):
                    group, thread = divmod(lane, 4)
                    for j in range(4 // size):
                        row, column = (2 * thread + j, group) if turned else (group, 2 * thread + j)
                        if bytes_:
                            row, column = 2 * thread + j % 2, group + 8 * (j // 2)
                        at = np.array([8 * register + row])
                        value = np.array([bits >> 8 * size * j & ((1 << 8 * size) - 1)], np.uint64)
                        access(warp, space, where[at] + np.uint64(size * column), lanes[at], size, value)

        return step

    def _movmatrix(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        read = self.operands.read(instruction.operands[1], _WORD, i)
        write = self.operands.write(instruction.operands[0], _WORD, i)
        place = mma_places("a", (8, 8, 8), 16)

        def step(warp: Warp) -> None:
            matrix = gather([read(warp)], 16, 8, 8, place)
            turned = [list(column) for column in zip(*matrix, strict=True)]
            write(warp, scatter(turned, 16, 1, place)[0], warp.executing)

        return step

    def _wmma_load(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        writers = [self.operands.write(o, self._register(op), i) for o in _items(instruction.operands[0])]
        part = match.form.base[-1]
        space, address, offset, place, per, width = self._tile(
            instruction, match, op, part, len(writers), 1, i
        )

        def step(warp: Warp) -> None:
            starts, pitches = address(warp), offset(warp)
            lane_numbers = np.arange(LANES)
            for register, write in enumerate(writers):
                values = np.zeros(LANES, np.uint64)
                for j in range(per):
                    spots = [place(lane, register * per + j) for lane in range(LANES)]
                    bits = np.array([pitches(lane, *spot) for lane, spot in enumerate(spots)], np.uint64)
                    size = max(width // 8, 1)
                    found = access(warp, space, starts + bits // np.uint64(8), lane_numbers, size)
                    found = found >> (bits % np.uint64(8)) & np.uint64((1 << width) - 1)
                    values |= found << np.uint64(j * width)
                write(warp, values, warp.executing)

        return step

    def _wmma_store(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        readers = [self.operands.read(o, self._register(op), i) for o in _items(instruction.operands[1])]
        space, address, offset, place, per, width = self._tile(
            instruction, match, op, "c", len(readers), 0, i
        )

        def step(warp: Warp) -> None:
            starts, pitches = address(warp), offset(warp)
            lane_numbers = np.arange(LANES)
            for register, read in enumerate(readers):
                values = read(warp)
                for j in range(per):
                    spots = [place(lane, register * per + j) for lane in range(LANES)]
                    bits = np.array([pitches(lane, *spot) for lane, spot in enumerate(spots)], np.uint64)
                    part = values >> np.uint64(j * width) & np.uint64((1 << width) - 1)
                    access(warp, space, starts + bits // np.uint64(8), lane_numbers, width // 8, part)

        return step

    @staticmethod
    def _register(op: Op) -> Type:
        return _LONG if op.type.bits == 64 else _WORD

    def _tile(
        self, instruction: Instruction, match: Match, op: Op, part: str, n_registers: int, at: int, i: int
    ) -> tuple[str, Reader, "Callable[[Warp], Callable[[int, int, int], int]]", Place, int, int]:
        """A `wmma` matrix in memory: space, first address, bit offset of an element, and the fragment's places."""
        space, address = self._rows_of(instruction, match, at, i)
        m, n, k = shape_of(instruction)
        rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[part]
        width = _WIDTHS.get(match.type, 8)
        by_rows = op.has("row")
        if len(instruction.operands) > 2:
            stride = self.operands.read(instruction.operands[2], _WORD, i)
        else:
            stride = self.operands.read(Immediate(str(columns if by_rows else rows)), _WORD, i)

        def offset(warp: Warp) -> Callable[[int, int, int], int]:
            pitch = stride(warp).tolist()
            if by_rows:
                return lambda lane, row, column: (row * pitch[lane] + column) * width
            return lambda lane, row, column: (column * pitch[lane] + row) * width

        per = max(32 // width, 1)
        return space, address, offset, dealt_places(rows, columns, n_registers * per), per, width
