"""Programs for the rows of matrices: products of fragments, and fragments from and to memory.

The four warps of `mma` have four kinds of values (matrix_values.py). What a fragment of `wmma` holds where is the
machine's own affair: a row of it is tried in a chain of loads, product and store, by one warp, memory to memory.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

import numpy as np
from form_text import instruction_texts, split_operands, type_name
from gpu.parts import WARPS, bits, item, load, opcodes, shared_address, show_shared
from matrix_values import WIDTHS, metadata_words, registers, scale_words, tile_bytes
from walk_kernels import LANES, REGISTER, SLOT, Item, items

from ptxtool.isa.forms import Form
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES

_KINDS = ("whole", "floats", "bits", "floats")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def tensor_items(form: Form, limit: int) -> list[Item]:
    """Programs of a row of the family "tensor"."""
    make = {"mma": _product, "mma_sp": _product, "ldmatrix": _row_load, "stmatrix": _row_store}
    if form.sem in make:
        found = _some(instruction_texts(form), limit)
        return [made for text, match in found for made in make[form.sem](text, match)]
    if form.sem.startswith("wmma"):
        return [_chain(text, match, k) for k, (text, match) in enumerate(_some(opcodes(form), limit))]
    return items(form, limit)


def _some(texts: Iterable[tuple[str, Match]], limit: int) -> list[tuple[str, Match]]:
    found = list(texts)
    return found[:: -(-len(found) // limit) or 1]


# ---- mma


def _product(text: str, match: Match) -> Iterator[Item]:
    """A product of fragments: for each choice of the threads that have the metadata, and of places of the scales."""
    opcode, _, rest = text.rstrip(";").partition(" ")
    d, *sources = split_operands(rest)
    types = [w for w in opcode.split(".") if w in TYPES or w in WIDTHS][:4]
    is_scaled = "block_scale" in match.modifiers
    data: list[np.ndarray] = []
    lines: list[str] = []
    for operand, element in zip(sources[:3], types[1:], strict=True):
        names = [f"%{declared}r{number}" for declared, number in REGISTER.findall(operand)]
        lines += [load(n, len(lines) + k, 64 if element == "f64" else 32) for k, n in enumerate(names)]
        # four bits an element, not eight
        packed = (
            "u4" if is_scaled and element == "e2m1" and "kind::mxf8f6f4" not in match.modifiers else element
        )
        seed = f"{opcode} {operand}"
        warps = [registers(packed, len(names), kind, f"{seed} {w}") for w, kind in enumerate(_KINDS)]
        data.append(np.concatenate(warps, axis=1).astype(np.uint64))
    first: list[list[str]] = [[]]
    if match.form.sem == "mma_sp":
        lines.append(load("%b32r99", len(lines)))
        words = np.concatenate([metadata_words(types[1], f"{opcode} {w}") for w in range(WARPS)])
        data.append(words.astype(np.uint64).reshape(1, LANES))
        first = [["%b32r99", str(k)] for k in range(1 if is_scaled else _selectors(opcode, types[1]))]
    then: list[list[str]] = [[]]
    if is_scaled:
        lines += [load("%b32r97", len(lines)), load("%b32r98", len(lines) + 1)]
        scales = "ue4m3" if "ue4m3" in match.modifiers else "ue8m0"
        pairs = [scale_words(scales, kind != "bits", f"{opcode} {w}") for w, kind in enumerate(_KINDS)]
        data.append(np.concatenate(pairs, axis=1).astype(np.uint64))
        size = match.one_of("scale_vec::1X", "scale_vec::2X", "scale_vec::4X")
        count = int(size[-2]) if size else 1 if "kind::mxf8f6f4" in match.modifiers else 2
        then = [
            ["%b32r97", f"{{{byte}, {k}}}", "%b32r98", f"{{0, {3 * k}}}"]
            for k, byte in enumerate((0, 4 - count))
        ]
    kind = type_name(next(f for f in match.operands[0].fits if f.type), match)
    results = [(f"%{declared}r{n}", {"b64": "f64"}.get(kind, kind)) for declared, n in REGISTER.findall(d)]
    for metadata, scale in itertools.product(first, then):
        whole = f"{opcode} {', '.join([d, *sources[:3], *metadata, *scale])};"
        yield item(whole, match, [*lines, whole], results, np.concatenate(data))


def _selectors(opcode: str, element: str) -> int:
    """How many threads or pairs of a group of four can hold the metadata: what the last operand of `mma.sp` says."""
    width = WIDTHS.get(element, 8)
    shape = _SHAPE.search(opcode)
    assert shape is not None
    return {256: 2, 512: 1}[int(shape[3]) * width] * (2 if width >= 16 else 1)


# ---- ldmatrix, stmatrix


def _row_load(text: str, match: Match) -> Iterator[Item]:
    """Rows of sixteen random bytes, one at each lane's address, become fragments."""
    opcode, _, rest = text.rstrip(";").partition(" ")
    d = split_operands(rest)[0]
    whole = f"{opcode} {d}, [%u64r60];"
    lines = [
        "bar.sync 0;", shared_address("%u64r60", 16), load("%b64r61", 0, 64), load("%b64r62", 1, 64),
        "st.shared.v2.b64 [%u64r60], {%b64r61, %b64r62};", "bar.sync 0;",
        "" if "shared" in opcode else "cvta.shared.u64 %u64r60, %u64r60;", whole, "bar.sync 0;",
    ]  # fmt: skip
    results = [(f"%{declared}r{number}", "b") for declared, number in REGISTER.findall(d)]
    yield item(whole, match, lines, results, bits(opcode, 2))


def _row_store(text: str, match: Match) -> Iterator[Item]:
    """Fragments become rows; those that the instruction does not reach keep what they hold."""
    opcode, _, rest = text.rstrip(";").partition(" ")
    source = split_operands(rest)[1]
    names = [f"%{declared}r{number}" for declared, number in REGISTER.findall(source)]
    whole = f"{opcode} [%u64r60], {source};"
    lines = [
        "bar.sync 0;", shared_address("%u64r60", 16), load("%b64r61", 4, 64),
        "st.shared.v2.b64 [%u64r60], {%b64r61, %b64r61};", *(load(name, k) for k, name in enumerate(names)),
        "bar.sync 0;", "" if "shared" in opcode else "cvta.shared.u64 %u64r60, %u64r60;", whole, "bar.sync 0;",
        show_shared(0, 0), "bar.sync 0;",
    ]  # fmt: skip
    yield Item(whole, match, "\n".join(lines), ("b",), data=bits(opcode, 5))


# ---- wmma

REGION = 2048
_PAD = 32  # bytes after every line of a matrix where a stride is given
_SMALL = ("s4", "u4", "b1")


def _chain(text: str, match: Match, turn: int) -> Item:
    """Load, multiply, store; the row's instruction is one of them."""
    words = text.split(".")
    found = _SHAPE.search(text)
    assert found is not None
    m, n, k = (int(v) for v in found.groups())
    d, a, c = _types(words, found[0])
    b = a
    la, lb, lc, ld = _layouts(match, [w for w in words if w in ("row", "col")], a in _SMALL, turn)
    space = next((w for w in words if w in ("global", "shared", "shared::cta")), "")
    sync = ".sync.aligned" if "aligned" in words else ".sync"
    strided = turn % 3 == 0
    sizes = [(m, k, la, a), (k, n, lb, b), (m, n, lc, c), (m, n, ld, d)]
    lines = [(r, s) if layout == "row" else (s, r) for r, s, layout, _ in sizes]
    pitches = [
        line[1] + (_PAD * 8 // WIDTHS.get(t, 8) if strided else 0)
        for line, (*_, t) in zip(lines, sizes, strict=True)
    ]
    memory = np.zeros(3 * REGION, np.uint8)
    kind = ("whole", "floats", "bits")[turn % 3]
    for j, name in enumerate((a, b, c)):
        tile = tile_bytes(name, *lines[j], pitches[j], "whole" if name in ("s32", "f64") else kind)
        memory[REGION * j : REGION * j + tile.size] = tile
    dot = f".{space}" if space else ""
    stride = [f", {p}" if strided else "" for p in pitches]
    register = "f64" if a == "f64" else "b32"
    fragments = []
    number = 0
    for part in _counts(m, n, k, d, a, c):
        fragments.append("{" + ", ".join(f"%{register}r{number + j}" for j in range(part)) + "}")
        number += part
    types = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{b}.{c}"
    saturates = ".satfinite" if "satfinite" in words else ""
    rounding = next((f".{w}" for w in words if w in ("rn", "rz", "rm", "rp")), "")
    operation = next((f".{w}.popc" for w in words if w in ("xor", "and")), ".xor.popc" if a == "b1" else "")
    chain = [
        f"wmma.load.a{sync}.{la}.{found[0]}{dot}.{a} {fragments[0]}, [%u64r50]{stride[0]};",
        f"wmma.load.b{sync}.{lb}.{found[0]}{dot}.{b} {fragments[1]}, [%u64r51]{stride[1]};",
        f"wmma.load.c{sync}.{lc}.{found[0]}{dot}.{c} {fragments[2]}, [%u64r52]{stride[2]};",
        f"wmma.mma{operation}{sync}.{la}.{lb}.{found[0]}{rounding}.{types}{saturates} "
        f"{fragments[3]}, {fragments[0]}, {fragments[1]}, {fragments[2]};",
        f"wmma.store.d{sync}.{ld}.{found[0]}{dot}.{d} [%u64r53], {fragments[3]}{stride[3]};",
    ]
    whole = next(line for line in chain if line.partition(" ")[0] == text)
    body = [*_around(bool(space.startswith("shared"))), *chain, "ENDNUMBER: bar.sync 0;", *_shown()]
    results = ({"f16": "f16x2"}.get(d, d),) * 4
    return Item(whole, match, "\n".join(body), results, data=memory.view(np.uint64).reshape(-1, LANES))


def _layouts(match: Match, said: list[str], is_small: bool, turn: int) -> list[str]:
    """Those of A, B, C and D: what the instruction says, and for the others some that go with it."""
    if match.form.sem == "wmma_mma":
        return [*said, "row", "row"]
    found = ["row", "col", "row", "row"]
    which = "abcd".index(match.form.base[-1])
    if turn % 2 and not is_small:
        found[:2] = "col", "row"
    found[which] = said[0]
    return found


def _types(words: list[str], shape: str) -> tuple[str, str, str]:
    """The types of D, A and C that a row goes with; of B it is that of A."""
    found = [w for w in words if w in WIDTHS or w in ("s8", "u8")]
    if len(found) == 4:
        return found[0], found[1], found[3]
    if len(found) == 2:
        return found[0], "f16", found[1]
    one = found[0]
    if words[1] == "load" and words[2] in "ab":
        more = {"f16": "f32", "bf16": "f32", "tf32": "f32", "f64": "f64"}.get(one, "s32")
        return more, one, more
    source = {"f16": "f16", "f64": "f64", "f32": "tf32" if shape == "m16n16k8" else "f16"}.get(one)
    source = source or {"m8n8k32": "s4", "m8n8k128": "b1"}.get(shape, "s8")
    return one, source, one


def _counts(m: int, n: int, k: int, d: str, a: str, c: str) -> tuple[int, int, int, int]:
    """Registers of the fragments of A, B, C and D: those of A and B in f16 are eight for every shape."""
    width = WIDTHS.get(a, 8)
    lane = 32 * (64 if a == "f64" else 32)
    of = [8, 8] if a == "f16" else [rows * k * width // lane for rows in (m, n)]
    more = [m * n * WIDTHS[t] // (32 * (64 if t == "f64" else 32)) for t in (c, d)]
    return of[0], of[1], more[0], more[1]


def _around(is_shared: bool) -> list[str]:
    """Addresses of A, B, C and D; zeros in D; only the first warp goes on."""
    lines = [
        "bar.sync 0;", "mul.wide.u32 %y0, %lane, 8; sub.s64 %y1, %data, %y0; add.s64 %u64r50, %y1, IN+0;",
        f"mul.wide.u32 %y0, %lane, {REGION // LANES}; add.s64 %u64r53, %zero, 512; add.s64 %u64r54, %u64r53, %y0;",
    ]  # fmt: skip
    if is_shared:
        lines += [
            "mov.u64 %u64r55, tile; mad.wide.u32 %u64r54, %lane, 48, %u64r55;",
            "mad.wide.u32 %u64r56, %lane, 48, %u64r50;",
            *(
                f"ld.global.v2.u64 {{%y0, %y1}}, [%u64r56+{16 * j}]; st.shared.v2.u64 [%u64r54+{16 * j}], {{%y0, %y1}};"
                for j in range(3)
            ),
            f"mov.u64 %u64r50, %u64r55; add.s64 %u64r53, %u64r55, {3 * REGION};"
            f" mad.wide.u32 %u64r54, %lane, {REGION // LANES}, %u64r53;",
        ]
    where = "shared" if is_shared else "global"
    return [
        *lines, f"mov.u64 %y0, 0; st.{where}.v2.u64 [%u64r54], {{%y0, %y0}};",
        f"add.s64 %u64r51, %u64r50, {REGION}; add.s64 %u64r52, %u64r50, {2 * REGION}; bar.sync 0;",
        f"{'cvta.shared.u64 %u64r57, %u64r53;' if is_shared else 'mov.u64 %u64r57, %u64r53;'}",
        "setp.gt.u32 %predr9, %lane, 31; @%predr9 bra ENDNUMBER;",
    ]  # fmt: skip


def _shown() -> list[str]:
    """D as results: 64 bytes for each lane of the first warp."""
    lines = ["and.b32 %x0, %lane, 31; mad.wide.u32 %y2, %x0, 64, %u64r57;"]
    for j in range(4):
        lines.append(
            f"ld.v2.u64 {{%y0, %y1}}, [%y2+{16 * j}]; st.global.v2.u64 [%to+OUT+{SLOT * j}], {{%y0, %y1}};"
        )
    return [*lines, "bar.sync 0;"]
