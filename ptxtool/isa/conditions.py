"""PTXPlus condition codes: the 32 tests of a 4-bit condition-code register, as data.

For the parser's checks of guards, the printer, and the simulator, whose compiled test is generated from the formulas.
A condition-code register holds Z (zero), S (sign), C (carry) and O (overflow), bits 0 to 3. Z and S together mean
"unordered". Truth is inverted with respect to PTX: a guard without a condition holds where Z is clear.

Formulas use `&`, `|`, `^`, `~` on the flags, so that they work on one flag (0 or -1) and on masks of 32 lanes alike.

Reference: G80 condition codes as GPGPU-Sim's PTXPlus has them; all 32 rows against its 32 x 16 truth table.
"""

import msgspec

FLAGS = ("Z", "S", "C", "O")
"""The rows of a condition-code register, in order."""


class Condition(msgspec.Struct, frozen=True):
    """One condition: its names as guards write them, the hardware's number, and when it holds."""

    names: tuple[str, ...]
    code: int
    formula: str

    def holds(self, flags: int) -> bool:
        """Whether it holds for a register's value, bit 0 Z to bit 3 O."""
        values = {name: -(flags >> n & 1) for n, name in enumerate(FLAGS)}
        return bool(eval(self.formula, {"__builtins__": {}}, values) & 1)


CONDITIONS: tuple[Condition, ...] = (
    Condition(("fl", "false"), 0, "Z & ~Z"),
    Condition(("lt",), 1, "(S & ~Z) ^ O"),
    Condition(("eq",), 2, "Z & ~S"),
    Condition(("le",), 3, "(O & ~S) | (~O & (Z ^ S))"),
    Condition(("gt",), 4, "~Z & ~(S ^ O)"),
    Condition(("ne",), 5, "~Z"),
    Condition(("ge",), 6, "~(S ^ O)"),
    Condition(("leg", "num"), 7, "~(Z & S)"),
    Condition(("nan",), 8, "Z & S"),
    Condition(("ltu",), 9, "S ^ O"),
    Condition(("equ",), 10, "Z"),
    Condition(("leu",), 11, "Z | (S ^ O)"),
    Condition(("gtu",), 12, "(O & S) | (~O & ~(Z ^ S))"),
    Condition(("neu",), 13, "~(Z & ~S)"),
    Condition(("geu",), 14, "~((S & ~Z) ^ O)"),
    Condition(("tr",), 15, "Z | ~Z"),
    Condition(("of",), 16, "O"),
    Condition(("cf",), 17, "C"),
    Condition(("ab",), 18, "C & ~Z"),
    Condition(("sf",), 19, "S"),
    *(Condition((), code, "Z & ~Z") for code in range(20, 28)),
    Condition(("nsf",), 28, "~S"),
    Condition(("ble",), 29, "~C | Z"),
    Condition(("ncf",), 30, "~C"),
    Condition(("nof",), 31, "~O"),
)


GPGPU_SIM_CONDITIONS = frozenset({"lt", "eq", "le", "ne", "ge", "equ", "gtu", "neu", "cf", "sf", "nsf"})
"""The conditions that GPGPU-Sim's grammar takes in guards; its own converter prints others too."""

_BY_NAME = {name: condition for condition in CONDITIONS for name in condition.names}


def condition(name: str) -> Condition | None:
    """The condition of a name without its dot, None if there is none."""
    return _BY_NAME.get(name)


def guard_code(name: str, negated: bool) -> int | None:
    """The number of a guard's condition: `@$p0` is "ne", `@!$p0` is "equ"; None if the name is unknown."""
    if name:
        found = condition(name)
        return found.code if found and not negated else None
    return 10 if negated else 5
