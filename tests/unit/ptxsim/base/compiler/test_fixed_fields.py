"""Records with constant fields: what is compiled for them, and that they are the whole record elsewhere."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base import jit, machine_code
from ptxsim.base.compiler.numba_compiler import compiled_object
from ptxsim.base.jit import array_of, record, types

DTYPE = record([("on", "i8"), ("n", "i8"), ("result", "i8")])

pytestmark = pytest.mark.skipif(jit.JIT_DISABLED, reason="without compilation there are no constants")


@pytest.fixture(autouse=True)
def nothing_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "_machine_code", lambda function: compiled_object(function)[2])


def run(function: Any, values: tuple[tuple[str, int], ...], **fields: int) -> int:
    """The result of `function(record)`, compiled for these constants, on a record with these fields."""
    records: Any = np.zeros(1, DTYPE)
    for name, value in fields.items():
        records[name] = value
    inner = jit.njit(function)

    def main(all_records):  # type: ignore[no-untyped-def]
        inner(all_records[0])
        return 0

    jit.entry(types.int64(array_of(DTYPE, values)))(main)(records)
    return int(records[0]["result"])


def test_a_constant_is_taken_for_the_field() -> None:
    def read(r):  # type: ignore[no-untyped-def]
        r.result = r.on + r.n

    assert run(read, (("on", 5),), on=1, n=2) == 7
    assert run(read, (), on=1, n=2) == 3


def _alone(r):  # type: ignore[no-untyped-def]
    if r.on:
        r.there_is_no_such_field = 1
    r.result = 7


def _compared(r):  # type: ignore[no-untyped-def]
    if r.on != 0:
        r.there_is_no_such_field = 1
    r.result = 7


def _first(r):  # type: ignore[no-untyped-def]
    if r.on and r.n:
        r.there_is_no_such_field = 1
    r.result = 7


def _last(r):  # type: ignore[no-untyped-def]
    if r.n and r.on:
        r.there_is_no_such_field = 1
    r.result = 7


@pytest.mark.parametrize("branch", [_alone, _compared, _first, _last])
def test_what_a_constant_leaves_out_is_not_compiled(branch: Any) -> None:
    assert run(branch, (("on", 0),), n=1) == 7
    for values in ((("on", 1),), ()):
        with pytest.raises(KeyError, match="there_is_no_such_field"):
            run(branch, values, n=1)


def test_a_function_for_the_whole_record_takes_it() -> None:
    @jit.njit(types.int64(jit.record_type(DTYPE)))
    def whole(r):  # type: ignore[no-untyped-def]
        return r.on

    def call(r):  # type: ignore[no-untyped-def]
        r.result = 10 * r.on + whole(r)

    assert run(call, (("on", 5),), on=1) == 51


def test_the_types_of_records_are_told_apart() -> None:
    other = record([("on", "i8"), ("n", "i8"), ("other", "i8")])
    fixed = array_of(DTYPE, (("on", 1),)).now().dtype
    assert fixed == array_of(DTYPE, (("on", 1),)).now().dtype
    assert fixed not in (array_of(DTYPE, (("on", 0),)).now().dtype, jit.record_type(DTYPE).now())
    whole = jit.record_type(DTYPE).now()
    assert whole.can_convert_to(None, fixed) is None
    assert fixed.can_convert_to(None, whole) is not None
    assert fixed.can_convert_to(None, array_of(DTYPE, (("on", 0),)).now().dtype) is None
    is_record_of = jit.is_record_of.now()
    assert is_record_of(fixed, DTYPE)
    assert is_record_of(jit.record_type(DTYPE).now(), DTYPE)
    assert not is_record_of(fixed, other)
