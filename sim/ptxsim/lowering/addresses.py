"""Memory operands: the parts of an address, its check, and PTXPlus's loads and stores of operands. For `builder.py`."""

from dataclasses import dataclass

from ptxsim.base.program import CONST, GENERIC, GLOBAL, LOCAL, PARAM, SHARED
from ptxsim.execute import codes
from ptxsim.execute.codes import ACCESS32, ACCESS64, LOAD_32, LOAD_64, LOCAL_WINDOW
from ptxsim.lowering.frames import FrameVariable
from ptxsim.lowering.rows import LONG, unsupported
from ptxsim.lowering.sources import Sources
from ptxsim.lowering.variable_layout import evaluate
from ptxtool.ir.nodes import Memory, Name, Operand
from ptxtool.isa.types import TYPES, Type


@dataclass
class Address:
    """The parts of a memory operand: a base row, a second row or None, and an offset."""

    base: int
    is_long: bool
    second: int | None
    offset: int
    increment: tuple[int, int] | None = None  # register row, and row of the value added after the access


class Addresses(Sources):
    """Makes addresses of memory operands, and emits accesses."""

    def address(self, operand: Operand, space: int) -> Address:
        """The parts of an address."""
        if not isinstance(operand, Memory):
            unsupported("an address without brackets")
        base, offset, constant = operand.base, operand.offset, 0
        if operand.coordinates:
            unsupported("coordinates in an address")
        if operand.symbol and self.ptxplus and operand.symbol in self.layout.symbols:
            constant += self.layout.symbols[operand.symbol].address
        increment: tuple[int, int] | None = None
        second: int | None = None
        if operand.post_increment:
            if not isinstance(base, Name) or offset is None:
                unsupported("this post-increment")
            register = self.register(base.text)
            if register is None or base.part:
                unsupported("a post-increment of something that is no whole register")
            increment = (self.row_of(register)[1], self._offset_row(offset))
            offset = None
        if offset is not None:
            number = self._integer(offset)
            if number is None:
                second = self.value(offset, TYPES["u32"])
            else:
                constant += number
        if base is None:
            return self._made_address(None, second, constant, increment)
        number = self._integer(base)
        if number is not None:
            return self._made_address(None, second, constant + number, increment)
        if isinstance(base, Name):
            place = self.place_in_frame(base.text)
            symbol = self.symbol(base.text)
            parameter = next((p for p in self.layout.parameters if p.name == base.text), None)
            if self.register(base.text) is None:
                if place is not None:
                    return self._frame_address(place, space, second, constant, increment)
                if parameter is not None and space == PARAM:
                    return self._made_address(None, second, constant + parameter.offset, increment)
                if symbol is not None:
                    start = symbol.generic_address if space == GENERIC else symbol.address
                    return self._made_address(None, second, constant + start, increment)
                unsupported(f"the address '{base.text}'")
        return self._made_address(base, second, constant, increment)

    def _frame_address(
        self,
        place: FrameVariable,
        space: int,
        second: int | None,
        constant: int,
        increment: tuple[int, int] | None,
    ) -> Address:
        """A variable of the frame, in local or in generic addresses."""
        if space not in (LOCAL, GENERIC):
            unsupported(f"'{place.name}' in this state space")
        constant += place.offset
        if self.is_kernel:
            window = LOCAL_WINDOW if space == GENERIC else 0
            return self._made_address(None, second, constant + window, increment)
        row = self.shared_row("frame")
        if space == GENERIC:
            row = self.compute("add_u32", row, self.constant(LOCAL_WINDOW))
        return Address(row, False, second, constant, increment)

    def _made_address(
        self, base: Operand | None, second: int | None, constant: int, increment: tuple[int, int] | None
    ) -> Address:
        if base is None:
            if not -(2**31) <= constant < 2**31:
                return Address(self.constant(constant, 64), True, second, 0, increment)
            return Address(self.constant(0), False, second, constant, increment)
        is_long = False
        if isinstance(base, Name) and not base.part:
            register = self.register(base.text)
            is_long = register is not None and self.row_of(register)[0] == 64
        if not -(2**31) <= constant < 2**31:
            unsupported("an address offset of more than 31 bits")
        row = self.value(base, LONG if is_long else TYPES["u32"])
        return Address(row, is_long, second, constant, increment)

    def _integer(self, operand: Operand) -> int | None:
        """The value of an offset that is a number; None if it is a register."""
        if isinstance(operand, Name) and (self.register(operand.text) or self.symbol(operand.text)):
            return None
        try:
            return evaluate(operand, self.layout.symbols)
        except ValueError:
            return None

    def _offset_row(self, offset: Operand) -> int:
        number = self._integer(offset)
        return self.value(offset, TYPES["u32"]) if number is None else self.constant(number)

    def emit_access(self, operand: Operand, space: int, n_bytes: int) -> Address:
        """The address and its check; remembers the access for the timing model."""
        address = self.address(operand, space)
        self.emit_address(address, space, n_bytes)
        return address

    def emit_address(
        self, address: Address, space: int, n_bytes: int, more: int | None = None, offset: int = 0
    ) -> None:
        """The check of an access of n bytes at an address, plus a row where given, plus an offset."""
        second = self.constant(0) if address.second is None else address.second
        if more is not None:
            second = more if address.second is None else self.compute("add_u32", second, more)
        code = ACCESS64 if address.is_long else ACCESS32
        self.emit_code(code, 0, address.base, second, space | n_bytes << 8, address.offset + offset)
        self.access_bytes, self.space = n_bytes, space

    def finish_access(self, address: Address) -> None:
        """The post-increment."""
        if address.increment is not None:
            row, amount = address.increment
            self.emit("add_u32", row, row, amount)

    def operand_space(self, operand: Memory) -> int:
        """PTXPlus: the space of `s[..]`, `g[..]`, `l..[..]`, `c..[..]`."""
        symbol = self.layout.symbols.get(operand.symbol)
        if symbol is not None:
            return symbol.space
        letter = operand.symbol[:1]
        if operand.symbol in ("s", "g") or letter == "l":
            return {"s": SHARED, "g": GLOBAL, "l": LOCAL}[letter]
        if not operand.symbol:
            unsupported("an address here")
        add = f" (add '.const .u32 {operand.symbol}[N] = {{ ... }};')" if letter == "c" else ""
        unsupported(f"'{operand.symbol}[...]' is not declared{add}")

    def load_operand(self, operand: Memory, type_: Type) -> int:
        """PTXPlus: a memory operand as a value."""
        if not operand.symbol:
            unsupported("an address as a value")
        address = self.emit_access(operand, self.operand_space(operand), type_.bytes)
        self.element_bytes = type_.bytes
        row = self.temporary(64 if type_.bits == 64 else 32)
        self.emit_code(load_code(type_), row)
        self.finish_access(address)
        return row

    def store_operand(self, operand: Memory, row: int, type_: Type) -> None:
        """PTXPlus: a value into a memory operand."""
        space = self.operand_space(operand)
        if space == CONST:
            unsupported("a store to constant memory")
        address = self.emit_access(operand, space, type_.bytes)
        self.element_bytes = type_.bytes
        self.emit_code(store_code(type_), a=row)
        self.finish_access(address)


def load_code(type_: Type) -> int:
    """The LOAD micro-operation of a type; floats of 16 bits are their bits."""
    if type_.bits == 64:
        return LOAD_64
    if type_.bits == 32:
        return LOAD_32
    signed = type_.is_signed
    if type_.bits == 16:
        return codes.LOAD_S16 if signed else codes.LOAD_U16
    return codes.LOAD_S8 if signed else codes.LOAD_U8


def store_code(type_: Type) -> int:
    return {8: codes.STORE_8, 16: codes.STORE_16, 32: codes.STORE_32, 64: codes.STORE_64}[type_.bits]
