"""PTXPlus alone: parts of registers, destinations, and what GPGPU-Sim's own parser rejects though the machine has it.

For `body.py`. Registers have no types there and nearly every operand may stand anywhere, so little can be wrong: a part
but `.lo` and `.hi`, more than two destinations (E206); a guard or a constant that GPGPU-Sim does not read (W206).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptxtool.ir.names import names
from ptxtool.ir.nodes import Binary, Guard, Immediate, Instruction
from ptxtool.ir.symbols import RegisterTable
from ptxtool.isa.conditions import GPGPU_SIM_CONDITIONS, condition
from ptxtool.isa.table import Match
from ptxtool.parse.operands import fold

_LITERAL = re.compile(
    r"0x[0-9a-fA-F]+|-?(?:0|[1-9][0-9]*)|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|[0-9]+\.[0-9]+"
)
_PARTS = frozenset({"", "lo", "hi"})


class Complaint(NamedTuple):
    """A code, a message, the word to point at, and a next step."""

    code: str
    message: str
    word: str
    help: str


def guard_complaints(guard: Guard) -> Iterator[Complaint]:
    """A guard that the hardware has and GPGPU-Sim's grammar does not."""
    if condition(guard.condition) is None:
        return
    if guard.negated or guard.condition not in GPGPU_SIM_CONDITIONS:
        sign = "!" if guard.negated else ""
        message = f"GPGPU-Sim has no guard '@{sign}{guard.name}.{guard.condition}'"
        listed = ", ".join(f".{c}" for c in sorted(GPGPU_SIM_CONDITIONS))
        help = f"it takes '@$p', '@!$p' and '@$p' with {listed}"
        yield Complaint("W206", message, f"{guard.name}.{guard.condition}", help)


def surplus_complaints(node: Instruction, match: Match) -> Iterator[Complaint]:
    """Operands behind the last one of a form: converters add zeros that mean nothing, anything else is a slip."""
    most = match.form.max_operands
    if any(fold(operand) != 0 for operand in node.operands[most:]):
        message = f"'{node.opcode.text}' takes {most} operands, not {len(node.operands)}"
        help = "two destinations are one operand: '$p0/$r1' or '$p0|$r1'"
        yield Complaint("E203", message, node.opcode.base, help)


def operand_complaints(node: Instruction, registers: RegisterTable, n: int) -> Iterator[Complaint]:
    """What is wrong with the operands of an instruction, the `n`-th of its function."""
    for operand in node.operands:
        if type(operand) is Immediate:
            if _LITERAL.fullmatch(operand.text) is None:
                message = f"GPGPU-Sim does not read the constant '{operand.text}'"
                help = "it reads '0x1f', '31', '-31', bits ('0f3f800000'), and '1.5' without a sign"
                yield Complaint("W206", message, operand.text, help)
            continue
        if type(operand) is Binary and operand is node.operands[0] and operand.operator in ("/", "|"):
            help = "an instruction writes one register and one condition code: '$p0/$r1'"
            first = next(iter(names(operand))).text
            yield Complaint("E206", "more than two destinations", first, help)
        for name in names(operand):
            index = registers.resolve_index(name.text, n) if name.part not in _PARTS else -1
            if index >= 0 and registers.declaration_of(index).type != "pred":
                message = f"'{name.text}' has no part '.{name.part}'"
                yield Complaint("E206", message, f"{name.text}.{name.part}", "it has '.lo' and '.hi'")
