"""Texture and surface instructions, compiled against the reference interpreter: coordinates of all kinds, all modes.

The two compute filtered values in different ways (sums of f64, exact fractions): one in the last place may differ.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from form_text import DECLARED, instruction_texts
from reference.interpreter import run_reference

from ptxsim import Sampler, Surface, Texture
from ptxsim import functional_run as functional
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES
from ptxtool.parse import parse

LANES = 64
HEAD = """.version 8.1
.target sm_90MODE
.address_size 64
.global .texref named;
.global .surfref target;
.global .samplerref how =
  { addr_mode_0 = mirror, addr_mode_1 = clamp_to_border, addr_mode_2 = wrap, filter_mode = linear };
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 p, .param .u64 q)
{
	.reg .b16 %h<8>;
	.reg .b32 %r<20>;
	.reg .f32 %f<20>;
	.reg .b64 %d<20>;
	.reg .pred %p<8>;
	ld.param.u64 %d1, [t];
	ld.param.u64 %d2, [s];
	ld.param.u64 %d10, [p];
	ld.param.u64 %d11, [q];
	mov.u32 %r10, %tid.x;
	mad.wide.u32 %d12, %r10, 32, %d10;
	mad.wide.u32 %d13, %r10, 16, %d11;
	ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%d12];
	ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d12+16];
"""
TO, WORDS = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}"

FETCHES = [
    f"tex.1d.v4.f32.f32 {TO}, [%d1, {{%f4}}];",
    f"tex.1d.v4.f32.f32 {TO}, [%d1, %f4];",
    f"tex.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5}}];",
    f"tex.3d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5, %f6, %f6}}];",
    f"tex.a1d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4}}];",
    f"tex.a2d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f5}}];",
    f"tex.1d.v4.f32.s32 {TO}, [%d1, {{%r4}}];",
    f"tex.2d.v4.s32.s32 {WORDS}, [%d1, {{%r4, %r5}}]; mov.b32 %f0, %r0; mov.b32 %f1, %r1;",
    f"tex.3d.v4.u32.s32 {WORDS}, [%d1, {{%r4, %r5, %r6, %r6}}]; mov.b32 %f2, %r2; mov.b32 %f3, %r3;",
    f"tex.base.2d.v4.f32.f32 {TO}, [%d1, {{%f5, %f4}}], {{%r4, %r5}};",
    f"tex.1d.v4.f32.s32 {TO}, [%d1, {{%r4}}], {{%r5}};",
    f"tex.level.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f6}}], %f5;",
    f"tex.grad.2d.v4.f32.f32 {TO}, [%d1, {{%f6, %f5}}], {{%f4, %f5}}, {{%f6, %f7}};",
    "tex.2d.v4.f32.f32 {%f0, _, _, %f3}|%p1, [%d1, {%f4, %f5}]; selp.f32 %f1, 1.0, 2.0, %p1;",
    f"tex.cube.v4.f32.f32 {TO}, [%d1, {{%f4, %f5, %f6, %f6}}];",
    f"tex.acube.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f6}}];",
    *(f"tld4.{c}.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5}}];" for c in "rgba"),
    f"tld4.r.a2d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f5}}], {{%r4, %r5}};",
    "tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%d1, {%f4, %f5}]; mov.b32 %f0, {%h0, %h1}; mov.b32 %f1, {%h2, %h3};",
    "tex.1d.v2.f16x2.f32 {%r0, %r1}, [%d1, {%f4}]; mov.b32 %f0, %r0; mov.b32 %f1, %r1;",
]  # fmt: skip
DEPTHS = [
    f"tex.1d.v4.f32.f32 {TO}, [%d1, {{%f4}}], %f6;",
    f"tex.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5}}], 0.25;",
    f"tex.a1d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4}}], {{%r5}}, %f7;",
    f"tex.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5}}], {{%r4, %r5}}, %f6;",
    f"tex.a2d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f5}}], 0f41000000;",
    f"tex.level.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f6}}], %f5, %f7;",
    f"tex.level.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f6}}], %f5, {{%r4, %r5}}, %f4;",
    f"tex.grad.2d.v4.f32.f32 {TO}, [%d1, {{%f6, %f5}}], {{%f4, %f5}}, {{%f6, %f7}}, %f4;",
    f"tex.grad.1d.v4.f32.f32 {TO}, [%d1, {{%f6}}], {{%f4}}, {{%f6}}, {{%r4}}, %f7;",
    f"tex.cube.v4.f32.f32 {TO}, [%d1, {{%f4, %f5, %f6, %f6}}], %f7;",
    f"tex.acube.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f6}}], %r4, %f7;",
    *(f"tld4.{c}.2d.v4.f32.f32 {TO}, [%d1, {{%f4, %f5}}], %f6;" for c in "rgba"),
    f"tld4.r.a2d.v4.f32.f32 {TO}, [%d1, {{%r7, %f4, %f5, %f5}}], {{%r4, %r5}}, %f6;",
    "tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%d1, {%f4, %f5}], %f6;"
    " mov.b32 %f0, {%h0, %h1}; mov.b32 %f1, {%h2, %h3};",
    "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%d1, {%f4, %f5}], %f6; mov.b32 %f0, %r0; mov.b32 %f1, %r1;",
]  # fmt: skip
SAMPLES = [
    f"tex.2dms.v4.f32.s32 {TO}, [%d1, {{%r6, %r4, %r5, %r5}}];",
    f"tex.2dms.v4.f32.s32 {TO}, [%d1, {{%r4, %r5, %r6, %r6}}], {{%r6, %r4}};",
    f"tex.a2dms.v4.f32.s32 {TO}, [%d1, {{%r7, %r4, %r5, %r6}}];",
    f"tex.a2dms.v4.f32.s32 {TO}, [%d1, {{%r7, %r6, %r5, %r4}}], {{%r4, %r5}};",
]  # fmt: skip
INDEPENDENT = [
    f"tex.2d.v4.f32.f32 {TO}, [%d1, %d2, {{%f4, %f5}}];",
    f"tex.3d.v4.f32.f32 {TO}, [named, how, {{%f4, %f5, %f6, %f6}}];",
    f"tex.2d.v4.f32.f32 {TO}, [named, %d2, {{%f4, %f5}}], {{%r4, %r5}};",
    f"tld4.g.2d.v4.f32.f32 {TO}, [%d1, how, {{%f4, %f5}}];",
    "txq.filter_mode.b32 %r0, [how]; mov.b32 %f0, %r0; txq.addr_mode_1.b32 %r1, [how]; mov.b32 %f1, %r1;"
    " txq.addr_mode_0.b32 %r2, [%d2]; mov.b32 %f2, %r2;",
    "txq.force_unnormalized_coords.b32 %r3, [%d2]; mov.b32 %f3, %r3;",
]  # fmt: skip
QUERIES = [
    *(f"txq.{name}.b32 %r0, [%d1]; mov.b32 %f0, %r0;"
      for name in ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size",
                   "num_mipmap_levels", "num_samples", "memory_layout", "filter_mode", "addr_mode_0", "addr_mode_2")),
    "txq.level.width.b32 %r0, [named], %r4; mov.b32 %f0, %r0;",
    *(f"suq.{name}.b32 %r0, [%d2]; mov.b32 %f0, %r0;"
      for name in ("width", "height", "depth", "channel_data_type", "channel_order", "array_size")),
    *(f"istypep.{kind} %p1, {of}; selp.f32 %f0, 1.0, 2.0, %p1;"
      for kind in ("texref", "samplerref", "surfref") for of in ("%d1", "%d2", "%d10")),
    "mov.u64 %d3, named; istypep.texref %p1, %d3; selp.f32 %f0, 1.0, 2.0, %p1;",
]  # fmt: skip
# %r10: the lane; %r4 .. %r6: coordinates of all kinds
LOADS = [
    *(f"shl.b32 %r8, %r4, 2; suld.b.{g}.b32.{m} {{%r0}}, [%d2, {at}]; mov.b32 %f0, %r0;"
      for m in ("clamp", "zero")
      for g, at in (("1d", "{%r8}"), ("2d", "{%r8, %r5}"), ("3d", "{%r8, %r5, %r6, %r6}"), ("a1d", "{%r5, %r8}"),
                    ("a2d", "{%r6, %r8, %r5, %r5}"))),
    "shl.b32 %r8, %r4, 3; suld.b.2d.v2.b32.zero {%r0, %r1}, [target, {%r8, %r5}]; mov.b32 %f0, %r0; mov.b32 %f1, %r1;",
    "shl.b32 %r8, %r4, 3; suld.b.2d.b64.clamp {%d5}, [%d2, {%r8, %r5}]; mov.b64 {%f0, %f1}, %d5;",
    "suld.b.2d.b8.clamp {%h1}, [%d2, {%r4, %r5}]; cvt.u32.u8 %r0, %h1; mov.b32 %f0, %r0;",
    "shl.b32 %r8, %r4, 1; suld.b.2d.v4.b16.zero {%h0, %h1, %h2, %h3}, [%d2, {%r8, %r5}];"
    " mov.b32 %f0, {%h0, %h1}; mov.b32 %f1, {%h2, %h3};",
    "and.b32 %r8, %r10, 7; suld.b.1d.b8.trap {%h1}, [%d2, {%r8}]; cvt.u32.u8 %r0, %h1; mov.b32 %f0, %r0;",
]  # fmt: skip
STORES = [
    "shl.b32 %r8, %r4, 2; sust.b.2d.b32.zero [%d2, {%r8, %r5}], {%r10};",
    "shl.b32 %r8, %r4, 2; sust.b.3d.b32.clamp [%d2, {%r8, %r5, %r6, %r6}], %r10;",
    "shl.b32 %r8, %r4, 3; sust.b.a2d.v2.b32.zero [%d2, {%r6, %r8, %r5, %r5}], {%r10, %r4};",
    "cvt.u16.u32 %h1, %r10; sust.b.2d.b8.zero [%d2, {%r4, %r5}], {%h1};",
    "shl.b32 %r8, %r4, 3; cvt.s64.s32 %d5, %r4; sust.b.2d.b64.zero [%d2, {%r8, %r5}], {%d5};",
    "sust.p.2d.v4.b32.zero [%d2, {%r4, %r5}], {%r4, %r5, %r6, %r7};",
    "sust.p.1d.b32.clamp [%d2, {%r4}], {%f4};",
    "sust.p.a1d.v2.b32.zero [target, {%r5, %r4}], {%f4, %f5};",
    *(f"shl.b32 %r8, %r4, 2; sured.b.{o}.2d.{t}.zero [%d2, {{%r8, %r5}}], %r7;"
      for o, t in (("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"))),
    "shl.b32 %r8, %r4, 3; cvt.s64.s32 %d5, %r6; sured.b.min.1d.s64.clamp [%d2, {%r8}], %d5;",
]  # fmt: skip
REDUCTIONS = [
    *(f"sured.p.{o}.2d.b32.{m} [%d2, {{%r4, %r5}}], %r6;"
      for o in ("add", "min", "max", "or") for m in ("zero", "clamp")),
]  # fmt: skip


def kernel(bodies: Sequence[str], independent: bool = False) -> Function:
    parts = [HEAD.replace("MODE", ", texmode_independent" if independent else "")]
    for k, body in enumerate(bodies):
        parts.append("mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n")
        parts.append(f"{body}\nst.global.v4.f32 [%d13+{16 * LANES * k}], {TO};\n")
    return next(iter(parse("".join([*parts, "ret;\n}\n"])).kernels.values()))


def coordinates(scale: float) -> np.ndarray:
    """Four floats and four integers a lane: edges, halves and 1/256ths of texels, huge ones, NaN, and random ones."""
    random = np.random.default_rng(5)
    special = [
        0,
        -0.0,
        0.25,
        0.5,
        0.501953125,
        0.498046875,
        1,
        1.5,
        -0.5,
        -1e-30,
        2,
        7.25,
        -3.75,
        1e9,
        -1e9,
        3e38,
    ]
    special += [np.nan, np.inf, -np.inf, 1e-40, 33554432.0, -33554434.0, 0.001953125, 1 - 2**-24]
    floats = np.concatenate([np.array(special), random.uniform(-1.5, 2.5, 40) * scale])[:LANES]
    lanes = np.zeros((LANES, 8), np.uint32)
    for k in range(4):
        lanes[:, k] = (
            np.roll(random.permutation(floats) if k else floats, k).astype(np.float32).view(np.uint32)
        )
    lanes[:, 4:7] = random.integers(-3, 9, (LANES, 3)).astype(np.int32).view(np.uint32)
    lanes[:, 7] = random.integers(0, 5, LANES)
    lanes[0, 4:7], lanes[1, 4:7] = 0, 1
    lanes[LANES - 1, 7] = 0xFFFFFFFF
    return lanes


def texels(dtype: str, shape: tuple[int, ...]) -> Any:
    random = np.random.default_rng(7)
    if dtype[0] == "f":
        return (random.integers(-4000, 4000, shape) / 16).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def both(bodies: Sequence[str], made: Any, independent: bool = False, scale: float = 5) -> None:
    """Run bodies both ways on what `made()` makes: a texture, a sampler or surface, and textures by name."""
    function = kernel(bodies, independent)
    results = []
    for run in (run_reference, functional.run):
        texture, other, named = made()
        found = np.zeros((len(bodies), LANES, 4), np.uint32)
        arguments = [texture, other, coordinates(scale), found]
        run(function, (1,), (LANES,), arguments, textures=named)  # type: ignore[operator]
        results.append([found, *(v.array for v in (other, named["target"]) if isinstance(v, Surface))])
    for expected, array in zip(results[0][1:], results[1][1:], strict=True):
        assert expected.tobytes() == array.tobytes()
    expected, found = results[0][0].astype(np.int64), results[1][0].astype(np.int64)
    wrong = np.abs(expected - found) > 1
    lines = [
        f"{bodies[k]}: lane {lane}: {coordinates(scale)[lane, :4].view(np.float32)} "
        f"{coordinates(scale)[lane, 4:].view(np.int32)}: {results[0][0][k, lane].view(np.float32)} "
        f"{results[1][0][k, lane].view(np.float32)}"
        for k, lane in np.argwhere(wrong.any(axis=2)).tolist()
    ]
    assert not lines, "\n".join([str(len(lines)), *lines[:20]])


def named_ones() -> dict[str, Any]:
    volume = texels("float32", (3, 4, 5))
    return {
        "named": Texture(volume, normalized=True, filter="linear"),
        "target": Surface(texels("float16", (5, 8, 2)), channels=2),
    }


@pytest.mark.parametrize("address", ["wrap", "mirror", "clamp", "border", ("border", "wrap", "mirror")])
@pytest.mark.parametrize("filter_", ["point", "linear"])
@pytest.mark.parametrize("normalized", [False, True])
def test_fetches(address: Any, filter_: Any, normalized: bool) -> None:
    array = texels("float32", (3, 4, 5, 2))
    surface = Surface(np.zeros(4, np.int32))

    def made() -> Any:
        texture = Texture(array, address, filter_, normalized, channels=2)
        return texture, surface, named_ones()

    both(FETCHES, made, scale=1 if normalized else 5)


@pytest.mark.parametrize(
    ("dtype", "read"),
    [(t, "element") for t in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16")]
    + [(t, "normalized") for t in ("uint8", "int8", "uint16", "int16")],
)
def test_formats(dtype: str, read: Any) -> None:
    filter_: Any = "linear" if read == "normalized" or dtype == "float16" else "point"
    array = texels(dtype, (4, 6, 4))

    def made() -> Any:
        texture = Texture(array, "mirror", filter_, True, read, 4)
        return texture, Surface(np.zeros(4, np.int32)), named_ones()

    both(FETCHES[:15], made, scale=1)


def test_layers_and_cubes() -> None:
    array = texels("float32", (12, 5, 5))

    def made() -> Any:
        texture = Texture(array, filter="linear", normalized=True, layered=True)
        return texture, Surface(texels("int8", (3, 8)), layered=True), named_ones()

    both(FETCHES, made, scale=1)
    both(QUERIES, made)


def test_layers_of_lines() -> None:
    def made() -> Any:
        texture = Texture(texels("int16", (4, 6, 2)), "border", "linear", False, "normalized", 2, True)
        return texture, Surface(texels("float32", (4, 5, 6, 4)), 4), named_ones()

    both(FETCHES, made)
    both(QUERIES, made)


COMPARISONS = ("never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always")


@pytest.mark.parametrize("compare", COMPARISONS)
def test_depths(compare: Any) -> None:
    """Depths that are now and then those of texels; `.f32`, fractions and whole numbers."""
    for k, (dtype, read, filter_) in enumerate(
        (
            ("float32", "element", "linear"),
            ("float32", "element", "point"),
            ("uint8", "normalized", "linear"),
            ("int8", "element", "point"),
        )
    ):
        array = (np.round(texels(dtype, (12, 5, 5)) / 64) / 4).astype(dtype)

        def made(array: Any = array, read: Any = read, filter_: Any = filter_, k: int = k) -> Any:
            address: Any = ("border", "mirror") if k % 2 else "wrap"
            texture = Texture(array, address, filter_, True, read, layered=True, compare=compare)
            return texture, Surface(np.zeros(4, np.int32)), named_ones()

        both(DEPTHS, made, scale=1)


@pytest.mark.parametrize(("shape", "layered"), [((4, 5, 6, 2), False), ((3, 4, 5, 6, 2), True)])
def test_samples(shape: tuple[int, ...], layered: bool) -> None:
    def made() -> Any:
        texture = Texture(texels("float32", shape), "border", channels=2, layered=layered, samples=4)
        return texture, Surface(np.zeros(4, np.int32)), named_ones()

    both(SAMPLES, made)
    both(FETCHES, made)
    both(QUERIES, made)


@pytest.mark.parametrize("unnormalized", [False, True])
def test_samplers(unnormalized: bool) -> None:
    def made() -> Any:
        texture = Texture(texels("float32", (4, 6)), normalized=True)
        return texture, Sampler(["wrap", "mirror"], "linear", unnormalized), named_ones()

    both(INDEPENDENT, made, independent=True, scale=1)


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "uint16", "int32", "uint32", "float16", "float32"]
)
@pytest.mark.parametrize("channels", [1, 4])
def test_surfaces(dtype: str, channels: int) -> None:
    shape = (3, 5, 16, channels)[: 3 + (channels > 1)]

    def made() -> Any:
        return Texture(np.zeros(3, np.float32)), Surface(texels(dtype, shape), channels), named_ones()

    # what an int64 does not fit into is not asked for
    both(LOADS, made)
    for body in STORES:
        both([body], made)
    if np.dtype(dtype).itemsize == 4:
        for body in REDUCTIONS:  # warps take turns: one kind, whose order does not matter
            both([body], made)


def test_layered_surfaces() -> None:
    def made() -> Any:
        surface = Surface(texels("uint32", (4, 16)), layered=True)
        return Texture(np.zeros(3, np.float32)), surface, named_ones()

    both(LOADS, made)
    for body in STORES:
        both([body], made)


SEMANTICS = ("tex", "tld4", "txq", "suq", "suld", "sust", "sured", "istypep")
_NAMED = re.compile(r"\b(tex|surf)\d+\b")
_REGISTER = re.compile(r"%([a-z]\w*?)r(\d+)\b")


@pytest.mark.parametrize("sem", SEMANTICS)
def test_every_row(sem: str) -> None:
    """Instructions of every row and choice of modifiers run both ways; what they write is stored."""
    forms = [f for all_ in table().forms.values() for f in all_ if f.sem == sem and f.dialect != "ptxplus"]
    texts = [
        re.sub(r"\[%u64r\d+\]", "[surf0]" if sem == "suq" else "[tex0]", text)
        for form in forms
        for text, _ in instruction_texts(form, limit=60)
        # one register for several values: ptxas crashes, the simulator refuses it
        if not (sem == "sust" and re.search(r"\.v[24]\.", text) and not text.endswith("};"))
    ]
    assert len(texts) >= len(forms)
    names = sorted({m[0] for m in _NAMED.finditer(" ".join(texts))})
    registers = sorted({(m[1], m[0]) for m in _REGISTER.finditer(" ".join(texts))})
    lines = [f".reg .{DECLARED.get(kind, kind)} {register};" for kind, register in registers]
    words = [
        (r, {16: "b16", 32: "b32", 64: "b64"}.get(TYPES[k].bits, "")) for k, r in registers if k != "pred"
    ]
    sinks = [f"st.global.{kind} [%dq+{8 * k}], {r};" for k, (r, kind) in enumerate(words) if kind]
    opaque = [f".global .{'texref' if n.startswith('tex') else 'surfref'} {n};" for n in names]
    text = "\n".join(
        [
            ".version 8.6\n.target sm_90\n.address_size 64",
            *opaque,
            ".visible .entry k(.param .u64 q)\n{\n.reg .b64 %dq;\nld.param.u64 %dq, [q];",
            *lines,
            *(f"{each}\n{' '.join(sinks)}\nadd.u64 %dq, %dq, {8 * len(words)};" for each in texts),
            "ret;\n}\n",
        ]
    )
    results = []
    for run in (run_reference, functional.run):
        image = Texture(texels("float32", (6, 4, 4)))
        surface = Surface(texels("int32", (4, 4, 4, 4)), 4)
        found = np.zeros((len(texts), max(1, len(words))), np.uint64)
        given = {name: image if name.startswith("tex") else surface for name in names}
        run(parse(text).kernels["k"], (1,), (1,), [found], textures=given)  # type: ignore[operator]
        results.append((found, surface.array))
    assert results[0][1].tobytes() == results[1][1].tobytes()
    wrong = np.flatnonzero((results[0][0] != results[1][0]).any(axis=1))
    assert [texts[k] for k in wrong] == []
