"""Kernels whose results were worked out by hand: `tests/hand/*.ptx`, a small kernel per row of the instruction table.

What a kernel shows, is given and must leave stands in comments directly above its `.entry`:

    // shows: add.sat.s32                     the opcodes it is the test of; each must occur in it
    // because: 2^31 - 1 + 1 stays at the top  the reason for the values, one or more lines
    // launch: 2 x 32                          CTAs x threads; 1 x 1 without it
    // given in: s32 0x7fffffff 1              a buffer: type, values
    // wanted out: s32 0x7fffffff              a buffer, and what is in it afterwards, bit for bit
    // scalar n: s16 -5                        a number (a `given` of a parameter that is an array goes by value)
    // texture name: f32 2x4 address=wrap normalized; 0..7
                                               what a parameter or a variable of the module stands for: type, shape
                                               (x last), options of `ptxsim.Texture`; texels. Also `surface`, and
                                               `sampler name: OPTIONS`; a surface may have a `wanted`
    // map name: u32 1x4x4 box=4x2 lower=0; 0..15
                                               a tensor map (`ptxsim.TensorMap`): type and shape of the tensor (x last),
                                               options, whose dimensions are innermost first; elements. May be `wanted`
    // semantics: gpgpu-sim                    run with `--ptxplus-semantics gpgpu-sim`
    // ends: E414                              the run stops with this error

Every other parameter is a buffer, with a `given` or a `wanted` or both; without `given` it starts as zeros. Values are
numbers (integers in any base; with `f16`, `bf16`, `f32`, `f64` decimal ones, hexadecimal ones such as `0x1.8p-126`,
`inf` and `nan`), `VALUE*COUNT` for the same again and `FIRST..LAST` for integers in a row; a second line for the same
buffer continues it, without a type. Types are `u8` to `u64`, `s8` to `s64`, `f16`, `bf16`, `f32`, `f64`. A wanted `nan`
is any NaN (not so in bf16): where the bits matter, write the bits.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from checkout import TESTS

from ptxsim import Sampler, Surface, TensorMap, Texture
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.isa.forms import Form
from ptxtool.isa.table import table
from ptxtool.parse import parse

FOLDER = TESTS / "hand"
_ENTRY = re.compile(r"^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)")
_NOTE = re.compile(
    r"//\s*(shows|because|launch|semantics|ends|scalar|given|wanted|texture|surface|sampler|map)\b\s*([\w$]*)\s*:\s*(.*)"
)
_TYPES = {
    f"{letter}{bits}": f"{name}{bits}"
    for letter, name in (("u", "uint"), ("s", "int"))
    for bits in (8, 16, 32, 64)
}
_TYPES |= {f"f{bits}": f"float{bits}" for bits in (16, 32, 64)}  # fmt: skip


@dataclass
class HandKernel:
    """One kernel and its notes; `given` and `wanted` by name of a parameter."""

    kernel: Function
    is_ptxplus: bool
    place: str
    shows: list[str] = field(default_factory=list)
    because: list[str] = field(default_factory=list)
    launch: tuple[int, int] = (1, 1)
    given: dict[str, np.ndarray] = field(default_factory=dict)
    wanted: dict[str, np.ndarray] = field(default_factory=dict)
    scalars: dict[str, int | float] = field(default_factory=dict)
    opaque: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Textures, surfaces, samplers, tensor maps by name: which of them, and what the note says."""
    semantics: str = "hardware"
    ends: str = ""
    """The code of the error with which the run stops."""

    def shown(self) -> list[Form]:
        """The rows of the table this kernel is a test of. Raises `AssertionError` for an opcode it does not have."""
        found = []
        for opcode in self.shows:
            forms = [
                match.form
                for i in self.kernel.instructions
                if i.opcode.text == opcode
                for match in table().matches(opcode, len(i.operands), self.is_ptxplus)
            ]
            assert forms, f"{self.place}: no `{opcode}` in the kernel"
            found += forms
        return found

    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return [parameter.declarators[0].name for parameter in self.kernel.parameters]

    def arguments(self) -> dict[str, Any]:
        """Fresh buffers of the parameters, and fresh textures, surfaces and samplers, by name."""
        found: dict[str, Any] = {name: opaque(*note) for name, note in self.opaque.items()}
        found |= self.scalars
        for name in self.parameters():
            if name in found:
                continue
            start, end = self.given.get(name), self.wanted.get(name)
            assert start is not None or end is not None, f"{self.place}: nothing given or wanted for `{name}`"
            if start is None:
                assert end is not None
                start = np.zeros_like(end)
            found[name] = start.copy()
        return found

    def differences(self, run: Callable[..., Any]) -> list[str]:
        """Run it; a line per buffer that is not as wanted."""
        grid, block = self.launch
        found = self.arguments()
        how: dict[str, Any] = {} if self.semantics == "hardware" else {"ptxplus_semantics": self.semantics}
        if variables := {name: found[name] for name in self.opaque if name not in self.parameters()}:
            how["textures"] = variables
        wrong = []
        try:
            run(self.kernel, (grid,), (block,), [found[name] for name in self.parameters()], **how)
            end = ""
        except PtxError as e:
            if not self.ends:
                raise
            end = e.diagnostics[0].code
        if end != self.ends:
            wrong.append(f"{self.place}: ends with {end or 'no error'}, not {self.ends}")
        for name, wanted in self.wanted.items():
            buffer = found[name].array if isinstance(found[name], Surface | TensorMap) else found[name]
            shown = np.frombuffer(buffer.tobytes()[: wanted.nbytes], wanted.dtype)
            any_nan = np.isnan(wanted) & np.isnan(shown) if wanted.dtype.kind == "f" else False
            if not ((_bits(shown) == _bits(wanted)) | any_nan).all():
                wrong.append(f"{self.place}: `{name}` is {_hex(shown)}, not {_hex(wanted)}")
        return wrong


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


def _hex(values: np.ndarray) -> str:
    return " ".join(f"{int(v):#x}" for v in _bits(values)[:64])


def _real(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def values(text: str) -> np.ndarray:
    """A buffer from `TYPE VALUES`."""
    kind, *words = text.split()
    found: list[float | int] = []
    for word in words:
        if ".." in word:
            first, last = (int(part, 0) for part in word.split(".."))
            found += range(first, last + 1)
            continue
        number, _, count = word.partition("*")
        value = int(number, 0) if kind[0] in "us" else _real(number)
        found += [value] * int(count or 1)
    if kind == "bf16":
        bits = np.array(found, "float32").view("uint32")
        assert not (bits & 0xFFFF).any(), f"no bf16 values: {text}"
        return (bits >> 16).astype("uint16")
    if kind.startswith("f"):
        return np.array(found, _TYPES[kind])
    size = int(kind[1:])
    wrapped = [int(v) & ((1 << size) - 1) for v in found]
    return np.array(wrapped, f"uint{size}").view(_TYPES[kind])


def opaque(kind: str, text: str) -> Texture | Surface | Sampler | TensorMap:
    """A texture, surface or tensor map from `TYPE SHAPE OPTIONS; TEXELS`, a sampler from `OPTIONS`."""
    head, _, texels = text.partition(";")
    words = head.split()
    options: dict[str, Any] = {}
    for word in words if kind == "sampler" else words[2:]:
        name, _, value = word.partition("=")
        options[name] = int(value) if value.isdecimal() else value or True
        if "," in value:
            options[name] = tuple(value.split(","))
        if kind == "map" and name not in ("swizzle", "wide"):
            options[name] = tuple(int(n) for n in value.split("x"))
    if kind == "sampler":
        return Sampler(**options)
    array = values(f"{words[0]} {texels}").reshape([int(n) for n in words[1].split("x")])
    made: Any = {"texture": Texture, "surface": Surface, "map": TensorMap}[kind]
    return made(array, **options)


def _kernels(path: Path) -> Iterator[HandKernel]:
    text = path.read_text()
    module = parse(text, str(path))
    notes: list[tuple[str, str, str]] = []
    for n, line in enumerate(text.splitlines(), 1):
        entry = _ENTRY.match(line)
        note = _NOTE.match(line.strip())
        if entry is not None:
            made = HandKernel(module.kernels[entry.group(1)], module.is_ptxplus, f"{path.name}:{n}")
            buffers: dict[tuple[str, str], str] = {}
            for word, name, rest in notes:
                match word:
                    case "shows":
                        made.shows += [part.strip() for part in rest.split(",")]
                    case "because":
                        made.because.append(rest)
                    case "launch":
                        grid, block = rest.split("x")
                        made.launch = (int(grid), int(block))
                    case "semantics":
                        made.semantics = rest.strip()
                    case "ends":
                        made.ends = rest.strip()
                    case "scalar":
                        made.scalars[name] = values(rest)[0].item()
                    case "texture" | "surface" | "sampler" | "map":
                        made.opaque[name] = (word, rest)
                    case _:
                        buffers[word, name] = f"{buffers.get((word, name), '')} {rest}"
            for (word, name), rest in buffers.items():
                getattr(made, word)[name] = values(rest)
            assert made.shows, f"{made.place}: no `// shows:` above the kernel"
            yield made
            notes = []
        elif note is not None:
            notes.append((note.group(1), note.group(2), note.group(3)))
    assert not notes, f"{path.name}: notes without a kernel: {notes}"


def hand_kernels(path: Path) -> list[HandKernel]:
    """The kernels of a file, with their notes."""
    return list(_kernels(path))


def files() -> list[Path]:
    """The files of kernels, in order."""
    return sorted(FOLDER.glob("*.ptx*"))
