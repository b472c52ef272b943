"""Programs for the rows of textures and surfaces, through handles.

Fetches take the nearest texel, at places that are far from where the next one begins, so that nothing depends on how
coordinates are rounded. Every lane writes and changes an element of its own.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from form_text import instruction_texts, split_operands, type_name
from gpu.parts import item, load
from walk_kernels import LANES, REGISTER, Item

from ptxsim import Surface, Texture
from ptxtool.isa.forms import Form
from ptxtool.isa.table import Match

# elements along z, y, x; for the layered ones the first is that of layers
SHAPES = {
    "1d": (128,), "2d": (8, 16), "3d": (4, 4, 8), "a1d": (8, 16), "a2d": (4, 4, 8), "cube": (6, 8, 8),
    "acube": (12, 8, 8),
}  # fmt: skip
_LAYERED = ("a1d", "a2d", "cube", "acube")
_TEXELS = {"f32": "float32", "s32": "int32", "u32": "uint32", "f16": "float16", "f16x2": "float16"}


def texture_items(form: Form, limit: int) -> list[Item]:
    """Programs of a row of the family "texture"."""
    made = []
    for text, match in instruction_texts(form, limit=4 * limit):
        if form.sem == "sust" and match.n > 1 and not text.endswith("};"):
            continue  # one register for several values
        made.append(_access(text, match) if form.base[:2] == "su" else _fetch(text, match))
    step = -(-len(made) // limit) if made else 1
    return made[::step]


def texels(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Elements of all kinds: small numbers for floats, any bits for the others."""
    generator = np.random.default_rng(7)
    if dtype.startswith("f"):
        return (generator.integers(-4000, 4000, shape) / 16).astype(dtype)
    info = np.iinfo(dtype)
    return generator.integers(info.min, info.max, shape, dtype, endpoint=True)


def _texture(geometry: str, dtype: str) -> Texture:
    array = texels(dtype, (*SHAPES[geometry], 4))
    return Texture(array, "clamp", "point", "cube" in geometry, channels=4, layered=geometry in _LAYERED)


def _surface(geometry: str, channels: int) -> Surface:
    shape = SHAPES[geometry] if channels == 1 else (*SHAPES[geometry], channels)
    return Surface(texels("int32", shape), channels, layered=geometry in _LAYERED)


def _geometry(match: Match) -> str:
    return match.one_of(*SHAPES) or "2d"


def _named(kind: str, geometry: str, of: Any) -> tuple[str, Any]:
    """A handle's parameter and what makes it."""
    make = partial(_texture if kind == "t" else _surface, geometry, of)
    return f"{kind}_{geometry}_{of}", make


def _fetch(text: str, match: Match) -> Item:
    geometry = _geometry(match)
    opcode, _, rest = text.rstrip(";").partition(" ")
    operands = split_operands(rest)
    name, make = _named("t", geometry, _TEXELS.get(match.type, "float32"))
    operands = [re.sub(r"\[[^,\]]+", "[%u64r90", o) if o.startswith("[") else o for o in operands]
    lines = [f"ld.param.u64 %u64r90, [{name}];"]
    data: list[np.ndarray] = []
    generator = np.random.default_rng([*text.encode()])
    for k, operand in enumerate(operands):
        spec = match.operands[k]
        if spec.role in ("w", "p"):
            continue
        direction = _direction(generator)
        for n, (declared, number) in enumerate(r for r in REGISTER.findall(operand) if r != ("u64", "90")):
            lines.append(load(f"%{declared}r{number}", len(data)))
            if "cube" in geometry and spec.name == "a" and declared == "f32":
                data.append(direction[(n - (geometry == "acube")) % 3])
            else:
                data.append(_coordinate(declared, geometry, spec.name, n, generator))
    whole = f"{opcode} {', '.join(operands)};"
    results = _results(operands, match)
    inputs = np.array(data).astype(np.uint64) if data else None
    return item(whole, match, [*lines, whole], results, inputs, handles={name: make})


def _coordinate(
    declared: str, geometry: str, name: str, n: int, generator: np.random.Generator
) -> np.ndarray:
    """Places in and around the texture, layers in it, offsets, levels and gradients."""
    if name == "offset":
        return generator.integers(-3, 4, LANES).astype(np.int32).view(np.uint32)
    if name in ("level", "dx", "dy"):
        if declared.startswith("f"):
            return (generator.integers(0, 8, LANES) / 4).astype(np.float32).view(np.uint32)
        return np.zeros(LANES, np.uint32)
    shape = SHAPES[geometry]
    if declared == "u32":
        return generator.integers(0, shape[0] // (6 if geometry == "acube" else 1), LANES).astype(np.uint32)
    place = n - 1 if geometry.startswith("a") else n
    extent = shape[-1 - place] if place < len(shape) else 1
    whole = generator.integers(-2, extent + 2, LANES)
    if declared.startswith("f"):
        return (whole + generator.integers(1, 16, LANES) / 16 + 1 / 32).astype(np.float32).view(np.uint32)
    return whole.astype(np.int32).view(np.uint32)


def _direction(generator: np.random.Generator) -> np.ndarray:
    """Vectors to the sides of a cube, each well inside a texel: x, y and z as words."""
    size = SHAPES["cube"][-1]
    length = generator.choice([1, 2, 4], LANES) * generator.choice([-1, 1], LANES)
    vectors = np.zeros((3, LANES))
    texel = generator.integers(0, size, (3, LANES)) + generator.integers(4, 13, (3, LANES)) / 16
    vectors[:] = np.abs(length) * (texel * 2 / size - 1)
    vectors[generator.integers(0, 3, LANES), np.arange(LANES)] = length
    return vectors.astype(np.float32).view(np.uint32)


def _results(operands: list[str], match: Match) -> list[tuple[str, str]]:
    found = []
    for operand, spec in zip(operands, match.operands, strict=False):
        if spec.role in ("w", "p"):
            kind = next((type_name(f, match) for f in spec.fits if f.type), "b")
            found += [(f"%{d}r{n}", "b" if d == "pred" else kind) for d, n in REGISTER.findall(operand)]
    return found


def _access(text: str, match: Match) -> Item:
    """Loads in and around the surface; stores and reductions of every lane's own element, which is read back."""
    geometry = _geometry(match)
    opcode, _, rest = text.rstrip(";").partition(" ")
    operands = split_operands(rest)
    bits = int("".join(c for c in match.type if c.isdigit()) or 32)
    channels = (2 if bits == 64 else 1) if match.form.sem == "sured" else 4
    name, make = _named("s", geometry, channels)
    inside = match.form.sem != "suld" or "trap" in match.modifiers
    formatted = "p" in match.modifiers
    lines = [f"ld.param.u64 %u64r90, [{name}];"]
    data = list(_places(geometry, 1 if formatted else 4 * channels, inside, text))
    places = [
        f"%s32r{80 + k}" if not (k == 0 and geometry[0] == "a") else "%u32r80" for k in range(len(data))
    ]
    lines += [load(register, k) for k, register in enumerate(places)]
    at = ", ".join(places)
    generator = np.random.default_rng([*text.encode()])
    after: list[str] = []
    results: list[tuple[str, str]] = []
    for k, spec in enumerate(match.operands[: len(operands)]):
        if spec.role == "m":
            operands[k] = "[%u64r90]" if match.form.sem == "suq" else f"[%u64r90, {{{at}}}]"
        elif spec.role == "r":
            for declared, number in REGISTER.findall(operands[k]):
                lines.append(load(f"%{declared}r{number}", len(data), _width(declared)))
                data.append(generator.integers(0, 1 << 64, LANES, np.uint64))
    whole = f"{opcode} {', '.join(operands)};"
    if match.form.sem in ("sust", "sured"):
        x = places[1 if geometry[0] == "a" else 0]
        if formatted:
            after.append(f"mul.lo.s32 {x}, {x}, {4 * channels};")
        vector = {1: "", 2: ".v2", 4: ".v4"}[channels]
        into = [f"%b32r{90 + j}" for j in range(channels)]
        after = [
            "bar.sync 0;",
            *after,
            f"suld.b.{geometry}{vector}.b32.clamp {{{', '.join(into)}}}, [%u64r90, {{{at}}}];",
        ]
        results = [(register, "b") for register in into]
    results = results or _results(operands, match)
    lines = [*lines, "bar.sync 0;", whole, *after, "bar.sync 0;"]
    return item(whole, match, lines, results, np.array(data).astype(np.uint64), handles={name: make})


def _width(declared: str) -> int:
    return {"b8": 8, "b16": 16, "u16": 16, "b64": 64, "u64": 64, "s64": 64}.get(declared, 32)


def _places(geometry: str, size: int, inside: bool, seed: str) -> Iterator[np.ndarray]:
    """Coordinates: the layer, x in units of `size` bytes, y, z, and one without use; each lane's own if `inside`."""
    shape = SHAPES[geometry]
    own = [a.astype(np.int64) for a in np.unravel_index(np.arange(LANES), shape)]
    generator = np.random.default_rng([*seed.encode()])
    free = [generator.integers(-2, n + 2, LANES) for n in shape]
    axes = own if inside else free
    if geometry[0] == "a":
        yield own[0].astype(np.uint32)
        axes = axes[1:]
    yield (axes[-1] * size).astype(np.int32).view(np.uint32)
    for axis in axes[-2::-1]:
        yield axis.astype(np.int32).view(np.uint32)
    if geometry in ("3d", "a2d"):
        yield np.zeros(LANES, np.uint32)
