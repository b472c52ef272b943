"""PTXPlus alone: parts of registers, destinations, and what GPGPU-Sim's own parser rejects though the machine has it.

For `body.py`. Registers have no types there and nearly every operand may stand anywhere, so little can be wrong: a part
but `.lo` and `.hi`, more than two destinations (E206); a guard or a constant that GPGPU-Sim does not read (W206).
"""

import re
from collections.abc import Iterator

from ptxtool.ir.names import names
from ptxtool.ir.nodes import Binary, Guard, Immediate, Instruction
from ptxtool.ir.symbols import RegisterTable
from ptxtool.isa.conditions import GPGPU_SIM_CONDITIONS, condition
from ptxtool.isa.table import table
from ptxtool.parse.operands import fold
from ptxtool.sema.operands.wording import Problem

_LITERAL = re.compile(
    r"0x[0-9a-fA-F]+|-?(?:0|[1-9][0-9]*)|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|[0-9]+\.[0-9]+"
)
_PARTS = frozenset({"", "lo", "hi"})


def guard_problems(guard: Guard) -> Iterator[Problem]:
    """A guard that the hardware has and GPGPU-Sim's grammar does not."""
    if condition(guard.condition) is None:
        return
    if guard.negated or guard.condition not in GPGPU_SIM_CONDITIONS:
        sign = "!" if guard.negated else ""
        message = f"GPGPU-Sim has no guard '@{sign}{guard.name}.{guard.condition}'"
        listed = ", ".join(f".{c}" for c in sorted(GPGPU_SIM_CONDITIONS))
        help = f"it takes '@$p', '@!$p' and '@$p' with {listed}"
        yield Problem("W206", message, help, f"{guard.name}.{guard.condition}")


def operand_problems(node: Instruction, registers: RegisterTable, n: int) -> Iterator[Problem]:
    """What is wrong with the operands of an instruction, the `n`-th of its function.

    Operands after the last one of a form may be zeros: converters add them, and they mean nothing.
    """
    match = table().match(node.opcode.text, len(node.operands), ptxplus=True)
    most = match.form.max_operands if match is not None else len(node.operands)
    if any(fold(operand) != 0 for operand in node.operands[most:]):
        message = f"'{node.opcode.text}' takes {most} operands, not {len(node.operands)}"
        help = "two destinations are one operand: '$p0/$r1' or '$p0|$r1'"
        yield Problem("E203", message, help, node.opcode.base)
    for operand in node.operands:
        if type(operand) is Immediate:
            if _LITERAL.fullmatch(operand.text) is None:
                message = f"GPGPU-Sim does not read the constant '{operand.text}'"
                help = "it reads '0x1f', '31', '-31', bits ('0f3f800000'), and '1.5' without a sign"
                yield Problem("W206", message, help, operand.text)
            continue
        if type(operand) is Binary and operand is node.operands[0] and operand.operator in ("/", "|"):
            help = "an instruction writes one register and one condition code: '$p0/$r1'"
            first = next(iter(names(operand))).text
            yield Problem("E206", "more than two destinations", help, first)
        for name in names(operand):
            index = registers.resolve_index(name.text, n) if name.part not in _PARTS else -1
            if index >= 0 and registers.declaration_of(index).type != "pred":
                message = f"'{name.text}' has no part '.{name.part}'"
                yield Problem("E206", message, "it has '.lo' and '.hi'", f"{name.text}.{name.part}")
