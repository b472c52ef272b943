"""What may stand in an operand's place: the words of the `ops` column, `role:name:class`.

For the table, which reads them, and for the checks, which hold operands against them. Roles:

    w  written           r  read            rw  read and written
    p  written, and may be a pair: `%p|%q`, PTXPlus `$p0/$r1`
    m  memory operand: the registers inside are read (a post-incremented one is written too)
    l  label             s  symbol or another operand that is no register (texture, function, prototype)

A trailing `?` marks an optional operand; optional ones stand at the end. One with a modifier after the `?`,
`r:policy:b64?L2::cache_hint`, stands there exactly if the modifier does. The class says which kind and type of operand
fits; alternatives are separated by `|`. Without one it is `T`, for the roles m, l and s the role itself.

    T S U V         a register of the row's first to fourth type, or a constant where the operand is read
    2T              of twice the width of T
    u32 b64 pred    of that type
    ~T              as wide as T or wider (loads, stores, conversions: PTX ISA 9.4.1, operand size exceeding type size)
    %T              a register, no constant
    !pred           a predicate that may be negated: `!%p`
    =b32            a register of exactly that type, no constant (`cvt.rs`)
    -vsel           with or without a minus: `-%r1.b0` (`vmad`)
    &T              in a pair with a predicate, never alone: `%r|%p` (role p)
    4xb32           a vector of four: `{%r1, %r2, %r3, %r4}`; combines with the above: `2x%b64`, `Nx~T`
    NxT             as many as the modifiers say (`.v4`, `.x16`, the n of a shape `.m64n32k16`), one register if they do
                    not; `N*2xb32` and `N/2xb32` are multiples of it
    pack            `{a, b}`, `{a, b, c, d}`: elements that together are as wide as T (`mov`)
    f32(0..1]       of that type; a constant is above 0 and at most 1
    imm             an integer constant; `imm(0..7)` within bounds, `imm(0..64/8)` a multiple of 8,
                    `imm(1,2,4)` one of these
    address         the name of a variable, function or label (`mov`)
    texture tensor  a bracketed operand with coordinates: `[t, {x, y}]`, `[t, sampler, {x, y}]`; `[map, {x, y}]`
    bare            an address whose brackets ptxas does not miss: `[%rd1]`, `%rd1`
    handle          a bracketed texture, sampler or surface: its name, or a 64-bit register with its handle
    vsel vsel2 vsel4 vmask2 vmask4
                    video operands: a 32-bit register with a byte or half selector (`%r1.b0`), or a mask (`%r1.h10`)
    b32             of a memory operand: its address stands in an untyped or integer register of that width and is not
                    the name of a variable (tensor memory)
    _               the sink `_`, for an unused result
    special         a special register (`%tid.x`): `mov`, and `cvt` between integers
    any             anything: its meaning is looked up elsewhere (call arguments)
"""

import re

import msgspec
from msgspec.structs import replace

from ptxtool.isa.types import TYPES

ROLES = frozenset({"w", "r", "rw", "p", "m", "l", "s"})
SLOTS = ("T", "S", "U", "V")
_PLAIN = frozenset({
    "pack", "address", "texture", "tensor", "bare", "handle", "_", "special", "any",
    "vsel", "vsel2", "vsel4", "vmask2", "vmask4",
})  # fmt: skip
_VALUE = re.compile(r"(?:(N|\d+)(?:([*/])(\d+))?x)?([~%!&=]*)(2?)([TSUV]|[a-z][a-z0-9]*)(\(0\.\.1\])?")
_IMMEDIATE = re.compile(r"imm(?:\((?:(-?\d+)\.\.(-?\d+)(?:/(\d+))?|(-?\d+(?:,-?\d+)*))\))?")


class TableError(Exception):
    """The table contradicts itself: our bug, found by the tests."""


class Length(msgspec.Struct, frozen=True):
    """The number of elements of a vector operand: `fixed`, or where that is 0 the modifiers' N times a ratio."""

    fixed: int = 1
    times: int = 1
    over: int = 1

    def of(self, n: int) -> int:
        """The length where the modifiers say `n` (0 where they say nothing: one plain register)."""
        return self.fixed or max(1, n * self.times // self.over)


class Fit(msgspec.Struct, frozen=True):
    """One alternative of a class. `kind` is "value" (a register or constant of `type`), "imm" or a plain word."""

    kind: str
    type: str = ""  # a slot or the name of a type
    doubled: bool = False
    relaxed: bool = False
    register_only: bool = False
    negatable: bool = False
    length: Length | None = None  # of a vector operand
    low: int | None = None
    high: int | None = None
    choices: tuple[int, ...] = ()
    step: int = 1
    paired: bool = False
    minus: bool = False
    exact: bool = False
    is_fraction: bool = False


class OperandSpec(msgspec.Struct, frozen=True):
    """One operand of a form; `fits` is empty where the role says it all (m, l, s)."""

    role: str
    name: str
    optional: bool
    fits: tuple[Fit, ...] = ()
    only_with: str = ""  # the modifier that brings this operand; "" if it does not depend on one

    @property
    def doubled(self) -> bool:
        return any(f.doubled for f in self.fits)


def operand(word: str) -> OperandSpec:
    """Read one word of the `ops` column. Raises `TableError`."""
    word, mark, only_with = word.partition("?")
    role, _, rest = word.partition(":")
    name, _, classes = rest.partition(":")
    if role not in ROLES or not name:
        raise TableError(f"bad operand '{word}'")
    if not classes:
        classes = "" if role in ("m", "l", "s") else "T"
    fits = tuple(_fit(c) for c in classes.split("|") if c)
    return OperandSpec(role, name, bool(mark), fits, only_with)


def _fit(text: str) -> Fit:
    if text.startswith("-"):
        return replace(_fit(text[1:]), minus=True)
    if text in _PLAIN:
        return Fit(text)
    if match := _IMMEDIATE.fullmatch(text):
        low, high, step, choices = match.groups()
        return Fit(
            "imm",
            low=int(low) if low else None,
            high=int(high) if high else None,
            choices=tuple(int(c) for c in choices.split(",")) if choices else (),
            step=int(step or 1),
        )
    match = _VALUE.fullmatch(text)
    if match is None or (match[6] not in SLOTS and match[6] not in TYPES):
        raise TableError(f"bad operand class '{text}'")
    count, operator, factor, flags, doubled, type_, fraction = match.groups()
    length = None
    if count == "N":
        k = int(factor or 1)
        length = Length(0, k if operator != "/" else 1, k if operator == "/" else 1)
    elif count:
        length = Length(int(count))
    return Fit(
        "value",
        type_,
        bool(doubled),
        "~" in flags,
        "%" in flags or "=" in flags,
        "!" in flags,
        length,
        paired="&" in flags,
        exact="=" in flags,
        is_fraction=bool(fraction),
    )
