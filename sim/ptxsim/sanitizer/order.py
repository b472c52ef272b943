"""What orders accesses of different threads, for the check of races: barriers, and releases that are acquired.

Within a CTA, vector clocks of its warps: every warp counts its epochs, one more after every barrier and release, and
keeps for every other warp the latest epoch that is ordered before it. Releases and acquires of a CTA do not distinguish
addresses.

Between CTAs, order goes through locations of global memory. A release for the grid (a fence and a strong write after
it, or a releasing write) makes a version of its CTA: for each of its warps the latest epoch that is ordered before the
release. The written location keeps, for each CTA, the latest version released there; an acquire (a strong read and a
fence after it, or an acquiring read) takes these over to the warp that reads, and barriers pass them on in its CTA. So
an access of a warp in some epoch is ordered before another CTA's warp if the version that it knows has this epoch.

Locations share N slots by a hash, and only the last N_VERSIONS versions of a CTA are kept: both may hide a race, and
neither reports a false one.

    start_order(checks)                      a CTA begins
    join(checks, arrived, released)          a barrier, or a `bar.warp.sync`, ends
    acquire(checks, warp, orders)            a warp acquires published accesses; `release`: publishes its own
    synchronise(checks, context, access, orders, lanes)    strong accesses to locations of global memory
    known_epoch(checks, warp, cta, other, strong)    the last epoch of a warp of a CTA that is ordered before an access

Reference: Flanagan, Freund, FastTrack: Efficient and Precise Dynamic Race Detection, PLDI 2009; PTX ISA, "Memory
Consistency Model" (release and acquire patterns).
"""

import numpy as np

from ptxsim.base.jit import flat_i32, flat_u8, njit, record_type, types
from ptxsim.base.program import CONTEXT, LOAD, STORE
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.clusters import publish
from ptxsim.sanitizer.proxies import join_fences, publish_fences, take_fences

_C, _X = record_type(state.CHECKS), record_type(CONTEXT)
_INT = types.int64
_CLOCKS = state.MAX_WARPS * state.MAX_WARPS
_WARPS = state.MAX_WARPS
# of `fences`: for each warp the version of its last release for the grid; then whether any warp has read a location
# where something is released, and whether any knows of another CTA
_SEES, _KNOWS, _FENCES = range(state.MAX_WARPS, state.MAX_WARPS + 3)


@njit(types.void(_C))
def start_order(checks):
    """A CTA begins: it knows of nothing."""
    clocks = flat_i32(checks.clocks, _CLOCKS)
    for k in range(_CLOCKS):
        clocks[k] = 0
    published = flat_i32(checks.published, _WARPS)
    for w in range(_WARPS):
        clocks[w * _WARPS + w] = 1
        published[w] = 0
    if checks.n_slots == 0:
        return
    fences = flat_i32(checks.fences, _FENCES)
    if fences[_KNOWS]:
        known = flat_i32(checks.known, checks.n_warps * checks.n_ctas)
        for k in range(checks.n_warps * checks.n_ctas):
            known[k] = 0
    if fences[_SEES]:
        seen = flat_i32(checks.seen, checks.n_warps * checks.n_slots)
        for k in range(checks.n_warps * checks.n_slots):
            seen[k] = 0
    for k in range(_FENCES):
        fences[k] = 0


@njit(types.void(_C, types.uint64, _INT, _INT, _INT))
def _join_columns(checks, address, columns, arrived, released):
    """Each column of a table with a row for every warp: the maximum of the arrived warps to the released ones."""
    table = flat_i32(address, checks.n_warps * columns)
    for column in range(columns):
        most = np.int32(0)
        for w in range(checks.n_warps):
            if (arrived >> w) & 1:
                most = max(most, table[w * columns + column])
        if most:
            for w in range(checks.n_warps):
                if (released >> w) & 1:
                    table[w * columns + column] = most


@njit(types.void(_C, _INT, _INT))
def join(checks, arrived, released):
    """A barrier ends: accesses of the arrived warps are ordered before those of the released; a new epoch begins."""
    if checks.what & state.RACES == 0:
        return
    clocks = flat_i32(checks.clocks, _CLOCKS)
    for k in range(_WARPS):
        latest = np.int32(0)
        for w in range(checks.n_warps):
            if ((arrived | released) >> w) & 1:
                latest = max(latest, clocks[w * _WARPS + k])
        for w in range(checks.n_warps):
            if (released >> w) & 1:
                clocks[w * _WARPS + k] = latest
    for w in range(checks.n_warps):
        if ((arrived | released) >> w) & 1:
            clocks[w * _WARPS + w] += 1
    if checks.asynchronous:
        join_fences(checks, arrived, released)
    if checks.n_slots and arrived & (arrived - 1):
        fences = flat_i32(checks.fences, _FENCES)
        _join_columns(checks, checks.fences, 1, arrived, released)
        if fences[_SEES]:
            _join_columns(checks, checks.seen, checks.n_slots, arrived, released)
        if fences[_KNOWS]:
            _join_columns(checks, checks.known, checks.n_ctas, arrived, released)


@njit(types.void(_C, _INT, _INT))
def _take(checks, warp, slot):
    """A warp acquires what has been released at a location."""
    released = flat_i32(checks.slots + np.uint64(4 * checks.n_ctas * slot), checks.n_ctas)
    known = flat_i32(checks.known + np.uint64(4 * checks.n_ctas * warp), checks.n_ctas)
    for cta in range(checks.n_ctas):
        known[cta] = max(known[cta], released[cta])
    flat_i32(checks.fences, _FENCES)[_KNOWS] = 1


@njit(types.void(_C, _INT, _INT, _INT))
def _give(checks, warp, slot, version):
    """A warp releases at a location: a version of its CTA, and what it knows of other CTAs."""
    released = flat_i32(checks.slots + np.uint64(4 * checks.n_ctas * slot), checks.n_ctas)
    released[checks.cta] = max(released[checks.cta], version)
    if flat_i32(checks.fences, _FENCES)[_KNOWS]:
        known = flat_i32(checks.known + np.uint64(4 * checks.n_ctas * warp), checks.n_ctas)
        for cta in range(checks.n_ctas):
            released[cta] = max(released[cta], known[cta])
    flat_u8(checks.used_slots, checks.n_slots)[slot] = 1


@njit(types.uint64(_C, _INT, _INT))
def _version(checks, cta, number):
    """The address of a version of a CTA: an epoch for each of its warps."""
    return checks.versions + np.uint64(
        4 * checks.n_warps * (cta * state.N_VERSIONS + number % state.N_VERSIONS)
    )


@njit(types.int64(_C, _INT))
def _publish(checks, warp):
    """Make the next version of the CTA, of what is ordered before a release of a warp; its number, from 1 on."""
    newest = flat_i32(checks.newest, checks.n_ctas)
    last = np.int64(newest[checks.cta])
    before = flat_i32(_version(checks, checks.cta, last), checks.n_warps)
    after = flat_i32(_version(checks, checks.cta, last + 1), checks.n_warps)
    own = flat_i32(checks.clocks + np.uint64(4 * _WARPS * warp), _WARPS)
    for k in range(checks.n_warps):
        after[k] = max(before[k] if last else np.int32(0), own[k])
    newest[checks.cta] = last + 1
    return last + 1


@njit(types.int64(_C, *[_INT] * 4))
def known_epoch(checks, warp, cta, other, strong):
    """The last epoch of warp `other` of another CTA that is ordered before an access of a warp; 0: none.

    A strong access of the grid needs no fence after the read that finds something released: hardware performs strong
    accesses of a thread in order, and code with `volatile` relies on it.
    """
    if checks.n_slots == 0:
        return 0
    number = np.int64(flat_i32(checks.known, checks.n_warps * checks.n_ctas)[warp * checks.n_ctas + cta])
    if strong == state.STRONG_IN_GRID and flat_i32(checks.fences, _FENCES)[_SEES]:
        seen = flat_i32(checks.seen + np.uint64(4 * warp * checks.n_slots), checks.n_slots)
        slots = flat_i32(checks.slots, checks.n_slots * checks.n_ctas)
        for slot in range(checks.n_slots):
            if seen[slot]:
                number = max(number, np.int64(slots[slot * checks.n_ctas + cta]))
    if number == 0:
        return 0
    number = max(number, flat_i32(checks.newest, checks.n_ctas)[cta] - state.N_VERSIONS + 1)
    return np.int64(flat_i32(_version(checks, cta, number), checks.n_warps)[other])


@njit(types.void(_C, _X, *[_INT] * 3))
def synchronise(checks, context, access, orders, lanes):
    """Lanes read or write locations of global memory with strong accesses of the grid."""
    if checks.n_slots == 0:
        return
    warp, last = context.warp, np.int64(-1)
    version = np.int64(flat_i32(checks.fences, _FENCES)[warp])
    if orders & state.RELEASES:
        version = _publish(checks, warp)
    for n in range(32):
        offset = context.lane_pointer[n] - context.global_memory
        if (lanes >> n) & 1 == 0 or offset >= np.uint64(context.global_bytes):
            continue
        slot = np.int64((offset >> np.uint64(2)) * np.uint64(0x9E3779B1) >> np.uint64(16)) & (
            checks.n_slots - 1
        )
        if slot == last:
            continue
        last = slot
        if access != STORE and flat_u8(checks.used_slots, checks.n_slots)[slot]:
            if orders & state.ACQUIRES:
                _take(checks, warp, slot)
            else:
                flat_i32(checks.seen, checks.n_warps * checks.n_slots)[warp * checks.n_slots + slot] = 1
                flat_i32(checks.fences, _FENCES)[_SEES] = 1
        if access != LOAD and version:
            _give(checks, warp, slot, version)


@njit(types.void(_C, _INT, _INT))
def acquire(checks, warp, orders):
    """Published accesses are ordered before the later ones of a warp."""
    if checks.what & state.RACES == 0:
        return
    clocks, published = flat_i32(checks.clocks, _CLOCKS), flat_i32(checks.published, _WARPS)
    for k in range(_WARPS):
        if k != warp:
            clocks[warp * _WARPS + k] = max(clocks[warp * _WARPS + k], published[k])
    if checks.asynchronous:
        take_fences(checks, warp)
    if checks.tests:
        flat_i32(checks.tests, _WARPS)[warp] += 1
    if checks.n_slots and orders & state.FENCES_GRID and flat_i32(checks.fences, _FENCES)[_SEES]:
        seen = flat_i32(checks.seen + np.uint64(4 * warp * checks.n_slots), checks.n_slots)
        for slot in range(checks.n_slots):
            if seen[slot]:
                _take(checks, warp, slot)
                seen[slot] = 0


@njit(types.void(_C, _INT, _INT))
def release(checks, warp, orders):
    """Publish the accesses of a warp, and those ordered before them; the warp begins a new epoch."""
    if checks.what & state.RACES == 0:
        return
    if checks.n_slots and orders & state.FENCES_GRID:
        flat_i32(checks.fences, _FENCES)[warp] = _publish(checks, warp)
    clocks, published = flat_i32(checks.clocks, _CLOCKS), flat_i32(checks.published, _WARPS)
    for k in range(_WARPS):
        published[k] = max(published[k], clocks[warp * _WARPS + k])
    if checks.asynchronous:
        publish_fences(checks, warp)
        if orders & state.RELEASES_CLUSTER:
            publish(checks, warp)
    clocks[warp * _WARPS + warp] += 1
