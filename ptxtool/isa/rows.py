"""Reading the rows of `opcodes/*.toml`: the columns, their meaning, and the refusal of contradictions.

One file per family of instructions (its `title`, then its opcodes), one row per *form*; a key is the opcode, with the
modifiers that come first where they decide the form (`"cp.async.bulk"`). Columns (all text, all optional but `ops`):

    ops       operands in order, `role:name:class`, as `ptxtool.isa.operands` describes
    types     the values the type modifier may take (`$name`: a group); it stands at `T` in `mods`, or at the end
    stypes utypes vtypes
              the same for the second to fourth type, `S`, `U` and `V` in `mods`
    mods      modifier groups in printing order: `a|b` alternatives, `?` after it optional, `$name` one of groups.toml;
              `^` before it: directly after the opcode, also where others change places (`mul.lo`)
    unit      what executes it: a key of the GPU files' latency tables
    sem       its meaning: a name that lane operations and the reference interpreter know; "" has none
    refused   why a row without a meaning has none: "needs several GPUs", "meaning unknown: ..."
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
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from ptxtool.isa.forms import Form, ModifierGroup, Since, Term
from ptxtool.isa.operands import SLOTS, TableError, operand
from ptxtool.isa.types import TYPES

DEFAULT_UNIT = "alu"
EFFECTS = frozenset({"load", "store", "atomic", "barrier", "branch", "exit", "call", "return"})
_TYPE_COLUMNS = dict(zip(SLOTS, ("types", "stypes", "utypes", "vtypes"), strict=True))
_COLUMNS = frozenset(
    {
        "ops",
        "mods",
        "unit",
        "sem",
        "refused",
        "effects",
        "implicit",
        "dialect",
        "ptx",
        "sm",
        "since",
        "until",
        "not",
    }
) | frozenset(_TYPE_COLUMNS.values())


def read_forms(
    base: str, rows: Iterable[Mapping[str, str]], macros: Mapping[str, str], family: str
) -> tuple[Form, ...]:
    """The forms of one key. Raises `TableError`."""
    try:
        made = tuple(_form(base, i, row, macros, family) for i, row in enumerate(rows))
        keys = [(f.groups, f.operands, f.dialect) for f in made]
        if len(set(keys)) != len(keys):
            raise TableError("two forms are the same")
    except TableError as problem:
        raise TableError(f"{base}: {problem}") from problem
    return made


def _form(base: str, index: int, row: Mapping[str, str], macros: Mapping[str, str], family: str) -> Form:
    unknown = set(row) - _COLUMNS
    if unknown:
        raise TableError(f"unknown column {sorted(unknown)}")
    operands = tuple(operand(word) for word in row["ops"].split())
    if any(a.optional and not a.only_with and not b.optional for a, b in pairwise(operands)):
        raise TableError("an optional operand before one that is not")
    if row.get("sem") and row.get("refused"):
        raise TableError("a meaning, and the reason why there is none")
    effects = frozenset(row.get("effects", "").split())
    if effects - EFFECTS:
        raise TableError(f"unknown effect {sorted(effects - EFFECTS)}")
    implicit = (word.partition(":") for word in row.get("implicit", "").split())
    groups = _groups(row, macros)
    words = frozenset(a for g in groups for a in g.alternatives)
    if unknown := {o.only_with for o in operands if o.only_with} - words:
        raise TableError(f"an operand for {sorted(unknown)}, which the form cannot have")
    slots = {g.slot for g in groups if g.slot}
    for spec in operands:
        for fit in spec.fits:
            if fit.type in SLOTS and fit.type not in slots and "T" in slots:
                raise TableError(f"operand '{spec.name}' has the type '{fit.type}', which the row has not")
    return Form(
        base=base,
        index=index,
        operands=operands,
        groups=groups,
        unit=row.get("unit", DEFAULT_UNIT),
        sem=row.get("sem", ""),
        refused=row.get("refused", ""),
        effects=effects,
        implicit=tuple((role, name) for role, _, name in implicit),
        dialect=row.get("dialect", ""),
        since=_since(row, macros, words),
        family=family,
        exclusions=_exclusions(row, macros, words),
        until=_until(row.get("until", "").split()),
    )


def _groups(row: Mapping[str, str], macros: Mapping[str, str]) -> tuple[ModifierGroup, ...]:
    words = row.get("mods", "").split()
    if row.get("types") and not any(w.rstrip("?") == "T" for w in words):
        words.append("T")
    for slot, column in _TYPE_COLUMNS.items():
        if column in row and not any(w.rstrip("?") == slot for w in words):
            raise TableError(f"column '{column}' without '{slot}' in mods")
    groups: list[ModifierGroup] = []
    for word in words:
        optional = word.endswith("?")
        leading = word.startswith("^")
        word = word.removesuffix("?").removeprefix("^")
        if word in SLOTS:
            names = _alternatives(row.get(_TYPE_COLUMNS[word], "").split(), macros)
            for name in names:
                if name not in TYPES:
                    raise TableError(f"'{name}' is no type")
            groups.append(ModifierGroup(names, optional, word))
        else:
            name = word[1:] if word.startswith("$") and "|" not in word else ""
            alternatives = _alternatives(word.split("|"), macros)
            groups.append(ModifierGroup(alternatives, optional, name=name, leading=leading))
    return tuple(groups)


def _alternatives(words: Iterable[str], macros: Mapping[str, str]) -> tuple[str, ...]:
    """The words, those that name a group replaced by what is in it."""
    found: list[str] = []
    for word in words:
        if not word.startswith("$"):
            found.append(word)
        elif word[1:] in macros:
            found += macros[word[1:]].split("|")
        else:
            raise TableError(f"no modifier group '{word}'")
    return tuple(found)


def _items(text: str, macros: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The items of `since` and `not`, those of a group that stands for some included, and whether it is of a group."""
    for item in filter(None, map(str.strip, text.split(","))):
        if not item.startswith("$") or " " in item:
            yield item, False
        elif item[1:] in macros:
            yield from ((one.strip(), True) for one in macros[item[1:]].split(","))
        else:
            raise TableError(f"no group '{item}'")


def _since(row: Mapping[str, str], macros: Mapping[str, str], known: frozenset[str]) -> Mapping[str, Since]:
    found = {"": _feature(row.get("ptx", "1.0"), row.get("sm", "").split())}
    for item, is_of_group in _items(row.get("since", ""), macros):
        names, version, *targets = item.split()
        words = known.intersection(_alternatives(names.split("|"), macros))
        if not words and not is_of_group:
            raise TableError(f"'since' speaks of '{names}', which the form does not have")
        found |= dict.fromkeys(sorted(words), _feature(version, targets))
    return found


def _exclusions(
    row: Mapping[str, str], macros: Mapping[str, str], known: frozenset[str]
) -> tuple[tuple[Term, ...], ...]:
    found: list[tuple[Term, ...]] = []
    for item, is_of_group in _items(row.get("not", ""), macros):
        terms = [_term(word, macros, known) for word in item.split()]
        if all(t.words or t.absent for t in terms) and len(terms) > 1:
            found.append(tuple(terms))
        elif not is_of_group:
            raise TableError(f"'not' speaks of '{item}', which the form cannot have")
    return tuple(found)


def _term(word: str, macros: Mapping[str, str], known: frozenset[str]) -> Term:
    names = _alternatives(word.removeprefix("!").split("|"), macros)
    return Term(frozenset(names) & known, word.startswith("!"))


def _until(words: list[str]) -> Since | None:
    if not words:
        return None
    versions = [w for w in words if "." in w]
    return _feature(versions[0] if versions else "0.0", [w for w in words if "." not in w])


def _feature(version: str, targets: list[str]) -> Since:
    major, _, minor = version.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        raise TableError(f"'{version}' is no PTX version")
    if not all(t.rstrip("af").isdecimal() for t in targets):
        raise TableError(f"bad targets {targets}")
    return Since((int(major), int(minor)), tuple(targets))
