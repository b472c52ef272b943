"""Loads, stores and atomics.

Shared, constant and parameter memory are operands (`mov.u32 $r1, s[$r2+0x0010]`), global and local memory have `ld` and
`st`; 64 and 128 bits of shared memory move as `.bb64` and `.bb128`. Signed bytes are loaded without their sign, which
GPGPU-Sim would lose, and extended. Loads with `.acquire` and stores with `.release` get the fence they stand for;
other cache and ordering hints have no counterpart and no effect on values.

The space of a generic access is looked up in what made its address (`Spaces`).

Refused: generic accesses without a known space, 64-bit and 16-bit atomics, vectors of more than 128 bits.
"""

from ptxtool.ir.nodes import Binary, Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, refuse_vector, rule

_SPACES = ("global", "shared", "local", "const", "param")
_SCOPES = {"cta": "cta", "gpu": "gl", "sys": "sys", "cluster": "gl"}


def space_of(s: Selection, step: Step, memory: Memory) -> str:
    """The state space of an access. Raises `Refusal` where nothing tells it."""
    for name in step.instruction.opcode.modifiers:
        if name == "shared::cluster":
            raise Refusal("the shared memory of another CTA")
        if name.partition("::")[0] in _SPACES:
            return name.partition("::")[0]
    if step.instruction.opcode.base == "ldu":
        return "global"
    base = memory.base
    if isinstance(base, Name):
        place = s.place(step, base.text)
        if place is not None and step.key(base.text) is None:
            return place.space
        key = step.key(base.text)
        if key is not None:
            spaces = s.spaces.get(key, frozenset())
            if len(spaces) == 1 and not spaces & {"unknown"}:
                return next(iter(spaces))
    raise Refusal("a generic address whose state space is not known: PTXPlus has no generic accesses")


def address(s: Selection, step: Step, memory: Memory, space: str, more: int = 0) -> str:
    """An operand for an access: `s[...]`, `constant0[...]`, or `[...]` in global and local memory."""
    if memory.coordinates or memory.symbol or memory.post_increment:
        raise Refusal("an address of this form")
    offset, base, symbol = more, "", ""
    for part in _parts(memory.base, memory.offset):
        number = s.number(part, TYPES["s64"])
        if number is not None:
            offset += number
            continue
        found = s.source(step, part, TYPES["b32"])
        if found.startswith("0x"):
            offset += int(found, 16)
        elif found.startswith("$"):
            if base:
                raise Refusal("an address of two registers")
            base = found
        else:
            symbol = found
    if symbol and base:
        base, symbol = s.compute("add.u32", base, symbol), ""
    inner = _spelled(base or symbol, offset)
    if space in ("shared", "param"):
        return f"s[{inner}]"
    if space == "const":
        return f"{s.segment}[{inner}]"
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


def _accessed(s: Selection, step: Step, match: Match) -> Type:
    """The type of what a load or store moves. Refuses what PTXPlus cannot move at once."""
    type_ = s.type_of(match.type)
    if type_.bits > 64 or match.modifiers & {"mmio", "v8"}:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    return type_


@rule("ld", "ldu")
def _ld(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    target, memory = step.instruction.operands[:2]
    if not isinstance(memory, Memory):
        raise Refusal("an address without brackets")
    type_ = _accessed(s, step, match)
    space = space_of(s, step, memory)
    items = target.items if isinstance(target, Vector) else (target,)
    refuse_vector(step, target)
    places = _targets(s, step, items, type_)
    volatile = modifiers(match, "volatile") if space not in ("const", "param") else ""
    if type_.bits < 32:
        _load_small(s, step, memory, space, volatile, type_, places)
    else:
        _load_words(s, step, memory, space, volatile, type_, places)
    if "acquire" in match.modifiers:
        s.emit(f"membar.{_scope(step)}")


def _scope(step: Step) -> str:
    assert step.match is not None
    return _SCOPES[step.match.one_of(*_SCOPES) or "gpu"]


def _targets(s: Selection, step: Step, items: tuple[Operand, ...], type_: Type) -> list[tuple[str, ...]]:
    """The registers of each element, low word first; "_" for a word that nobody wants."""
    found: list[tuple[str, ...]] = []
    for item in items:
        if isinstance(item, Name) and item.text == "_":
            found.append(("_",) * max(1, type_.bits // 32))
            continue
        key = s.destination(step, item)
        if key.bits == 64:
            found.append(s.words(key) if s.is_wide(key) else (s.register(key), "_"))
        else:
            found.append((s.register(key),))
    return found


def _load_small(
    s: Selection,
    step: Step,
    memory: Memory,
    space: str,
    volatile: str,
    type_: Type,
    places: list[tuple[str, ...]],
) -> None:
    """Elements of 8 and 16 bits, extended to a word, or to two."""
    sign = "s" if type_.is_signed else "u"
    words = [place[0] for place in places]
    if len(places) > 1:
        kept = [s.value() if w == "_" else w for w in words]
        text = f"{{{','.join(kept)}}}"
        spelled = address(s, step, memory, space)
        if space in ("const", "param"):
            for k, w in enumerate(kept):
                s.emit(f"mov.u{type_.bits}", w, address(s, step, memory, space, k * type_.bytes))
        else:
            plain = spelled[1:] if spelled.startswith("s[") else spelled
            s.emit(f"ld{volatile}.{space}.v{len(places)}.u{type_.bits}", text, plain)
    else:
        if words[0] == "_":
            return
        _load_one(s, words[0], address(s, step, memory, space), space, volatile, f"u{type_.bits}")
    for place in places:
        if place[0] == "_":
            continue
        if type_.is_signed:
            s.emit(f"cvt.{sign}32.{sign}{type_.bits}", place[0], place[0])
        if len(place) > 1 and place[1] != "_":
            s.emit("shr.s32", place[1], place[0], word(31)) if type_.is_signed else s.move(place[1], word(0))


def _load_one(s: Selection, target: str, operand: str, space: str, volatile: str, type_: str) -> None:
    if space in ("shared", "const", "param"):
        s.emit(f"mov.{type_}", target, operand)
    else:
        s.emit(f"ld{volatile}.{space}.{type_}", target, operand)


def _load_words(
    s: Selection,
    step: Step,
    memory: Memory,
    space: str,
    volatile: str,
    type_: Type,
    places: list[tuple[str, ...]],
) -> None:
    """Elements of 32 and 64 bits."""
    n_words = type_.bits // 32
    words: list[str] = []
    for place in places:
        words += (*place, "_")[:n_words] if n_words == 2 else place[:1]
    if len(words) > 4:
        raise Refusal("a vector of more than 128 bits")
    kind = _typed(type_) if n_words == 1 else "u32"
    wanted = [k for k, w in enumerate(words) if w != "_"]
    if len(wanted) <= 1 or space in ("const", "param"):
        for k in wanted:
            _load_one(s, words[k], address(s, step, memory, space, 4 * k), space, volatile, kind)
    else:
        words = (
            [s.value() if w == "_" else w for w in words] if len(words) == 2 or space == "shared" else words
        )
        text = f"{{{','.join(words)}}}"
        operand = address(s, step, memory, space)
        if space == "shared":
            s.emit(f"mov.bb{32 * len(words)}", text, operand)
        else:
            s.emit(f"ld{volatile}.{space}.v{len(words)}.{kind}", text, operand)
    if n_words == 1:  # into a register of 64 bits
        for place in places:
            if len(place) > 1 and place[1] != "_":
                s.emit("shr.s32", place[1], place[0], word(31)) if type_.is_signed else s.move(
                    place[1], word(0)
                )


@rule("st")
def _st(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    memory, value = step.instruction.operands[:2]
    if not isinstance(memory, Memory):
        raise Refusal("an address without brackets")
    type_ = _accessed(s, step, match)
    space = space_of(s, step, memory)
    if space in ("const", "param"):
        raise Refusal(f"a store to the {space} space")
    if "release" in match.modifiers:
        s.emit(f"membar.{_scope(step)}")
    items = value.items if isinstance(value, Vector) else (value,)
    words: list[str] = []
    for item in items:
        words += s.wide_source(step, item) if type_.bits == 64 else (s.source(step, item, type_),)
    if len(words) > 4:
        raise Refusal("a vector of more than 128 bits")
    kind = _typed(type_) if type_.bits <= 32 else "u32"
    operand = address(s, step, memory, space)
    volatile = modifiers(match, "volatile")
    if len(words) == 1:
        source = words[0] if words[0].startswith("$") else s.compute("mov.u32", words[0])
        if space == "shared":
            s.emit(f"mov.{kind}", operand, source)
        else:
            s.emit(f"st{volatile}.{space}.{kind}", operand, source)
        return
    text = f"{{{','.join(w if w.startswith('$') else s.compute('mov.u32', w) for w in words)}}}"
    if space == "shared" and type_.bits >= 32:
        s.emit(f"mov.bb{32 * len(words)}", operand, text)
    else:
        plain = operand[1:] if operand.startswith("s[") else operand
        s.emit(f"st{volatile}.{space}.v{len(words)}.{kind}", plain, text)


_ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


@rule("atom", "red")
def _atom(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    has_result = step.instruction.opcode.base == "atom"
    memory, values = operands[int(has_result)], operands[int(has_result) + 1 :]
    operation = match.one_of(*_ATOMICS)
    type_ = s.type_of(match.type)
    if not isinstance(memory, Memory) or type_.bits != 32 or match.type.endswith("x2") or match.n:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}': its atomics have 32 bits")
    if len(values) > (2 if operation == "cas" else 1):
        raise Refusal("an atomic with a cache hint")
    space = space_of(s, step, memory)
    if space not in ("global", "shared"):
        raise Refusal(f"an atomic on the {space} space")
    target = "_"
    if has_result and not (isinstance(operands[0], Name) and operands[0].text == "_"):
        target = s.register(s.destination(step, operands[0]))
    operand = address(s, step, memory, space)
    operand = operand[1:] if operand.startswith("s[") else operand
    sources = [s.source(step, o, type_) for o in values]
    if match.modifiers & {"release", "acq_rel"}:
        s.emit(f"membar.{_scope(step)}")
    s.emit(f"atom.{space}.{operation}.{match.type}", target, operand, *sources)
    if match.modifiers & {"acquire", "acq_rel"}:
        s.emit(f"membar.{_scope(step)}")
