"""Results of asynchronous instructions that are read before a wait for them, for `check` and `allocate`.

`tcgen05.ld` and `wgmma.mma_async` write their registers at some time before a wait; until then what another instruction
reads there is undefined. A read is early if no path from the instruction that writes to it has a wait: code that waits
and reads under one predicate is no mistake. So the state of a register is, from lowest to highest,

    not in flight  <  in flight, n groups committed since  <  waited for        join: the higher of two

and a forward fixed point gives the state at every instruction. The accumulators of a `wgmma.mma_async` that follows
another one are not read early, a copy passes the state on, and a call may wait for everything.

Reference: PTX ISA, sections 9.7.15.2 (asynchronous proxy, waits) and 9.7.16.6 (tcgen05 memory consistency).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ptxtool.analysis.flow.asynchronous import LOAD, WAITS, WGMMA, launched, passed
from ptxtool.analysis.flow.copies import is_copy
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table

_WAITED = 1 << 10
"""The age of what has been waited for."""


class Result(NamedTuple):
    """A register in flight: how many groups were committed since, the kind, and the instruction that writes it."""

    age: int
    kind: str
    launch: int


class EarlyRead(NamedTuple):
    """The instruction `reader` reads `register` before a wait for the instruction `launch`."""

    reader: int
    register: int
    launch: int
    wait: str


_State = Mapping[int, Result]


def early_reads(function: Function, cfg: Cfg) -> list[EarlyRead]:
    """The first early read of the results of each instruction, in textual order."""
    launches = [i for i in function.at_bases("wgmma", "tcgen05") if _launch(function, i)]
    if not launches:
        return []
    found: dict[int, EarlyRead] = {}
    for block, state in sorted(_solved(function, cfg).items()):
        current = dict(state)
        for i in range(cfg.blocks[block].start, cfg.blocks[block].end):
            for read in _reads(function, i, current):
                before = found.get(read.launch)
                found[read.launch] = min(before, read) if before else read
            _step(function, i, current)
    return sorted(found.values())


def _launch(function: Function, i: int) -> str:
    kind = launched(function.instructions[i])
    return kind if kind in (LOAD, WGMMA) else ""


def _solved(function: Function, cfg: Cfg) -> dict[int, _State]:
    """The states at the beginning of the blocks that can be reached."""
    order = [block for block in cfg.reverse_postorder if block < cfg.exit]
    entry: dict[int, _State] = {cfg.entry: {}}
    waiting = dict.fromkeys(order)
    while waiting:
        block = next(iter(waiting))
        del waiting[block]
        state = dict(entry.get(block, {}))
        for i in range(cfg.blocks[block].start, cfg.blocks[block].end):
            _step(function, i, state)
        for successor in cfg.successors[block]:
            before = entry.get(successor)
            after = state if before is None else _joined(before, state)
            if successor < cfg.exit and after != before:
                entry[successor] = dict(after)
                waiting[successor] = None
    return entry


def _joined(a: _State, b: _State) -> _State:
    return {register: _higher(a.get(register), b.get(register)) for register in a.keys() | b.keys()}


def _higher(a: Result | None, b: Result | None) -> Result:
    if a is None or b is None:
        one = a or b
        assert one is not None
        return one
    age = max(a.age, b.age) if a.kind == b.kind else _WAITED
    return Result(age, min(a.kind, b.kind), min(a.launch, b.launch))


def _reads(function: Function, i: int, state: _State) -> Iterator[EarlyRead]:
    """The results in flight that an instruction reads; not the accumulators that it goes on with, nor a copy."""
    facts = function.def_uses[i]
    node = function.instructions[i]
    if (
        not state
        or is_copy(function, i)
        or table().match(node.opcode.text, len(node.operands), False) is None
    ):
        return
    own = facts.defs if launched(node) == WGMMA else ()
    for register in facts.uses:
        found = state.get(register)
        if found is not None and found.age < _WAITED and register not in own:
            yield EarlyRead(i, register, found.launch, WAITS[found.kind])


def _step(function: Function, i: int, state: dict[int, Result]) -> None:
    """Take a state past one instruction."""
    node, facts = function.instructions[i], function.def_uses[i]
    if state and node.opcode.base in ("wgmma", "tcgen05", "call"):
        for register, result in state.items():
            waits, age = passed(node, result.kind, result.age) if result.age < _WAITED else (True, 0)
            is_done = waits or node.opcode.base == "call"
            state[register] = result._replace(age=_WAITED if is_done else age)
    copied = state.get(facts.uses[0]) if state and facts.uses and is_copy(function, i) else None
    for register in facts.kills:
        state.pop(register, None)
    kind = _launch(function, i)
    for register in facts.defs:
        if kind:
            state[register] = Result(0, kind, i)
        elif copied is not None:
            state[register] = copied
