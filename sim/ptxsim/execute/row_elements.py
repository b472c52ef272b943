"""Elements of register rows as the generated lane operations read and write them.

`load_u32(own, constants, row, lane)`, `store_u32(row, lane, value)` and so on. A row to load from is an operand's
number: one of the warp's, which begin at the address `own`, or, below 0, one of the constant rows at their address. A
row to store to is its address. `store_u32` takes an int64 and keeps its low half.

Rows are the same or do not overlap, and a lane operation reads of a lane what it writes to the same lane only. LLVM
cannot know that: it would take the lanes one by one where the result may lie in an operand's row, as in every
accumulation. Loads and stores carry alias scopes that say so, and the lanes become vector instructions. (A store is
never moved before a load it depends on, so a row that is both is safe.)
"""

import ctypes
from typing import Any

import numpy as np

from ptxsim.base.jit import JIT_DISABLED, intrinsic, types

LANES = 32
_CTYPES: dict[str, Any] = {
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "f32": ctypes.c_float,
    "u64": ctypes.c_uint64,
    "i64": ctypes.c_int64,
    "f64": ctypes.c_double,
}
_TYPES = {
    "u32": types.uint32,
    "i32": types.int32,
    "f32": types.float32,
    "u64": types.uint64,
    "i64": types.int64,
    "f64": types.float64,
}


def _mark(builder: Any, instruction: Any, kind: str) -> None:
    """Loads belong to an alias scope; stores do not alias with it."""
    module = builder.module
    domain = module.add_metadata(["ptxsim rows"])
    scope = module.add_metadata(["ptxsim row operands", domain])
    instruction.set_metadata(kind, module.add_metadata([scope]))


def _compiled_load(kind: str) -> Any:
    element = _TYPES[kind]

    @intrinsic
    def load(typing_context: Any, own: Any, constants: Any, row: Any, lane: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            own, constants, row, lane = arguments
            is_constant = builder.icmp_signed("<", row, row.type(0))
            first = builder.select(is_constant, constants, own)
            number = builder.select(is_constant, builder.not_(row), row)
            start = builder.add(first, builder.mul(number, row.type(LANES * element.bitwidth // 8)))
            loaded = builder.load(_pointer(context, builder, element, start, lane))
            _mark(builder, loaded, "alias.scope")
            return loaded

        return element(types.uint64, types.uint64, types.int64, types.int64), generate

    return load


def _compiled_store(kind: str) -> Any:
    element = _TYPES[kind]
    given = types.int64 if kind == "u32" else element

    @intrinsic
    def store(typing_context: Any, row: Any, lane: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            row, lane, value = arguments
            value = context.cast(builder, value, given, element)
            stored = builder.store(value, _pointer(context, builder, element, row, lane))
            _mark(builder, stored, "noalias")
            return context.get_dummy_value()

        return types.none(types.uint64, types.int64, given), generate

    return store


def _pointer(context: Any, builder: Any, element: Any, row: Any, lane: Any) -> Any:
    """The address of an element of the row at an address."""
    return builder.gep(builder.inttoptr(row, context.get_data_type(element).as_pointer()), [lane])


def _python_load(kind: str) -> Any:
    element = _CTYPES[kind]
    size = ctypes.sizeof(element)

    def load(own: Any, constants: Any, row: Any, lane: Any) -> Any:
        start = int(own) + int(row) * LANES * size if row >= 0 else int(constants) + ~int(row) * LANES * size
        return numpy_type(element.from_address(start + int(lane) * size).value)

    numpy_type = np.dtype(kind[0] + str(int(kind[1:]) // 8)).type
    return load


def _python_store(kind: str) -> Any:
    element = _CTYPES[kind]
    size = ctypes.sizeof(element)
    convert = float if kind.startswith("f") else int

    def store(row: Any, lane: Any, value: Any) -> None:
        element.from_address(int(row) + int(lane) * size).value = convert(value)

    return store


_load, _store = (_python_load, _python_store) if JIT_DISABLED else (_compiled_load, _compiled_store)
load_u32, load_i32, load_f32 = _load("u32"), _load("i32"), _load("f32")
load_u64, load_i64, load_f64 = _load("u64"), _load("i64"), _load("f64")
store_u32, store_f32 = _store("u32"), _store("f32")
store_u64, store_i64, store_f64 = _store("u64"), _store("i64"), _store("f64")
