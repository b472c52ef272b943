"""Shared variables as a table, and the first access that needs the shared part."""

from kernels import ptx

from ptxtool.analysis.sharing.shared_use import shared_use
from ptxtool.report.kernels.shared_use import shared_use_data, shared_use_table

REGISTERS = ".shared .align 4 .b8 a[64]; .shared .align 4 .b8 b[32]; .reg .b32 %r<4>;"
USE = shared_use(ptx("mov.u32 %r1, 1;\nst.shared.u32 [b], %r1;\nst.shared.u32 [a], %r1;\nret;", REGISTERS))


def test_variables_are_in_the_order_of_first_access() -> None:
    lines = str(shared_use_table(USE)).splitlines()
    assert lines[0] == "k: 2 shared variables in order of first access, 96 bytes"
    assert [line.split()[0] for line in lines[3:]] == ["b", "a"]
    assert "private" not in lines[-1]


def test_the_first_access_beyond_the_private_bytes() -> None:
    """`a` is at 0, `b` at 64: with 64 private bytes the store to `b` is the first that stops."""
    (first,) = [line for line in str(shared_use_table(USE, 64)).splitlines() if "needs the shared" in line]
    assert first.endswith("b: st.shared.u32 [b], %r1;")
    assert str(shared_use_table(USE, 96)).endswith("needs the shared part: none")
    assert "private bytes: none" in str(shared_use_table(USE, 0))
    assert shared_use_data(USE, 64)["first_shared"]["variable"] == "b"
    assert shared_use_data(USE, 96)["first_shared"] is None
