"""Texture and surface instructions of the reference interpreter.

For `reference_steps.py`. A coordinate is an exact fraction; the weights of linear filtering are multiples of 1/256,
rounded to the nearest; the filtered value is an exact sum, rounded once. Repeated texels are found on the infinite
strip of copies (or mirrored copies) of the texture. Lanes come one after the other.

Reference: NVIDIA, "Parallel Thread Execution ISA", 9.7.10 and 9.7.11; "CUDA C++ Programming Guide", texture fetching.
"""

import itertools
import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ptxtool.ir.nodes import Dual, Immediate, Instruction, Name, Operand, Vector
from ptxtool.isa.literals import literal
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from reference.access import COMBINATIONS, Step, memory_operand
from reference.decode import Operands, Reader, Unsupported, Warp
from reference.memory import OPAQUE_KINDS, Fault
from reference.numbers import LANES
from reference.op import Op

_U32, _S32, _U64, _WORD = TYPES["u32"], TYPES["s32"], TYPES["u64"], TYPES["b32"]
_GEOMETRIES = ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms")
_OPENCL_ORDER = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_OPENCL_TYPE = {"i1": 0x10D7, "i2": 0x10D8, "i4": 0x10D9, "u1": 0x10DA, "u2": 0x10DB, "u4": 0x10DC,
                "f2": 0x10DD, "f4": 0x10DE}  # fmt: skip
_OPENCL_FRACTION = {"i1": 0x10D0, "i2": 0x10D1, "u1": 0x10D2, "u2": 0x10D3}
_PTX_MODE = {"wrap": 0, "mirror": 1, "clamp": 3, "border": 4}

Texel = tuple[int, int, int, int]
"""The bits of r, g, b, a as a fetch gives them."""


@dataclass(frozen=True)
class Access:
    """A geometry of an instruction: axes, and whether there are layers, the faces of cubes, or samples."""

    axes: int
    layered: bool
    cube: bool
    sampled: bool

    @classmethod
    def of(cls, match: Match) -> "Access":
        name = match.one_of(*_GEOMETRIES)
        cube = name.endswith("cube")
        axes = 2 if cube else int(name.strip("adms"))
        return cls(axes, name.startswith("a"), cube, name.endswith("ms"))


def cells(value: Any) -> np.ndarray:
    """The texels as an array of plane, row, column, channel."""
    array = value.array if value.channels > 1 else value.array[..., None]
    if getattr(value, "samples", 1) > 1:
        return array.reshape(-1, *array.shape[-3:])
    if value.layered and array.ndim == 3:
        array = array[:, None]
    while array.ndim < 4:
        array = array[None]
    return array


def to_f32(value: Fraction) -> int:
    """The bits of the nearest f32, to even between two; what is too large is infinite."""
    if not value:
        return 0
    sign, size = (1 << 31 if value < 0 else 0), abs(value)
    exponent = max(math.floor(math.log2(float(size))) if size < 2**127 else 127, -126)
    while size < Fraction(2) ** exponent and exponent > -126:
        exponent -= 1
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    steps = round(size / Fraction(2) ** (exponent - 23))
    return sign | min((exponent + 126 << 23) + steps, 0x7F800000)


def _f32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def texel_of(value: Any, k: int, j: int, i: int) -> Texel:
    """The result for one texel."""
    found = []
    for channel in range(4):
        whole = value.array.dtype.kind != "f"
        fractions = whole and value.read == "normalized"
        if channel >= value.channels:
            found.append(int(channel == 3) * (1 if whole and not fractions else 0x3F800000))
            continue
        raw = cells(value)[k, j, i, channel]
        if fractions:
            greatest = np.iinfo(value.array.dtype).max
            found.append(to_f32(max(Fraction(int(raw), int(greatest)), Fraction(-1))))
        elif whole:
            found.append(int(raw) & 0xFFFFFFFF)
        else:
            found.append(struct.unpack("<I", raw.astype("<f4").tobytes())[0])
    r, g, b, a = found
    return r, g, b, a


_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "never": lambda depth, texel: False,
    "less": operator.lt,
    "equal": operator.eq,
    "less_equal": operator.le,
    "greater": operator.gt,
    "not_equal": operator.ne,
    "greater_equal": operator.ge,
    "always": lambda depth, texel: True,
}


def compared(value: Any, k: int | None, j: int | None, i: int | None, depth: float, how: str) -> Texel:
    """1.0 or 0.0 for every channel of a texel, or of the border's zeros; missing channels are as ever."""
    inside = i is not None and j is not None and k is not None
    found = [0, 0, 0, 0x3F800000 if inside else 0]
    whole = value.array.dtype.kind != "f" and value.read != "normalized"
    for channel in range(value.channels):
        number = 0.0
        if inside:
            number = float(cells(value)[k, j, i, channel])
            if not whole:
                number = _f32(texel_of(value, k, j, i)[channel])  # type: ignore[arg-type]
        found[channel] = 0x3F800000 if _HOLDS[how](depth, number) else 0
    r, g, b, a = found
    return r, g, b, a


def place_of(c: float, extent: int, repeats: bool, normalized: bool, linear: bool) -> Fraction:
    """A coordinate in texels, for linear filtering counted from the middle of the first, in steps of 1/256."""
    if math.isnan(c) or (math.isinf(c) and repeats):
        c = 0.0
    where = Fraction(c) if math.isfinite(c) else Fraction(math.copysign(10**40, c))
    if normalized:
        where *= extent
    if not linear:
        return Fraction(math.floor(where))
    return Fraction(math.floor((where - Fraction(1, 2)) * 256 + Fraction(1, 2)), 256)


def on_axis(i: int, extent: int, mode: str) -> int | None:
    """The texel that number i is, None for the border."""
    if mode == "wrap":
        return i % extent
    if mode == "mirror":
        copy, i = divmod(i, extent)
        return extent - 1 - i if copy % 2 else i
    if mode == "border":
        return i if 0 <= i < extent else None
    return sorted((0, i, extent - 1))[1]


def face_of(x: float, y: float, z: float) -> tuple[int, float, float]:
    """The face of a cube that a direction meets, and where, as numbers from 0 to 1, computed in f64."""
    sizes = [abs(x), abs(y), abs(z)]
    if sizes[0] >= sizes[1] and sizes[0] >= sizes[2]:
        face, m, s, t = (0, x, -z, -y) if x >= 0 else (1, -x, z, -y)
    elif sizes[1] >= sizes[2]:
        face, m, s, t = (2, y, x, z) if y >= 0 else (3, -y, x, -z)
    else:
        face, m, s, t = (4, z, x, -y) if z >= 0 else (5, -z, -x, -y)

    def along(c: float) -> float:
        return float((np.float64(c) / np.float64(m) + 1) / 2)

    return face, along(s), along(t)


def fetch(
    value: Any,
    sampler: Any,
    access: Access,
    floating: bool,
    given: list[float],
    offsets: list[int],
    gather: str,
    depth: float | None = None,
) -> Texel:
    """One fetch: `given` are layer, sample and coordinates."""
    texels = cells(value)
    planes = texels.shape[0]
    plane = 0
    left: list[Any] = list(given)
    per_layer = 6 if access.cube else value.samples
    if access.layered:
        plane = max(min(int(left.pop(0)), planes // per_layer - 1), 0) * per_layer
    if access.sampled:
        plane += sorted((0, int(left.pop(0)), value.samples - 1))[1]
    modes = list(sampler.address) if not isinstance(sampler.address, str) else [sampler.address] * 3
    modes += modes[-1:] * (3 - len(modes))
    forced = getattr(sampler, "unnormalized", False)
    normalized = floating and value.normalized and not forced
    if access.cube:
        face, s, t = face_of(*left)
        plane, left, modes, normalized = plane + face, [s, t], ["clamp"] * 3, True
    modes = [m if normalized or m == "border" else "clamp" for m in modes]
    whole = value.array.dtype.kind != "f" and value.read != "normalized"
    linear = bool(gather) or (sampler.filter == "linear" and floating and not whole)
    extents = [texels.shape[2], texels.shape[1], texels.shape[0]]
    axes: list[list[tuple[int | None, Fraction]]] = []
    for axis, c in enumerate(left[: access.axes]):
        extent, mode = extents[axis], modes[axis]
        place = (
            place_of(c, extent, mode in ("wrap", "mirror"), normalized, linear)
            if floating
            else Fraction(int(c))
        )
        place += offsets[axis]
        low = math.floor(place)
        part = place - low
        axes.append([(on_axis(low, extent, mode), 1 - part), (on_axis(low + 1, extent, mode), part)])
    while len(axes) < 3:
        axes.append([(min(plane, planes - 1) if len(axes) == 2 else 0, Fraction(1)), (0, Fraction(0))])

    def at(i: int | None, j: int | None, k: int | None) -> Texel:
        if depth is not None:
            return compared(value, k, j, i, depth, sampler.compare)
        return (0, 0, 0, 0) if i is None or j is None or k is None else texel_of(value, k, j, i)

    if gather:
        channel = "rgba".index(gather)
        k = axes[2][0][0]
        r, g, b, a = (
            at(axes[0][i][0], axes[1][j][0], k)[channel] for i, j in ((0, 1), (1, 1), (1, 0), (0, 0))
        )
        return r, g, b, a
    corners = [
        (at(i, j, k), wi * wj * wk)
        for (k, wk), (j, wj), (i, wi) in itertools.product(axes[2], axes[1], axes[0])
        if wi * wj * wk
    ]
    if len(corners) == 1:
        return corners[0][0]
    r, g, b, a = (_sum([(_f32(texel[c]), weight) for texel, weight in corners]) for c in range(4))
    return r, g, b, a


def _sum(parts: list[tuple[float, Fraction]]) -> int:
    if all(math.isfinite(value) for value, _ in parts):
        return to_f32(sum((Fraction(value) * weight for value, weight in parts), Fraction(0)))
    total = sum(value for value, _ in parts if not math.isfinite(value))
    return 0x7FC00000 if math.isnan(total) else 0x7F800000 | (1 << 31 if total < 0 else 0)


class Textures:
    """The part of the decoder that knows textures and surfaces."""

    operands: Operands

    def _opaque_handle(self, operand: Operand | None, i: int) -> Reader:
        assert isinstance(operand, Name)
        symbol = self.operands.image.symbols.get(operand.text)
        if symbol is not None and symbol.space == "param" and self.operands.row(operand, i) is None:
            image = self.operands.image.parameters[symbol.address : symbol.address + 8]
            value = np.full(LANES, int.from_bytes(image, "little"), np.uint64)
            return lambda warp: value
        return self.operands.read(operand, _U64, i)

    def _opaque_value(self, handle: int, kinds: str, position: int) -> Any:
        found = self.operands.image.opaques.get(handle)
        if found is None or type(found).__name__ not in kinds:
            raise Fault("E404", handle, 8, position)
        return found

    def _registers_of(self, operand: Operand, i: int) -> tuple[Operand, ...]:
        if isinstance(operand, Vector):
            return operand.items
        register = self.operands.register(operand.text, i) if isinstance(operand, Name) else None
        if register is not None and register.vector > 1:
            assert isinstance(operand, Name)
            return tuple(Name(operand.text, part) for part in "xyzw"[: register.vector])
        return (operand,)

    def _coordinates(self, operand: Operand, access: Access, type_: Type, i: int) -> list[Reader]:
        """Readers of the layer, if there is one, and of the coordinates."""
        n = 3 if access.cube else access.axes + access.sampled
        types = [_U32] * access.layered + [type_] * n
        items = self._registers_of(operand, i)
        if len(items) < len(types):
            raise Unsupported(f"{len(items)} coordinates")
        return [self.operands.read(o, t, i) for o, t in zip(items, types, strict=False)]

    def _tld4(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._tex(instruction, match, op, i)

    def _tex(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        to, of = instruction.operands[:2]
        access = Access.of(match)
        floating = op.stype.is_float
        # GPGPU-Sim has the bits of x as a whole number, no y, and writes one component; the next have y and z
        converted = op.as_gpgpu_sim and op.has("v4")
        axes = access.axes
        if converted:
            access, floating = Access(1, False, False, False), False
        if self.operands.is_ptxplus and len(instruction.operands) == 3:
            texture = sampler = self._opaque_handle(of, i)
            coordinates = instruction.operands[2]
        else:
            memory = memory_operand(of)
            texture = self._opaque_handle(memory.base, i)
            explicit = len(memory.coordinates) == 2
            sampler = self._opaque_handle(memory.coordinates[0], i) if explicit else texture
            coordinates = memory.coordinates[-1]
        readers = self._coordinates(coordinates, access, op.stype if floating else _S32, i)
        offsets = self._texel_offsets(instruction, match, access, i)
        compared = self._depth_operand(instruction, match, i)
        depth = None if compared is None else self.operands.read(compared, TYPES["f32"], i)
        truth = self.operands.write_truth(to.second, i) if isinstance(to, Dual) else None
        items = self._registers_of(to.first if isinstance(to, Dual) else to, i)
        gather = match.one_of("r", "g", "b", "a")
        kind = TYPES["b16"] if op.type.name == "f16" else _WORD
        writers = [self.operands.write(o, kind, i) for o in (items[:1] if converted else items)]
        named = self._registers_of(coordinates, i) if converted else ()
        held = [
            (self.operands.read(place, _WORD, i), self.operands.write(item, _WORD, i))
            for place, item in list(zip(named, items, strict=False))[1:axes]
        ]

        def step(warp: Warp) -> None:
            rows = [r(warp) for r in readers]
            kept = [np.array(read(warp)) for read, _ in held]
            shifts = [_signed(r(warp)) for r in offsets]
            results = np.zeros((4, LANES), np.uint64)
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                value = self._opaque_value(int(texture(warp)[lane]), "Texture", position)
                how = self._opaque_value(int(sampler(warp)[lane]), "Texture Sampler", position)
                given = [float(int(row[lane])) for row in rows[: access.layered]]
                for row in rows[access.layered :]:
                    given.append(_f32(int(row[lane])) if floating else float(_signed(row)[lane]))
                moved = [int(s[lane]) for s in shifts] + [0, 0, 0]
                against = None if depth is None else _f32(int(depth(warp)[lane]))
                texel = fetch(value, how, access, floating, given, moved, gather, against)
                whole = value.array.dtype.kind != "f" and value.read != "normalized" and depth is None
                results[:, lane] = _converted(texel, op.type.name, whole)
            for write, row in zip(writers, results, strict=False):
                write(warp, row, warp.executing)
            for (_, write), row in zip(held, kept, strict=True):
                write(warp, row, warp.executing)
            if truth is not None:
                truth(warp, np.ones(LANES, np.bool_), warp.executing)

        return step

    def _texel_offsets(self, instruction: Instruction, match: Match, access: Access, i: int) -> list[Reader]:
        for spec, operand in zip(match.form.operands, instruction.operands, strict=False):
            if spec.name == "offset" and operand is not self._depth_operand(instruction, match, i):
                return [self.operands.read(o, _S32, i) for o in self._registers_of(operand, i)[: access.axes]]
        return []

    def _depth_operand(self, instruction: Instruction, match: Match, i: int) -> Operand | None:
        """The last operand where it is a depth: by its name, or as a scalar that is no integer (as ptxas has it)."""
        n = len(instruction.operands)
        last, name = instruction.operands[-1], match.form.operands[n - 1].name
        if name == "depth":
            return last
        if name != "offset" or match.stype != "f32" or "3d" in match.modifiers:
            return None
        if isinstance(last, Immediate):
            may_be_float = literal(last.text).kind in ("f32", "f64")
        else:
            declared = self.operands.register(last.text, i) if isinstance(last, Name) else None
            may_be_float = declared is not None and declared.vector == 1 and declared.type in {"b32", "f32"}
        return last if may_be_float else None

    def _suq(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        return self._txq(instruction, match, op, i)

    def _txq(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        write = self.operands.write(instruction.operands[0], _WORD, i)
        handle = self._opaque_handle(memory_operand(instruction.operands[1]).base, i)

        def step(warp: Warp) -> None:
            results = np.zeros(LANES, np.uint64)
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                value = self._opaque_value(int(handle(warp)[lane]), "Texture Sampler Surface", position)
                asked = next(m for m in match.modifiers if m != "level" and m in _ASKED)
                results[lane] = _ASKED[asked](value)
            write(warp, results, warp.executing)

        return step

    def _istypep(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        write = self.operands.write_truth(instruction.operands[0], i)
        read = self.operands.read(instruction.operands[1], _U64, i)
        wanted = OPAQUE_KINDS[match.one_of(*OPAQUE_KINDS)]
        opaques = self.operands.image.opaques

        def step(warp: Warp) -> None:
            found = [type(opaques.get(h)).__name__ == wanted for h in read(warp).tolist()]
            write(warp, np.array(found), warp.executing)

        return step

    # ---- surfaces

    def _surface_element(
        self, instruction: Instruction, of: Operand, match: Match, i: int
    ) -> Callable[..., Any]:
        """A function of warp, lane, position and bytes: the bytes of an element in place; None outside."""
        memory, access = memory_operand(of), Access.of(match)
        handle = self._opaque_handle(memory.base, i)
        readers = self._coordinates(memory.coordinates[-1], access, _S32, i)
        mode = match.one_of("trap", "clamp", "zero")
        formatted = "p" in match.modifiers

        def find(warp: Warp, lane: int, position: int, element: int, n_bytes: int) -> Any:
            number = int(handle(warp)[lane])
            value = self._opaque_value(number, "Surface", position)
            texels = cells(value)
            row_bytes = texels.shape[2] * texels.shape[3] * texels.itemsize
            data = texels.reshape(*texels.shape[:2], -1).view(np.uint8)
            given = [int(_signed(r(warp))[lane]) for r in readers]
            k = given.pop(0) if access.layered else given[2] if access.axes == 3 else 0
            x, y = given[0], given[1] if access.axes > 1 else 0
            if formatted:
                n_bytes = texels.shape[3] * texels.itemsize
                x *= n_bytes
            elif x % element:
                raise Fault("E405", x, element, position)
            if n_bytes > row_bytes:
                raise Fault("E404", number, n_bytes, position)
            nearest = [
                sorted((0, at, most))[1]
                for at, most in ((k, data.shape[0] - 1), (y, data.shape[1] - 1), (x, row_bytes - n_bytes))
            ]
            if nearest != [k, y, x]:
                if mode == "trap":
                    raise Fault("E404", number, n_bytes, position)
                if mode == "zero":
                    return value, None
            k, y, x = nearest
            return value, data[k, y, x : x + n_bytes]

        return find

    def _suld(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        items = self._registers_of(instruction.operands[0], i)
        find = self._surface_element(instruction, instruction.operands[1], match, i)
        writers = [self.operands.write(o, op.type, i) for o in items]
        size = op.type.bytes

        def step(warp: Warp) -> None:
            results = np.zeros((len(writers), LANES), np.uint64)
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                _, data = find(warp, lane, position, size, size * len(writers))
                for k in range(len(writers)):
                    part = b"" if data is None else data[k * size : (k + 1) * size].tobytes()
                    results[k, lane] = int.from_bytes(part, "little")
            for write, row in zip(writers, results, strict=True):
                write(warp, row, warp.executing)

        return step

    def _sust(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        items = self._registers_of(instruction.operands[1], i)
        find = self._surface_element(instruction, instruction.operands[0], match, i)
        readers = [self.operands.read(o, op.type, i) for o in items]
        size = op.type.bytes

        def step(warp: Warp) -> None:
            places = [
                (lane, *find(warp, lane, position, size, size * len(readers)))
                for position, lane in enumerate(np.flatnonzero(warp.executing).tolist())
            ]
            for lane, value, data in places:
                given = [int(r(warp)[lane]) for r in readers]
                if data is None:
                    continue
                if op.has("p"):
                    texel = data.view(value.array.dtype)
                    for k in range(min(len(given), value.channels)):
                        texel[k] = _formatted(given[k], value.array.dtype)
                else:
                    data[:] = np.frombuffer(b"".join(v.to_bytes(size, "little") for v in given), np.uint8)

        return step

    def _sured(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        (item,) = self._registers_of(instruction.operands[1], i)
        find = self._surface_element(instruction, instruction.operands[0], match, i)
        read = self.operands.read(item, op.type, i)
        name = match.one_of("add", "min", "max", "and", "or")
        size = op.type.bytes

        def step(warp: Warp) -> None:
            for position, lane in enumerate(np.flatnonzero(warp.executing).tolist()):
                value, data = find(warp, lane, position, size, size)
                if data is None:
                    continue
                kind = op.type.kind
                if op.has("p"):
                    kind = "s" if value.array.dtype.kind == "i" else "u"
                how = Op(op.sem, TYPES[f"{kind}{op.type.bits}"], op.stype, op.modifiers, False, False, True)
                old = np.array([int.from_bytes(data[:size].tobytes(), "little")], np.uint64)
                new = COMBINATIONS[name](how, old, read(warp)[lane : lane + 1])
                data[:size] = np.frombuffer(int(new[0]).to_bytes(8, "little")[:size], np.uint8)

        return step


def _signed(raw: Any) -> Any:
    return raw.astype(np.uint32).astype(np.int32)


def _half(bits: int) -> int:
    """The nearest f16 of an f32; there is one NaN."""
    value = np.float32(_f32(bits))
    return 0x7FFF if np.isnan(value) else int(value.astype(np.float16).view(np.uint16))


def _converted(texel: Texel, type_: str, whole: bool) -> tuple[int, ...]:
    """A texel in the type of the results."""
    if type_ not in ("f16", "f16x2"):
        return texel
    halves = [v & 0xFFFF if whole else _half(v) for v in texel]
    if type_ == "f16":
        return tuple(halves)
    return halves[0] | halves[1] << 16, halves[2] | halves[3] << 16, 0, 0


def _formatted(raw: int, dtype: Any) -> Any:
    """A component as a channel of a surface."""
    if dtype.kind == "f":
        return np.array(_half(raw), np.uint16).view(dtype) if dtype.itemsize == 2 else np.float32(_f32(raw))
    limits = np.iinfo(dtype)
    number = raw - (1 << 32) if dtype.kind == "i" and raw >> 31 else raw
    return dtype.type(max(min(number, int(limits.max)), int(limits.min)))


def _extent(value: Any, axis: int) -> int:
    before = value.layered + (getattr(value, "samples", 1) > 1)
    axes = value.array.ndim - (value.channels > 1) - before
    return int(value.array.shape[before + axes - 1 - axis]) if axis < axes else 0


def _data_type(value: Any) -> int:
    key = f"{value.array.dtype.kind}{value.array.dtype.itemsize}"
    return (_OPENCL_FRACTION if getattr(value, "read", "") == "normalized" else _OPENCL_TYPE)[key]


def _mode(value: Any, axis: int) -> int:
    modes = [value.address] * 3 if isinstance(value.address, str) else list(value.address)
    return _PTX_MODE[modes[min(axis, len(modes) - 1)]]


_ASKED: dict[str, Callable[[Any], int]] = {
    "width": lambda v: _extent(v, 0),
    "height": lambda v: _extent(v, 1),
    "depth": lambda v: _extent(v, 2),
    "array_size": lambda v: int(v.array.shape[0]) if v.layered else 0,
    "channel_data_type": _data_type,
    "channel_order": lambda v: _OPENCL_ORDER[v.channels],
    "normalized_coords": lambda v: int(v.normalized),
    "num_mipmap_levels": lambda v: 1,
    "num_samples": lambda v: getattr(v, "samples", 1),
    "memory_layout": lambda v: 0,
    "force_unnormalized_coords": lambda v: int(getattr(v, "unnormalized", False)),
    "filter_mode": lambda v: int(v.filter == "linear"),
    **{f"addr_mode_{k}": lambda v, k=k: _mode(v, k) for k in range(3)},  # type: ignore[misc]
}
TEXTURE_MEANINGS = frozenset({"tex", "tld4", "txq", "suq", "istypep", "suld", "sust", "sured"})
