"""Memory operands: the parts of an address, its check, and PTXPlus's loads and stores of operands. For `builder.py`."""

from dataclasses import dataclass

from ptxsim.base.program import CONST, GENERIC, GLOBAL, LOCAL, PARAM, SHARED
from ptxsim.execute import codes
from ptxsim.lowering.frames import FrameVariable
from ptxsim.lowering.rows import LONG, row_bits, unsupported
from ptxsim.lowering.sources import Sources
from ptxsim.lowering.variable_layout import evaluate
from ptxtool.ir.nodes import Memory, Name, Operand
from ptxtool.isa.types import TYPES, Type


@dataclass
class Address:
    """The parts of a memory operand: a base row, a second row or None, and an offset."""

    base: int
    is_long: bool
    offset: int
    second: int | None = None
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
        address = self._from_base(base, constant, space)
        address.second, address.increment = second, increment
        return address

    def _from_base(self, base: Operand | None, constant: int, space: int) -> Address:
        """The address of a memory operand's base plus a constant."""
        number = 0 if base is None else self._integer(base)
        if number is None and isinstance(base, Name) and self.register(base.text) is None:
            place = self.place_in_frame(base.text)
            if place is not None and space not in (LOCAL, GENERIC):
                unsupported(f"'{place.name}' in this state space")
            if place is not None and not self.is_kernel:
                row = self.shared_row("frame")
                if space == GENERIC:
                    row = self.compute("add_u32", row, self.constant(codes.LOCAL_WINDOW))
                return Address(row, False, constant + place.offset)
            number = self._start(base.text, place, space)
        if number is not None:
            constant += number
            if not -(2**31) <= constant < 2**31:
                return Address(self.constant(constant, 64), True, 0)
            return Address(self.constant(0), False, constant)
        assert base is not None
        is_long = False
        if isinstance(base, Name) and not base.part:
            register = self.register(base.text)
            is_long = register is not None and self.row_of(register)[0] == 64
        if not -(2**31) <= constant < 2**31:
            unsupported("an address offset of more than 31 bits")
        return Address(self.value(base, LONG if is_long else TYPES["u32"]), is_long, constant)

    def _start(self, name: str, place: FrameVariable | None, space: int) -> int:
        """Where a variable or parameter begins, in the addresses of a space; `place` is that in the kernel's frame."""
        parameter, symbol = self.parameter(name), self.symbol(name)
        if place is not None:
            return place.offset + (codes.LOCAL_WINDOW if space == GENERIC else 0)
        if parameter is not None and space == PARAM:
            return parameter.offset
        if symbol is not None:
            return symbol.generic_address if space == GENERIC else symbol.address
        unsupported(f"the address '{name}'")

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
        code = codes.ACCESS64 if address.is_long else codes.ACCESS32
        self.emit(code, 0, address.base, second, space | n_bytes << 8, address.offset + offset)
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
        row = self.emit(load_code(type_), self.temporary(row_bits(type_)))
        self.finish_access(address)
        return row

    def store_operand(self, operand: Memory, row: int, type_: Type) -> None:
        """PTXPlus: a value into a memory operand."""
        space = self.operand_space(operand)
        if space == CONST:
            unsupported("a store to constant memory")
        address = self.emit_access(operand, space, type_.bytes)
        self.element_bytes = type_.bytes
        self.emit(store_code(type_), a=row)
        self.finish_access(address)


def load_code(type_: Type) -> int:
    """The LOAD micro-operation of a type; floats of 16 bits are their bits."""
    if type_.bits == 64:
        return codes.LOAD_64
    if type_.bits == 32:
        return codes.LOAD_32
    if type_.bits == 16:
        return codes.LOAD_S16 if type_.is_signed else codes.LOAD_U16
    return codes.LOAD_S8 if type_.is_signed else codes.LOAD_U8


def store_code(type_: Type) -> int:
    return {8: codes.STORE_8, 16: codes.STORE_16, 32: codes.STORE_32, 64: codes.STORE_64}[type_.bits]
