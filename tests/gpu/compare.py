"""Two machines' results of one item, lane by lane: equal, both NaNs, within an approximation's bound, or different."""

from dataclasses import dataclass

import numpy as np
from approximations import SIGNIFICANDS, allowed, approximation
from walk_kernels import KINDS, LANES, Item, inputs

# results that are floating-point numbers, and the numbers' format
_FLOATS = {
    "f64": "f64",
    "tf32": "f32",
    **{name + x2: name for name in ("f16", "bf16", "f32") for x2 in ("", "x2")},
}
_COPIES = ("mov", "ld", "st", "selp", "slct", "shfl")
"""What only moves numbers moves NaNs as they are."""
_WORDS = {"f16": "u2", "bf16": "u2", "f32": "u4", "f64": "u8"}


@dataclass(frozen=True)
class Comparison:
    """How many lanes are what; `worst` is the largest error in last places within a bound, `first` a difference."""

    nan: int = 0
    near: int = 0
    wrong: int = 0
    worst: float = 0.0
    first: str = ""

    @property
    def outcome(self) -> str:
        if self.wrong:
            return "different"
        return "within bound" if self.near else "NaN bits" if self.nan else "equal"


def numbers(words: np.ndarray, format_: str) -> np.ndarray:
    """The values of words of a format, as f64."""
    if format_ == "bf16":
        return (words.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    found: np.ndarray = words.view(f"f{words.itemsize}").astype(np.float64)
    return found


def compare(item: Item, ours: np.ndarray, theirs: np.ndarray) -> Comparison:
    """Compare results of shape (lane, slot, word)."""
    nan, near, wrong = (np.zeros(LANES, bool) for _ in range(3))
    worst = 0.0
    differs = (ours != theirs).any(axis=2)
    for slot in np.flatnonzero(differs.any(axis=0)).tolist():
        format_ = _FLOATS.get(item.results[slot] if slot < len(item.results) else "")
        if format_ is None:
            wrong |= differs[:, slot]
            continue
        a, b = (np.ascontiguousarray(v[:, slot]).view(_WORDS[format_]) for v in (ours, theirs))
        exact = a == b
        with np.errstate(invalid="ignore"):
            x, y = numbers(a, format_), numbers(b, format_)
        both = np.isnan(x) & np.isnan(y) & ~exact & (item.match.form.sem not in _COPIES)
        close = np.zeros_like(exact)
        known = approximation(item.text.split()[0])
        if known is not None:
            arguments = [np.repeat(v[:, None], a.shape[1], axis=1) for v in _arguments(item, format_)]
            bound = allowed(known, x, arguments, format_)
            with np.errstate(invalid="ignore"):
                close = (np.abs(x - y) <= bound) & ~exact
                close |= np.isinf(bound) & ~exact
                places = np.abs(x - y) / _place(x, format_)
            measured = close & np.isfinite(bound)
            worst = max([worst, *places[measured].tolist()])
        nan |= both.any(axis=1)
        near |= close.any(axis=1)
        wrong |= ~(exact | both | close).all(axis=1)
    first = _reported(item, int(np.flatnonzero(wrong)[0]), ours, theirs) if wrong.any() else ""
    return Comparison(int(nan.sum()), int(near.sum()), int(wrong.sum()), worst, first)


def _place(values: np.ndarray, format_: str) -> np.ndarray:
    precision, lowest = SIGNIFICANDS[format_]
    size = np.abs(np.where(np.isfinite(values), values, 0))
    exponent = np.where(size > 0, np.maximum(np.frexp(size)[1] - 1, lowest), lowest)
    return np.ldexp(1.0, exponent - precision + 1)


def _arguments(item: Item, format_: str) -> list[np.ndarray]:
    """The operands' values; of packed ones the first element, which no bound asks for."""
    rows = [inputs()[list(KINDS).index(kind), place] for _, kind, place in item.given]
    if not rows and item.data is not None:
        rows = list(item.data)
    with np.errstate(invalid="ignore"):
        return [numbers(row.astype(_WORDS[format_]), format_) for row in rows]


def _reported(item: Item, lane: int, ours: np.ndarray, theirs: np.ndarray) -> str:
    """The inputs and both results of a lane."""
    given = [
        f"{name} = {int(inputs()[list(KINDS).index(kind), place, lane]):#x}"
        for name, kind, place in item.given
    ]
    if item.data is not None and len(item.data) <= 16:
        given += [f"input {k} = {int(word):#x}" for k, word in enumerate(item.data[:, lane])]
    lines = [f"lane {lane}: {', '.join(given) or 'no inputs'}"]
    for slot in np.flatnonzero((ours != theirs)[lane].any(axis=1)).tolist():
        pair = [f"{int(v[lane, slot, 0]) | int(v[lane, slot, 1]) << 64:#x}" for v in (theirs, ours)]
        type_ = item.results[slot] if slot < len(item.results) else "?"
        lines.append(f"result {slot} ({type_}): hardware {pair[0]}, simulator {pair[1]}")
    return "\n".join(lines)
