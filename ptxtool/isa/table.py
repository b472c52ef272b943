"""The instruction table: the choice of the form that fits an opcode.

`ptxtool.isa.rows` describes the files it is read from. A key's rows are read when an instruction first asks for them: a
kernel uses a few of the hundreds of opcodes, and every command waits for this. For the same reason two expressions read
them, which know the TOML that the files use: `load` compares with all of TOML (tested).

An opcode whose modifiers are in no form's order is tried once more in any order, as ptxas does, and then without the
words that ptxas lets stand twice (`.sat.sat`) or for nothing (`add.s32.pred`); types keep their order, and so do the
layouts of matrices (`.row.col`).

PTXPlus differs where the table need not say so: `.half`, `.exit`, `.abs`, `.neg` and `.sat` fit every opcode, any
`w`/`r` operand may be a memory operand or a pair in braces, and any `w` may be a `Dual`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import msgspec

from ptxtool.isa.forms import Form, ModifierGroup
from ptxtool.isa.operands import SLOTS, OperandSpec, TableError
from ptxtool.isa.rows import DEFAULT_UNIT, read_forms
from ptxtool.isa.types import TYPES

REPEATABLE = frozenset({"NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"})
_IGNORES_PRED = frozenset({
    "abs", "add", "atom", "cos", "cvt", "ex2", "fma", "lg2", "max", "min", "mul", "neg", "rcp", "red", "rsqrt", "set",
    "setp", "sin", "sqrt", "sub", "tanh", "wgmma",
})  # fmt: skip
"""Opcodes after which ptxas 13.0 ignores a superfluous type `.pred`; after all others it is an error."""
PTXPLUS_ANYWHERE = frozenset({"half", "exit", "abs", "neg", "sat", "rn", "rz", "rm", "rp"})
_LAYOUTS = frozenset({"row", "col"})
_COUNTED = re.compile(r"[vx](\d+)|m\d+n(\d+)k\d+")
_LONGEST_KEY = 6
_UNIT = re.compile(r'unit = "(\w+)"')  # `\b` before it takes twenty times as long (measured)
_STRING = r'(\w+) = (?:"""((?:[^"\\]|\\\n)*)"""|"([^"\\\n]*)")'
_JOINT = re.compile(r"\\\n\s*")
_CELL = re.compile(_STRING)
_LINE = re.compile(f"^{_STRING}", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*#.*|\{([^{}\n]*)\}", re.MULTILINE)
_KEY = re.compile(r'^(?:"([^"\n]+)"|([A-Za-z0-9_]+)) = |^\[groups\]', re.MULTILINE)


class Match(msgspec.Struct, frozen=True, dict=True):
    """An opcode read by its form: `type`, `stype`, `utype`, `vtype` are its types' names ("" where absent)."""

    form: Form
    type: str
    stype: str
    utype: str = ""
    vtype: str = ""
    modifiers: frozenset[str] = frozenset()

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
        found = filter(None, map(_COUNTED.fullmatch, sorted(self.modifiers)))
        return next((int(match[1] or match[2]) for match in found), 0)

    def one_of(self, *names: str) -> str:
        """The modifier among `names` that is present, or ""."""
        return next((n for n in names if n in self.modifiers), "")


@dataclass(frozen=True)
class Table:
    """The forms of every key, and the title of every family."""

    forms: Mapping[str, tuple[Form, ...]]
    titles: Mapping[str, str] = field(default_factory=dict)

    units: frozenset[str] = frozenset()
    """What executes instructions: the keys of the GPU files' latency tables."""
    _known: dict[tuple[str, int, bool], tuple[Match, ...]] = field(default_factory=dict, repr=False)

    def match(self, opcode_text: str, n_operands: int, ptxplus: bool) -> Match | None:
        """The first form that fits an opcode text ("add.f32") and a number of operands, or None."""
        key = opcode_text, n_operands, ptxplus
        found = self._known.get(key)
        if found is None:
            found = self.matches(*key)
        return found[0] if found else None

    def matches(self, opcode_text: str, n_operands: int, ptxplus: bool) -> tuple[Match, ...]:
        """Every form that fits an opcode text and a number of operands; the operands' kinds decide between them."""
        key = opcode_text, n_operands, ptxplus
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _matches(self, *key)
        return found

    def __hash__(self) -> int:
        return id(self)


def repeated(opcode_text: str) -> str:
    """The modifier of a PTX opcode that stands there once more than it need, and may; "" if there is none."""
    words = opcode_text.split(".")
    return next((w for n, w in enumerate(words) if w in REPEATABLE and w in words[1:n]), "")


def _matches(table: Table, text: str, n_operands: int, ptxplus: bool) -> tuple[Match, ...]:
    words = text.split(".")
    found = _matches_of(table, words, n_operands, ptxplus)
    if not found and not ptxplus and repeated(text):
        once = [w for n, w in enumerate(words) if w not in REPEATABLE or w not in words[1:n]]
        found = _matches_of(table, once, n_operands, ptxplus)
    if not found and not ptxplus and ".pred" in text and words[0] in _IGNORES_PRED:
        at = words.index("pred")
        found = _matches_of(table, words[:at] + words[at + 1 :], n_operands, ptxplus)
    return found


def _matches_of(table: Table, words: list[str], n_operands: int, ptxplus: bool) -> tuple[Match, ...]:
    candidates: list[tuple[Form, list[str]]] = []
    for base_length in range(min(_LONGEST_KEY, len(words)), 0, -1):
        base = ".".join(words[:base_length])
        for form in table.forms.get(base, ()):
            if form.dialect and (form.dialect == "ptxplus") != ptxplus:
                continue
            # PTXPlus: surplus trailing operands are allowed (`mov.u32 $r1, $ofs1, 0x0`)
            if n_operands < form.min_operands or (n_operands > form.max_operands and not ptxplus):
                continue
            rest = words[base_length:]
            if ptxplus or form.words.issuperset(rest):
                candidates.append((form, rest))
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
    """Modifiers in any order, those of `anywhere` too; but the first type is T, the first layout that of matrix A."""
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
        if word in _LAYOUTS:
            layout = next((g for g in rest if _LAYOUTS.issuperset(g.alternatives)), None)
            if layout is None or word not in layout.alternatives:
                return None
            rest.remove(layout)
            taken.append(word)
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


class _Rows(Mapping[str, tuple[Form, ...]]):
    """The forms by key, each read when it is first asked for."""

    def __init__(self, texts: Mapping[str, tuple[str, str]], macros: Mapping[str, str]):
        self._texts = texts  # key -> family, TOML text
        self.macros = macros
        self._read: dict[str, tuple[Form, ...]] = {}

    def __getitem__(self, key: str) -> tuple[Form, ...]:
        found = self._read.get(key)
        if found is None:
            family, text = self._texts[key]
            found = self._read[key] = read_forms(key, rows_of(text), self.macros, family)
        return found

    def rows_of(self, family: str) -> dict[str, list[dict[str, str]]]:
        """The rows of every key of a family."""
        return {key: rows_of(text) for key, (own, text) in self._texts.items() if own == family}

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a key."""
    return [_strings(_CELL, row) for row in _ROW.findall(text) if row]  # comments are empty


def _strings(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """The values of `name = "text"`, where a backslash joins lines."""
    return {name: _JOINT.sub("", long) or short for name, long, short in pattern.findall(text)}


def _read(texts: Mapping[str, str]) -> Table:
    """A table from TOML texts, by family, its rows not yet read."""
    entries: dict[str, tuple[str, str]] = {}
    macros: dict[str, str] = {}
    titles: dict[str, str] = {}
    for family, text in texts.items():
        found = list(_KEY.finditer(text))
        ends = [m.start() for m in found[1:]] + [len(text)]
        for m, end in zip(found, ends, strict=False):
            key = m[1] or m[2]
            part = text[m.start() : end]
            if key is None:
                groups = _strings(_LINE, text[m.start() :])
                if clash := macros.keys() & groups.keys():
                    raise TableError(f"two groups {sorted(clash)}")
                macros |= groups
                break
            if key == "title":
                titles[family] = _strings(_LINE, part).get("title", "")
            elif key in entries:
                raise TableError(f"{key}: twice")
            else:
                entries[key] = family, part
    units = frozenset({unit for text in texts.values() for unit in _UNIT.findall(text)} | {DEFAULT_UNIT})
    return Table(_Rows(entries, macros), titles, units)


def load(texts: Mapping[str, str]) -> Table:
    """Read and check a whole table from TOML texts, by family. Raises `TableError`."""
    import tomllib

    made, groups = _read(texts), dict[str, str]()
    forms = made.forms
    assert isinstance(forms, _Rows)
    for family, text in texts.items():
        data = tomllib.loads(text)
        groups |= data.pop("groups", {})
        if data.pop("title", "") != made.titles.get(family, ""):
            raise TableError(f"{family}: the title is no plain string")
        if data != forms.rows_of(family):
            raise TableError(
                f"{family}: a key does not begin its line, or a row is no plain strings on a line"
            )
    if groups != forms.macros:
        raise TableError("a group is no plain string on a line of its own")
    for key in forms:
        _ = forms[key]  # reads and checks them
    return made


def files() -> dict[str, str]:
    """The texts of the families' files."""
    folder = Path(__file__).parent / "opcodes"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}


@cache
def table() -> Table:
    """The instruction table."""
    return _read(files())
