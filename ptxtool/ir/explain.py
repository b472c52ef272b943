"""Why no form of the instruction table fits an opcode with so many operands, and what may have been meant.

For `verify` (as a warning: the instruction passes through) and `check` (as an error). The words of the opcode are
changed one at a time, in the order of what is likeliest, until a form fits: another number of operands, a word less, a
word more, another word. The first change that helps is the explanation.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from ptxtool.base.nearest import nearest
from ptxtool.isa.foreign import INSTRUCTIONS_ELSEWHERE, TYPES_ELSEWHERE
from ptxtool.isa.forms import Form
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES

_Ask = Callable[[list[str]], bool]
"""Whether a form fits an opcode of the same base with these words."""
_MOST_OPERANDS = 12
_MOST_WORDS = 30  # twice what any instruction has
_LISTED = 8
_COMMON = ("u32", "s32", "f32", "b32", "u64", "s64", "f64", "b64", "u16", "s16", "f16", "b16")
_SPACES = frozenset({"global", "shared", "local", "const", "param", "reg"})


class Explanation(NamedTuple):
    """A message, a next step, and the part of the opcode that is to blame ("" for all of it)."""

    message: str
    help: str
    word: str = ""


@cache
def explain(text: str, n_operands: int, is_ptxplus: bool) -> Explanation:
    """Explain why `table().match(text, n_operands, is_ptxplus)` is None."""
    base, *words = text.split(".")
    forms = _forms(base, is_ptxplus)
    if not forms:
        return _unknown(base, words, n_operands, is_ptxplus)
    allowed = _words(forms)
    if len(words) > _MOST_WORDS:
        message = f"no form of '{base}' has {len(words)} modifiers"
        return Explanation(message, f"'ptxtool isa {base}' lists its forms")
    for word in words:
        if word not in allowed:
            return _unknown_word(base, word, allowed)

    def asker(counts: Iterable[int]) -> _Ask:
        return lambda changed: any(
            table().match(".".join([base, *changed]), n, is_ptxplus) is not None for n in counts
        )

    counts = [n for n in range(_MOST_OPERANDS) if asker([n])(words)]
    if counts:
        is_range = len(counts) > 2 and counts[-1] - counts[0] == len(counts) - 1
        if is_range and counts[-1] == _MOST_OPERANDS - 1:
            numbers = f"{counts[0]} or more"
        elif is_range:
            numbers = f"{counts[0]} to {counts[-1]}"
        else:
            numbers = _either(map(str, counts)) if any(counts) else "no"
        takes = f"{numbers} operand{'' if counts == [1] else 's'}"
        help = f"write {_either(dict.fromkeys(_usage(text, n, is_ptxplus) for n in counts[:3]))}"
        return Explanation(f"'{text}' takes {takes}, not {n_operands}", help)
    for fits in (asker([n_operands]), asker(range(_MOST_OPERANDS))):
        found = (
            _one_less(base, words, fits, allowed)
            or _one_more(base, words, fits, allowed)
            or _another(base, words, fits, allowed)
        )
        if found is not None:
            return found
    return Explanation(
        f"no form of '{base}' has these modifiers together", f"'ptxtool isa {base}' lists its forms"
    )


def _forms(base: str, is_ptxplus: bool) -> list[Form]:
    """Every form of an opcode in a dialect; `bar` alone is no key of the table, but `bar.sync` is."""
    return [
        form
        for key, forms in table().forms.items()
        if key.split(".")[0] == base
        for form in forms
        if not form.dialect or (form.dialect == "ptxplus") == is_ptxplus
    ]


def _words(forms: Iterable[Form]) -> dict[str, None]:
    """The words that occur in forms, in the order of the table."""
    found: dict[str, None] = {}
    for form in forms:
        found.update(dict.fromkeys(form.base.split(".")[1:]))
        for group in form.groups:
            for alternative in group.alternatives:
                found.update(dict.fromkeys(alternative.split(".")))
    return found


@cache
def _bases(is_ptxplus: bool) -> tuple[str, ...]:
    """The first words of all opcodes of a dialect."""
    return tuple(
        sorted({key.split(".")[0] for key in table().forms if _forms(key.split(".")[0], is_ptxplus)})
    )


def _unknown(base: str, words: list[str], n_operands: int, is_ptxplus: bool) -> Explanation:
    """No such instruction; the likeliest is one like it that the rest of the opcode fits."""
    if base in _bases(not is_ptxplus):
        other = "PTX" if is_ptxplus else "PTXPlus ('.version 1.4+')"
        return Explanation(f"unknown instruction '{base}'", f"it belongs to {other}", base)
    alike = [known for known in _bases(is_ptxplus) if nearest(base, [known])]
    fitting = [k for k in alike if table().match(".".join([k, *words]), n_operands, is_ptxplus) is not None]
    near = nearest(base, fitting or alike)
    meant = INSTRUCTIONS_ELSEWHERE.get(base, "") or near
    help = f"did you mean '{meant}'?" if meant else "'ptxtool isa' lists the instructions"
    return Explanation(f"unknown instruction '{base}'", help, base)


def _usage(text: str, n_operands: int, is_ptxplus: bool) -> str:
    """An opcode with the names that the table gives its operands: `'add.u32 d, a, b'`."""
    found = table().match(text, n_operands, is_ptxplus)
    assert found is not None
    specs = [o for o in found.operands if not o.optional or o.only_with]
    specs += [o for o in found.operands if o not in specs][: n_operands - len(specs)]
    operands = [f"[{o.name}]" if o.role == "m" else o.name for o in found.operands if o in specs]
    return f"'{text} {', '.join(operands)}'" if operands else f"'{text}' alone"


def _unknown_word(base: str, word: str, allowed: dict[str, None]) -> Explanation:
    near = TYPES_ELSEWHERE.get(word, "")
    near = near if near in allowed else nearest(word, sorted(allowed), 0.6)
    what = "type" if word in TYPES or near in TYPES else "modifier"
    alike: list[str] = []
    if word in TYPES:
        alike = [w for w in allowed if w in TYPES]
    elif word in _SPACES:
        alike = [w for w in allowed if w.partition("::")[0] in _SPACES]
    elif word[0] == "v" and word[1:].isdecimal():
        alike = [w for w in allowed if w[0] == "v" and w[1:].isdecimal()]
    if alike:
        help = f"it has {_listed(alike)}"
    elif word in TYPES:
        help = "remove it"
    else:
        help = f"did you mean '.{near}'?" if near else f"'ptxtool isa {base}' lists its forms"
    return Explanation(f"'{base}' has no {what} '.{word}'", help, word)


def missing(text: str, fits: Callable[[str], bool]) -> str:
    """The modifiers one of which makes an opcode fit, "" if no single one does."""
    base, *words = text.split(".")
    allowed = _words(_forms(base, False))
    found = _one_more(base, words, lambda changed: fits(".".join([base, *changed])), allowed)
    return found.help if found else ""


def _one_less(base: str, words: list[str], fits: _Ask, allowed: dict[str, None]) -> Explanation | None:
    for i in reversed(range(len(words))):
        rest = words[:i] + words[i + 1 :]
        if not fits(rest):
            continue
        word = words[i]
        if word in rest:
            return Explanation(f"'.{word}' stands twice", "remove one of them", word)
        types = [w for w in rest if w in TYPES]
        if word in TYPES:
            return Explanation(
                f"'{'.'.join([base, *rest])}' takes no further type '.{word}'", "remove it", word
            )
        message = (
            f"'.{word}' does not go with '.{types[-1]}'" if types else f"'{base}' takes no '.{word}' here"
        )
        others: list[str] = []
        if types:
            at = len(words) - 1 - words[::-1].index(types[-1])
            others = [w for w in allowed if w in TYPES and fits([*words[:at], w, *words[at + 1 :]])]
        help = f"it goes with {_listed(others)}" if others else f"remove '.{word}'"
        return Explanation(message, help, word)
    return None


def _one_more(base: str, words: list[str], fits: _Ask, allowed: dict[str, None]) -> Explanation | None:
    missing: list[str] = []
    for word in allowed:
        if any(fits([*words[:i], word, *words[i:]]) for i in range(len(words), -1, -1)):
            missing.append(word)
    if not missing:
        return None
    text = ".".join([base, *words])
    if all(w in TYPES for w in missing):
        return Explanation(f"'{text}' lacks a type", f"write {_listed(missing, 'or')} behind it")
    return Explanation(
        f"'{text}' lacks a modifier", f"add {_listed((w for w in missing if w not in TYPES), 'or')}"
    )


def _another(base: str, words: list[str], fits: _Ask, allowed: dict[str, None]) -> Explanation | None:
    for i in reversed(range(len(words))):
        others = [w for w in allowed if fits([*words[:i], w, *words[i + 1 :]])]
        if not others:
            continue
        word = words[i]
        if word in TYPES:
            rest = ".".join([base, *words[:i]])
            return Explanation(f"'{rest}' has no form with type '.{word}'", f"it has {_listed(others)}", word)
        rest = ".".join([base, *words[:i], *words[i + 1 :]])
        return Explanation(f"'{rest}' has no form with '.{word}'", f"it has {_listed(others)}", word)
    return None


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _listed(words: Iterable[str], last_one: str = "and") -> str:
    """'.a', '.b' and '.c', cut where there are many."""
    chosen = list(words)
    if len(chosen) > _LISTED:  # the common ones are shown
        chosen.sort(key=lambda w: _COMMON.index(w) if w in _COMMON else len(_COMMON))
    named = [f"'.{word}'" for word in chosen]
    if len(named) > _LISTED:
        return f"{', '.join(named[:_LISTED])}, ..."
    *most, last = named
    return f"{', '.join(most)} {last_one} {last}" if most else last
