"""The forms of the instruction table as text: for `ptxtool isa`, and for docs/isa.md, which is this for every opcode.

A form in the notation of the PTX ISA: `{.x}` is optional, `.a|.b` are alternatives, a group too long to write out is
named and listed below. Operands: `d|p` may be a pair, `[a]` is an address, `{v}` a vector, `c?` may be left out; a
colon precedes any type but the instruction's own, `imm` is a constant. Then the requirements of the form: the first
version and target, those of words that came later (on a line of their own where long), and the last ones (`until`).
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ptxtool.isa.forms import Form, ModifierGroup, Since
from ptxtool.isa.operands import Fit, OperandSpec
from ptxtool.isa.table import Table

_SLOT_NAMES = {"T": "type", "S": "type2", "U": "type3", "V": "type4"}
_INLINE = 26  # characters of alternatives that are written out
_SHORT = 40  # characters of words that came later than their form, on its line


def opcodes(table: Table) -> list[str]:
    """The first words of all opcodes, in alphabetical order."""
    return sorted({key.split(".")[0] for key in table.forms})


def forms_of(table: Table, opcode: str) -> list[Form]:
    """The forms of an opcode, given as its first word ("add") or a key of the table ("cp.async.bulk")."""
    return [
        form
        for key in table.forms
        if key == opcode or key.startswith(opcode + ".") or key.split(".")[0] == opcode
        for form in table.forms[key]
    ]


def form_lines(forms: Iterable[Form]) -> list[str]:
    """Forms under each other, their operands aligned, and the groups they name."""
    rows: list[tuple[str, str, str]] = []
    named: dict[str, tuple[str, ...]] = {}
    below: list[list[str]] = []
    for form in forms:
        notes: list[str] = []
        for group in form.groups:
            if _is_inline(group):
                continue
            if group.slot:
                notes.append(f"    .{_SLOT_NAMES[group.slot]} = {_dotted(group.alternatives, ' ')}")
            elif group.name:
                named[group.name] = group.alternatives
        later = _later(form)
        is_short = len(later) <= _SHORT
        if not is_short:
            notes.append(f"    since {later}")
        if form.exclusions:
            notes.append(f"    not {_exclusions(form)}")
        operands = ", ".join(map(_operand, form.operands))
        rows.append(
            (
                form.base + "".join(map(_group, form.groups)),
                operands,
                _remarks(form, later if is_short else ""),
            )
        )
        below.append(notes)
    width = min(max((len(r[0]) for r in rows), default=0), 64)
    middle = min(max((len(r[1]) for r in rows), default=0), 40)
    lines: list[str] = []
    for (opcode, operands, remarks), notes in zip(rows, below, strict=True):
        lines.append(f"{opcode:<{width}}  {operands:<{middle}}  {remarks}".rstrip())
        lines += notes
    lines += [f"    .{name} = {_dotted(words, ' ')}" for name, words in named.items()]
    return lines


def form_data(form: Form) -> dict[str, Any]:
    """A form as plain data, for `--json`."""
    return {
        "opcode": form.base,
        "modifiers": [
            {"alternatives": list(g.alternatives), "optional": g.optional, "is_type": bool(g.slot)}
            for g in form.groups
        ],
        "operands": [
            {
                "name": o.name,
                "role": o.role,
                "classes": [_fit(f) or "type" for f in o.fits],
                "optional": o.optional,
            }
            for o in form.operands
        ],
        "effects": sorted(form.effects),
        "implicit": [f"{role}:{name}" for role, name in form.implicit],
        "dialect": form.dialect or "both",
        "since": {word or "form": _since(s) or "PTX 1.0" for word, s in form.since.items()},
        "is_simulated": bool(form.sem),
        **({"refused": form.refused} if form.refused else {}),
    }


def markdown(table: Table) -> str:
    """docs/isa.md: every form of every opcode, by family."""
    head = [
        "# Instructions",
        "",
        "Every form that ptxtool knows, printed from the table `ptxtool/isa/opcodes` by `ptxtool isa --markdown`.",
        "",
        "`{.x}` is optional and `.a|.b` are alternatives; a long list of them is named and stands below.",
        "",
        "Operands: `d|p` may be a pair, `[a]` is an address, `{v}` a vector, `c?` may be left out. An operand with",
        "another type than the instruction's has it after a colon: `type2` is the second type, `n x b32` as many",
        "elements as the modifiers say (`.v4`, `.x16`), `!pred` a predicate that may be negated, `imm(0..7)` a",
        "constant, `vsel` a register that may have a selector (`%r1.b0`), `_` the sink, `special` a special register.",
        "",
        "Then the first PTX version and target, if not all have the form, and those of words that came later;",
        "`until` says the last ones. `not` lists what does not go together. `ptxplus` marks what only PTXPlus has,",
        "`sim` what the simulator runs; what it does not run has the reason at [the end](#not-simulated).",
    ]
    return "\n".join([*head, *_families(table), *_refusals(table), ""])


def _refusals(table: Table) -> Iterator[str]:
    """The rows that the simulator refuses, by reason."""
    found: dict[str, list[Form]] = {}
    for forms in table.forms.values():
        for form in forms:
            if form.refused:
                found.setdefault(form.refused, []).append(form)
    if found:
        yield from ("", "## Not simulated")
    for reason, refused in found.items():
        names = (form.base + "".join(map(_group, form.groups)) for form in refused)
        yield from ("", f"{reason[0].upper()}{reason[1:]}:", "", "```text", *names, "```")


def _families(table: Table) -> Iterator[str]:
    for family, title in table.titles.items():
        yield from ("", f"## {title}")
        names = dict.fromkeys(
            key.split(".")[0] for key, forms in table.forms.items() if forms and forms[0].family == family
        )
        for name in names:
            forms = [f for f in forms_of(table, name) if f.family == family]
            yield from ("", f"### {name}", "", "```text", *form_lines(forms), "```")


def _group(group: ModifierGroup) -> str:
    text = _dotted(group.alternatives, "|")
    if not _is_inline(group) and (group.slot or group.name):
        text = f".{_SLOT_NAMES[group.slot] if group.slot else group.name}"
    return f"{{{text}}}" if group.optional else text


def _is_inline(group: ModifierGroup) -> bool:
    return len(_dotted(group.alternatives, "|")) <= _INLINE


def _dotted(words: Iterable[str], between: str) -> str:
    return between.join(f".{word}" for word in words)


def _operand(spec: OperandSpec) -> str:
    found = [_fit(f) or "type" for f in spec.fits]
    classes = "" if found == ["type"] else "|".join(found)
    text = spec.name
    if spec.role == "m":
        text = f"[{text}]"
    elif spec.role == "p":
        text = f"{text}|p"
    if any(f.length for f in spec.fits):
        text = f"{{{text}}}"
    return text + (f":{classes}" if classes else "") + ("?" if spec.optional else "")


def _fit(fit: Fit) -> str:
    """One alternative of an operand class; "" for a plain operand of the instruction's type."""
    if fit.kind == "imm":
        bounds = ",".join(map(str, fit.choices)) if fit.choices else ""
        if fit.low is not None:
            bounds = f"{fit.low}..{fit.high}"
        return f"imm({bounds})" if bounds else "imm"
    if fit.kind != "value":
        return fit.kind
    count = ""
    if fit.length is not None:
        variable = "n" + (f"*{fit.length.times}" if fit.length.times > 1 else "")
        variable += f"/{fit.length.over}" if fit.length.over > 1 else ""
        count = f"{fit.length.fixed or variable} x "
    name = _SLOT_NAMES.get(fit.type, fit.type)
    name = ("2 * " if fit.doubled else "") + ("!" if fit.negatable else "") + name
    return "" if (count + name) == "type" else count + name


def _remarks(form: Form, later: str) -> str:
    """What has the form, what came later, what runs it."""
    words = [_since(form.since[""]), later, "until " + _since(form.until) if form.until else ""]
    words += [form.dialect if form.dialect == "ptxplus" else "", "sim" if form.sem else ""]
    return ", ".join(filter(None, words))


def _later(form: Form) -> str:
    """The words that came after the form, with when: `.ftz PTX 1.4, .rm|.rp sm_20`."""
    found: dict[Since, list[str]] = {}
    for word, since in form.since.items():
        if word and not _is_implied(since, form.since[""]):
            found.setdefault(since, []).append(word)
    return ", ".join(f"{_listed(form, words)} {_since(since)}" for since, words in found.items())


def _is_implied(since: Since, first: Since) -> bool:
    """Whether what has the form has this as well."""
    targets = [*since.targets, *first.targets]
    is_plain = all(t.isdecimal() for t in targets)
    newer = is_plain and max(map(int, since.targets), default=0) > max(map(int, first.targets), default=0)
    return since.version <= first.version and not newer and (is_plain or since.targets == first.targets)


def _exclusions(form: Form) -> str:
    """What does not go together: `.add with .s64; .v8 without .b32`."""
    texts: list[str] = []
    for terms in form.exclusions:
        present = [_listed(form, t.words) for t in terms if not t.absent]
        absent = [_listed(form, t.words) for t in terms if t.absent]
        texts.append(" without ".join([" with ".join(present), *absent]).strip())
    return "; ".join(dict.fromkeys(texts))


def _listed(form: Form, words: Collection[str]) -> str:
    """Words in the order of the form's groups; a group that has a name, and is there as a whole, by its name."""
    found: dict[str, None] = {}
    for group in form.groups:
        if group.name and not _is_inline(group) and set(group.alternatives) <= set(words):
            found[group.name] = None
        else:
            found.update((word, None) for word in group.alternatives if word in words)
    return _dotted(found, "|")


def _since(since: Since) -> str:
    version = f"PTX {since.version[0]}.{since.version[1]}" if since.version > (1, 0) else ""
    targets = "|".join(f"sm_{t}" for t in since.targets)
    return " ".join(filter(None, [version, targets]))
