"""The name of a mangled symbol in its C++ source: `_Z5scalePff` is `scale`, `_ZN3lib5scaleILi4EEvPf` is `lib::scale`.

For finding kernels by their names in the source. Only the name is read, no template arguments, no parameters.

Reference: Itanium C++ ABI, section 5.1.
"""

import re

_PART = re.compile(r"(\d+)")


def source_name(symbol: str) -> str:
    """The name in the source; the symbol itself where it is not mangled, or does not begin with a plain name."""
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:].removeprefix("L")  # of internal linkage
    if not rest.startswith("N"):
        return _part(rest)[0] or symbol
    names: list[str] = []
    rest = rest[1:]
    while True:
        name, rest = _part(rest)
        if not name:
            return "::".join(names) or symbol
        if not name.startswith("_GLOBAL__N_"):  # a namespace without a name
            names.append(name)


def _part(text: str) -> tuple[str, str]:
    """A length and as many characters, and what follows; "" if there is none."""
    length = _PART.match(text)
    if length is None:
        return "", text
    start = length.end()
    end = start + int(length[1])
    return (text[start:end], text[end:]) if end <= len(text) else ("", text)
