"""The units of a register file that the name of a physical register means.

For the passes that assign physical names, the check of their results, and register counts. A register file is numbered
in units of 32 bits. The number at the end of a PTX name counts registers of its width, so that wide values are
aligned:

    %r5  .b32  unit 5          %rd5  .b64   units 10, 11         %p2  predicate 2
    %rs5 .b16  unit 5          %rq5  .b128  units 20 to 23       (any prefix: number and declared type decide)

PTXPlus names its registers itself: `$r5` is unit 5 of the general file, `$ofs1` and `$p0` are in files of their own;
the zero register and the sinks have no unit. Sixteen bits and less take a unit. A name without a number means no unit.
"""

from typing import Literal, NamedTuple

from ptxtool.ir.symbols import MAX_DIGITS, Register

UNIT_BITS = 32
GENERAL_LIMIT = 255
"""General registers of a thread, at most (sm_35 and later)."""
PREDICATES = 7
"""Predicates that hardware can write; the eighth is always true."""


class RegisterUnits(NamedTuple):
    """Consecutive units of one register file; a predicate counts as a unit of its own file."""

    file: Literal["general", "predicate", "address"]
    first: int
    units: int

    def overlaps(self, other: "RegisterUnits") -> bool:
        return (
            self.file == other.file
            and self.first < other.first + other.units
            and other.first < self.first + self.units
        )


def units_of(register: Register) -> RegisterUnits | None:
    """The units that a register's name and type mean; None for a name without a number, for zero and sinks."""
    stem = register.name.rstrip("0123456789")
    digits = register.name[len(stem) :]
    if register.role or not 0 < len(digits) <= MAX_DIGITS:
        return None
    number = int(digits)
    if register.is_predicate:
        return RegisterUnits("predicate", number, 1)
    if register.is_ptxplus and stem == "$ofs":
        return RegisterUnits("address", number, 1)
    units = max(1, -(-register.bits // UNIT_BITS))
    return RegisterUnits("general", number * units, units)
