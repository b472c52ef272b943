"""C++ names of mangled symbols: `_Z5nbodyIfLi4EEvP6float4` is `nbody<float, 4>(float4*)`.

A recursive descent through the mangled text that writes C++ at once, without a tree. What a type adds after a name
(`(*)[16]`) is kept apart from what it adds before it, and every component that a later one may refer to (`S0_`) as
text. Spelling is that of `c++filt`, but for the return type, tags of the ABI and the names of anonymous namespaces.

Not handled: expressions other than literals and addresses (`decltype`, `sizeof`, operators), constructors, operators
other than `operator()`, vendors' extensions. Symbols with these, and those of an absurd size, have no C++ name here.

Reference: Itanium C++ ABI, section 5.1 (external names).
"""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T")

LONGEST = 4096
"""Longer symbols are not read; neither are C++ names that would be four times as long."""
_MOST_STEPS, _DEEPEST = 20_000, 100

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...", "Dh": "half", "Di": "char32_t", "Ds": "char16_t",
    "Du": "char8_t", "Da": "auto", "Dn": "decltype(nullptr)", "DF16_": "_Float16", "DF16b": "std::bfloat16_t",
}  # fmt: skip
_STANDARD = {
    "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
    "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip
_SUFFIXES = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_QUALIFIERS = {"K": " const", "V": " volatile", "r": " restrict"}
_ANONYMOUS = ("_GLOBAL__N_", "_INTERNAL_")  # the latter is nvcc's namespace of static functions
_BUILTIN_CODE = re.compile("|".join(sorted(_BUILTIN, key=len, reverse=True)))
_NUMBER = re.compile(r"n?\d+")
_LENGTH = re.compile(r"\d+")
_OF_MEMBERS = re.compile("[rVK]*[RO]?")  # qualifiers of the object
_SEQUENCE = re.compile(r"([0-9A-Z]*)_")
_INDEX = re.compile(r"(\d*)_")


class CppName(NamedTuple):
    """The parts of a C++ name: `lib::nbody`, `<float, 4>`, `(float4*)`; those that it lacks are ""."""

    name: str
    arguments: str
    parameters: str

    def __str__(self) -> str:
        return "".join(self)


class _Unreadable(Exception):
    """The symbol is not mangled, or has something that is not handled."""


class _Type(NamedTuple):
    """A type: the texts before and after the name that it declares. `is_open`: a pointer to it needs parentheses."""

    left: str
    right: str = ""
    is_open: bool = False

    def __str__(self) -> str:
        return self.left + self.right

    def pointer(self, mark: str) -> "_Type":
        if self.is_open:
            space = "" if self.left.endswith(" ") else " "
            return _Type(f"{self.left}{space}({mark}", f"){self.right}")
        return _Type(self.left + mark, self.right)

    def qualified(self, words: str) -> "_Type":
        return self if self.is_open else _Type(self.left + words, self.right)


_Argument = _Type | list[_Type]
"""A template argument, or a pack of them."""


def demangle(symbol: str) -> CppName | None:
    """The C++ name of a mangled function; None for any other symbol, and where it is not handled."""
    if not symbol.startswith("_Z") or len(symbol) > LONGEST:
        return None
    reader = _Reader(symbol)
    try:
        found = reader.encoding()
    except (_Unreadable, IndexError):
        return None
    return found if reader.at == len(symbol) else None


def _bounded(read: Callable[..., _T]) -> Callable[..., _T]:
    """A reader of a component that may hold others of its kind: hostile symbols nest them too deep."""

    @wraps(read)
    def bounded(self: "_Reader", *arguments: Any) -> _T:
        self.steps += 1
        self.depth += 1
        if self.steps > _MOST_STEPS or self.depth > _DEEPEST:
            raise _Unreadable
        found = read(self, *arguments)
        self.depth -= 1
        return found

    return bounded


class _Reader:
    """One reading of one symbol."""

    def __init__(self, symbol: str):
        self.text = symbol
        self.at = len("_Z")
        self.known: list[_Type] = []  # what `S_`, `S0_`, ... refer to
        self.arguments: list[_Argument] = []  # what `T_`, `T0_`, ... refer to
        self.element = -1  # of packs, while one is expanded
        self.longest_pack = -1
        self.steps = self.depth = 0

    # ---- characters

    def peek(self, n: int = 1) -> str:
        return self.text[self.at : self.at + n]

    def eat(self, word: str) -> bool:
        found = self.text.startswith(word, self.at)
        self.at += len(word) * found
        return found

    def need(self, word: str) -> None:
        if not self.eat(word):
            raise _Unreadable

    def match(self, pattern: re.Pattern[str]) -> "re.Match[str]":
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _Unreadable
        self.at = found.end()
        return found

    def sequence(self) -> int:
        """`_` is 0, `0_` is 1, in base 36."""
        digits = self.match(_SEQUENCE)[1]
        return int(digits, 36) + 1 if digits else 0

    def index(self) -> int:
        """`_` is 0, `0_` is 1, in base 10."""
        digits = self.match(_INDEX)[1]
        return int(digits) + 1 if digits else 0

    def keep(self, found: _Type) -> _Type:
        """Remember what later components may refer to."""
        if len(found.left) + len(found.right) > 4 * LONGEST:
            raise _Unreadable
        self.known.append(found)
        return found

    # ---- names

    def encoding(self) -> CppName:
        """A function: its name, and its parameters where they are part of the symbol."""
        name, arguments = self.name(True)
        if self.at == len(self.text) or self.peek() in "E.":
            return CppName(name, arguments, "")
        if arguments:  # templates have their return type
            self.type()
        return CppName(name, arguments, self.parameters())

    def parameters(self) -> str:
        found: list[_Type] = []
        while self.at < len(self.text) and self.peek() not in "E.":
            found += self.types()
        shown = ", ".join(map(str, found))
        return "()" if shown == "void" else f"({shown})"

    @_bounded
    def name(self, is_function: bool = False) -> tuple[str, str]:
        """A name, and its last template arguments."""
        if self.eat("N"):
            return self.nested(is_function)
        if self.eat("Z"):
            return self.local()
        if self.peek() == "S" and self.peek(2) != "St":
            name = str(self.substitution())
        else:
            name = f"std::{self.unqualified()}" if self.eat("St") else self.unqualified()
            if self.peek() == "I":
                self.keep(_Type(name))
        return name, self.template_arguments(is_function) if self.peek() == "I" else ""

    def nested(self, is_function: bool) -> tuple[str, str]:
        self.match(_OF_MEMBERS)
        name = arguments = ""
        while not self.eat("E"):
            if self.peek() == "I":
                arguments = self.template_arguments(is_function)
            else:
                name, arguments = name + arguments, ""
                if self.peek() == "S":
                    name = str(self.substitution())
                    continue  # known already
                if self.peek() == "T":
                    name = str(self.parameter())
                else:
                    name += f"::{self.unqualified()}" if name else self.unqualified()
            self.keep(_Type(name + arguments))
        if self.known:
            self.known.pop()  # a function is no component, and a type is kept by `type`
        return name, arguments

    def local(self) -> tuple[str, str]:
        """A name in a function: `main::{lambda(int)#1}`."""
        outer, self.arguments = self.arguments, []
        function = self.encoding()
        self.need("E")
        self.arguments = outer
        if self.eat("s"):
            raise _Unreadable  # a string
        name, arguments = self.name()
        if self.eat("_"):  # which of several of the name
            self.match(re.compile(r"_\d+_|\d"))
        return f"{function}::{name}", arguments

    def unqualified(self) -> str:
        self.eat("L")  # internal linkage
        if self.eat("Ul"):
            signature = self.parameters()
            self.need("E")
            name = f"{{lambda{signature}#{self.index() + 1}}}"
        elif self.eat("Ut"):
            name = f"{{unnamed type#{self.index() + 1}}}"
        elif self.eat("cl"):
            name = "operator()"
        else:
            name = self.source_name()
        while self.eat("B"):
            self.source_name()
        return name

    def source_name(self) -> str:
        length = self.match(_LENGTH)[0]
        start = self.at
        self.at += int(length)
        name = self.text[start : self.at]
        if self.at > len(self.text) or not name:
            raise _Unreadable
        return "(anonymous namespace)" if name.startswith(_ANONYMOUS) else name

    def substitution(self) -> _Type:
        self.need("S")
        if (standard := _STANDARD.get(self.peek())) is not None:
            self.at += 1
            return _Type(standard)
        return self.known[self.sequence()]

    # ---- template arguments

    def template_arguments(self, is_function: bool) -> str:
        """`<float, 4>`. Those of the function's name are what `T_` refers to from then on."""
        self.need("I")
        found: list[_Argument] = []
        while not self.eat("E"):
            found.append(self.argument())
            if is_function:
                self.arguments = found
        flat = [str(each) for one in found for each in (one if isinstance(one, list) else [one])]
        return f"<{', '.join(flat)}>"

    @_bounded
    def argument(self) -> _Argument:
        if self.eat("J"):
            pack: list[_Type] = []
            while not self.eat("E"):
                each = self.argument()
                pack += each if isinstance(each, list) else [each]
            return pack
        if self.peek() == "L":
            return self.literal()
        if self.eat("X"):
            address = "&" if self.eat("ad") else ""
            found = self.literal()
            self.need("E")
            return _Type(f"{address}{found}")
        return self.type()

    def literal(self) -> _Type:
        self.need("L")
        if self.eat("_Z"):
            function = self.encoding()
            self.need("E")
            return _Type(str(function))
        code = self.peek()
        of = str(self.type())
        number = self.match(_NUMBER)[0].replace("n", "-")
        self.need("E")
        if code == "b":
            return _Type("true" if number == "1" else "false")
        return _Type(f"{number}{_SUFFIXES[code]}" if code in _SUFFIXES else f"({of}){number}")

    def parameter(self) -> _Type:
        """`T_`: a template argument; of a pack, the element that is being written."""
        self.need("T")
        found = self.arguments[self.index()]
        if isinstance(found, list):
            self.longest_pack = max(self.longest_pack, len(found))
            return found[self.element] if 0 <= self.element < len(found) else _Type("")
        return found

    # ---- types

    def types(self) -> list[_Type]:
        """A type, or those that a pattern has for the elements of a pack."""
        if not self.eat("Dp"):
            return [self.type()]
        start, n_known, before = self.at, len(self.known), (self.element, self.longest_pack)
        self.element = self.longest_pack = -1
        self.type()  # says how long the pack is
        found: list[_Type] = []
        for element in range(self.longest_pack):
            self.at, self.element = start, element
            del self.known[n_known:]
            found.append(self.type())
        self.element, self.longest_pack = before
        return [self.keep(_Type(", ".join(map(str, found))))] if found else []

    @_bounded
    def type(self) -> _Type:
        builtin = _BUILTIN_CODE.match(self.text, self.at)
        if builtin is not None:
            self.at = builtin.end()
            found = _Type(_BUILTIN[builtin[0]])
        elif self.peek() == "S" and self.peek(2) != "St":
            found = self.substitution()
            if self.peek() == "I":
                found = self.keep(_Type(f"{found}{self.template_arguments(False)}"))
        else:
            found = self.keep(self.compound())
        return found

    def compound(self) -> _Type:
        first = self.peek()
        if first in _QUALIFIERS:
            words = ""
            while (word := _QUALIFIERS.get(self.peek())) is not None:
                self.at += 1
                words = word + words
            return self.type().qualified(words)
        read = _COMPOUND.get(first)
        if read is None:
            name, arguments = self.name()
            return _Type(name + arguments)
        return read(self)

    def pointer(self) -> _Type:
        mark = {"P": "*", "R": "&", "O": "&&"}[self.peek()]
        self.at += 1
        return self.type().pointer(mark)

    def array(self) -> _Type:
        self.need("A")
        size = self.match(_INDEX)[1]
        of = self.type()
        return _Type(of.left if of.is_open else f"{of.left} ", f"[{size}]{of.right}", True)

    def function(self) -> _Type:
        self.need("F")
        self.eat("Y")
        result = self.type()
        signature = self.parameters()
        self.need("E")
        return _Type(f"{result.left} ", f"{signature}{result.right}", True)

    def template_parameter(self) -> _Type:
        found = self.parameter()
        if self.peek() == "I":  # a template that is an argument
            self.keep(found)
            return _Type(f"{found}{self.template_arguments(False)}")
        return found

    def vector(self) -> _Type:
        self.need("Dv")
        length = self.match(_INDEX)[1]
        return _Type(f"{self.type()} __vector({length})")


_COMPOUND: dict[str, Callable[[_Reader], _Type]] = {
    "P": _Reader.pointer,
    "R": _Reader.pointer,
    "O": _Reader.pointer,
    "A": _Reader.array,
    "F": _Reader.function,
    "T": _Reader.template_parameter,
    "D": _Reader.vector,
}
"""How types are read by their first letter; all others are names."""
