"""What spilling needs to know of a function: where its webs are accessed, and what an access costs."""

from collections.abc import Collection

import numpy as np

from ptxtool.analysis.flow.loops import loops, loops_of
from ptxtool.analysis.regalloc.live_ranges import Ranges
from ptxtool.analysis.regalloc.physical import UNIT_BITS
from ptxtool.analysis.regalloc.rematerialisation import rematerialisation_sequences
from ptxtool.analysis.regalloc.spills import SpillInputs

_DEEPEST = 6
"""Loops nested deeper than this cost no more."""


def spill_inputs(ranges: Ranges, unspillable: Collection[int], by_words: bool = False) -> SpillInputs:
    """The inputs of spilling for the webs of a function.

    In PTX loads and stores may stand under the guard of their instruction, a store unless that writes a predicate,
    which might be the guard. In PTXPlus they may not: an instruction may write a part of a register, and its slot would
    lack the rest. A guarded store need not read what stays in the slot. Slots accessed `by_words` (of 32 bits) have no
    values of 128 bits, and none of 64 under a guard: their halves move in all lanes.
    """
    function, def_uses = ranges.function, ranges.def_uses
    registers = function.registers
    n = len(def_uses)
    guarded: list[int] = []
    if not registers.is_ptxplus:
        guarded = [i for i, node in enumerate(function.instructions) if node.guard is not None]
    if by_words:
        guarded = [i for i in guarded if all(registers[k].bits <= UNIT_BITS for k in def_uses[i].touched)]
        unspillable = {*unspillable, *(w for w, k in enumerate(ranges.register) if registers[k].units > 2)}
    storing = [
        i for i in guarded if (defs := def_uses[i].defs) and not any(registers[k].is_predicate for k in defs)
    ]
    may_guard_load, may_guard_store = np.zeros((2, n), np.bool_)
    may_guard_load[guarded] = may_guard_store[storing] = True
    known = rematerialisation_sequences(function, def_uses)
    # without calls that stay in the function both views of the graph are the same
    nest = loops(function) if registers.is_ptxplus else loops_of(ranges.cfg)
    depth = np.array([nest.depth(block.index) for block in nest.cfg.blocks], np.int64)
    return SpillInputs(
        ranges.accesses.with_plain_writes(storing),
        np.array(ranges.cfg.block_of, np.int64),
        8.0 ** np.minimum(depth, _DEEPEST)[np.array(nest.cfg.block_of, np.int64)],
        may_guard_load,
        may_guard_store,
        {web: known[k] for web, k in enumerate(ranges.register) if k in known} if known else {},
        unspillable,
        by_words,
    )
