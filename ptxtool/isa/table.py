"""The instruction table: what `opcodes.toml` says, checked, and the choice of the form that fits an opcode.

One row per *form*. Columns (all text, all optional but `ops`):

    ops       operands in order, `role:name`; a trailing `?` marks an optional one. Roles:
              w  written           r  read            rw  read and written
              p  written, and may be a pair: `%p|%q`, PTXPlus `$p0/$r1`
              m  memory operand: the registers inside are read (a post-incremented one is written too)
              l  label   s  symbol or another operand that is no register (texture, function, prototype)
    types     the values the type modifier may take; where it stands is `T` in `mods`, by default at the end
    stypes    the same for a second type, `S` in `mods`
    mods      modifier groups in printing order: `a|b` alternatives, `?` behind it optional, `$name` a group of [groups]
    unit      what executes it: a key of the GPU files' latency tables
    sem       its meaning: a name that lane operations and the reference interpreter know; "" has none
    effects   load store atomic barrier branch exit call return
    implicit  registers without an operand: `w:cc r:cc`
    dialect   "ptx" or "ptxplus"; both by default
    dst       "wide": the result is twice as wide as the type

An opcode whose modifiers are in no form's order is tried once more in any order, as ptxas does.
PTXPlus differs where the table need not say so: `.half`, `.exit`, `.abs`, `.neg` and `.sat` fit every opcode, any
`w`/`r` operand may be a memory operand or a pair in braces, and any `w` may be a `Dual`.
"""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ptxtool.isa.types import TYPES

ROLES = frozenset({"w", "r", "rw", "p", "m", "l", "s"})
EFFECTS = frozenset({"load", "store", "atomic", "barrier", "branch", "exit", "call", "return"})
PTXPLUS_ANYWHERE = frozenset({"half", "exit", "abs", "neg", "sat", "rn", "rz", "rm", "rp"})
_COLUMNS = frozenset(
    {"ops", "types", "stypes", "mods", "unit", "sem", "effects", "implicit", "dialect", "dst"}
)


class TableError(Exception):
    """The table contradicts itself: our bug, found by the tests."""


@dataclass(frozen=True)
class OperandSpec:
    role: str
    name: str
    optional: bool


@dataclass(frozen=True)
class ModifierGroup:
    """One place in the printing order. `slot` is "T" or "S" for a type, "" otherwise."""

    alternatives: tuple[str, ...]
    optional: bool
    slot: str = ""


@dataclass(frozen=True)
class Form:
    """One row."""

    base: str
    index: int
    operands: tuple[OperandSpec, ...]
    groups: tuple[ModifierGroup, ...]
    unit: str
    sem: str
    effects: frozenset[str]
    implicit: tuple[tuple[str, str], ...]
    dialect: str
    wide: bool

    @property
    def min_operands(self) -> int:
        return sum(not o.optional for o in self.operands)

    @property
    def max_operands(self) -> int:
        return len(self.operands)


@dataclass(frozen=True)
class Match:
    """An opcode read by its form: `type` and `stype` are type names ("" where absent)."""

    form: Form
    type: str
    stype: str
    modifiers: frozenset[str] = field(default_factory=frozenset)

    def one_of(self, *names: str) -> str:
        """The modifier among `names` that is present, or ""."""
        return next((n for n in names if n in self.modifiers), "")


@dataclass(frozen=True)
class Table:
    forms: dict[str, tuple[Form, ...]]

    def match(self, opcode_text: str, n_operands: int, ptxplus: bool) -> Match | None:
        """The form that fits an opcode text ("add.f32") and a number of operands, or None."""
        return _match(self, opcode_text, n_operands, ptxplus)

    def __hash__(self) -> int:
        return id(self)


@cache
def _match(table: Table, text: str, n_operands: int, ptxplus: bool) -> Match | None:
    words = text.split(".")
    candidates: list[tuple[Form, list[str]]] = []
    for base_length in range(min(4, len(words)), 0, -1):
        base = ".".join(words[:base_length])
        for form in table.forms.get(base, ()):
            if form.dialect and (form.dialect == "ptxplus") != ptxplus:
                continue
            # PTXPlus: surplus trailing operands are allowed (`mov.u32 $r1, $ofs1, 0x0`)
            if n_operands < form.min_operands or (n_operands > form.max_operands and not ptxplus):
                continue
            candidates.append((form, words[base_length:]))
    if not ptxplus:
        for form, rest in candidates:
            if found := _match_in_order(form, rest):
                return found
    # ptxas too takes most modifiers in any order: `div.ftz.rn.f32`, `atom.add.relaxed.cta.u64`
    for form, rest in candidates:
        if found := _match_any_order(form, rest, PTXPLUS_ANYWHERE if ptxplus else frozenset()):
            return found
    return None


def _match_in_order(form: Form, words: list[str]) -> Match | None:
    """PTX: the modifiers stand in the order of the groups."""
    position = 0
    slots = {"T": "", "S": ""}
    taken: list[str] = []
    for group in form.groups:
        word = _alternative(group, words, position)
        if word:
            position += word.count(".") + 1
            if group.slot:
                slots[group.slot] = word
            else:
                taken.append(word)
        elif not group.optional:
            return None
    if position != len(words):
        return None
    return Match(form, slots["T"], slots["S"], frozenset(taken))


def _alternative(group: ModifierGroup, words: list[str], position: int) -> str:
    """The alternative that the words at a position spell ("" for none); some are two words, like `xorsign.abs`."""
    for length in (2, 1):
        word = ".".join(words[position : position + length])
        if word in group.alternatives and position + length <= len(words):
            return word
    return ""


def _match_any_order(form: Form, words: list[str], anywhere: frozenset[str]) -> Match | None:
    """Modifiers in any order, those of `anywhere` too; but the first type is T and the second S."""
    slots = {"T": "", "S": ""}
    taken: list[str] = []
    rest = list(form.groups)
    type_slots = [g for g in rest if g.slot]
    rest = [g for g in rest if not g.slot]
    for word in words:
        if word in TYPES and type_slots:
            group = type_slots.pop(0)
            if word not in group.alternatives:
                return None
            slots[group.slot] = word
            continue
        modifier = next((g for g in rest if word in g.alternatives), None)
        if modifier is not None:
            rest.remove(modifier)
        elif word not in anywhere:
            return None
        taken.append(word)
    if any(not g.optional for g in rest + type_slots):
        return None
    return Match(form, slots["T"], slots["S"], frozenset(taken))


def _groups(base: str, row: dict[str, str], macros: dict[str, str]) -> tuple[ModifierGroup, ...]:
    words = row.get("mods", "").split()
    if row.get("types") and not any(w.rstrip("?") == "T" for w in words):
        words.append("T")
    groups: list[ModifierGroup] = []
    for word in words:
        optional = word.endswith("?")
        word = word.removesuffix("?")
        if word in ("T", "S"):
            names = row.get("types" if word == "T" else "stypes", "").split()
            for name in names:
                if name not in TYPES:
                    raise TableError(f"{base}: '{name}' is no type")
            groups.append(ModifierGroup(tuple(names), optional, word))
        else:
            if word.startswith("$"):
                if word[1:] not in macros:
                    raise TableError(f"{base}: no modifier group '{word}'")
                word = macros[word[1:]]
            groups.append(ModifierGroup(tuple(word.split("|")), optional))
    return tuple(groups)


def _form(base: str, index: int, row: dict[str, str], macros: dict[str, str]) -> Form:
    unknown = set(row) - _COLUMNS
    if unknown:
        raise TableError(f"{base}: unknown column {sorted(unknown)}")
    operands: list[OperandSpec] = []
    for word in row["ops"].split():
        optional = word.endswith("?")
        role, _, name = word.removesuffix("?").partition(":")
        if role not in ROLES or not name:
            raise TableError(f"{base}: bad operand '{word}'")
        operands.append(OperandSpec(role, name, optional))
    effects = frozenset(row.get("effects", "").split())
    if effects - EFFECTS:
        raise TableError(f"{base}: unknown effect {sorted(effects - EFFECTS)}")
    implicit: list[tuple[str, str]] = []
    for word in row.get("implicit", "").split():
        role, _, name = word.partition(":")
        implicit.append((role, name))
    return Form(
        base=base,
        index=index,
        operands=tuple(operands),
        groups=_groups(base, row, macros),
        unit=row.get("unit", "alu"),
        sem=row.get("sem", ""),
        effects=effects,
        implicit=tuple(implicit),
        dialect=row.get("dialect", ""),
        wide=row.get("dst", "") == "wide",
    )


def load(text: str) -> Table:
    """Read and check a table from TOML text. Raises `TableError`."""
    data = tomllib.loads(text)
    macros: dict[str, str] = data.pop("groups", {})
    forms: dict[str, tuple[Form, ...]] = {}
    for base, rows in data.items():
        made = tuple(_form(base, i, row, macros) for i, row in enumerate(rows))
        keys = [(f.groups, f.operands, f.dialect) for f in made]
        if len(set(keys)) != len(keys):
            raise TableError(f"{base}: two forms are the same")
        forms[base] = made
    return Table(forms)


@cache
def table() -> Table:
    """The instruction table."""
    return load((Path(__file__).parent / "opcodes.toml").read_text(encoding="utf-8"))
