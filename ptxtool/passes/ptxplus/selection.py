"""What the rules of all instruction families share: virtual registers for PTX's values, operands as text, emission.

`InstructionSelection` holds the code of one kernel and the instruction that is selected now. A PTX value of up to 32
bits is one virtual register; one of 64 bits is two, low word first, or, where
`ptxtool.analysis.regalloc.narrowing` shows that nothing reads its high word, the low word alone. A 16-bit value has a
whole register whose upper half is undefined. A predicate is a condition code that holds where its zero flag is clear.

A rule (`@rule("add", "sub")`) emits the code of one instruction, or raises `Refusal`. Intermediate results go to new
registers (`compute`) and need no guard; the results of the instruction are written last, under its guard (`emit`).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count

from ptxtool.analysis.flow.uniformity import Uniformity, uniformity
from ptxtool.analysis.regalloc.narrowing import Narrowing
from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Binary, Dual, Immediate, Name, Opcode, Operand, Unary
from ptxtool.isa.literals import literal
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from ptxtool.passes.ptxplus.code import Code, KernelCode, word
from ptxtool.passes.ptxplus.constants import constants
from ptxtool.passes.ptxplus.flatten import (
    CallSkip,
    FlatItem,
    InlinedInstruction,
    ParameterCopy,
    Refusal,
    ValueKey,
)
from ptxtool.passes.ptxplus.places import KernelVariables, VariableAddress
from ptxtool.passes.ptxplus.pointers import pointer_spaces

Pair = tuple[str, str]
"""The low and the high word of a 64-bit value."""

Rule = Callable[["InstructionSelection"], None]
_LONG_BASES = frozenset(
    [
        *("bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync", "bar.warp.sync"),
        *("vote.sync", "brx.idx"),
    ]
)
"""Bases of several words among those that have rules; others, such as `st.async`, are separate instructions."""
RULES: dict[str, Rule] = {}
"""The rule of every opcode that can be lowered."""
NEGATIVE_ZERO = word(1 << 31)


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule under the opcodes it lowers."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


class InstructionSelection:
    """The code of one kernel so far, and the instruction that is selected now."""

    current: InlinedInstruction
    match: Match
    opcode: Opcode
    operands: tuple[Operand, ...]

    def __init__(
        self,
        code: KernelCode,
        variables: KernelVariables,
        items: Sequence[FlatItem],
        narrow: Narrowing,
        segment: str,
    ) -> None:
        self.code, self.variables, self._narrow = code, variables, narrow
        self._items, self.segment = items, segment
        self.textures: Mapping[ValueKey, str] = {}
        """What a fetch names where a value is its handle: any parameter of 64 bits may be one."""
        self.guard = ""
        self.thread_ids: dict[str, str] = {}
        """The registers of the thread's coordinates that some instruction reads."""
        self.exchange_registers: tuple[str, str] | None = None
        """The registers of the lane and of the address of its word, if the kernel shuffles."""
        self._carry = ""
        self._uniformity: Uniformity | None = None
        self._values: dict[ValueKey, str] = {}
        self._value_numbers, self._predicate_numbers = count(), count()

    @cached_property
    def spaces(self) -> Mapping[ValueKey, frozenset[str]]:
        """The spaces that each value may point to: few kernels have generic accesses."""
        return pointer_spaces(self._items, self.variables)

    @cached_property
    def _constants(self) -> Mapping[ValueKey, int | None]:
        return constants(self._items)

    def is_together(self) -> bool:
        """Whether all lanes of a warp that have not exited execute the instruction at once; False where unknown."""
        activation, index = self.current.activation, self.current.index
        if activation.number:
            return False  # an inlined call: some lanes may not take part
        if self._uniformity is None:
            self._uniformity = uniformity(activation.function)
        read = activation.function.def_uses[index].uses if self.guard else ()
        return self._uniformity.is_together(index) and not self._uniformity.varying_before(
            index
        ).intersection(read)

    # ---- registers

    def value(self) -> str:
        """A new general register."""
        return f"$v{next(self._value_numbers)}"

    def pair(self) -> Pair:
        """Two new general registers, adjacent."""
        return self.value(), self.value()

    def predicate(self) -> str:
        """A new condition code."""
        return f"$p{next(self._predicate_numbers)}"

    def thread_id(self, part: str) -> str:
        """The register that holds a coordinate of the thread id, "x", "y" or "z"."""
        if part not in self.thread_ids:
            self.thread_ids[part] = self.value()
        return self.thread_ids[part]

    def carry_register(self) -> str:
        """The register of PTX's carry flag: all ones where it is set."""
        self._carry = self._carry or self.value()
        return self._carry

    def exchange(self) -> tuple[str, str]:
        """The register of the lane's number, and the lane's word of shared memory for shuffles."""
        words = self.variables.exchange
        assert words is not None, "a kernel that shuffles has such words"
        if self.exchange_registers is None:
            self.exchange_registers = self.pair()
            for part in "xyz":
                self.thread_id(part)
        lane, address = self.exchange_registers
        return lane, f"s[{address}+0x{words.address:04x}]"

    def is_wide(self, key: ValueKey) -> bool:
        return key.bits == 64 and self._narrow.is_wide(key)

    def register(self, key: ValueKey) -> str:
        """The register of a value, or of its low word."""
        register = self._values.get(key)
        if register is None:
            if key.bits > 64:
                raise Refusal("values of 128 bits have no counterpart in PTXPlus")
            if key.is_predicate:
                register = self.predicate()
            else:
                register = self.pair()[0] if self.is_wide(key) else self.value()
            self._values[key] = register
        return register

    def words(self, key: ValueKey) -> Pair:
        """Both registers of a wide value."""
        low = self.register(key)
        return low, f"$v{int(low[2:]) + 1}"

    # ---- emission

    def emit(self, opcode: str, *operands: str) -> None:
        """An instruction under the guard of the selected one."""
        self.code.lines.append(Code(opcode, operands, self.guard))

    def note(self, message: str) -> None:
        """A remark for the kernel's user, reported once."""
        line = self.current.activation.function.line(self.current.instruction)
        self.code.notes.setdefault(message, line)

    def always(self, opcode: str, *operands: str) -> None:
        """An instruction that every lane may execute: it writes only new registers."""
        self.code.lines.append(Code(opcode, operands))

    def compute(self, opcode: str, *operands: str) -> str:
        """The result of an operation, in a new register."""
        result = self.value()
        self.always(opcode, result, *operands)
        return result

    def compute_predicate(self, opcode: str, *operands: str) -> str:
        """The result of an operation, in a new condition code."""
        result = self.predicate()
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

    def inverted(self, condition: str) -> str:
        """A new condition code that holds where another does not."""
        return self.compute_predicate("not.pred", condition)

    def flushed(self, source: str) -> str:
        """An f32 with zero for a subnormal number, in a new register."""
        return self.compute("add.ftz.f32", source, NEGATIVE_ZERO)

    def extended(self, source: str, type_: Type) -> str:
        """A number of up to 32 bits, extended to the whole register by its type."""
        return source if type_.bits >= 32 else self.compute(extension(type_), source)

    def upper_word(self, source: str, type_: Type) -> str:
        """The upper word of a number of 32 bits that is extended to 64 by its type."""
        return self.compute("shr.s32", source, word(31)) if type_.is_signed else word(0)

    def extend(self, target: str, source: str, type_: Type, bits: int = 32) -> None:
        """Write a number of `type_` to a register of `bits`, extended by its type."""
        if type_.bits >= min(bits, 32):
            self.move(target, source)
        else:
            self.emit(extension(type_), target, source)

    def move(self, target: str, source: str) -> None:
        self.emit("mov.u32", target, source)

    def write(self, key: ValueKey, *words: str) -> None:
        """Write the words of a destination, low first, or only the low one where nothing reads the other."""
        targets = self.words(key) if self.is_wide(key) else (self.register(key),)
        for target, source in zip(targets, words, strict=False):
            self.move(target, source)

    def label(self, place: Hashable) -> str:
        """The label of a place, as an operand."""
        return self.code.labels.setdefault(place, f"L{len(self.code.labels)}")

    # ---- operands

    def type_of(self, name: str) -> Type:
        found = TYPES.get(name)
        if found is None:
            raise Refusal(f"values of type '.{name}' have no counterpart in PTXPlus")
        return found

    def key_of(self, operand: Operand) -> ValueKey | None:
        """The value that an operand names, None for what is no register."""
        return self.current.key_of(operand)

    def number(self, operand: Operand, type_: Type) -> int | None:
        """The bits of a constant operand, None for anything else."""
        try:
            if type(operand) is Name:
                return 32 if operand.text == "WARP_SZ" else None
            if isinstance(operand, Immediate):
                return literal(operand.text).bits(type_)
            return constant(operand).bits(type_)
        except ValueError:
            return None

    def known(self, operand: Operand) -> int | None:
        """The 32 bits of an operand that is a number, or a register that always holds one."""
        number = self.number(operand, TYPES["u32"])
        key = self.key_of(operand)
        return self._constants.get(key) if number is None and key is not None else number

    def source(self, operand: Operand, type_: Type) -> str:
        """An operand of up to 32 bits, or the low word of one of 64."""
        if type(operand) is Name and operand.text != "WARP_SZ":  # nearly all
            return self._named(operand)
        number = self.number(operand, type_)
        if number is not None:
            return word(number)
        if isinstance(operand, Binary) and operand.operator == "+":
            return self._address(operand)
        if isinstance(operand, Unary):
            raise Refusal(f"the operand '{operand.operator}' of something that is no number")
        raise Refusal("an operand that PTXPlus has no form for")

    def sources(self, operands: Iterable[Operand], type_: Type) -> list[str]:
        """Several operands of one type, in order."""
        return [self.source(operand, type_) for operand in operands]

    def _named(self, operand: Name) -> str:
        current = self.current
        if current.activation.has_vectors:
            self.refuse_vector(operand)
        key = current.activation.key(operand.text, current.index)
        if key is not None:
            if operand.part:
                raise Refusal(f"a part of the register '{operand.text}'")
            return self.register(key)
        if operand.text.startswith("%"):
            return self._special(operand)
        return self._address(operand)

    def _special(self, operand: Name) -> str:
        name = operand.text[1:]
        if name == "tid" and operand.part in ("x", "y", "z"):
            return self.thread_id(operand.part)
        if name in ("ntid", "ctaid", "nctaid") and operand.part in ("x", "y", "z"):
            return f"%{name}.{operand.part}"
        if name == "laneid" or name == "clock":
            return f"%{name}"
        part = f".{operand.part}" if operand.part else ""
        raise Refusal(f"PTXPlus has no special register '{operand.text}{part}'")

    def _address(self, operand: Operand) -> str:
        """The address of a variable, perhaps with an offset."""
        offset = 0
        if isinstance(operand, Binary):
            number = self.number(operand.right, TYPES["s64"])
            operand, offset = operand.left, number or 0
            if number is None:
                raise Refusal("an address with an offset that is no number")
        variable = self.variable(operand.text) if isinstance(operand, Name) else None
        if isinstance(operand, Name) and operand.text in self.current.activation.function.module.functions:
            raise Refusal("the address of a function: PTXPlus calls no addresses")
        if variable is None:
            raise Refusal(f"'{operand.text if isinstance(operand, Name) else 'this'}' as an operand")
        if variable.space == "global":
            return f"{variable.name}+0x{offset:04x}" if offset else variable.name
        return word(variable.address + offset)

    def variable(self, name: str) -> VariableAddress | None:
        """The variable that a name means in the selected instruction."""
        function = self.current.activation.function
        found = self.variables.find(name, function)
        declared = function.module.variables.get(name)
        is_outside = found is not None and found.space in ("global", "const")
        if is_outside and declared is not None and "extern" in declared.linkage:
            self.note(f"'{name}' is defined in another file: it is zeros unless the launch fills it")
        return found

    def wide_source(self, operand: Operand) -> Pair:
        """Both words of a 64-bit operand."""
        number = self.number(operand, TYPES["b64"])
        if number is not None:
            return word(number), word(number >> 32)
        key = self.key_of(operand)
        if key is not None:
            return self.words(key) if key.bits == 64 else (self.register(key), word(0))
        return self.source(operand, TYPES["b64"]), word(0)

    def braced(self, pair: Pair) -> str:
        """A pair as one operand; a constant goes to registers first."""
        if not all(text.startswith("$v") for text in pair):
            pair = self.compute("mov.u32", pair[0]), self.compute("mov.u32", pair[1])
        return braces(pair)

    def destination(self, operand: Operand | None = None) -> ValueKey:
        """The value that an operand names as a result, the first operand unless another one is passed."""
        operand = self.operands[0] if operand is None else operand
        self.refuse_vector(operand)
        key = self.key_of(operand)
        if key is None or (isinstance(operand, Name) and operand.part):
            raise Refusal("a result that goes to no register")
        return key

    def target(self, operand: Operand | None = None) -> str:
        """The register of a result, as `destination`."""
        return self.register(self.destination(operand))

    def truth(self, operand: Operand) -> tuple[str, bool]:
        """A predicate operand: its condition code, and whether it is negated."""
        negated = False
        while isinstance(operand, Unary) and operand.operator == "!":
            negated, operand = not negated, operand.operand
        if isinstance(operand, Immediate):
            is_set = literal(operand.text).payload != 0
            return self.compute_predicate("mov.pred", word(int(is_set))), negated
        key = self.key_of(operand)
        if key is None or not key.is_predicate:
            raise Refusal("a predicate operand that is no predicate register")
        return self.register(key), negated

    def plain_truth(self, operand: Operand) -> str:
        """A predicate operand as a condition code, inverted into a new one if it is negated."""
        name, negated = self.truth(operand)
        return self.inverted(name) if negated else name

    def refuse_vector(self, operand: Operand) -> None:
        """Raise `Refusal` for a register of vector type, or a part of one, if the function has such registers."""
        if not self.current.activation.has_vectors:
            return
        register = self.current.register(operand.text) if isinstance(operand, Name) else None
        if register is not None and register.vector > 1:
            what = f"'{register.name}' is a register of vector type"
            raise Refusal(f"{what}: declare its elements as registers")

    # ---- items

    def _begin(self, flat: InlinedInstruction, inverts_guard: bool = False) -> None:
        """Select for this instruction from now on, under its guard or under the inverted guard."""
        self.current, guard, self.guard = flat, flat.instruction.guard, ""
        if guard is not None:
            key = flat.key(guard.name)
            if key is None:
                raise Refusal(f"the guard '{guard.name}' is no predicate register")
            self.guard = f"@{self.register(key)}.{'equ' if guard.negated != inverts_guard else 'ne'}"

    def emit_item(self, item: ParameterCopy | CallSkip) -> None:
        """Emit the code of an item that is no instruction. Raises `Refusal`."""
        if isinstance(item, ParameterCopy):
            self._copy(item)
        else:  # branch around the body of a guarded call
            self._begin(item.at, inverts_guard=True)
            self.emit("bra", self.label(item.target))

    def select(self, flat: InlinedInstruction) -> None:
        """Emit the code of an instruction. Raises `Refusal`."""
        if flat.instruction.guard is None:
            self.current, self.guard = flat, ""
        else:
            self._begin(flat)
        self.opcode, self.operands = flat.instruction.opcode, flat.instruction.operands
        base, match = self.opcode.base, flat.match
        select = RULES.get(base)
        known = match is not None and (match.form.base == base or match.form.base in _LONG_BASES)
        if match is None or select is None or not known:
            raise Refusal(f"PTXPlus has nothing for '{self.opcode.text}'")
        self.match = match
        select(self)

    def _copy(self, item: ParameterCopy) -> None:
        """Emit the copy of an argument or a result."""
        self._begin(item.at)
        if item.piece.is_predicate:
            source = self.plain_truth(item.operand)
            self.emit("mov.pred", self.register(item.piece), source)
            return
        if item.is_store:
            self.assign(item.piece, item.operand, self.type_of(item.type))
            return
        target = self.destination(item.operand)
        if self.is_wide(target):
            low, high = self.words(target)
            self.move(low, self.register(item.piece))
            self.move(high, self.words(item.piece)[1] if item.piece.bits == 64 else word(0))
        else:
            target_register, source = self.register(target), self.register(item.piece)
            self.extend(target_register, source, self.type_of(item.type), target.bits)

    def assign(self, target: ValueKey, operand: Operand, type_: Type) -> None:
        """A plain copy of an operand into a value."""
        self.register(target)  # numbered before what the operand needs
        if self.is_wide(target):
            self.write(target, *self.wide_source(operand))
        else:
            self.move(self.register(target), self.source(operand, type_))


def braces(pair: Pair) -> str:
    """Both words as one operand."""
    return f"{{{pair[0]},{pair[1]}}}"


def sign_of(type_: Type) -> str:
    """The sign letter in a PTXPlus opcode: "s" or "u"."""
    return "s" if type_.is_signed else "u"


def extension(type_: Type) -> str:
    """The opcode that extends a value of 8 or 16 bits to a register."""
    sign = sign_of(type_)
    return f"cvt.{sign}32.{sign}{type_.bits}"


def is_sink(operand: Operand | None) -> bool:
    """Whether an operand is the `_` that takes a result nothing reads."""
    return isinstance(operand, Name) and operand.text == "_"


def results_of(operand: Operand) -> tuple[Operand | None, Operand | None]:
    """The two results of `p|q`; None for `_` and for one that is not there."""
    pair = (operand.first, operand.second) if isinstance(operand, Dual) else (operand, None)
    first, second = (None if is_sink(o) else o for o in pair)
    return first, second


def modifiers(match: Match, *names: str) -> str:
    """Those of some modifiers that an instruction has, each with its dot."""
    return "".join([f".{name}" for name in names if name in match.modifiers])
