"""Warnings from control flow: unreachable code, execution past the end, registers read before any write or wait.

For PTX; ptxas accepts all of them silently. A register is reported once, where some path from the entry first reads it
without a write before, together with others of that instruction:

    exposed[b] = upward-exposed uses of b                            in[entry] = parameters in registers
    in[b]      = intersection of out[p] over predecessors p          out[b]    = in[b] | written[b]

A guarded write counts as a write: code that writes and reads under the same guard is common and right. Only registers
that are upward-exposed in some block take part, so the sets stay small.

PTXPlus: only execution past the end is reported; its registers hold zero at the start, and its converter adds an exit.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.analysis.flow.early_reads import EarlyRead, early_reads
from ptxtool.base.diag import Diagnostic, Fix, Note, PtxError
from ptxtool.base.phrases import series
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.names import diagnostic_at
from ptxtool.ir.nodes import Function
from ptxtool.sema.upward_exposed import Region, of_blocks

_AT_A_TIME = 4096
"""Registers of one solution: with all of them at once, memory would grow with their number times that of blocks."""
_SHOWN = 4
"""The names that one message lists."""


def flow_problems(function: Function, regions: list[Region]) -> Iterator[Diagnostic]:
    """The warnings about a function with a body, whose labels are all declared, from its straight-line regions."""
    if not function.instructions:
        return
    try:
        cfg = build(function)
    except PtxError as problem:  # a target that is no label or list at all, such as `brx.idx 0, 0`
        yield from problem.diagnostics
        return
    reachable = frozenset(cfg.reverse_postorder)
    last = cfg.blocks[-1]
    if last.index in reachable and cfg.flow_of(last.index).falls:
        help = "end it with 'ret' or 'exit', which is what the hardware does here"
        node = function.instructions[-1]
        message = f"execution runs off the end of '{function.name}'"
        line_start = function.source.line_starts[function.source.line(node.start) - 1]
        indent = re.match(r"[ \t]*", function.source.text[line_start:])
        fix = Fix(node.end, node.end, f"\n{indent[0] if indent else ''}ret;")
        yield replace(diagnostic_at("W207", message, function.source, node, "", help), fix=fix)
    if function.registers.is_ptxplus:
        return
    before = -1
    for block in cfg.blocks:
        if block.index not in reachable:
            if before != block.index - 1:
                node = function.instructions[block.start]
                help = "no path leads here: remove it, or branch to it"
                yield diagnostic_at("W203", "this code is never reached", function.source, node, "", help)
            before = block.index
    yield from _unwritten(function, cfg, reachable, regions)
    for read in early_reads(function, cfg):
        yield _read_before_wait(function, read)


def _unwritten(
    function: Function, cfg: Cfg, reachable: frozenset[int], regions: list[Region]
) -> Iterator[Diagnostic]:
    """Registers that some path reads before any write."""
    in_head = [d for d in (*function.params, *function.returns) if d.space == "reg"]
    at_entry = {function.registers.resolve_index(d.declarators[0].name, 0) for d in in_head}
    exposed_by = of_blocks(regions, cfg)
    blocks = sorted(block for block in reachable if block < cfg.exit)
    candidates = {register for block in blocks for register in exposed_by[block].exposed}
    some = sorted(candidates - at_entry)
    first: dict[int, int] = {}  # register -> the instruction that reads it
    for at in range(0, len(some), _AT_A_TIME):
        first |= _first_reads(some[at : at + _AT_A_TIME], cfg, blocks, exposed_by)
    unwritten: dict[int, list[int]] = {}  # instruction -> registers
    for block in blocks:
        for register, index in exposed_by[block].exposed.items():
            if first.get(register) == index:
                unwritten.setdefault(index, []).append(register)
    for index, registers in unwritten.items():
        yield _read_before_written(function, registers, index)


def _first_reads(
    registers: list[int], cfg: Cfg, blocks: list[int], exposed_by: list[Region]
) -> dict[int, int]:
    """The registers that some path reads before any write, and the first instruction that does."""
    bit = {register: 1 << n for n, register in enumerate(registers)}
    everything = (1 << len(bit)) - 1
    gen = [sum(bit[r] for r in e.written & bit.keys()) for e in exposed_by] + [0]
    solution = solve(
        cfg.successors_by_node,
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
        for register, index in exposed_by[block].exposed.items():
            if register in bit and not known & bit[register]:
                found.setdefault(register, index)
    return found


def _read_before_written(function: Function, registers: list[int], index: int) -> Diagnostic:
    """One warning for all registers of an instruction, which may read a hundred."""
    node = function.instructions[index]
    names = [function.registers[register].name for register in registers]
    if len(names) == 1:
        message = f"'{names[0]}' is read before it is written"
        help = "its value is undefined there: write it on every path that leads here"
    else:
        shown = [f"'{name}'" for name in names[:_SHOWN]]
        more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        message = f"{series([*shown, *more], 'and')} are read before they are written"
        help = "their values are undefined there: write them on every path that leads here"
    return diagnostic_at("W204", message, function.source, node, names[0], help)


def _read_before_wait(function: Function, read: EarlyRead) -> Diagnostic:
    """A result of an asynchronous instruction that nothing waits for before it is read."""
    launch, node = function.instructions[read.launch], function.instructions[read.reader]
    name = function.registers[read.register].name
    message = f"'{name}' is read before '{read.wait}'"
    help = f"its value is undefined until then: write '{read.wait}' before this instruction"
    note = Note(f"'{launch.opcode.text}' writes it", function.source, launch.start, launch.end)
    return diagnostic_at("W211", message, function.source, node, name, help, note)
