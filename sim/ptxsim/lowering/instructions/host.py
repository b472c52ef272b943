"""Functions that the simulator has itself: `vprintf`, `__assertfail`, `malloc`, `free`.

They are micro-operations (execute/host.py) on rows; no frame, no jump.

Reference: NVIDIA, "CUDA C++ Programming Guide", sections on formatted output, assertion, dynamic global memory
allocation; "PTX Interoperability", section 6 (system calls).
"""

from collections.abc import Callable

from ptxsim.base.program import LOCAL
from ptxsim.execute import codes
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.callgraph import Call
from ptxsim.lowering.rows import LONG, WORD, row_bits, unsupported
from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Name
from ptxtool.isa.types import Type


def builtin(builder: UopBuilder, call: Call) -> None:
    """A call of a function that the simulator has itself."""
    assert isinstance(call.target, Name)
    _BUILTINS[call.target.text](builder, call)


def _argument(builder: UopBuilder, call: Call, index: int, type_: Type) -> int:
    """The row of an argument: a register, a constant, or a `.param` variable."""
    if index >= len(call.arguments):
        assert isinstance(call.target, Name)
        unsupported(f"'{call.target.text}' with {counted(len(call.arguments), 'argument')}")
    operand = call.arguments[index]
    place = builder.variable_of(operand)
    if place is None:
        return builder.value(operand, type_)
    _access(builder, place.offset, type_.bytes)
    return builder.emit(load_code(type_), builder.temporary(row_bits(type_)))


def _access(builder: UopBuilder, offset: int, n_bytes: int) -> None:
    base = builder.constant(0) if builder.is_kernel else builder.shared_row("frame")
    builder.emit(codes.ACCESS32, 0, base, builder.constant(0), LOCAL | n_bytes << 8, offset)


def _result(builder: UopBuilder, call: Call, row: int, type_: Type) -> None:
    if not call.results:
        return
    operand = call.results[0]
    place = builder.variable_of(operand)
    if place is None:
        builder.place(operand, type_).write(f"mov_u{row_bits(type_)}", row)
        return
    _access(builder, place.offset, type_.bytes)
    builder.emit(store_code(type_), a=row)


def _vprintf(builder: UopBuilder, call: Call) -> None:
    text, values = _argument(builder, call, 0, LONG), _argument(builder, call, 1, LONG)
    _result(builder, call, builder.emit(codes.PRINT, builder.temporary(), text, values), WORD)


def _assertfail(builder: UopBuilder, call: Call) -> None:
    message, file, function = (_argument(builder, call, k, LONG) for k in (0, 1, 3))
    builder.emit(codes.ASSERT, _argument(builder, call, 2, WORD), message, file, function)


def _malloc(builder: UopBuilder, call: Call) -> None:
    size = _argument(builder, call, 0, LONG)
    _result(builder, call, builder.emit(codes.MALLOC, builder.temporary(64), size), LONG)


def _free(builder: UopBuilder, call: Call) -> None:
    builder.emit(codes.FREE, a=_argument(builder, call, 0, LONG))


_BUILTINS: dict[str, Callable[[UopBuilder, Call], None]] = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}
