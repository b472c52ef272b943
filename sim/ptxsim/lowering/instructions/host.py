"""Functions that the simulator has itself: `vprintf`, `__assertfail`, `malloc`, `free`.

They are micro-operations (execute/host.py) on rows; no frame, no jump.

Reference: NVIDIA, "CUDA C++ Programming Guide", sections on formatted output, assertion, dynamic global memory
allocation; "PTX Interoperability", section 6 (system calls).
"""

from collections.abc import Callable

from ptxsim.base.program import LOCAL
from ptxsim.execute.codes import ACCESS32, ASSERT, FREE, MALLOC, PRINT
from ptxsim.lowering.addresses import load_code, store_code
from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.callgraph import Call
from ptxsim.lowering.rows import LONG, WORD, unsupported
from ptxtool.ir.nodes import Name, Operand
from ptxtool.isa.types import Type


def builtin(b: UopBuilder, call: Call) -> None:
    """A call of a function that the simulator has itself."""
    assert isinstance(call.target, Name)
    _BUILTINS[call.target.text](b, call)


def _argument(b: UopBuilder, call: Call, index: int, type_: Type) -> int:
    """The row of an argument: a register, a constant, or a `.param` variable."""
    if index >= len(call.arguments):
        unsupported(f"{len(call.arguments)} arguments of '{call.target}'")
    operand = call.arguments[index]
    place = b.place_in_frame(operand.text) if isinstance(operand, Name) else None
    if place is None:
        return b.value(operand, type_)
    _access(b, place.offset, type_.bytes)
    return b.emit_code(load_code(type_), b.temporary(64 if type_.bits == 64 else 32))


def _access(b: UopBuilder, offset: int, n_bytes: int) -> None:
    base = b.constant(0) if b.is_kernel else b.shared_row("frame")
    b.emit_code(ACCESS32, 0, base, b.constant(0), LOCAL | n_bytes << 8, offset)


def _result(b: UopBuilder, call: Call, row: int, type_: Type) -> None:
    if not call.results:
        return
    operand: Operand = call.results[0]
    place = b.place_in_frame(operand.text) if isinstance(operand, Name) else None
    if place is None:
        b.place(operand, type_).write("mov_u64" if type_.bits == 64 else "mov_u32", row)
        return
    _access(b, place.offset, type_.bytes)
    b.emit_code(store_code(type_), a=row)


def _vprintf(b: UopBuilder, call: Call) -> None:
    text, values = _argument(b, call, 0, LONG), _argument(b, call, 1, LONG)
    _result(b, call, b.emit_code(PRINT, b.temporary(), text, values), WORD)


def _assertfail(b: UopBuilder, call: Call) -> None:
    message, file, function = (_argument(b, call, k, LONG) for k in (0, 1, 3))
    b.emit_code(ASSERT, _argument(b, call, 2, WORD), message, file, function)


def _malloc(b: UopBuilder, call: Call) -> None:
    size = _argument(b, call, 0, LONG)
    _result(b, call, b.emit_code(MALLOC, b.temporary(64), size), LONG)


def _free(b: UopBuilder, call: Call) -> None:
    b.emit_code(FREE, a=_argument(b, call, 0, LONG))


_BUILTINS: dict[str, Callable[[UopBuilder, Call], None]] = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}
