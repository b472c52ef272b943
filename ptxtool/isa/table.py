"""The instruction table: what `opcodes/*.toml` say, checked, and the choice of the form that fits an opcode.

One file per family of instructions (its `title`, then its opcodes), one row per *form*; a key is the opcode, with the
modifiers that come first where they decide the form (`"cp.async.bulk"`). Columns (all text, all optional but `ops`):

    ops       operands in order, `role:name:class`, as `ptxtool.isa.operands` describes
    types     the values the type modifier may take (`$name`: a group); it stands at `T` in `mods`, or at the end
    stypes utypes vtypes
              the same for the second to fourth type, `S`, `U` and `V` in `mods`
    mods      modifier groups in printing order: `a|b` alternatives, `?` behind it optional, `$name` one of groups.toml;
              `^` before it: right behind the opcode, also where others change places (`mul.lo`)
    unit      what executes it: a key of the GPU files' latency tables
    sem       its meaning: a name that lane operations and the reference interpreter know; "" has none
    effects   load store atomic barrier branch exit call return
    implicit  registers without an operand: `w:cc r:cc`
    dialect   "ptx" or "ptxplus"; both by default
    ptx, sm   the first PTX version and target that have the form ("7.0", "80"); several targets are alternatives;
              "90a" is that architecture only, "100f" its family
    since     what came later: `relu 7.0 80, bf16|$x 7.8 90` (modifiers or types, PTX version, target)
    until     the last PTX version ("1.3"), the last target ("13") that has the form; with both it is gone where
              version and target are newer
    not       what does not go together: `volatile ca|cg|$l1, v2|v4 b128, $l2 !v8` (modifiers or types, `|` between
              alternatives; `!v8|v4`: without any of these)

In `since` and `not`, `$name` alone is a group of such items, of which those count that speak of the form's words.

An opcode whose modifiers are in no form's order is tried once more in any order, as ptxas does; types keep their order.
PTXPlus differs where the table need not say so: `.half`, `.exit`, `.abs`, `.neg` and `.sat` fit every opcode, any
`w`/`r` operand may be a memory operand or a pair in braces, and any `w` may be a `Dual`.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from ptxtool.isa.operands import SLOTS, OperandError, OperandSpec, count_of, operand
from ptxtool.isa.types import TYPES

EFFECTS = frozenset({"load", "store", "atomic", "barrier", "branch", "exit", "call", "return"})
PTXPLUS_ANYWHERE = frozenset({"half", "exit", "abs", "neg", "sat", "rn", "rz", "rm", "rp"})
_TYPE_COLUMNS = dict(zip(SLOTS, ("types", "stypes", "utypes", "vtypes"), strict=True))
_COLUMNS = frozenset(
    {"ops", "mods", "unit", "sem", "effects", "implicit", "dialect", "ptx", "sm", "since", "until", "not"}
) | frozenset(_TYPE_COLUMNS.values())
_LONGEST_KEY = 6


class TableError(Exception):
    """The table contradicts itself: our bug, found by the tests."""


@dataclass(frozen=True)
class ModifierGroup:
    """One place in the printing order. `slot` is "T", "S", "U" or "V" for a type, `name` that of a `$name`; else "".

    One that is `leading` stands right behind the opcode.
    """

    alternatives: tuple[str, ...]
    optional: bool
    slot: str = ""
    name: str = ""
    leading: bool = False


@dataclass(frozen=True)
class Since:
    """What has a form, or a modifier of it: a PTX version as (major, minor), and targets, one of which is needed."""

    version: tuple[int, int] = (1, 0)
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """Part of an exclusion: one of the words is there, or with `absent` none of them."""

    words: frozenset[str]
    absent: bool = False

    def holds(self, words: frozenset[str]) -> bool:
        return self.words.isdisjoint(words) == self.absent


@dataclass(frozen=True)
class Form:
    """One row. `since` is keyed by modifier or type, "" for the form itself.

    An opcode of which all terms of one of `exclusions` hold does not fit.
    """

    base: str
    index: int
    operands: tuple[OperandSpec, ...]
    groups: tuple[ModifierGroup, ...]
    unit: str
    sem: str
    effects: frozenset[str]
    implicit: tuple[tuple[str, str], ...]
    dialect: str
    since: Mapping[str, Since]
    family: str
    exclusions: tuple[tuple[Term, ...], ...] = ()
    until: Since | None = None

    def is_gone(self, version: tuple[int, int], target: int) -> bool:
        """Whether a PTX version and a target (`sm_90a`: 90) no longer have the form."""
        if self.until is None:
            return False
        return version > self.until.version and all(target > int(t) for t in self.until.targets)

    def clash(self, words: frozenset[str]) -> tuple[Term, ...]:
        """The first exclusion that an opcode's modifiers and types violate, empty if none."""
        return next((terms for terms in self.exclusions if all(t.holds(words) for t in terms)), ())

    @property
    def wide(self) -> bool:
        """True where the result is twice as wide as the type."""
        return bool(self.operands) and self.operands[0].doubled

    @property
    def min_operands(self) -> int:
        return sum(not o.optional for o in self.operands)

    @property
    def max_operands(self) -> int:
        return len(self.operands)


@dataclass(frozen=True)
class Match:
    """An opcode read by its form: `type`, `stype`, `utype`, `vtype` are its types' names ("" where absent)."""

    form: Form
    type: str
    stype: str
    utype: str = ""
    vtype: str = ""
    modifiers: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def operands(self) -> tuple[OperandSpec, ...]:
        """The form's operands, less those whose modifier is absent."""
        return tuple(o for o in self.form.operands if not o.only_with or o.only_with in self.modifiers)

    def takes(self, n_operands: int) -> bool:
        """Whether that many operands are right with these modifiers."""
        required = sum(not o.optional or bool(o.only_with) for o in self.operands)
        return required <= n_operands <= len(self.operands)

    def slot(self, name: str) -> str:
        """The type of a slot: T, S, U or V."""
        return {"T": self.type, "S": self.stype, "U": self.utype, "V": self.vtype}[name]

    @property
    def n(self) -> int:
        """The number that the modifiers give for vector operands (`.v4`, `.x16`), 0 where they give none."""
        return count_of(self.modifiers)

    def one_of(self, *names: str) -> str:
        """The modifier among `names` that is present, or ""."""
        return next((n for n in names if n in self.modifiers), "")


@dataclass(frozen=True)
class Table:
    """The forms of every key, and the title of every family."""

    forms: Mapping[str, tuple[Form, ...]]
    titles: Mapping[str, str] = field(default_factory=dict)

    def match(self, opcode_text: str, n_operands: int, ptxplus: bool) -> Match | None:
        """The first form that fits an opcode text ("add.f32") and a number of operands, or None."""
        found = self.matches(opcode_text, n_operands, ptxplus)
        return found[0] if found else None

    def matches(self, opcode_text: str, n_operands: int, ptxplus: bool) -> tuple[Match, ...]:
        """Every form that fits an opcode text and a number of operands; the operands' kinds decide between them."""
        return _matches(self, opcode_text, n_operands, ptxplus)

    def __hash__(self) -> int:
        return id(self)


@cache
def _matches(table: Table, text: str, n_operands: int, ptxplus: bool) -> tuple[Match, ...]:
    words = text.split(".")
    candidates: list[tuple[Form, list[str]]] = []
    for base_length in range(min(_LONGEST_KEY, len(words)), 0, -1):
        base = ".".join(words[:base_length])
        for form in table.forms.get(base, ()):
            if form.dialect and (form.dialect == "ptxplus") != ptxplus:
                continue
            # PTXPlus: surplus trailing operands are allowed (`mov.u32 $r1, $ofs1, 0x0`)
            if n_operands < form.min_operands or (n_operands > form.max_operands and not ptxplus):
                continue
            candidates.append((form, words[base_length:]))
    found: list[Match] = []
    if not ptxplus:
        found = [m for form, rest in candidates if (m := _match_in_order(form, rest)) and m.takes(n_operands)]
    if not found:
        # ptxas too takes most modifiers in any order: `div.ftz.rn.f32`, `atom.add.relaxed.cta.u64`
        anywhere = PTXPLUS_ANYWHERE if ptxplus else frozenset[str]()
        found = [
            m
            for form, rest in candidates
            if (m := _match_any_order(form, rest, anywhere)) and (ptxplus or m.takes(n_operands))
        ]
    return tuple(found)


def _match_in_order(form: Form, words: list[str]) -> Match | None:
    """PTX: the modifiers stand in the order of the groups."""
    position = 0
    slots = dict.fromkeys(SLOTS, "")
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
    return _match(form, slots, taken) if position == len(words) else None


def _alternative(group: ModifierGroup, words: list[str], position: int) -> str:
    """The alternative that the words at a position spell ("" for none); some are several words, like `xorsign.abs`."""
    for length in (3, 2, 1):
        word = ".".join(words[position : position + length])
        if word in group.alternatives and position + length <= len(words):
            return word
    return ""


def _match_any_order(form: Form, words: list[str], anywhere: frozenset[str]) -> Match | None:
    """Modifiers in any order, those of `anywhere` too; but the first type is T and the second S."""
    slots = dict.fromkeys(SLOTS, "")
    taken: list[str] = []
    rest = list(form.groups)
    type_slots = [g for g in rest if g.slot]
    rest = [g for g in rest if not g.slot]
    if rest and rest[0].leading and not anywhere and not _alternative(rest[0], words, 0):
        return None
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word in TYPES and type_slots:
            group = type_slots.pop(0)
            if word not in group.alternatives:
                return None
            slots[group.slot] = word
            continue
        for modifier in rest:
            if found := _alternative(modifier, words, position - 1):
                rest.remove(modifier)
                word = found
                position += found.count(".")
                break
        else:
            if word not in anywhere:
                return None
        taken.append(word)
    if any(not g.optional for g in rest + type_slots):
        return None
    return _match(form, slots, taken)


def _match(form: Form, slots: Mapping[str, str], taken: list[str]) -> Match | None:
    modifiers = frozenset(taken)
    if form.exclusions and form.clash(modifiers.union(slots.values())):
        return None
    return Match(form, slots["T"], slots["S"], slots["U"], slots["V"], modifiers)


def _groups(base: str, row: Mapping[str, str], macros: Mapping[str, str]) -> tuple[ModifierGroup, ...]:
    words = row.get("mods", "").split()
    if row.get("types") and not any(w.rstrip("?") == "T" for w in words):
        words.append("T")
    for slot, column in _TYPE_COLUMNS.items():
        if column in row and not any(w.rstrip("?") == slot for w in words):
            raise TableError(f"{base}: column '{column}' without '{slot}' in mods")
    groups: list[ModifierGroup] = []
    for word in words:
        optional = word.endswith("?")
        leading = word.startswith("^")
        word = word.removesuffix("?").removeprefix("^")
        if word in SLOTS:
            names = _alternatives(base, row.get(_TYPE_COLUMNS[word], "").split(), macros)
            for name in names:
                if name not in TYPES:
                    raise TableError(f"{base}: '{name}' is no type")
            groups.append(ModifierGroup(names, optional, word))
        else:
            name = word[1:] if word.startswith("$") and "|" not in word else ""
            alternatives = _alternatives(base, word.split("|"), macros)
            groups.append(ModifierGroup(alternatives, optional, name=name, leading=leading))
    return tuple(groups)


def _alternatives(base: str, words: Iterable[str], macros: Mapping[str, str]) -> tuple[str, ...]:
    """The words, those that name a group replaced by what is in it."""
    found: list[str] = []
    for word in words:
        if not word.startswith("$"):
            found.append(word)
        elif word[1:] in macros:
            found += macros[word[1:]].split("|")
        else:
            raise TableError(f"{base}: no modifier group '{word}'")
    return tuple(found)


def _items(base: str, text: str, macros: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The items of `since` and `not`, those of a group that stands for some included, and whether it is of a group."""
    for item in filter(None, map(str.strip, text.split(","))):
        if not item.startswith("$") or " " in item:
            yield item, False
        elif item[1:] in macros:
            yield from ((one.strip(), True) for one in macros[item[1:]].split(","))
        else:
            raise TableError(f"{base}: no group '{item}'")


def _since(
    base: str, row: Mapping[str, str], macros: Mapping[str, str], known: frozenset[str]
) -> Mapping[str, Since]:
    found = {"": _feature(base, row.get("ptx", "1.0"), row.get("sm", "").split())}
    for item, is_of_group in _items(base, row.get("since", ""), macros):
        names, version, *targets = item.split()
        words = known.intersection(_alternatives(base, names.split("|"), macros))
        if not words and not is_of_group:
            raise TableError(f"{base}: 'since' speaks of '{names}', which the form does not have")
        found |= dict.fromkeys(sorted(words), _feature(base, version, targets))
    return found


def _exclusions(
    base: str, row: Mapping[str, str], macros: Mapping[str, str], known: frozenset[str]
) -> tuple[tuple[Term, ...], ...]:
    found: list[tuple[Term, ...]] = []
    for item, is_of_group in _items(base, row.get("not", ""), macros):
        terms = [_term(base, word, macros, known) for word in item.split()]
        if all(t.words or t.absent for t in terms) and len(terms) > 1:
            found.append(tuple(terms))
        elif not is_of_group:
            raise TableError(f"{base}: 'not' speaks of '{item}', which the form cannot have")
    return tuple(found)


def _term(base: str, word: str, macros: Mapping[str, str], known: frozenset[str]) -> Term:
    names = _alternatives(base, word.removeprefix("!").split("|"), macros)
    return Term(frozenset(names) & known, word.startswith("!"))


def _until(base: str, words: list[str]) -> Since | None:
    if not words:
        return None
    versions = [w for w in words if "." in w]
    return _feature(base, versions[0] if versions else "0.0", [w for w in words if "." not in w])


def _feature(base: str, version: str, targets: list[str]) -> Since:
    major, _, minor = version.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        raise TableError(f"{base}: '{version}' is no PTX version")
    if not all(t.rstrip("af").isdecimal() for t in targets):
        raise TableError(f"{base}: bad targets {targets}")
    return Since((int(major), int(minor)), tuple(targets))


def _form(base: str, index: int, row: Mapping[str, str], macros: Mapping[str, str], family: str) -> Form:
    unknown = set(row) - _COLUMNS
    if unknown:
        raise TableError(f"{base}: unknown column {sorted(unknown)}")
    try:
        operands = tuple(operand(word) for word in row["ops"].split())
    except OperandError as problem:
        raise TableError(f"{base}: {problem}") from problem
    if any(a.optional and not a.only_with and not b.optional for a, b in pairwise(operands)):
        raise TableError(f"{base}: an optional operand before one that is not")
    effects = frozenset(row.get("effects", "").split())
    if effects - EFFECTS:
        raise TableError(f"{base}: unknown effect {sorted(effects - EFFECTS)}")
    implicit: list[tuple[str, str]] = []
    for word in row.get("implicit", "").split():
        role, _, name = word.partition(":")
        implicit.append((role, name))
    groups = _groups(base, row, macros)
    words = frozenset(a for g in groups for a in g.alternatives)
    if unknown := {o.only_with for o in operands if o.only_with} - words:
        raise TableError(f"{base}: an operand for {sorted(unknown)}, which the form cannot have")
    slots = {g.slot for g in groups if g.slot}
    for spec in operands:
        for fit in spec.fits:
            if fit.type in SLOTS and fit.type not in slots and "T" in slots:
                raise TableError(
                    f"{base}: operand '{spec.name}' has the type '{fit.type}', which the row has not"
                )
    return Form(
        base=base,
        index=index,
        operands=operands,
        groups=groups,
        unit=row.get("unit", "alu"),
        sem=row.get("sem", ""),
        effects=effects,
        implicit=tuple(implicit),
        dialect=row.get("dialect", ""),
        since=_since(base, row, macros, words),
        family=family,
        exclusions=_exclusions(base, row, macros, words),
        until=_until(base, row.get("until", "").split()),
    )


def load(texts: Mapping[str, str]) -> Table:
    """Read and check a table from TOML texts, by family. Raises `TableError`."""
    families: dict[str, dict[str, Any]] = {name: tomllib.loads(text) for name, text in texts.items()}
    macros: dict[str, str] = {}
    for data in families.values():
        for name, words in data.pop("groups", {}).items():
            if name in macros:
                raise TableError(f"two groups '{name}'")
            macros[name] = words
    forms: dict[str, tuple[Form, ...]] = {}
    titles: dict[str, str] = {}
    for family, data in families.items():
        title = data.pop("title", "")
        if title:
            titles[family] = title
        for base, rows in data.items():
            if base in forms:
                raise TableError(f"{base}: in two families")
            made = tuple(_form(base, i, row, macros, family) for i, row in enumerate(rows))
            keys = [(f.groups, f.operands, f.dialect) for f in made]
            if len(set(keys)) != len(keys):
                raise TableError(f"{base}: two forms are the same")
            forms[base] = made
    return Table(forms, titles)


@cache
def table() -> Table:
    """The instruction table."""
    folder = Path(__file__).parent / "opcodes"
    return load({path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))})
