"""The shared variables of a kernel in order of first access, and the first access beyond a boundary."""

import pytest

from ptxtool.analysis.sharing.shared_use import SharedUse, shared_use
from ptxtool.parse import parse


def used(body: str) -> SharedUse:
    text = f""".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{{\n.reg .b32 %r<4>;
.shared .b32 a[4]; .shared .b32 b[2]; .shared .b32 unused;\n{body}\nret;\n}}\n"""
    return shared_use(parse(text).kernels["k"])


BODY = "st.shared.u32 [b+4], %r1;\nst.shared.u32 [a], %r1;\nld.shared.u32 %r1, [b];"


def test_variables_in_order_of_first_access() -> None:
    """`b` lies after the 16 bytes of `a`; line 8 is the first one of the body."""
    found = used(BODY).variables
    assert [(v.name, v.offset, v.size, v.accesses) for v in found[:2]] == [("b", 16, 8, 2), ("a", 0, 16, 1)]
    assert [(v.first.line, v.last.line) for v in found[:2] if v.first and v.last] == [(8, 10), (9, 9)]
    assert [v.span for v in found[:2]] == [3, 1]
    assert found[0].to_dict()["bytes"] == 8


def test_what_is_never_accessed_comes_last() -> None:
    found = used(f"mov.u32 %r2, unused;\n{BODY}")
    last = found.variables[-1]
    assert (last.name, last.accesses, last.first, last.span) == ("unused", 0, None, 0)
    assert str(found).splitlines()[-1].endswith("never accessed")


def test_accesses_of_unknown_address_have_a_row() -> None:
    found = {v.name: v for v in used(f"{BODY}\nst.shared.u32 [%r2], %r1;").variables}
    assert (found["(any)"].offset, found["(any)"].size, found["(any)"].span) == (None, 0, None)
    assert found["(any)"].accesses == 1


@pytest.mark.parametrize(("boundary", "line", "variable"), [(24, None, ""), (20, 8, "b"), (0, 8, "b")])
def test_the_first_access_beyond_a_boundary(boundary: int, line: int | None, variable: str) -> None:
    stop = used(BODY).first_stop(boundary)
    assert (stop.at.line, stop.variable) == (line, variable) if line is not None and stop else stop is None


def test_private_accesses_before_it_do_not_stop() -> None:
    stop = used("st.shared.u32 [a], %r1;\nst.shared.u32 [b], %r1;").first_stop(16)
    assert stop is not None
    assert (stop.at.line, stop.at.text, stop.variable) == (9, "st.shared.u32 [b], %r1;", "b")
