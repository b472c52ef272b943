"""Loads, stores and atomics.

Shared, constant and parameter memory are operands (`mov.u32 $r1, s[$r2+0x0010]`), global and local memory have `ld` and
`st`; 64 and 128 bits of shared memory move as `.bb64` and `.bb128`. Signed bytes are loaded without their sign, which
GPGPU-Sim would lose, and extended. Loads with `.acquire` and stores with `.release` get the fence they stand for;
other cache and ordering hints have no counterpart and no effect on values.

The space of a generic access follows from how its address was computed (`pointers.py`).

Refused: generic accesses without a known space, 64-bit and 16-bit atomics, `.noftz` of f32 in global memory, vectors of
more than 128 bits.
"""

from typing import NamedTuple

from ptxtool.ir.nodes import Binary, Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, is_sink, modifiers, rule

_SPACES = ("global", "shared", "local", "const", "param")
_SCOPES = {"cta": "cta", "gpu": "gl", "sys": "sys", "cluster": "gl"}


def space_of(isel: InstructionSelection, memory: Memory) -> str:
    """The state space of an access. Raises `Refusal` where it is not known."""
    for name in isel.opcode.modifiers:
        if name == "shared::cluster":
            raise Refusal("the shared memory of another CTA")
        if name.partition("::")[0] in _SPACES:
            return name.partition("::")[0]
    if isel.opcode.base == "ldu":
        return "global"
    base = memory.base
    if isinstance(base, Name):
        variable, key = isel.variable(base.text), isel.key_of(base)
        if variable is not None and key is None:
            return variable.space
        spaces = isel.spaces.get(key, frozenset()) if key is not None else frozenset[str]()
        if len(spaces) == 1 and not spaces & {"unknown"}:
            return next(iter(spaces))
    raise Refusal("a generic address whose state space is not known: PTXPlus has no generic accesses")


def address(isel: InstructionSelection, memory: Memory, space: str, more: int = 0) -> str:
    """An operand for an access: `s[...]`, `constant0[...]`, or `[...]` in global and local memory."""
    if memory.coordinates or memory.symbol or memory.post_increment:
        raise Refusal("an address of this form")
    offset, base, symbol = more, "", ""
    for part in _parts(memory.base, memory.offset):
        number = isel.number(part, TYPES["s64"])
        if number is not None:
            offset += number
            continue
        found = isel.source(part, TYPES["b32"])
        if found.startswith("0x"):
            offset += int(found, 16)
        elif found.startswith("$"):
            if base:
                raise Refusal("an address of two registers")
            base = found
        else:
            symbol = found
    if symbol and base:
        base, symbol = isel.compute("add.u32", base, symbol), ""
    inner = _spelled(base or symbol, offset)
    if space in ("shared", "param"):
        return f"s[{inner}]"
    if space == "const":
        return f"{isel.segment}[{inner}]"
    return f"[{inner}]"


def _spelled(base: str, offset: int) -> str:
    offset = (offset + (1 << 31)) % (1 << 32) - (1 << 31)
    if not base:
        return f"0x{offset & 0xFFFFFFFF:04x}"
    if offset < 0:
        return f"{base}+{offset}"
    return f"{base}+0x{offset:04x}" if offset else base


def _parts(*operands: Operand | None) -> list[Operand]:
    """The terms of an address."""
    found: list[Operand] = []
    for operand in operands:
        if isinstance(operand, Binary) and operand.operator == "+":
            found += _parts(operand.left, operand.right)
        elif (
            isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Immediate)
        ):
            found.append(Immediate(f"-{operand.operand.text}"))
        elif operand is not None:
            found.append(operand)
    return found


def _typed(type_: Type) -> str:
    """The type of an access as PTXPlus spells it: bits are unsigned."""
    return f"u{type_.bits}" if type_.kind == "b" else type_.name


class _Access(NamedTuple):
    """What a load or store accesses: the address operand, its space, the type of an element, `.volatile` or ""."""

    memory: Memory
    space: str
    type: Type
    volatile: str


def _access(isel: InstructionSelection, memory: Operand) -> _Access:
    """The access of the selected load or store. Raises `Refusal` for what PTXPlus cannot move at once."""
    if not isinstance(memory, Memory):
        raise Refusal("an address without brackets")
    type_ = isel.type_of(isel.match.type)
    if type_.bits > 64 or not isel.match.modifiers.isdisjoint(("mmio", "v8")):
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    space = space_of(isel, memory)
    volatile = modifiers(isel.match, "volatile") if space not in ("const", "param") else ""
    return _Access(memory, space, type_, volatile)


@rule("ld", "ldu")
def _ld(isel: InstructionSelection) -> None:
    target, memory = isel.operands[:2]
    access = _access(isel, memory)
    isel.refuse_vector(target)
    places = _targets(isel, target.items if isinstance(target, Vector) else (target,), access.type)
    if access.type.bits < 32:
        _load_small(isel, access, places)
    else:
        _load_words(isel, access, places)
    for low, *high in places if access.type.bits <= 32 else ():
        if low != "_" and access.type.is_signed and access.type.bits < 32:
            isel.extend(low, low, access.type)
        if high and high[0] != "_":  # a register of 64 bits
            if access.type.is_signed:
                isel.emit("shr.s32", high[0], low, word(31))
            else:
                isel.move(high[0], word(0))
    _fence(isel, "acquire")


def _fence(isel: InstructionSelection, *orders: str) -> None:
    """The fence that a memory operation with one of these orders stands for."""
    if isel.match.modifiers.intersection(orders):
        isel.emit(f"membar.{_SCOPES[isel.match.one_of(*_SCOPES) or 'gpu']}")


def _targets(isel: InstructionSelection, items: tuple[Operand, ...], type_: Type) -> list[tuple[str, ...]]:
    """The registers of each element, low word first; "_" for a word that nothing reads."""
    found: list[tuple[str, ...]] = []
    for item in items:
        if is_sink(item):
            found.append(("_",) * max(1, type_.bits // 32))
            continue
        key = isel.destination(item)
        if isel.is_wide(key):
            found.append(isel.words(key))
        else:
            found.append((isel.register(key), "_") if key.bits == 64 else (isel.register(key),))
    return found


def _load_small(isel: InstructionSelection, access: _Access, places: list[tuple[str, ...]]) -> None:
    """Elements of 8 and 16 bits."""
    kind = f"u{access.type.bits}"
    words = [place[0] for place in places]
    if words == ["_"]:
        return
    words = [isel.value() if w == "_" else w for w in words]
    if len(words) == 1 or access.space in ("const", "param"):
        for k, w in enumerate(words):
            _load_one(isel, access, w, kind, k * access.type.bytes)
    else:
        _transfer(isel, access, address(isel, access.memory, access.space), words, kind)


def _load_one(isel: InstructionSelection, access: _Access, target: str, type_: str, offset: int = 0) -> None:
    _transfer(isel, access, address(isel, access.memory, access.space, offset), [target], type_)


def _transfer(
    isel: InstructionSelection,
    access: _Access,
    operand: str,
    registers: list[str],
    type_: str,
    base: str = "ld",
) -> None:
    """One instruction that loads registers from an address, or stores them (`base` is "st")."""
    value = registers[0] if len(registers) == 1 else f"{{{','.join(registers)}}}"
    if len(registers) == 1 and access.space in ("shared", "const", "param"):
        opcode = f"mov.{type_}"
    elif access.space == "shared" and access.type.bits >= 32:
        opcode = f"mov.bb{32 * len(registers)}"
    else:
        vector = f".v{len(registers)}" if len(registers) > 1 else ""
        opcode, operand = f"{base}{access.volatile}.{access.space}{vector}.{type_}", _bare(operand)
    isel.emit(opcode, *((value, operand) if base == "ld" else (operand, value)))


def _bare(operand: str) -> str:
    """An address as `ld`, `st` and `atom` take it, without the `s` of shared memory."""
    return operand[1:] if operand.startswith("s[") else operand


def _load_words(isel: InstructionSelection, access: _Access, places: list[tuple[str, ...]]) -> None:
    """Elements of 32 and 64 bits."""
    n_words = access.type.bits // 32
    words = [w for place in places for w in (*place, "_")[:n_words]]
    if len(words) > 4:
        raise Refusal("a vector of more than 128 bits")
    kind = _typed(access.type) if n_words == 1 else "u32"
    wanted = [k for k, w in enumerate(words) if w != "_"]
    if len(wanted) <= 1 or access.space in ("const", "param"):
        for k in wanted:
            _load_one(isel, access, words[k], kind, 4 * k)
        return
    if len(words) == 2 or access.space == "shared":
        words = [isel.value() if w == "_" else w for w in words]
    _transfer(isel, access, address(isel, access.memory, access.space), words, kind)


@rule("st")
def _st(isel: InstructionSelection) -> None:
    memory, value = isel.operands[:2]
    access = _access(isel, memory)
    type_, space = access.type, access.space
    if space in ("const", "param"):
        raise Refusal(f"a store to the {space} space")
    _fence(isel, "release")
    words: list[str] = []
    for item in value.items if isinstance(value, Vector) else (value,):
        words += isel.wide_source(item) if type_.bits == 64 else (isel.source(item, type_),)
    if len(words) > 4:
        raise Refusal("a vector of more than 128 bits")
    kind = _typed(type_) if type_.bits <= 32 else "u32"
    operand = address(isel, access.memory, space)
    words = [w if w.startswith("$") else isel.compute("mov.u32", w) for w in words]
    _transfer(isel, access, operand, words, kind, "st")


_ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


@rule("atom", "red")
def _atom(isel: InstructionSelection) -> None:
    match, operands = isel.match, isel.operands
    has_result = isel.opcode.base == "atom"
    memory, values = operands[int(has_result)], operands[int(has_result) + 1 :]
    operation = match.one_of(*_ATOMICS)
    type_ = isel.type_of(match.type)
    if not isinstance(memory, Memory) or type_.bits != 32 or match.type.endswith("x2") or match.n:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}': its atomics have 32 bits")
    if len(values) > (2 if operation == "cas" else 1):
        raise Refusal("an atomic with a cache hint")
    space = space_of(isel, memory)
    if space not in ("global", "shared"):
        raise Refusal(f"an atomic on the {space} space")
    if space == "global" and match.type == "f32" and "noftz" in match.modifiers:
        raise Refusal("an atomic that keeps subnormals: PTXPlus's flush them in global memory")
    target = "_"
    if has_result and not is_sink(operands[0]):
        target = isel.target()
    operand = _bare(address(isel, memory, space))
    sources = isel.sources(values, type_)
    _fence(isel, "release", "acq_rel")
    isel.emit(f"atom.{space}.{operation}.{match.type}", target, operand, *sources)
    _fence(isel, "acquire", "acq_rel")
