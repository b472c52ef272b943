"""The C++ names of symbols: in reports, and where a kernel is named on the command line or in a file.

A kernel is found by as much of its C++ name as its writer cares to give: `nbody`, `nbody<float, 4>`,
`nbody<float,4>(float4*)`, with or without the namespaces. Spaces, `const` and the return type do not count, nor how a
constant says its type: `4u`, `(unsigned int)4` and `4` are equal, as are `true` and `(bool)1`. Template arguments may
end early, as where the source leaves the rest to their defaults.

Reference: Itanium C++ ABI, section 5.1 (`demangle.py` reads it).
"""

import re
from collections.abc import Iterable

from ptxtool.base.demangle import demangle
from ptxtool.base.phrases import abbreviated

_PART = re.compile(r"(\d+)")
_SHOWN = 80
_ANONYMOUS = "(anonymous namespace)::"
_CASTS = re.compile(r"\((?:\w[\w: ]*)\)(?=-?\d)")
_SUFFIXES = re.compile(r"\b(\d+)(?:u|l|ul|ll|ull)\b", re.IGNORECASE)
_NOISE = re.compile(r"^void |\bconst\b|\b__restrict__\b|(?<=\W) +| +(?=\W)")


def cpp_name(symbol: str) -> str:
    """The whole C++ name; the symbol itself where it is not mangled."""
    found = demangle(symbol)
    return symbol if found is None else str(found)


def shown_name(symbol: str) -> str:
    """The C++ name for a report: without parameters, then without template arguments, where it would be too long.

    The symbol, abbreviated, where it is not mangled or these are too long.
    """
    found = demangle(symbol)
    choices = (str(found), found.name + found.arguments, found.name) if found else ()
    return next((choice for choice in choices if len(choice) <= _SHOWN), abbreviated(symbol))


def cpp_name_data(symbol: str) -> dict[str, str]:
    """`cpp_name` for JSON, beside the symbol of a kernel; nothing where it is not mangled."""
    name = cpp_name(symbol)
    return {} if name == symbol else {"cpp_name": name}


def symbols_of(name: str, symbols: Iterable[str]) -> list[str]:
    """The symbols with that C++ name: in full, else in some namespace, else with more template arguments."""
    wanted = _plain(name)
    spellings = {symbol: _spellings(symbol) for symbol in symbols}
    beginning = f"::{wanted.removesuffix('>')},"

    def has_more_arguments(spelling: str) -> bool:
        before, found, _ = f"::{spelling}".partition(beginning)
        return bool(found) and wanted.endswith(">") and "<" not in before

    for fits in (wanted.__eq__, lambda spelling: spelling.endswith(f"::{wanted}"), has_more_arguments):
        found = [symbol for symbol, known in spellings.items() if any(map(fits, known))]
        if found:
            return found
    return []


def _spellings(symbol: str) -> set[str]:
    """The ways to write a symbol's C++ name, as `_plain` leaves them."""
    found = demangle(symbol)
    if found is None:
        return {_plain(source_name(symbol))}
    name, arguments, parameters = found
    texts = {name, name + arguments, name + parameters, name + arguments + parameters}
    return {_plain(each) for text in texts for each in (text, text.replace(_ANONYMOUS, ""))}


def _plain(text: str) -> str:
    """A C++ name without what does not distinguish kernels."""
    text = _SUFFIXES.sub(r"\1", _CASTS.sub("", text.strip()))
    text = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text))
    return _NOISE.sub("", _NOISE.sub("", text)).strip()


def source_name(symbol: str) -> str:
    """The name without arguments, parameters and anonymous namespaces, also of symbols that `demangle` does not read.

    The symbol itself where it is not mangled, or does not begin with a plain name.
    """
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
