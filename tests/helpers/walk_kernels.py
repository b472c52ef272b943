"""Kernels that run instructions made from the rows of the instruction table: for `diff/test_table_walk.py` and `gpu/`.

`form_text.py` makes the texts. Every register that an instruction reads gets edge values and random bits of the type
the operand stands for, every register that it writes and, for stores and atomics, the memory at its address goes to
the result buffer. Each operand has 16 bytes per lane there. A carry flag that an instruction reads is set from an
input, one that it writes is a further result.

Not made: addresses in the shared memory of other CTAs of a cluster (`.shared::cluster` is the CTA's own), parameters
of functions.
"""

import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from form_text import DECLARED, instruction_texts, opcode_texts, operand_text, split_operands, type_name
from instruction_forms import EDGES

from ptxtool.ir.nodes import Function
from ptxtool.isa.forms import Form
from ptxtool.isa.operands import OperandSpec
from ptxtool.isa.table import Match, table
from ptxtool.parse import parse

LANES = 128
SLOT = 16  # bytes of a result
SLOTS = 12  # results of an instruction
PLACES = 12  # inputs of a kind
CELL = 64  # bytes of memory of a lane
REGISTER = re.compile(r"%([a-z]\w*?)r(\d+)\b")
_LOADED = {"b8": "b8", "b16": "b16", "u16": "b16", "s16": "b16", "f16": "b16", "b64": "b64", "u64": "b64", "s64": "b64",
           "f64": "b64"}  # fmt: skip
_BF16 = [
    0,
    0x8000,
    1,
    0x3F80,
    0xBF80,
    0x3F00,
    0x4049,
    0x7F7F,
    0x7F80,
    0xFF80,
    0x7FC0,
    0x0080,
    0x807F,
    0x7F81,
    0x4B00,
]
_F8 = [0, 0x80, 1, 0x07, 0x08, 0x38, 0xB8, 0x7E, 0x7F, 0xFF, 0x7B, 0x7C, 0xFC, 0x1F, 0x3F]


def _packed(edges: list[int], bits: int, n: int = 2) -> list[int]:
    """Pairs (or more) of edge values in one word."""
    count = len(edges)
    return [
        sum(edges[(k * (5 + 2 * j) + j * (k // count)) % count] << bits * j for j in range(n))
        for k in range(4 * count)
    ]


KINDS: dict[str, list[int]] = {
    **EDGES,
    "bf16": _BF16,
    "f16x2": _packed(EDGES["f16"], 16),
    "bf16x2": _packed(_BF16, 16),
    "f32x2": _packed(EDGES["f32"], 32),
    "f8": _packed(_F8, 8, 4),
    "small": [0, 1, 2, 5, 31, 32, 0xFFFFFFFF],
}
"""Edge values by kind of input."""
KIND_OF = {
    "f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "f32", "f64": "f64",
    **{name: name for name in ("f16x2", "bf16x2", "f32x2")},
    **{f"{name}x2": "f8" for name in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0")},
}  # fmt: skip


@cache
def inputs() -> np.ndarray:
    """Values of every kind: an array of (kind, place, lane)."""
    rows = []
    for kind, edges in KINDS.items():
        generator = random.Random(kind)
        columns: list[list[int]] = [[] for _ in range(PLACES)]
        pairs = list(itertools.product(edges, edges))
        generator.shuffle(pairs)
        for lane in range(LANES):
            pair = pairs[lane % len(pairs)]
            for k, column in enumerate(columns):
                is_edge = lane < LANES * 5 // 8
                column.append(
                    pair[k]
                    if is_edge and k < 2
                    else generator.choice(edges)
                    if is_edge
                    else _random(kind, generator)
                )
        rows.append(columns)
    return np.array(rows, np.uint64)


def _random(kind: str, generator: random.Random) -> int:
    def single() -> int:
        return (
            generator.getrandbits(1) << 31 | generator.randrange(110, 145) << 23 | generator.getrandbits(23)
        )

    if kind in ("f32", "f32x2"):
        return single() | (single() << 32 if kind == "f32x2" else 0)
    if kind in ("bf16", "bf16x2"):
        return single() >> 16 | (single() & 0xFFFF0000 if kind == "bf16x2" else 0)
    if kind == "f64":
        return (
            generator.getrandbits(1) << 63 | generator.randrange(1000, 1060) << 52 | generator.getrandbits(52)
        )
    if kind == "small":
        return generator.getrandbits(6)
    bits = {"f16": 16, "f16x2": 32, "f8": 32}.get(kind, 64)
    return generator.getrandbits(bits) >> (0 if bits < 64 else generator.choice([0, 0, 8, 24, 40]))


@dataclass(frozen=True)
class Item:
    """One instruction, and what it stands for: the types of its results, by slot.

    `given` names the inputs of its registers: (register, kind, place), for messages. `data` are inputs of its own,
    (word, lane), at `[%data+IN+...]`; `outside` stands before the kernel; `handles` makes textures and surfaces for
    parameters; one that is `alone` shares its kernel, which may have `directives`, with no other; one that `fails` must
    end the run.
    """

    text: str
    match: Match
    body: str
    results: tuple[str, ...]
    given: tuple[tuple[str, str, int], ...] = ()
    data: np.ndarray | None = None
    outside: str = ""
    handles: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    alone: bool = False
    directives: str = ""
    fails: bool = False


def items(form: Form, limit: int) -> list[Item]:
    """Instructions of a form with what surrounds them."""
    found = list(instruction_texts(form, limit=400)) or _ended(form)
    generator = random.Random(form.base)
    if len(found) > limit:
        found = generator.sample(found, limit)
    return [_item(_selectors(text, match, generator), match) for text, match in found]


def _ended(form: Form) -> list[tuple[str, Match]]:
    """Instructions of a form that older versions of PTX had."""
    found = []
    for text in opcode_texts(form):
        match = next((m for m in table().matches(text, form.max_operands, False) if m.form is form), None)
        if match is not None and form.until is not None:
            operands = [operand_text(spec, match, k) for k, spec in enumerate(match.operands)]
            found.append((f"{text} {', '.join(operands)};", match))
    return found


def _selectors(text: str, match: Match, generator: random.Random) -> str:
    """Video instructions: selectors, masks and signs of operands, by chance."""
    head, _, rest = text.rstrip(";").partition(" ")
    operands = split_operands(rest)
    for k, (operand, spec) in enumerate(zip(operands, match.operands, strict=False)):
        kind = spec.fits[0].kind if spec.fits else ""
        if spec.name == "mask" and not operand.startswith("%"):
            operands[k] = "-1"
        if kind not in _SELECTORS:
            continue
        is_merge = spec.role == "w" and kind == "vsel"  # such a row has a selector there
        selector = _SELECTORS[kind](generator)
        operands[k] = operand + (f".{selector}" if is_merge or generator.random() < 0.7 else "")
    if match.form.base == "vmad" and "po" not in match.modifiers:
        negated = generator.choice([None, None, 1, 2, 3])  # a factor or the summand
        if negated is not None:
            operands[negated] = "-" + operands[negated]
    return f"{head} {', '.join(operands)};"


_SELECTORS: dict[str, Callable[[random.Random], str]] = {
    "vsel": lambda g: g.choice(["b0", "b1", "b2", "b3", "h0", "h1"]),
    "vsel2": lambda g: f"h{g.randrange(4)}{g.randrange(4)}",
    "vsel4": lambda g: "b" + "".join(str(g.randrange(8)) for _ in range(4)),
    "vmask2": lambda g: g.choice(["h0", "h1", "h10"]),
    "vmask4": lambda g: "b" + ("".join(d for d in "3210" if g.random() < 0.6) or "2"),
}


def _item(text: str, match: Match) -> Item:
    operands = split_operands(text.rstrip(";").partition(" ")[2])
    before: list[str] = []
    after: list[str] = []
    results: list[str] = []
    given: list[tuple[str, str, int]] = []
    for k, (operand, spec) in enumerate(zip(operands, match.operands, strict=False)):
        types = [type_name(f, match) for f in spec.fits if f.type] or [match.type]
        value_type = _meant(operand, spec, match) or (types[0] if types else "b32")
        if spec.role == "m":
            before += _address(operand, match)
        elif spec.name == "policy":
            before.append(f"createpolicy.fractional.L2::evict_first.b64 {operand}, 1.0;")
        elif spec.name == "mask" and operand.startswith("%"):
            before.append(f"mov.b32 {operand}, -1;")
        elif spec.role in ("r", "rw"):
            kind = "small" if spec.name in ("rank",) else KIND_OF.get(value_type, "b")
            for n, (declared, number) in enumerate(REGISTER.findall(operand)):
                place = (3 * k + n) % PLACES if n else k
                before += load_input(declared, number, kind, place)
                given.append((f"%{declared}r{number}", kind, place))
        if spec.role in ("w", "rw", "p"):
            for declared, number in REGISTER.findall(operand):
                if spec.role == "w":
                    before += clear_register(declared, number)
                after += store_result(declared, number, len(results))
                results.append("b" if declared == "pred" else value_type)
    if ("r", "cc") in match.form.implicit:
        at = (list(KINDS).index("b") * PLACES + 9) * LANES * 8
        before.append(f"ld.global.u32 %x0, [%from+{at}]; add.cc.u32 %x0, %x0, 0x80000000;")
        given.append(("carry of ... + 2^31", "b", 9))
    if ("w", "cc") in match.form.implicit:
        after = [f"addc.u32 %x0, 0, 0; st.global.u32 [%to+OUT+{len(results) * SLOT}], %x0;", *after]
        results.append("b")
    changes = bool(match.form.effects & {"store", "atomic"})
    if changes or ("load" in match.form.effects and _space(match) in ("shared", "local")):
        before = [*_fill(match), *before]
    if changes:
        after += _memory(match, len(results))
        results += ["b" if not match.type.startswith(("f", "bf")) else match.type] * 4
    assert len(results) <= SLOTS, text
    return Item(text, match, "\n".join([*before, text, *after]), tuple(results), tuple(given))


def _meant(operand: str, spec: OperandSpec, match: Match) -> str:
    """The type of the alternative of the operand's class that a text was made from."""
    for fit in spec.fits:
        if fit.type and any(
            d == DECLARED.get(t := type_name(fit, match), t) for d, _ in REGISTER.findall(operand)
        ):
            return type_name(fit, match)
    return ""


def load_input(declared: str, number: str, kind: str, place: int) -> list[str]:
    """A register with the input of a kind."""
    at = (list(KINDS).index(kind) * PLACES + place) * LANES * 8
    name = f"%{declared}r{number}"
    if declared == "pred":
        return [f"ld.global.u32 %x0, [%from+{at}]; and.b32 %x0, %x0, 1; setp.ne.u32 {name}, %x0, 0;"]
    if declared == "b128":
        return [f"ld.global.u64 %y0, [%from+{at}]; not.b64 %y1, %y0; mov.b128 {name}, {{%y0, %y1}};"]
    return [f"ld.global.{_LOADED.get(declared, 'b32')} {name}, [%from+{at}];"]


def clear_register(declared: str, number: str) -> list[str]:
    name = f"%{declared}r{number}"
    if declared == "pred":
        return [f"setp.ne.u32 {name}, %lane, %lane;"]
    if declared == "b128":
        return [f"mov.u64 %y0, 0; mov.b128 {name}, {{%y0, %y0}};"]
    return [f"ld.global.{_LOADED.get(declared, 'b32')} {name}, [%zero];"]


def store_result(declared: str, number: str, slot: int) -> list[str]:
    name, at = f"%{declared}r{number}", f"[%to+OUT+{slot * SLOT}]"
    if declared == "pred":
        return [f"selp.u32 %x0, 1, 2, {name}; st.global.u32 {at}, %x0;"]
    if declared == "b128":
        return [f"mov.b128 {{%y0, %y1}}, {name}; st.global.v2.u64 {at}, {{%y0, %y1}};"]
    return [f"st.global.{_LOADED.get(declared, 'b32')} {at}, {name};"]


def _space(match: Match) -> str:
    words = [m.partition("::")[0] for m in match.form.base.split(".") + sorted(match.modifiers)]
    return next((s for s in ("shared", "local", "const", "param", "global") if s in words), "")


def _address(operand: str, match: Match) -> list[str]:
    """A pointer to the lane's own bytes in the space; atomics of four lanes meet."""
    register = re.fullmatch(r"\[(%u64r\d+)\]", operand)
    if register is None:
        return []
    base = {"shared": "tile", "local": "own", "const": "bank"}.get(_space(match), "")
    start = f"mov.u64 {register[1]}, {base};" if base else f"mov.u64 {register[1]}, %cells;"
    if base == "local":
        return [start]
    if match.form.base in ("discard", "applypriority"):
        return [f"mov.u64 {register[1]}, %spare;"]
    lane = "%group" if "atomic" in match.form.effects else "%cell"
    return [f"{start} add.u64 {register[1]}, {register[1]}, {'0' if base == 'own' else lane};"]


def _cell(match: Match) -> tuple[str, str]:
    """The instructions that make a pointer to the lane's cell, and the space it lies in."""
    space = _space(match)
    where = {"shared": "tile", "local": "own"}.get(space, "")
    base = f"mov.u64 %y2, {where or '%cells'};"
    return base + ("" if where == "own" else " add.u64 %y2, %y2, %cell;"), space if where else "global"


def _fill(match: Match) -> list[str]:
    """Values of the type in the memory that a store or an atomic is about to change, or a load to read."""
    base, space = _cell(match)
    first = list(KINDS).index(KIND_OF.get(match.type, "b")) * PLACES
    lines = ["bar.sync 0;", base]
    for k in range(4):
        at = (first + 6 + k) * LANES * 8
        lines.append(f"ld.global.u64 %y0, [%from+{at}]; st.{space}.u64 [%y2+{8 * k}], %y0;")
    return lines


def _memory(match: Match, slot: int) -> list[str]:
    """What a store or an atomic left in memory."""
    base, suffix = _cell(match)
    lines = ["bar.sync 0;", base]
    for k in range(4):
        lines.append(f"ld.{suffix}.u64 %y0, [%y2+{8 * k}]; st.global.u64 [%to+OUT+{(slot + k) * SLOT}], %y0;")
    return lines


HEAD = """.version VERSION
.target TARGET
.address_size 64
.const .align 16 .b64 bank[1024] = {BANK};
OUTSIDE.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r, .param .align 16 .b8 parameter[64], .param .u64 s
	HANDLES)DIRECTIVES
{
	.reg .b32 %x<4>;
	.reg .b32 %lane;
	.reg .b64 %y<4>;
	.reg .b64 %from, %to, %cells, %cell, %group, %zero, %data, %spare;
	.reg .b64 %start;
	.shared .align 128 .b8 tile[8192];
	.local .align 64 .b8 own[64];
"""
START = """	ld.param.u64 %start, [p];
	ld.param.u64 %to, [q];
	ld.param.u64 %cells, [r];
	ld.param.u64 %data, [s];
	mov.u32 %lane, %tid.x;
	mad.wide.u32 %from, %lane, 8, %start;
	mad.wide.u32 %to, %lane, STRIDE, %to;
	mad.wide.u32 %data, %lane, 8, %data;
	mul.wide.u32 %cell, %lane, 64;
	and.b32 %x0, %lane, GROUP;
	mul.wide.u32 %group, %x0, 64;
	add.u64 %zero, %cells, 8192;
	mad.wide.u32 %spare, %lane, 128, %zero;
	add.u64 %spare, %spare, 512;
"""
_BANK = "{" + ", ".join(str(k * 0x0123456789ABCDEF % (1 << 63)) for k in range(1024)) + "}"


def build(batch: Sequence[Item]) -> Function:
    """A kernel of some instructions, one after the other; atomics of four lanes meet."""
    return parse(kernel_text(batch)).kernels["k"]


def kernel_text(
    batch: Sequence[Item], target: str = "sm_100a", version: str = "9.0", lanes_meet: bool = True
) -> str:
    """The text of a kernel of some instructions; if `lanes_meet`, atomics of four lanes meet in one place."""
    text = "\n".join(item.body for item in batch)
    declared = sorted(set(REGISTER.findall(text)))
    registers = "".join(f"\t.reg .{type_} %{type_}r{number};\n" for type_, number in declared)
    parts, words = [], 0
    for k, item in enumerate(batch):
        at = {"OUT": k * SLOTS * SLOT, "IN": words * LANES * 8}
        parts.append(
            re.sub(r"\b(OUT|IN)\+(\d+)", lambda m, at=at: str(at[m[1]] + int(m[2])), item.body)  # type: ignore[misc]
            .replace("NUMBER", str(k))
        )  # fmt: skip
        words += 0 if item.data is None else len(item.data)
    outside = "".join(item.outside.replace("NUMBER", str(k)) for k, item in enumerate(batch))
    head = {
        "VERSION": version,
        "TARGET": target,
        "{BANK}": _BANK,
        "OUTSIDE": outside,
        "DIRECTIVES": " ".join(item.directives for item in batch),
        "HANDLES": "".join(f", .param .u64 {name}" for name in handles(batch)),
    }
    start = {"STRIDE": str(len(batch) * SLOTS * SLOT), "GROUP": "-4" if lanes_meet else "-1"}
    body = "\n".join(parts)
    return f"{_filled(HEAD, head)}{registers}{_filled(START, start)}{body}\nret;\n}}\n"


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def handles(batch: Sequence[Item]) -> list[str]:
    """The names of the textures and surfaces of a batch, in the order of the kernel's parameters."""
    return sorted({name for item in batch for name in item.handles})


def arguments(batch: Sequence[Item]) -> list[Any]:
    """Inputs, results, memory cells (zeros and spare ones after them), a parameter's bytes, inputs of single items."""
    generator = np.random.default_rng(5)
    cells = np.zeros((8192 + 512 + LANES * 128) // 8, np.uint64)
    cells[: 8192 // 8] = generator.integers(0, 1 << 63, 8192 // 8, dtype=np.uint64)
    results = np.zeros((LANES, len(batch), SLOTS, SLOT // 8), np.uint64)
    data = [item.data for item in batch if item.data is not None] or [np.zeros((1, LANES), np.uint64)]
    makers = {name: make for item in batch for name, make in item.handles.items()}
    opaque = [makers[name]() for name in handles(batch)]
    parameter = np.arange(64, dtype=np.uint8)
    return [inputs().copy(), results, cells, parameter, np.concatenate(data), *opaque]


_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "f16x2": 16, "bf16x2": 16, "f32x2": 32}


def differences(item: Item, reference: np.ndarray, compiled: np.ndarray, tolerance: int) -> np.ndarray:
    """The lanes where the results (lane, slot, word) differ; a NaN equals a NaN, `tolerance` is in last places."""
    wrong = np.zeros(LANES, bool)
    for slot in range(SLOTS):
        a, b = reference[:, slot], compiled[:, slot]
        type_ = item.results[slot] if slot < len(item.results) else "b"
        width = _WIDTHS.get(type_)
        if width is None:
            wrong |= (a != b).any(axis=1)
            continue
        precision = {
            "bf16": 8,
            "bf16x2": 8,
            "f16": 11,
            "f16x2": 11,
            "f32": 24,
            "tf32": 24,
            "f32x2": 24,
            "f64": 53,
        }[type_]
        x, y = (np.ascontiguousarray(v).view(f"u{width // 8}") for v in (a, b))
        magnitude = (1 << (width - 1)) - 1
        infinity = ((1 << (width - precision)) - 1) << (precision - 1)
        same = (x == y) | ((x & magnitude > infinity) & (y & magnitude > infinity))
        if tolerance:
            same |= (np.abs(x.astype(np.int64) - y.astype(np.int64)) <= tolerance) & (
                x & magnitude < infinity
            )
        wrong |= ~same.all(axis=1)
    return wrong
