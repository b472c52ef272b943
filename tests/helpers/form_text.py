"""Instruction texts made from the rows of the instruction table, and a kernel to put them in.

For tests that ask a second implementation about the table: every alternative of every modifier group and type occurs,
and the operands are what the operand classes promise. Not made: forms that have ended, and calls and indirect branches
(role s), which need names.
"""

import itertools
import random
from collections.abc import Iterator

from ptxtool.isa.forms import Form
from ptxtool.isa.operands import Fit, OperandSpec
from ptxtool.isa.table import Match, table

REGISTER_TYPES = (
    "pred",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u16",
    "u32",
    "u64",
    "s16",
    "s32",
    "s64",
    "f32",
    "f64",
    "f16",
    "f16x2",
)
# how values of these types are declared as registers
DECLARED = {
    "b1": "b32", "u8": "u16", "s8": "s16", "bf16": "b16", "tf32": "b32", "bf16x2": "b32", "u16x2": "b32",
    "s16x2": "b32", "u8x4": "b32", "s8x4": "b32", "f32x2": "b64", "e2m1x2": "b8", "e4m3": "b8", "e5m2": "b8",
    **{f"{n}x2": "b16" for n in ("e4m3", "e5m2", "e2m3", "e3m2", "ue8m0", "ue5m3", "s2f6")},
    **{f"{n}x4": "b32" for n in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1p4", "ue8m0")}, "e2m1x4": "b16",
}  # fmt: skip
_NAMES = ("any", "address", "special")  # classes of names, which are not made
DOUBLE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
N_REGISTERS = 130
_COORDINATES = {
    "1d": "f", "2d": "ff", "3d": "ffff", "a1d": "uf", "a2d": "ufff", "cube": "ffff", "acube": "ufff",
    "2dms": "iiii", "a2dms": "uiii",
}  # fmt: skip


def opcode_texts(form: Form, limit: int = 400, seed: int = 0) -> list[str]:
    """Opcode texts of a form: all, or `limit` of those in which every pair of alternatives meets."""
    choices = [(("",) if g.optional else ()) + g.alternatives for g in form.groups]
    n = 1
    for c in choices:
        n *= len(c)
    if n <= limit:
        picks: list[tuple[str, ...]] = list(itertools.product(*choices))
    else:
        rng = random.Random(f"{seed}{form.base}{form.index}")
        picks = [(word,) for c in choices if len(choices) == 1 for word in c]
        for i, j in itertools.combinations(range(len(choices)), 2):
            for a, b in itertools.product(choices[i], choices[j]):
                pick = [rng.choice(c) for c in choices]
                pick[i], pick[j] = a, b
                picks.append(tuple(pick))
        rng.shuffle(picks)
        picks = picks[:limit]
    return sorted({".".join([form.base, *filter(None, pick)]) for pick in picks})


def instruction_texts(form: Form, ptxplus: bool = False, limit: int = 400) -> Iterator[tuple[str, Match]]:
    """Instructions of a form, with and without its optional operands, an alternative of each operand class in turn."""
    if any(o.role == "s" for o in form.operands) or form.until is not None:
        return
    turn = 0
    for text in opcode_texts(form, limit):
        for n in {form.min_operands, form.max_operands}:
            match = next((m for m in table().matches(text, n, ptxplus) if m.form is form), None)
            if match is None:
                continue
            texts = [operand_text(spec, match, k, turn) for k, spec in enumerate(match.operands[:n])]
            yield f"{text} {', '.join(texts)};", match
            turn += 1


def operand_text(spec: OperandSpec, match: Match, place: int, turn: int = 0) -> str:
    """A text that fits an operand: the `turn`-th alternative of its class."""
    fits = [f for f in spec.fits if f.kind not in _NAMES]
    fit = fits[turn % len(fits)] if fits else None
    if spec.role == "l":
        return "L0"
    if spec.role == "m":
        return _address(fit, match, place)
    assert fit is not None
    return fit_text(fit, match, place, is_written=spec.role != "r")


def _address(fit: Fit | None, match: Match, place: int) -> str:
    if fit is not None and fit.kind == "value":
        return f"[{register(fit.type, place)}]"
    if fit is not None and fit.kind == "texture":
        geometry = match.one_of(*_COORDINATES)
        letter = {"f32": "f", "s32": "i"}.get(match.stype, "i")
        items = [
            "%u32r0" if c == "u" else f"%s32r{k}" if (c == "i" or letter == "i") else f"%f32r{k}"
            for k, c in enumerate(_COORDINATES.get(geometry, "f"))
        ]
        name = "surf0" if match.form.base.startswith("su") else "tex0"
        return f"[{name}, {{{', '.join(items)}}}]"
    if fit is not None and fit.kind == "handle":
        return "[surf0]" if match.form.base == "suq" else "[%u64r0]"
    if fit is not None and fit.kind == "tensor":
        n = (
            5
            if match.one_of("tile::gather4", "tile::scatter4")
            else int(match.one_of("1d", "2d", "3d", "4d", "5d")[0] or 1)
        )
        return f"[%u64r0, {{{', '.join(f'%s32r{k}' for k in range(n))}}}]"
    if "param" in match.modifiers or "param::entry" in match.modifiers:
        return "[parameter]"
    if "param::func" in match.modifiers:
        return "[argument]"
    return f"[%u64r{place}]"


def type_name(fit: Fit, match: Match) -> str:
    """The type a value alternative means under a match."""
    name = match.slot(fit.type) if len(fit.type) == 1 else fit.type
    return DOUBLE.get(name, name) if fit.doubled else name


def fit_text(fit: Fit, match: Match, place: int, is_written: bool) -> str:
    """A text that fits one alternative of an operand class."""
    if fit.kind == "imm":
        return str(fit.choices[0] if fit.choices else fit.low if fit.low is not None else 1)
    if fit.kind == "_":
        return "_"
    if fit.kind.startswith("vsel") or fit.kind.startswith("vmask"):
        return f"%u32r{place}"
    if fit.kind == "pack":
        bits = int("".join(c for c in match.type if c.isdigit()))
        return "{" + ", ".join(f"%b{bits // 2}r{2 * place + k}" for k in range(2)) + "}"
    name = type_name(fit, match)
    length = fit.length.of(match.n) if fit.length else 1
    if fit.length is None or (fit.length.fixed == 0 and match.n == 0):
        return register(name, place) + (f"|{register('pred', place)}" if fit.paired else "")
    return "{" + ", ".join(register(name, (8 * place + k) % N_REGISTERS) for k in range(length)) + "}"


def register(type_: str, k: int) -> str:
    """The k-th register that holds values of a type."""
    return f"%{DECLARED.get(type_, type_)}r{k}"


def arch_of(form: Form, match: Match | None = None) -> str:
    """An architecture that ptxas knows and that has the form with these modifiers."""
    words = ["", *(match.modifiers if match else ())]
    if match:
        words += [match.type, match.stype, match.utype, match.vtype]
    targets = [t for w in words if w in form.since for t in form.since[w].targets]
    special = [t for t in targets if t.endswith(("a", "f"))]
    if special:
        return f"sm_{special[0].rstrip('af')}a"
    newest = max((int(t) for t in targets), default=0)
    return "sm_90a" if newest <= 90 else "sm_100a" if newest <= 103 else "sm_120a"


def kernel(instructions: list[str], arch: str, version: str = "9.0") -> tuple[str, int]:
    """A file with one instruction per line, and the line of the first. It declares what they use."""
    text = "\n".join(instructions)
    variables = {"tex0": ".global .texref tex0;", "surf0": ".global .surfref surf0;"}
    head = [
        f".version {version}", f".target {arch}",
        *([] if version in ("2.0", "2.1", "2.2") else [".address_size 64"]),
        *(declared for name, declared in variables.items() if name in text),
        ".visible .entry k(.param .b64 parameter)", "{",
        *(f"\t.reg .{t} %{t}r<{N_REGISTERS}>;" for t in REGISTER_TYPES if f"%{t}r" in text),
        *(["\t.param .b64 argument;"] if "argument" in text else []),
    ]  # fmt: skip
    return "\n".join([*head, *("\t" + i for i in instructions), "L0:", "\tret;", "}", ""]), len(head) + 1


def near_misses(text: str, match: Match, rng: random.Random) -> Iterator[str]:
    """Instructions one step away: an operand of another kind, one more or less, another modifier or type."""
    opcode, _, rest = text.rstrip(";").partition(" ")
    operands = split_operands(rest)
    places = [k for k, spec in enumerate(match.operands[: len(operands)]) if spec.role not in ("l", "s")]
    others = [register(t, 9) for t in REGISTER_TYPES] + [
        "7",
        "-1",
        "1.5",
        "0f3F800000",
        "{%b32r7, %b32r8}",
        "!%predr7",
        "[%u64r7]",
    ]
    for k in places:
        for other in rng.sample(others, 6):
            yield f"{opcode} {', '.join([*operands[:k], other, *operands[k + 1 :]])};"
    words = opcode.split(".")
    start = match.form.base.count(".") + 1
    known = sorted({a for f in siblings(match.form) for g in f.groups for a in g.alternatives})
    if known:
        for word in rng.sample(known, min(len(known), 4)):
            place = rng.randint(start, len(words))
            yield f"{'.'.join([*words[:place], word, *words[place:]])} {rest};"
            if start < len(words):
                place = rng.randrange(start, len(words))
                yield f"{'.'.join([*words[:place], word, *words[place + 1 :]])} {rest};"
    if start < len(words):
        place = rng.randrange(start, len(words))
        yield f"{'.'.join([*words[:place], *words[place + 1 :]])} {rest};"
    if operands:
        k = rng.randrange(len(operands))
        yield f"{opcode} {', '.join([*operands[:k], *operands[k + 1 :]])};"
        yield f"{opcode} {', '.join([*operands, operands[-1]])};"


def siblings(form: Form) -> list[Form]:
    """The forms of the same opcode for PTX."""
    name = form.base.split(".")[0]
    return [
        f
        for key, forms in table().forms.items()
        for f in forms
        if key.split(".")[0] == name and f.dialect != "ptxplus"
    ]


def split_operands(text: str) -> list[str]:
    """Cut an operand list at its outer commas."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]
