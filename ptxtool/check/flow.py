"""What control flow says about a function: unreachable code, running off the end, registers read before any write.

Warnings, for PTX; ptxas takes all three without a word. A register is told once, where some path from the entry first
reads it with no write on the way:

    exposed[b] = registers that b reads before it writes them        in[entry] = parameters in registers
    in[b]      = intersection of out[p] over predecessors p          out[b]    = in[b] | written[b]

A guarded write counts as a write: code that writes and reads under the same guard is common and right. Only registers
that some block exposes take part, so the sets stay small.

PTXPlus: only running off the end is told; its registers hold zero at the start, and its converter adds an exit.
"""

from collections.abc import Iterator

from ptxtool.analysis.dataflow import solve
from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import accessed, roles
from ptxtool.ir.nodes import (
    Declaration,
    Function,
    Immediate,
    Instruction,
    Name,
    Operand,
    ScopeClose,
    ScopeOpen,
)
from ptxtool.ir.verify import place_of
from ptxtool.isa.table import table

_Names = tuple[list[int], list[int]]
"""The registers of an operand that are read, and those that are written, by index."""


def flow_problems(function: Function) -> Iterator[Diagnostic]:
    """The warnings about one function with a body, whose labels are all declared."""
    if not function.instructions:
        return
    cfg = build(function)
    reachable = frozenset(cfg.reverse_postorder)
    last = cfg.blocks[-1]
    if last.index in reachable and _falls(cfg, last.last):
        yield _at(
            function,
            function.instructions[-1],
            "W207",
            f"execution runs off the end of '{function.name}'",
            "end it with 'ret' or 'exit', which is what the hardware does here",
        )
    if function.registers.is_ptxplus:
        return
    before = -1
    for block in cfg.blocks:
        if block.index not in reachable:
            if before != block.index - 1:
                node = function.instructions[block.start]
                help = "no path leads here: remove it, or branch to it"
                yield _at(function, node, "W203", "this code is never reached", help)
            before = block.index
    yield from _unwritten(function, cfg, reachable)


def _falls(cfg: Cfg, index: int) -> bool:
    flow = cfg.flows.get(index)
    return flow is None or flow.falls


def _at(function: Function, node: Instruction, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, function.source, node.start, node.end, help)


def _unwritten(function: Function, cfg: Cfg, reachable: frozenset[int]) -> Iterator[Diagnostic]:
    """Registers that some path reads before any write."""
    at_entry = {function.registers.resolve_index(d.declarators[0].name, 0) for d in _reg_parameters(function)}
    written: list[set[int]] = [set() for _ in cfg.blocks]
    exposed: list[dict[int, int]] = [{} for _ in cfg.blocks]  # register -> the instruction that reads it
    block_of = iter(cfg.blocks)
    end, current = 0, -1
    for index, (reads, writes) in enumerate(_accesses(function)):
        if index == end:
            block = next(block_of)
            end, current = block.end, block.index
            own, upward = written[current], exposed[current]
        for register in reads:
            if register not in own and register not in upward:
                upward[register] = index
        own.update(writes)
    candidates = {
        register for block in reachable if block < cfg.exit for register in exposed[block]
    } - at_entry
    if not candidates:
        return
    bit = {register: 1 << n for n, register in enumerate(sorted(candidates))}
    everything = (1 << len(bit)) - 1
    gen = [sum(bit[r] for r in own & candidates) for own in written] + [0]
    solution = solve(
        cfg.successors,
        gen,
        [0] * len(gen),
        direction="forward",
        meet="intersection",
        universe=everything,
        boundary=everything,
        boundaries={cfg.entry: 0},
    )
    told: set[int] = set()
    for current in sorted(block for block in reachable if block < cfg.exit):
        known = solution.entry[current]
        for register, index in exposed[current].items():
            if register in bit and not known & bit[register] and register not in told:
                told.add(register)
                yield _read_before_written(function, register, index)


def _read_before_written(function: Function, register: int, index: int) -> Diagnostic:
    node, name = function.instructions[index], function.registers[register].name
    place = place_of(function.source.text, node.start, node.end, name)
    help = "its value is undefined there: write it on every path that leads here"
    return Diagnostic("W204", f"'{name}' is read before it is written", function.source, *place, help)


def _reg_parameters(function: Function) -> Iterator[Declaration]:
    return (d for d in (*function.params, *function.returns) if d.space == "reg")


def _accesses(function: Function) -> Iterator[_Names]:
    """Per instruction the registers read and written; the names in an operand are resolved once per scope."""
    resolve, opcodes = function.registers.resolve_index, table()
    of_opcode: dict[tuple[str, int], tuple[str, ...]] = {}
    of_operand: dict[tuple[int, str], _Names] = {}
    of_name: dict[str, int] = {}
    index = 0
    for statement in function.body or ():
        if type(statement) is not Instruction:
            if type(statement) in (ScopeOpen, ScopeClose, Declaration):
                of_operand.clear()
                of_name.clear()
            continue
        operands = statement.operands
        key = statement.opcode.text, len(operands)
        kinds = of_opcode.get(key)
        if kinds is None:
            match = opcodes.match(key[0], key[1], ptxplus=False)
            kinds = roles(statement, match)
            if match is None or "call" not in match.form.effects:  # in calls the operands themselves decide
                of_opcode[key] = kinds
        reads: list[int] = []
        writes: list[int] = []
        if statement.guard is not None:
            name = statement.guard.name
            register = of_name.get(name)
            if register is None:
                register = of_name[name] = resolve(name, index)
            if register >= 0:
                reads.append(register)
        for operand, kind in zip(operands, kinds, strict=True):
            if type(operand) is Immediate or kind == "l":
                continue
            if type(operand) is Name and kind in "rw":  # most of them
                register = of_name.get(operand.text)
                if register is None:
                    register = of_name[operand.text] = resolve(operand.text, index)
                if register >= 0:
                    (reads if kind == "r" else writes).append(register)
                continue
            names = of_operand.get((id(operand), kind))
            if names is None:
                names = of_operand[id(operand), kind] = _resolved(operand, kind, function, index)
            reads += names[0]
            writes += names[1]
        yield reads, writes
        index += 1


def _resolved(operand: Operand, kind: str, function: Function, index: int) -> _Names:
    """The registers in an operand of any make."""
    found = accessed(operand, kind)
    resolve = function.registers.resolve_index
    reads = [resolve(name, index) for name in found.reads]
    writes = [resolve(name, index) for name, _ in found.writes]
    return [r for r in reads if r >= 0], [r for r in writes if r >= 0]
