"""Where the shared memory that a kernel of PTXPlus uses ends."""

import pytest
from kernels import ptxplus

from ptxtool.analysis.demotion.own_shared import first_beyond, own_bytes

REGISTERS = ".reg .u32 $r<4>; .reg .u32 $ofs<2>; .reg .u32 $o127;"
UNSIZED = REGISTERS + " .shared .align 4 .b8 tile[40]; .shared .align 4 .b8 words[];"
TILE = REGISTERS + " .shared .align 4 .b8 tile[40];"


def test_own_bytes() -> None:
    """A header of 16 bytes, a parameter of 4 and 40 bytes of a variable are 60: 64; and 10 dynamic ones."""
    assert own_bytes(ptxplus("exit;"), 0) == 32
    assert own_bytes(ptxplus("exit;", TILE), 0) == 64
    assert own_bytes(ptxplus("exit;", TILE), 10) == 76


@pytest.mark.parametrize(
    ("body", "registers", "dynamic", "beyond"),
    [
        ("mov.u32 $r1, s[0x0010]; exit;", REGISTERS, 0, None),  # the parameter
        ("mov.u32 $r1, s[0x0020]; exit;", REGISTERS, 0, 0),
        ("mov.u32 $r1, s[0x0020]; exit;", REGISTERS, 4, None),
        ("mov.u16 $r1.lo, s[0x0024]; exit;", REGISTERS, 4, 0),
        ("shl.b32 $ofs1, $r0, 2; mov.u32 s[$ofs1+0x0020], $r1; exit;", REGISTERS, 0, 1),
        ("shl.b32 $ofs1, $r0, 2; mov.u32 s[$ofs1+0x0020], $r1; exit;", REGISTERS, 64, None),
        ("shl.b32 $ofs1, $r0, 2; mov.u32 s[$ofs1+0x0014], $r1; exit;", TILE, 0, None),
        ("ld.shared.u32 $r1, [0x003e]; exit;", TILE, 0, 0),
        ("ld.global.u32 $r1, [0x003e]; exit;", TILE, 0, None),
        ("shl.b32 $ofs1, $r0, 2; mov.u32 s[$ofs1+0x0014], $r1; exit;", UNSIZED, 0, 1),
        ("shl.b32 $ofs1, $r0, 2; mov.u32 s[$ofs1+0x0014], $r1; exit;", UNSIZED, 64, None),
        ("mov.u32 $r1, words; mov.u32 $r2, s[$r1]; exit;", UNSIZED, 64, 0),
    ],
)
def test_accesses_beyond(body: str, registers: str, dynamic: int, beyond: int | None) -> None:
    assert first_beyond(ptxplus(body, registers), dynamic) == beyond


def test_slots_are_not_its_own() -> None:
    """After 64 bytes of the kernel; the access to a slot is known by its index."""
    slots = " .shared .align 16 .b8 slots[128];"
    body = "mov.u32 $r1, s[0x003c]; ld.shared.u32 $r2, [$r3]; mov.u32 $r1, s[{}]; exit;"
    within, beyond = (ptxplus(body.format(at), TILE + slots) for at in ("0x0038", "0x0040"))
    assert own_bytes(within, 0, "slots") == 64
    assert own_bytes(within, 10, "slots") == 76
    assert first_beyond(within, 0, "slots", {1}) is None
    assert first_beyond(beyond, 0, "slots", {1}) == 2
    assert first_beyond(beyond, 4, "slots", {1}) is None
    alone = ptxplus(body.format("0x0010"), REGISTERS + slots)
    assert first_beyond(alone, 0, "slots", {0}) == 1
    assert first_beyond(alone, 0, "slots", {0, 1}) is None
