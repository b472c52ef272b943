"""Why no form of the instruction table fits an opcode with so many operands, and what may have been meant.

For `verify` (as a warning: the instruction passes through) and `check` (as an error). The words of the opcode are
changed one at a time (`repair.py`) until a form fits; the first change that helps is the explanation.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache

from ptxtool.base.phrases import did_you_mean, nearest, series
from ptxtool.isa.foreign import INSTRUCTIONS_ELSEWHERE, TYPES_ELSEWHERE
from ptxtool.isa.forms import Form
from ptxtool.isa.operands import OperandSpec
from ptxtool.isa.table import PTXPLUS_ANYWHERE, table
from ptxtool.isa.types import TYPES
from ptxtool.sema.hints.repair import Ask, Explanation, Repair, listed, nearest_form

_MOST_OPERANDS = 12
_NUMBER = re.compile(r"[0-9]{1,9}")
_LONGEST_WORD = 60
_MOST_WORDS = 30  # twice what any instruction has
_SPACES = frozenset({"global", "shared", "local", "const", "param", "reg"})


@cache
def explain(text: str, n_operands: int, is_ptxplus: bool) -> Explanation:
    """Explain why `table().match(text, n_operands, is_ptxplus)` is None."""
    base, *words = text.split(".")
    forms = forms_of(base, is_ptxplus)
    if not forms:
        return _unknown(base, words, n_operands, is_ptxplus)
    allowed = words_of(forms)
    if len(words) > _MOST_WORDS:
        message = f"no form of '{base}' has {len(words)} modifiers"
        return Explanation(message, f"'ptxtool isa {base}' lists its forms")
    for word in words:
        if word not in allowed and not (is_ptxplus and word in PTXPLUS_ANYWHERE):
            return _unknown_word(base, word, allowed)

    def asker(counts: Iterable[int]) -> Ask:
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
            numbers = series(map(str, counts)) if any(counts) else "no"
        takes = f"{numbers} operand{'' if counts == [1] else 's'}"
        help = f"write {series(dict.fromkeys(_usage(text, n, is_ptxplus) for n in counts[:3]))}"
        other = ".".join([{"atom": "red", "red": "atom"}.get(base, ""), *words])
        if table().match(other, n_operands, is_ptxplus) is not None:
            help += f"; '{other}' takes {n_operands}"
        if all(m.form.until for n in counts for m in table().matches(text, n, is_ptxplus)):
            # of 'shfl' the form with '.sync'
            newer = Repair(base, words, asker([n_operands]), allowed).one_more()
            help = f"{newer.help}; without it, {help}" if newer else help
        return Explanation(f"'{text}' takes {takes}, not {n_operands}", help)
    own = _own(forms, words)
    fixed = len(own[0].base.split(".")) - 1 if own else 0
    possible = {n for form in forms for n in range(form.min_operands, form.max_operands + 1)}
    for fits in (asker([n_operands]), asker(sorted(possible))):
        found = Repair(base, words, fits, words_of(own or forms), fixed).explanation()
        if found is not None:
            return found
    form = nearest_form(words, own or forms)
    help = f"the nearest one is '{form}'; 'ptxtool isa {base}' lists them all"
    name = ".".join([base, *words[:fixed]])
    return Explanation(f"no form of '{name}' has these modifiers together", help)


def _own(forms: list[Form], words: list[str]) -> list[Form]:
    """The forms with the longest name that an opcode begins with: of `cp.async.bulk`, not of `cp.async`."""
    names = [form.base.split(".")[1:] for form in forms]
    lengths = [len(name) if words[: len(name)] == name else -1 for name in names]
    longest = max(lengths, default=-1)
    return [form for form, length in zip(forms, lengths, strict=True) if length == longest >= 0]


def forms_of(base: str, is_ptxplus: bool = False) -> list[Form]:
    """Every form of an opcode in a dialect; `bar` alone is no key of the table, but `bar.sync` is."""
    return [
        form
        for key, forms in table().forms.items()
        if key.split(".")[0] == base
        for form in forms
        if not form.dialect or (form.dialect == "ptxplus") == is_ptxplus
    ]


def words_of(forms: Iterable[Form]) -> dict[str, None]:
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
    bases = sorted({key.split(".")[0] for key in table().forms})
    return tuple(base for base in bases if forms_of(base, is_ptxplus))


def _unknown(base: str, words: list[str], n_operands: int, is_ptxplus: bool) -> Explanation:
    """No such instruction; the likeliest is one like it that the rest of the opcode fits."""
    if base in _bases(not is_ptxplus):
        other = "PTX" if is_ptxplus else "PTXPlus ('.version 1.4+')"
        return Explanation(f"unknown instruction '{base}'", f"it belongs to {other}", base)
    alike = [known for known in _bases(is_ptxplus) if nearest(base, [known])]
    fitting = [k for k in alike if table().match(".".join([k, *words]), n_operands, is_ptxplus) is not None]
    meant = INSTRUCTIONS_ELSEWHERE.get(base, "") or _dotted(base, is_ptxplus)
    help = did_you_mean(base, fitting or alike, "'ptxtool isa' lists the instructions", meant=meant)
    return Explanation(f"unknown instruction '{base}'", help, base)


def _dotted(base: str, is_ptxplus: bool) -> str:
    """An instruction and one of its words that stand together without their dot: `mov.u32` for `movu32`; else ""."""
    known = _bases(is_ptxplus)
    for i in range(min(len(base), _LONGEST_WORD) - 1, 1, -1):
        if base[:i] in known and base[i:] in words_of(forms_of(base[:i], is_ptxplus)):
            return f"{base[:i]}.{base[i:]}"
    return ""


def _usage(text: str, n_operands: int, is_ptxplus: bool) -> str:
    """An opcode with the names that the table gives its operands: `'add.u32 d, a, b'`."""
    found = table().match(text, n_operands, is_ptxplus)
    assert found is not None
    specs = [o for o in found.operands if not o.optional or o.only_with]
    specs += [o for o in found.operands if o not in specs][: n_operands - len(specs)]
    operands = [_operand_usage(o, found.n) for o in found.operands if o in specs]
    return f"'{text} {', '.join(operands)}'" if operands else f"'{text}' alone"


def _operand_usage(spec: OperandSpec, n: int) -> str:
    if spec.role == "m":
        return f"[{spec.name}]"
    is_vector = any(fit.length is not None and fit.length.of(n) > 1 for fit in spec.fits)
    return f"{{{spec.name}, ...}}" if is_vector else spec.name


def _same_shape(word: str, allowed: Iterable[str]) -> str:
    """The word that differs least in its numbers alone, such as `m64n16k16` for `m64n15k16`; "" if there is none."""
    numbers = [int(n) for n in _NUMBER.findall(word)]
    alike = [w for w in allowed if _NUMBER.sub("#", w) == _NUMBER.sub("#", word)]
    if not numbers or word[0] in "0123456789v" or len(numbers) < 2:
        return ""
    distance = {
        w: sum(abs(int(a) - b) for a, b in zip(_NUMBER.findall(w), numbers, strict=True)) for w in alike
    }
    return min(alike, key=lambda w: distance[w], default="")


def _unknown_word(base: str, word: str, allowed: dict[str, None]) -> Explanation:
    near = TYPES_ELSEWHERE.get(word, "")
    near = near if near in allowed else _same_shape(word, allowed) or nearest(word, sorted(allowed), 0.6)
    what = "type" if word in TYPES or near in TYPES else "modifier"
    alike: list[str] = []
    halves = ((word[:i], word[i:]) for i in range(1, min(len(word), _LONGEST_WORD)))
    both = next((f"{a}.{b}" for a, b in halves if a in allowed and b in allowed), "")
    if both:
        return Explanation(f"'{base}' has no modifier '.{word}'", f"did you mean '.{both}'?", word)
    if word in TYPES:
        alike = [w for w in allowed if w in TYPES]
    elif word in _SPACES:
        alike = [w for w in allowed if w.partition("::")[0] in _SPACES]
    elif word[0] == "v" and word[1:].isdecimal():
        alike = [w for w in allowed if w[0] == "v" and w[1:].isdecimal()]
    if alike:
        help = f"it has {listed(alike)}"
    elif word in TYPES:
        help = "remove it"
    else:
        help = did_you_mean(word, allowed, f"'ptxtool isa {base}' lists its forms", mark=".", meant=near)
    return Explanation(f"'{base}' has no {what} '.{word}'", help, word)


def missing(text: str, fits: Callable[[str], bool]) -> str:
    """The modifiers one of which makes an opcode fit, "" if no single one does."""
    base, *words = text.split(".")
    allowed = words_of(forms_of(base, False))
    found = Repair(base, words, lambda changed: fits(".".join([base, *changed])), allowed).one_more()
    return found.help if found else ""
