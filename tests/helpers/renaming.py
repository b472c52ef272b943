"""Give the registers of a module other names, for tests of what proves that this changes nothing.

`rename` writes the text anew, token by token, and knows nothing of allocation: every register may get any name.
"""

import random
import re
from collections.abc import Callable, Mapping

from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Declaration, Function, Instruction, Module
from ptxtool.ir.symbols import Register

_OPCODE = re.compile(r"(@[\s!]*[\w$%]+(?:\.\w+)?\s*)?([\w.:\s]+?(?=[\s;\[({%$-]))")
_NAME = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*")
Names = Mapping[int, str]
"""Register index -> its new name."""


def rename(module: Module, names: Callable[[Function], Names]) -> str:
    """The text with every register of every function renamed, declared one by one at the head of the body."""
    edits: list[TextEdit] = []
    for function in module.items:
        if isinstance(function, Function) and function.body is not None:
            edits += _edits(function, names(function))
    return splice(module.source.text, edits)


def _edits(function: Function, names: Names) -> list[TextEdit]:
    edits: list[TextEdit] = []
    i = 0
    for statement in function.body or ():
        if isinstance(statement, Declaration) and statement.space == "reg":
            edits.append(TextEdit(statement.start, statement.end, ""))
        elif isinstance(statement, Instruction):
            text = function.source.text[statement.start : statement.end]

            def new(found: "re.Match[str]", i: int = i) -> str:
                index = function.registers.resolve_index(found[0], i)
                return names.get(index, found[0])

            opcode = _OPCODE.match(text)
            assert opcode is not None
            guard, rest = opcode[1] or "", text[opcode.end() :]
            made = _NAME.sub(new, guard) + opcode[2] + _NAME.sub(new, rest)
            edits.append(TextEdit(statement.start, statement.end, made))
            i += 1
    heads = {d.name for p in (*function.returns, *function.params) for d in p.declarators}
    declared = [r for r in function.registers if r.name not in heads]
    lines = {
        names.get(r.index, r.name): f"\n\t.reg {_type(r)} {names.get(r.index, r.name)};" for r in declared
    }
    start = function.body_start + 1
    return [TextEdit(start, start, "".join(lines.values())), *edits]


def _type(register: Register) -> str:
    return " ".join(f".{word}" for word in register.declaration.qualifiers)


def spread(function: Function, seed: int) -> dict[int, str]:
    """Names such that no two registers lie in one place, in random order; parameters and PTXPlus's own keep theirs."""
    order = list(function.registers)
    heads = {d.name for p in (*function.returns, *function.params) for d in p.declarators}
    order = [r for r in order if r.name not in heads]
    if function.registers.is_ptxplus:
        return {}
    random.Random(seed).shuffle(order)
    order.sort(key=lambda r: -r.bits)  # the widest first, so that each begins where its width divides
    unit = predicate = 0
    names: dict[int, str] = {}
    for register in order:
        if register.is_predicate:
            names[register.index] = f"%p{predicate}"
            predicate += 1
            continue
        units = max(1, register.bits // 32)
        prefix = {8: "%rb", 16: "%rs", 32: "%r", 64: "%rd", 128: "%rq", 256: "%ro"}[register.bits]
        names[register.index] = f"{prefix}{unit // units}"
        unit += units
    return names
