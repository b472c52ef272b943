"""What all families of `lower-ptxplus` share: virtual registers for PTX's values, operands as text, emission.

`Selection` is the kernel in the making. A PTX value of up to 32 bits is one virtual register; one of 64 bits is two,
low word first, or, where `ptxtool.analysis.regalloc.narrowing` shows that nobody asks for its high word, the low word
alone. A 16-bit value has a whole register whose upper half means nothing. A predicate is a condition code that holds
where its zero flag is clear.

A rule (`@rule("add", "sub")`) emits the code of one instruction, or raises `Refusal`. What is computed on the way goes
to registers of its own (`compute`) and needs no guard; what the instruction writes is written last, under its guard
(`emit`).
"""

from collections.abc import Callable, Hashable, Mapping

from ptxtool.analysis.regalloc.narrowing import Narrowing
from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Binary, Guard, Immediate, Name, Operand, Unary
from ptxtool.isa.literals import literal
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import Code, KernelCode, word
from ptxtool.passes.ptxplus.flatten import Copy, Key, Refusal, Skip, Step
from ptxtool.passes.ptxplus.places import KernelPlaces, Place

Pair = tuple[str, str]
"""The low and the high word of a 64-bit value."""

Rule = Callable[["Selection", Step], None]
_LONG_BASES = (
    "bar.sync",
    "bar.cta.sync",
    "barrier.sync",
    "barrier.cta.sync",
    "bar.warp.sync",
    "vote.sync",
    "brx.idx",
)
"""Bases of several words among those that have rules; others, such as `st.async`, are instructions of their own."""
RULES: dict[str, Rule] = {}
"""The rule of every opcode that can be lowered."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule under the opcodes it lowers."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


class Selection:
    """The code of one kernel, so far."""

    def __init__(
        self,
        code: KernelCode,
        places: KernelPlaces,
        narrow: Narrowing,
        spaces: Mapping[Key, frozenset[str]],
        constants: Mapping[Key, int | None],
        segment: str,
    ) -> None:
        self.code, self.places, self._narrow = code, places, narrow
        self.spaces, self._constants, self.segment = spaces, constants, segment
        self.guard = ""
        self._carry = ""
        self._values: dict[Key, str] = {}
        self._n_values = 0
        self._n_predicates = 0
        self._thread: dict[str, str] = {}
        self._exchange: tuple[str, str] | None = None

    # ---- registers

    def value(self) -> str:
        """A new general register."""
        self._n_values += 1
        return f"$v{self._n_values - 1}"

    def pair(self) -> Pair:
        """Two new general registers, side by side."""
        return self.value(), self.value()

    def predicate(self) -> str:
        """A new condition code."""
        self._n_predicates += 1
        return f"$p{self._n_predicates - 1}"

    def thread_id(self, part: str) -> str:
        """The register that holds a coordinate of the thread id, "x", "y" or "z"."""
        if part not in self._thread:
            self._thread[part] = self.value()
        return self._thread[part]

    @property
    def thread_ids(self) -> dict[str, str]:
        """The registers of the coordinates that something asked for."""
        return dict(self._thread)

    def carry_register(self) -> str:
        """The register of PTX's carry flag: all ones where it is set."""
        self._carry = self._carry or self.value()
        return self._carry

    def exchange(self) -> tuple[str, str]:
        """The register of the lane's number, and the lane's word of shared memory for shuffles."""
        place = self.places.exchange
        assert place is not None, "a kernel that shuffles has such words"
        if self._exchange is None:
            self._exchange = self.value(), self.value()
            for part in "xyz":
                self.thread_id(part)
        lane, address = self._exchange
        return lane, f"s[{address}+0x{place.address:04x}]"

    @property
    def exchange_registers(self) -> tuple[str, str] | None:
        """The registers that hold the lane and the address of its word, if something asked for them."""
        return self._exchange

    def is_wide(self, key: Key) -> bool:
        return key.bits == 64 and self._narrow.is_wide(key)

    def register(self, key: Key) -> str:
        """The register of a value, or of its low word."""
        if key.bits > 64:
            raise Refusal("values of 128 bits have no counterpart in PTXPlus")
        found = self._values.get(key)
        if found is None:
            if key.is_predicate:
                found = self.predicate()
            else:
                found = self.pair()[0] if self.is_wide(key) else self.value()
            self._values[key] = found
        return found

    def words(self, key: Key) -> Pair:
        """Both registers of a wide value."""
        low = self.register(key)
        return low, f"$v{int(low[2:]) + 1}"

    # ---- emission

    def emit(self, opcode: str, *operands: str) -> None:
        """An instruction under the guard of the one that is lowered."""
        self.code.lines.append(Code(opcode, operands, self.guard))

    def note(self, step: Step, message: str) -> None:
        """Something that the kernel's user should know, said once."""
        self.code.notes.setdefault(message, step.frame.function.line(step.instruction))

    def always(self, opcode: str, *operands: str) -> None:
        """An instruction that every lane may execute: it writes nothing but new registers."""
        self.code.lines.append(Code(opcode, operands))

    def compute(self, opcode: str, *operands: str) -> str:
        """The result of an operation, in a new register."""
        result = self.value()
        self.always(opcode, result, *operands)
        return result

    def product(self, target: str, opcode: str, a: str, b: str) -> None:
        """The low word of a product; by a power of two, a shift, as the machine has no 32-bit multiplier."""
        if not b.startswith("0x"):
            a, b = b, a
        number = int(b, 16) if b.startswith("0x") else 0
        if number and not number & (number - 1):
            self.emit("shl.u32", target, a, word(number.bit_length() - 1))
        else:
            self.emit(opcode, target, a, b)

    def test(self, comparison: str, type_: str, a: str, b: str) -> str:
        """A new condition code that holds where the comparison does."""
        result = self.predicate()
        self.always(f"set.{comparison}.u32.{type_}", f"{result}/$o127", a, b)
        return result

    def mask(self, comparison: str, type_: str, a: str, b: str) -> str:
        """A new register of all ones where the comparison holds, of zeros elsewhere."""
        return self.compute(f"set.{comparison}.u32.{type_}", a, b)

    def move(self, target: str, source: str) -> None:
        self.emit("mov.u32", target, source)

    def label(self, place: Hashable) -> str:
        """The label of a place, as an operand."""
        return self.code.labels.setdefault(place, f"L{len(self.code.labels)}")

    # ---- operands

    def type_of(self, name: str) -> Type:
        found = TYPES.get(name)
        if found is None:
            raise Refusal(f"values of type '.{name}' have no counterpart in PTXPlus")
        return found

    def number(self, operand: Operand, type_: Type) -> int | None:
        """The bits of a constant operand, None for anything else."""
        try:
            if isinstance(operand, Immediate):
                return literal(operand.text).bits(type_)
            if isinstance(operand, Name):
                return 32 if operand.text == "WARP_SZ" else None
            return constant(operand).bits(type_)
        except ValueError:
            return None

    def known(self, step: Step, operand: Operand) -> int | None:
        """The 32 bits of an operand that is a number, or a register that holds one wherever it is read."""
        number = self.number(operand, TYPES["u32"])
        key = step.key(operand.text) if isinstance(operand, Name) else None
        return self._constants.get(key) if number is None and key is not None else number

    def source(self, step: Step, operand: Operand, type_: Type) -> str:
        """An operand of up to 32 bits, or the low word of one of 64."""
        number = self.number(operand, type_)
        if number is not None:
            return word(number)
        if isinstance(operand, Name):
            return self._named(step, operand)
        if isinstance(operand, Binary) and operand.operator == "+":
            return self._address(step, operand)
        if isinstance(operand, Unary):
            raise Refusal(f"the operand '{operand.operator}' of something that is no number")
        raise Refusal("an operand that PTXPlus has no form for")

    def _named(self, step: Step, operand: Name) -> str:
        refuse_vector(step, operand)
        key = step.key(operand.text)
        if key is not None:
            if operand.part:
                raise Refusal(f"a part of the register '{operand.text}'")
            return self.register(key)
        if operand.text.startswith("%"):
            return self._special(operand)
        return self._address(step, operand)

    def _special(self, operand: Name) -> str:
        name = operand.text[1:]
        if name == "tid" and operand.part in ("x", "y", "z"):
            return self.thread_id(operand.part)
        if name in ("ntid", "ctaid", "nctaid") and operand.part in ("x", "y", "z"):
            return f"%{name}.{operand.part}"
        if name == "laneid" or name == "clock":
            return f"%{name}"
        raise Refusal(
            f"PTXPlus has no special register '{operand.text}{'.' * bool(operand.part)}{operand.part}'"
        )

    def _address(self, step: Step, operand: Operand) -> str:
        """The address of a variable, perhaps with an offset."""
        offset = 0
        if isinstance(operand, Binary):
            number = self.number(operand.right, TYPES["s64"])
            operand, offset = operand.left, number or 0
            if number is None:
                raise Refusal("an address with an offset that is no number")
        place = self.place(step, operand.text) if isinstance(operand, Name) else None
        if isinstance(operand, Name) and operand.text in step.frame.function.module.functions:
            raise Refusal("the address of a function: PTXPlus calls no addresses")
        if place is None:
            raise Refusal(f"'{operand.text if isinstance(operand, Name) else 'this'}' as an operand")
        if place.space == "global":
            return f"{place.name}+0x{offset:04x}" if offset else place.name
        return word(place.address + offset)

    def place(self, step: Step, name: str) -> Place | None:
        place = self.places.find(name, step.frame.function)
        declared = step.frame.function.module.variables.get(name)
        is_outside = place is not None and place.space in ("global", "const")
        if is_outside and declared is not None and "extern" in declared.linkage:
            self.note(step, f"'{name}' is defined in another file: it is zeros unless the launch fills it")
        return place

    def wide_source(self, step: Step, operand: Operand) -> Pair:
        """Both words of a 64-bit operand."""
        number = self.number(operand, TYPES["b64"])
        if number is not None:
            return word(number), word(number >> 32)
        if isinstance(operand, Name):
            key = step.key(operand.text)
            if key is not None:
                return self.words(key) if key.bits == 64 else (self.register(key), word(0))
        return self.source(step, operand, TYPES["b64"]), word(0)

    def braced(self, pair: Pair) -> str:
        """A pair as one operand; a constant goes to registers first."""
        if not all(text.startswith("$v") for text in pair):
            low, high = self.pair()
            self.always("mov.u32", low, pair[0])
            self.always("mov.u32", high, pair[1])
            pair = low, high
        return f"{{{pair[0]},{pair[1]}}}"

    def destination(self, step: Step, operand: Operand) -> Key:
        """The value that an operand names as a result."""
        refuse_vector(step, operand)
        key = step.key(operand.text) if isinstance(operand, Name) and not operand.part else None
        if key is None:
            raise Refusal("a result that goes to no register")
        return key

    def truth(self, step: Step, operand: Operand) -> tuple[str, bool]:
        """A predicate operand: its condition code, and whether it is negated."""
        negated = False
        while isinstance(operand, Unary) and operand.operator == "!":
            negated, operand = not negated, operand.operand
        if isinstance(operand, Immediate):
            result = self.predicate()
            self.always("mov.pred", result, word(int(literal(operand.text).payload != 0)))
            return result, negated
        key = step.key(operand.text) if isinstance(operand, Name) else None
        if key is None or not key.is_predicate:
            raise Refusal("a predicate operand that is no predicate register")
        return self.register(key), negated

    def plain_truth(self, step: Step, operand: Operand) -> str:
        """A predicate operand as a condition code, inverted into a new one if it is negated."""
        name, negated = self.truth(step, operand)
        if not negated:
            return name
        result = self.predicate()
        self.always("not.pred", result, name)
        return result

    def guard_of(self, step: Step, guard: Guard | None) -> str:
        if guard is None:
            return ""
        key = step.key(guard.name)
        if key is None:
            raise Refusal(f"the guard '{guard.name}' is no predicate register")
        return f"@{self.register(key)}.{'equ' if guard.negated else 'ne'}"

    # ---- items

    def select(self, step: Step) -> None:
        """Emit the code of one instruction. Raises `Refusal`."""
        self.guard = self.guard_of(step, step.instruction.guard)
        base = step.instruction.opcode.base
        if step.match is None or base not in RULES or step.match.form.base not in (base, *_LONG_BASES):
            raise Refusal(f"PTXPlus has nothing for '{step.instruction.opcode.text}'")
        RULES[base](self, step)

    def skip(self, item: Skip) -> None:
        """Branch around the body of a guarded call."""
        guard = item.step.instruction.guard
        assert guard is not None
        self.guard = self.guard_of(item.step, Guard(guard.name, not guard.negated))
        self.emit("bra", self.label(item.target))

    def copy(self, item: Copy) -> None:
        """Emit the copy of an argument or a result. Raises `Refusal`."""
        step = item.step
        self.guard = self.guard_of(step, step.instruction.guard)
        if item.piece.is_predicate:
            source = self.plain_truth(step, item.operand)
            self.emit("mov.pred", self.register(item.piece), source)
            return
        if item.is_store:
            self.assign(item.piece, step, item.operand, self.type_of(item.type))
            return
        target = self.destination(step, item.operand)
        if self.is_wide(target):
            low, high = self.words(target)
            self.move(low, self.register(item.piece))
            self.move(high, self.words(item.piece)[1] if item.piece.bits == 64 else word(0))
        else:
            self.extend(self.register(target), self.register(item.piece), item.type, target.bits)

    def extend(self, target: str, source: str, type_: str, bits: int) -> None:
        """A value of 8 or 16 bits into a register of more, by the sign of its type."""
        kind = self.type_of(type_)
        if kind.bits >= min(bits, 32):
            self.move(target, source)
            return
        sign = "s" if kind.is_signed else "u"
        self.emit(f"cvt.{sign}32.{sign}{kind.bits}", target, source)

    def assign(self, target: Key, step: Step, operand: Operand, type_: Type) -> None:
        """A plain copy of an operand into a value."""
        if self.is_wide(target):
            low, high = self.words(target)
            source = self.wide_source(step, operand)
            self.move(low, source[0])
            self.move(high, source[1])
        else:
            self.move(self.register(target), self.source(step, operand, type_))


def modifiers(match: Match, *names: str) -> str:
    """Those of some modifiers that an instruction has, each with its dot."""
    return "".join(f".{name}" for name in names if name in match.modifiers)


def refuse_vector(step: Step, operand: Operand) -> None:
    """Raise `Refusal` for a register of vector type, or a part of one."""
    register = step.register(operand.text) if isinstance(operand, Name) else None
    if register is not None and register.vector > 1:
        raise Refusal(f"'{register.name}' is a register of vector type: declare its elements as registers")
