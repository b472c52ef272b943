"""The copy engine of an SM in a timed run: what it asks of a copy, and what happens when one completes.

`timing/bulk/copy_engine.py` sends the requests of each copy and says when it completes. A load is made then: it writes
shared memory, and its mbarrier has its bytes. A store is made when all of its requests have been sent, and its source
may be changed from then on.

    find_piece    the next row of a copy whose bytes of global memory are requested one after the other
    deliver       make a load, in every CTA of a multicast, and tell the mbarriers
    make          make a store
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit, record_type, types
from ptxsim.base.program import CONTEXT, ENGINE, MAX_CLUSTER, TRANSFER, cluster_at
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.engine_records import TENSOR, TO_GLOBAL, WITHIN_CLUSTER
from ptxsim.execute.bulk.tensor_maps import FIELD, GLOBAL_BYTES, PROPERTIES, TYPE_SHIFT
from ptxsim.execute.bulk.transfers import find_row, next_row, perform, tell

_CONTEXT, _TRANSFER, _ENGINE = record_type(CONTEXT), record_type(TRANSFER), record_type(ENGINE)
_INT = types.int64


@njit(_INT(_CONTEXT, _TRANSFER, _ENGINE))
def _find_piece(context, t, engine):
    while t.row < t.rows:
        t.row += 1
        if t.what & TENSOR:
            find_row(context, t, t.row - 1)
            size = GLOBAL_BYTES[np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD]
            first, end = np.int64(t.low) * size, np.int64(t.high) * size
            address = np.uint64(t.address)
            next_row(t)
        else:
            first, end = np.int64(t.first), np.int64(t.end)
            pointer = t.to if t.what & TO_GLOBAL else t.of
            address = np.uint64(pointer) - context.global_memory + context.global_base
        if end > first and t.what & WITHIN_CLUSTER == 0:
            engine.piece, engine.piece_end = address + np.uint64(first), address + np.uint64(end)
            return 1
    return 0


@njit(types.void(_CONTEXT, _TRANSFER))
def _deliver(context, t):
    if t.ctas == 0:
        perform(context, t)
        tell(context, t)
        return
    to, tracker = np.uint64(t.to), np.uint64(t.tracker)
    for rank in range(MAX_CLUSTER):
        if t.ctas >> rank & 1:
            memory = np.uint64(t.home)
            if t.cluster:
                memory = np.uint64(cluster_at(t.cluster, 0).shared[rank])
            if memory == np.uint64(0):  # the CTA has ended
                continue
            t.to, t.tracker = memory + to, memory + tracker
            perform(context, t)
            if t.pairs:
                memory = np.uint64(cluster_at(t.cluster, 0).shared[rank & ~1 | t.pairs - 1])
                if memory == np.uint64(0):
                    continue
                t.tracker = memory + tracker
            tell(context, t)


find_piece: Any = boundary("find_piece", _find_piece)
"""`find_piece(context, t, engine)`: the next bytes of global memory that a copy reads or writes, as the engine's
`piece`. 0 if there are no more."""

deliver: Any = boundary("deliver_bulk", _deliver)
"""`deliver(context, t)`: a load completes."""

make: Any = boundary("make_bulk", perform)
"""`make(context, t)`: all requests of a store have been sent."""
