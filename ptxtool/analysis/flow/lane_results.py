"""What must be equal in all lanes of a warp for the results of an instruction to be equal in all lanes.

For `uniformity.py`. The lanes are those that execute the instruction together. Its results are equal in all of them

* if it computes each lane's result from that lane's sources, and these are equal: arithmetic, logic, conversions,
  video instructions, `mov`. Immediates are, and so are the addresses of variables, parameters of kernels, and special
  registers that are the same for a warp, a CTA or the grid; `%tid`, `%laneid`, clocks and counters are not;
* if it loads from one address in memory that is the same for all lanes: a kernel's parameters, `.const`, `.global`,
  `.shared`. Other threads may write there, but not between the reads of two lanes: that would be a data race, which a
  weak load must not have. Loads that may race (`.volatile`, `.relaxed`, `.acquire`, `.mmio`, `.cv`) are not counted;
  nor are loads from `.local` and generic addresses, as one address means different memory in each thread there;
* if it gives all lanes a common result: `vote`, `match.all` and `redux` of the same mask, reductions at the same
  barrier, `shfl.idx` from one lane to the whole warp.

Everything else may differ: atomics, textures, matrices, other shuffles, `activemask`, parameters and results of
functions, opcodes outside the table. A guard must be equal too: the other lanes keep what they have.

Reference: PTX ISA, chapter 10 (special registers), sections 5.1 (state spaces), 8.10.1 (data races), 9.7.9.6 (`shfl`),
9.7.13 (votes and reductions).
"""

from typing import NamedTuple

from ptxtool.analysis.flow.dependence import ORDERED
from ptxtool.ir.defuse import DefUse, roles
from ptxtool.ir.names import memory_in, names
from ptxtool.ir.nodes import Declaration, Function, Immediate, Instruction, Memory, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.special import special
from ptxtool.isa.table import Match, table

CARRY = -1
"""The carry flag among registers."""

_LANE_BY_LANE = frozenset({"arithmetic", "logic", "conversion", "video"})
"""Families of instructions that compute each lane's results from its own sources."""
_SAME_FOR_A_WARP = frozenset({"warp", "cta", "sm", "grid"})
"""Scopes of special registers that all lanes of a warp read alike."""
_COMMON_SPACES = frozenset({"global", "shared", "const"})
"""State spaces in which an address means the same memory to all lanes."""
_LETTERS = {"s": "shared", "g": "global", "c": "const"}
"""The same by the letter before the brackets of PTXPlus."""
_WHOLE_WARP = -1 & 0xFFFFFFFF


class LaneEffect(NamedTuple):
    """What one instruction writes (`kills`: wholly, in every lane), and the registers that must be equal in all lanes
    for that to be; None where it may differ in any case. `CARRY` is among the registers."""

    inputs: tuple[int, ...] | None
    writes: tuple[int, ...]
    kills: tuple[int, ...]


def lane_effects(function: Function) -> tuple[LaneEffect, ...]:
    """The effects of every instruction of a function."""
    effects = _LaneEffects(function)
    steps = zip(function.instructions, function.def_uses, strict=True)
    return tuple([effects.of(i, node, step) for i, (node, step) in enumerate(steps)])


def branch_inputs(function: Function, index: int) -> tuple[int, ...] | None:
    """The registers that must be equal in all lanes for a branch, call or return to lead all lanes the same way.

    None where lanes may part in any case. `.uni` is believed: the manual lets no lane part there.
    """
    node = function.instructions[index]
    if "uni" in node.opcode.modifiers:
        return ()
    read = [] if node.guard is None else [node.guard.name]
    if node.opcode.base == "brx":
        if memory_in(node.operands[0]) is not None:
            return None
        read += [name.text for name in names(node.operands[0])]
    elif node.opcode.base == "break" and len(_break_targets(function)) > 1:
        return None  # the lanes may have executed different ones last
    found = tuple(function.registers.resolve_index(name, index) for name in read)
    return found if all(k >= 0 for k in found) else None


def _break_targets(function: Function) -> set[Operand]:
    instructions = function.instructions
    return {target for n in function.at_bases("breakaddr") for target in instructions[n].operands}


def _guard_is_declared(function: Function, index: int, node: Instruction) -> bool:
    return node.guard is None or function.registers.resolve_index(node.guard.name, index) >= 0


class _LaneEffects:
    """The effects of the instructions of one function."""

    def __init__(self, function: Function):
        self._function = function
        self._registers = function.registers
        self._is_ptxplus = function.registers.is_ptxplus
        self._spaces = _spaces(function)
        self._parameters = _own_parameters(function)

    def of(self, i: int, node: Instruction, step: DefUse) -> LaneEffect:
        match = table().match(node.opcode.text, len(node.operands), self._is_ptxplus)
        writes, kills, inputs = step.defs, step.kills, None
        reads_carry = False
        for role, _ in match.form.implicit if match is not None else ():
            if "w" in role:
                writes, kills = (*writes, CARRY), kills if node.guard else (*kills, CARRY)
            reads_carry |= "r" in role
        if not writes:
            return LaneEffect((), (), ())
        if match is not None and _guard_is_declared(self._function, i, node):
            inputs = self._inputs(i, node, step, match)
        if inputs is not None and reads_carry:
            inputs = (*inputs, CARRY)
        return LaneEffect(inputs, writes, kills)

    def _inputs(self, i: int, node: Instruction, step: DefUse, match: Match) -> tuple[int, ...] | None:
        family, base = match.form.family, node.opcode.base
        sources = [o for o, role in zip(node.operands, roles(node, match), strict=True) if role in ("r", "x")]
        if base in ("ld", "ldu") and family == "memory":
            is_same = len(sources) > 0 and self._is_common_load(i, node, sources[0])
            return step.uses if is_same else None
        if family in _LANE_BY_LANE or (base == "mov" and family == "memory"):
            return step.uses if all(self._is_same(i, node, operand) for operand in sources) else None
        deciding = _deciding(node, match, sources)
        if deciding is None or not all(self._is_same(i, node, operand) for operand in deciding):
            return None
        guard = () if node.guard is None else (node.guard.name,)
        read = [*guard, *(name.text for operand in deciding for name in names(operand))]
        return tuple(k for k in (self._registers.resolve_index(name, i) for name in read) if k >= 0)

    def _is_same(self, i: int, node: Instruction, operand: Operand) -> bool:
        """Whether a source is equal in all lanes if the registers in it are."""
        memory = memory_in(operand)
        if memory is not None and self._is_ptxplus:
            return self._is_common_load(i, node, memory)
        return all(self._is_same_name(i, name.text) for name in names(operand))

    def _is_same_name(self, i: int, name: str) -> bool:
        if self._registers.resolve_index(name, i) >= 0:
            return True
        register = special(name)
        if register is not None:
            return register.scope in _SAME_FOR_A_WARP
        return name in self._parameters or self._spaces.get(name, "") in ("function", "tex", *_COMMON_SPACES)

    def _is_common_load(self, i: int, node: Instruction, operand: Operand) -> bool:
        """Whether all lanes read the same value where the registers in the address are equal."""
        memory = memory_in(operand)
        modifiers = node.opcode.modifiers
        if memory is None or not ORDERED.isdisjoint(modifiers):
            return False
        space = self._space(node, memory)
        named = [
            name.text for part in (memory.base, memory.offset) if part is not None for name in names(part)
        ]
        if space == "param":
            # a register holds the address of a parameter of the kernel: no other's can be taken
            is_own = "param::func" not in modifiers and self._function.kind == "entry"
            return is_own and all(
                name in self._parameters or self._registers.resolve_index(name, i) >= 0 for name in named
            )
        return space in _COMMON_SPACES and all(self._is_same_name(i, name) for name in named)

    def _space(self, node: Instruction, memory: Memory) -> str:
        """The state space that an access names, "" for none."""
        symbol = memory.symbol
        if symbol:
            return self._spaces.get(symbol, _LETTERS.get(symbol[:1], ""))
        if node.opcode.base == "ldu":
            return "global"
        named = (modifier.partition("::")[0] for modifier in node.opcode.modifiers)
        return next((word for word in named if word in (*_COMMON_SPACES, "param", "local")), "")


def _deciding(node: Instruction, match: Match, sources: list[Operand]) -> list[Operand] | None:
    """The sources that must be equal for a result that lanes have in common; None where they have none."""
    sem, modifiers = match.form.sem, match.modifiers
    if sem in ("vote", "redux") or (sem == "match" and "all" in node.opcode.modifiers):
        return sources[1:]  # the mask, where there is one
    if sem == "bar_red":
        return sources[:-1]
    if sem == "shfl" and {"sync", "idx"} <= modifiers and len(sources) == 4:
        _, lane, bounds, mask = sources
        if _number(bounds) & 0x1F1F == 0x1F and _number(mask) == _WHOLE_WARP:
            return [lane]
    return None


def _number(operand: Operand) -> int:
    """The bits of an immediate of 32 bits, 0 for everything else."""
    return integer(operand.text) & 0xFFFFFFFF if isinstance(operand, Immediate) else 0


def _spaces(function: Function) -> dict[str, str]:
    """The state space of every variable that the function can name, "function" for functions; "" where a nested block
    declares another one of that name."""
    module = function.module
    found = {name: declaration.space.partition("[")[0] for name, declaration in module.variables.items()}
    found |= dict.fromkeys(module.functions, "function")
    for declaration in (*function.returns, *function.params, *_declarations(function)):
        space = declaration.space.partition("[")[0]
        for declarator in declaration.declarators:
            found[declarator.name] = space if found.get(declarator.name, space) == space else ""
    return found


def _own_parameters(function: Function) -> frozenset[str]:
    """The parameters of a kernel, less those whose name a block gives to a parameter of a call."""
    if function.kind != "entry":
        return frozenset()
    own = {d.name for declaration in function.parameters for d in declaration.declarators}
    others = (one for one in _declarations(function) if one not in function.parameters)
    return frozenset(own.difference(d.name for one in others for d in one.declarators))


def _declarations(function: Function) -> list[Declaration]:
    """Those of variables in a function's body."""
    found = (statement for _, statement in function.other_statements)
    return [one for one in found if isinstance(one, Declaration) and one.space != "reg"]
