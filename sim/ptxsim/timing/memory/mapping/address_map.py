"""The address map: which slice, set, bank and row a line belongs to.

Chunks of the address space go round the channels. `rest`, the address within the channel, has one bit that tells the
channel's two slices; it is also the lowest bit of the bank. The slice may be hashed (`hashes.py`) or drawn by lot
(`random_slices.py`): then a request goes to another channel than its address says, while its set, bank and row stay
those of the plain map. The bank may be mixed with the row.

A hash is of a power of two of channels; where there are fewer, the slice is the rest of a division.
Reference: timing-model section 3.5; GPGPU-Sim 4.2, addrdec.cc.
"""

from typing import Any

from ptxsim.base.jit import inline
from ptxsim.timing.memory.mapping.hashes import hashed, set_of
from ptxsim.timing.memory.mapping.random_slices import scattered


@inline
def place_line(memory: Any, r: int, line: Any) -> None:
    """Enter slice, set, sector, bank and row of a request's line."""
    q = memory.request[r]
    chunk = line >> memory.chunk_shift
    part = chunk // memory.n_channels
    channel = chunk - part * memory.n_channels
    low = line & ((1 << memory.chunk_shift) - 1)
    rest = part << memory.chunk_shift | low  # the address within the channel
    bit = (rest >> memory.slice_shift) & 1
    within = rest
    index = channel
    if memory.slices_per_channel == 2:
        index = 2 * channel + bit
        within = (rest >> (memory.slice_shift + 1)) << memory.slice_shift | rest & (
            (1 << memory.slice_shift) - 1
        )
    if memory.hash_shift:
        higher = line >> memory.hash_shift if memory.hash_shift > 0 else part
        index = hashed(index, higher, memory.slice_poly, memory.slice_bits)
        if memory.hash_shift < 0:
            index %= memory.n_slices
    elif memory.scatter_shift:
        index = scattered(memory, line >> memory.scatter_shift)
    q.slice = index
    c = memory.slice[0].cache
    q.set = set_of(c, within >> c.line_shift)
    q.sector = (line & (c.line_bytes - 1)) >> 5
    row = rest >> memory.row_shift
    bank = ((rest >> memory.bank_shift) & memory.bank_mask) << 1 | bit
    q.bank = bank ^ row & (memory.banks - 1) if memory.bank_hashed else bank
    q.row = row
