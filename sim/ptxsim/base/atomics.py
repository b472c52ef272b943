"""Words of memory that several threads read and write, by address, as int64. Without compilation there is one thread.

Reads acquire and writes release: what a thread has written before `store_release` is there for a thread whose
`load_acquire` has read the word.
"""

import ctypes
import time
from typing import Any

from ptxsim.base.jit import JIT_DISABLED, compiled


def _word(address: Any) -> Any:
    return ctypes.c_int64.from_address(int(address))


def _load(address: Any) -> int:
    value: int = _word(address).value
    return value


def _store(address: Any, value: Any) -> None:
    _word(address).value = int(value)


def _exchange(address: Any, value: Any) -> int:
    before = _load(address)
    _store(address, value)
    return before


def _add_to(address: Any, value: Any) -> int:
    before = _load(address)
    _store(address, before + int(value))
    return before


def _nothing(*_: Any) -> None:
    return


def _of_compiler(name: str, python: Any) -> Any:
    return python if JIT_DISABLED else compiled("ptxsim.base.compiler.numba_compiler", name)


load_acquire: Any = _of_compiler("load_acquire", _load)
store_release: Any = _of_compiler("store_release", _store)
exchange: Any = _of_compiler("exchange", _exchange)
"""`exchange(address, value)`: write a word and return what it was, as one step."""
add_to: Any = _of_compiler("add_to", _add_to)
"""`add_to(address, value)`: the same with a sum."""
pause: Any = _of_compiler("pause", _nothing)
"""Tell the processor that a loop waits for another thread."""
ticks: Any = _of_compiler("ticks", time.perf_counter_ns)
"""The time in units of the processor's clock, which goes on while the processor waits or slows down; 0 where none is
known."""
call_at: Any = _of_compiler("call_at", _nothing)
"""`call_at(address)`: call a C function without arguments."""
