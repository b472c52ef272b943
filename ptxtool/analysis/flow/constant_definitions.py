"""Constant definitions: those that may be repeated anywhere in a function, of registers with one value everywhere.

For allocation, which may repeat such a definition instead of keeping its value in a register (rematerialisation), and
for the check of allocation. A register is constant if the function writes it in one place only, wholly and without a
guard, by an instruction that

* takes nothing but literals, names of variables, parameters and functions, and special registers that stay the same
  for a thread (`%tid`, `%ctaid`, `%laneid`, ...; the manual lets `%warpid` and `%smid` change);
* or loads a kernel's parameter from a constant address (`ld.param.u64 %rd1, [p+8]`);
* or computes, without memory, flags or flow, from such registers (`cvta.to.global.u64 %rd2, %rd1`).

Reading such a register before its definition yields any value, so the constant everywhere is allowed. Not handled:
parameters of `.func`s, which may lie in the caller's memory; vectors; PTXPlus's parameters, which lie in shared
memory.

Reference: P. Briggs, K. Cooper, L. Torczon, "Rematerialization", 1992 (never-killed values).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from ptxtool.ir import nodes
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.names import memory_in, names
from ptxtool.ir.nodes import Function, Instruction
from ptxtool.isa.special import special
from ptxtool.isa.table import table

_SAME_ALL_ALONG = frozenset({"lane", "cta", "grid"})
"""Scopes of special registers that have one value for a thread."""
PURE = frozenset(
    {"mov", "cvta", "cvt", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "neg"}
)
"""Opcodes whose result depends on their operands alone, where the table gives them no implicit operand."""


def constant_definitions(function: Function, def_uses: Sequence[DefUse]) -> Mapping[int, int]:
    """Every constant definition: instruction -> the register it defines."""
    defined = Counter(chain.from_iterable([one.defs for one in def_uses]))
    parameters = function.parameters if function.kind == "entry" else ()
    in_parameter = frozenset(d.name for p in parameters if p.space == "param" for d in p.declarators)
    heads = {d.name for p in (*function.returns, *function.params) if p.space == "reg" for d in p.declarators}
    meanings = _meanings(function)
    found: dict[int, int] = {}
    constant: set[int] = set()
    for i, (instruction, sets) in enumerate(zip(function.instructions, def_uses, strict=True)):
        # first the conditions that few instructions fulfil
        defs = sets.defs
        if len(defs) != 1 or not constant.issuperset(sets.uses) or defined[defs[0]] != 1:
            continue
        register = _only_register(function, i, instruction, sets)
        if register < 0 or function.registers.name_of(register) in heads:
            continue
        if not _is_pure(function, instruction, in_parameter):
            continue
        if all(
            _is_constant(function, i, name, meanings) for o in instruction.operands[1:] for name in names(o)
        ):
            found[i] = register
            constant.add(register)
    return MappingProxyType(found)


def _only_register(function: Function, i: int, instruction: Instruction, sets: DefUse) -> int:
    """The register that an instruction writes wholly, if it writes no other; else -1."""
    if len(sets.defs) != 1 or sets.kills != sets.defs or instruction.guard is not None:
        return -1
    destination = instruction.operands[0]
    if not isinstance(destination, nodes.Name) or destination.part:
        return -1
    same = function.registers.resolve_index(destination.text, i) == sets.defs[0]
    return sets.defs[0] if same and sets.defs[0] not in sets.uses else -1


def _is_pure(function: Function, instruction: Instruction, parameters: frozenset[str]) -> bool:
    opcode = instruction.opcode
    if opcode.base == "ld":
        operands = instruction.operands
        address = operands[1] if len(operands) == 2 else None
        return (
            opcode.modifiers[:1] == ("param",)
            and len(opcode.modifiers) == 2
            and isinstance(address, nodes.Memory)
            and isinstance(address.base, nodes.Name)
            and address.base.text in parameters
            and (address.offset is None or isinstance(address.offset, nodes.Immediate))
        )
    match = table().match(opcode.text, len(instruction.operands), function.registers.is_ptxplus)
    if match is None or opcode.base not in PURE or match.form.effects or match.form.implicit:
        return False
    return "exit" not in match.modifiers and not any(map(memory_in, instruction.operands))


def _is_constant(function: Function, i: int, name: nodes.Name, meanings: Mapping[str, int]) -> bool:
    """Whether a name in a source means the same everywhere. Registers are checked elsewhere."""
    if function.registers.resolve_index(name.text, i) >= 0:
        return True
    known = special(name.text)
    if known is not None:
        return known.scope in _SAME_ALL_ALONG
    return meanings.get(name.text, 0) + (name.text in function.module.names) == 1


def _meanings(function: Function) -> Counter[str]:
    """The number of meanings of a name in a function, besides the module's; more than one if it is declared in a nested
    block, unknown outside."""
    found = Counter[str]()
    found.update(d.name for p in (*function.returns, *function.params) for d in p.declarators)
    depth = 0
    for _, statement in function.other_statements:
        if isinstance(statement, nodes.Declaration) and statement.space != "reg":
            for declarator in statement.declarators:
                found[declarator.name] += 1 if not depth else 2
        depth += isinstance(statement, nodes.ScopeOpen) - isinstance(statement, nodes.ScopeClose)
    return found
