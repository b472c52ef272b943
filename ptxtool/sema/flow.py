"""What control flow says about a function: unreachable code, running off the end, registers read before any write.

Warnings, for PTX; ptxas takes all three without a word. A register is told once, where some path from the entry first
reads it with no write on the way, together with others of that instruction:

    exposed[b] = registers that b reads before it writes them        in[entry] = parameters in registers
    in[b]      = intersection of out[p] over predecessors p          out[b]    = in[b] | written[b]

A guarded write counts as a write: code that writes and reads under the same guard is common and right. Only registers
that some block exposes take part, so the sets stay small.

PTXPlus: only running off the end is told; its registers hold zero at the start, and its converter adds an exit.
"""

from collections.abc import Iterator

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.names import span_of_word
from ptxtool.ir.nodes import Declaration, Function, Instruction
from ptxtool.sema.upward_exposed import Exposure, of_blocks

_AT_A_TIME = 4096
"""Registers of one solution: with all of them at once, memory would grow with their number times that of blocks."""
_SHOWN = 4
"""The names that one message lists."""


def flow_problems(function: Function, stretches: list[Exposure]) -> Iterator[Diagnostic]:
    """The warnings about one function with a body, whose labels are all declared, and its registers by stretch."""
    if not function.instructions:
        return
    try:
        cfg = build(function)
    except PtxError as problem:  # a target that is no label or list at all, such as `brx.idx 0, 0`
        yield from problem.diagnostics
        return
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
    yield from _unwritten(function, cfg, reachable, stretches)


def _falls(cfg: Cfg, index: int) -> bool:
    flow = cfg.flows.get(index)
    return flow is None or flow.falls


def _at(function: Function, node: Instruction, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, function.source, node.start, node.end, help)


def _unwritten(
    function: Function, cfg: Cfg, reachable: frozenset[int], stretches: list[Exposure]
) -> Iterator[Diagnostic]:
    """Registers that some path reads before any write."""
    at_entry = {function.registers.resolve_index(d.declarators[0].name, 0) for d in _reg_parameters(function)}
    exposures = of_blocks(stretches, cfg)
    candidates = {
        register for block in reachable if block < cfg.exit for register in exposures[block].exposed
    }
    candidates -= at_entry
    if not candidates:
        return
    blocks = sorted(block for block in reachable if block < cfg.exit)
    some = sorted(candidates)
    first: dict[int, int] = {}  # register -> the instruction that reads it
    for at in range(0, len(some), _AT_A_TIME):
        first |= _first_reads(some[at : at + _AT_A_TIME], cfg, blocks, exposures)
    unwritten: dict[int, list[int]] = {}  # instruction -> registers
    for block in blocks:
        for register, index in exposures[block].exposed.items():
            if first.get(register) == index:
                unwritten.setdefault(index, []).append(register)
    for index, registers in unwritten.items():
        yield _read_before_written(function, registers, index)


def _first_reads(
    registers: list[int], cfg: Cfg, blocks: list[int], exposures: list[Exposure]
) -> dict[int, int]:
    """Those of the registers that some path reads before any write, and the first instruction that does."""
    bit = {register: 1 << n for n, register in enumerate(registers)}
    everything = (1 << len(bit)) - 1
    gen = [sum(bit[r] for r in e.written & bit.keys()) for e in exposures] + [0]
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
    found: dict[int, int] = {}
    for block in blocks:
        known = solution.entry[block]
        for register, index in exposures[block].exposed.items():
            if register in bit and not known & bit[register]:
                found.setdefault(register, index)
    return found


def _read_before_written(function: Function, registers: list[int], index: int) -> Diagnostic:
    """One warning for all registers of an instruction, which may read a hundred."""
    node = function.instructions[index]
    names = [function.registers[register].name for register in registers]
    place = span_of_word(function.source.text, node.start, node.end, names[0])
    if len(names) == 1:
        message = f"'{names[0]}' is read before it is written"
        help = "its value is undefined there: write it on every path that leads here"
    else:
        shown = [f"'{name}'" for name in names[:_SHOWN]]
        shown[len(names) - 1 :] = []
        last = f"'{names[-1]}'" if len(names) <= _SHOWN else f"{len(names) - _SHOWN} more"
        message = f"{', '.join(shown)} and {last} are read before they are written"
        help = "their values are undefined there: write them on every path that leads here"
    return Diagnostic("W204", message, function.source, *place, help)


def _reg_parameters(function: Function) -> Iterator[Declaration]:
    return (d for d in (*function.params, *function.returns) if d.space == "reg")
