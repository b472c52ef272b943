"""The CTAs of a cluster, for the checks: each has records of its own, and an operation of two CTAs is one of each.

Vector clocks order the warps of a CTA only. What a warp knows to be complete, the other CTA of the operation knows too
when the warp releases for the cluster (at its barrier, an mbarrier of another CTA, a fence) or commits to its mbarrier,
whichever thread there acquires it. That may hide a fault, and reports no false one.

    member(checks, rank)                 the records of a CTA; `is_there`: whether there are any
    link(checks, number, of, other)      two operations are one
    is_known(checks, of, stamp, warp)    whether a warp may take an operation of another CTA as complete
    publish(checks, warp)                a release for the cluster
"""

import numpy as np

from ptxsim.base.jit import flat_i32, flat_u64, njit, record_at, record_type, types
from ptxsim.base.program import MAX_CLUSTER
from ptxsim.sanitizer.asynchronous_state import (
    MBARRIER_WORDS,
    N_OPERATIONS,
    OPENED,
    OPENER,
    OTHER,
    OTHER_CTA,
    PUBLISHED,
    SEEN,
    asynchronous_at,
)
from ptxsim.sanitizer.operations import entry_of, is_complete, part_of, stamp_of
from ptxsim.sanitizer.shadow_state import CHECKS, MAX_WARPS

_C = record_type(CHECKS)
_INT = types.int64
_checks_at = record_at(CHECKS)
OF_OTHER = 1 << 16
"""Beside the thread of an operation that a thread of another CTA has begun."""


@njit(types.boolean(_C, _INT))
def is_there(checks, rank):
    """Whether the executing CTA's cluster has a CTA of this rank; one without a cluster has rank 0."""
    if checks.members == np.uint64(0):
        return rank == 0
    return flat_u64(checks.members, MAX_CLUSTER)[rank] != np.uint64(0)


@njit(_C(_C, _INT))
def member(checks, rank):
    """The records of a CTA that is there."""
    if checks.members == np.uint64(0):
        return checks
    return _checks_at(flat_u64(checks.members, MAX_CLUSTER)[rank], 0)


@njit(types.void(_C, _INT, _C, _INT))
def link(checks, number, of, other):
    """Operation `number` of one CTA and operation `other` of another one are the same."""
    a, b = asynchronous_at(checks.asynchronous, 0), asynchronous_at(of.asynchronous, 0)
    one, two = entry_of(number), entry_of(other)
    a.operations[one + OTHER_CTA], a.operations[one + OTHER] = of.rank + 1, other + 1
    b.operations[two + OTHER_CTA], b.operations[two + OTHER] = checks.rank + 1, number + 1


@njit(types.boolean(_C, _INT))
def _is_over(checks, stamp):
    """Whether any warp of an operation's CTA knows that it is complete."""
    for warp in range(checks.n_warps):
        if is_complete(checks, stamp, warp):
            return True
    return False


@njit(types.boolean(_C, _C, _INT, _INT))
def is_known(checks, of, stamp, warp):
    """Whether a warp of `checks` may take an operation of the CTA `of` as complete: it knows this of its own part, or
    some warp there does."""
    if of.rank == checks.rank:
        return is_complete(checks, stamp, warp)
    if _is_over(of, stamp):
        return True
    other = part_of(of, stamp, OTHER) - 1
    return part_of(of, stamp, OTHER_CTA) == checks.rank + 1 and is_complete(checks, stamp_of(other), warp)


@njit(types.void(_C, _INT))
def _tell(checks, entry):
    """The other CTA of a complete operation learns it."""
    a = asynchronous_at(checks.asynchronous, 0)
    of, number = (
        member(checks, np.int64(a.operations[entry + OTHER_CTA]) - 1),
        np.int64(a.operations[entry + OTHER]) - 1,
    )
    a.operations[entry + OTHER_CTA] = 0
    b = asynchronous_at(of.asynchronous, 0)
    if number + N_OPERATIONS < b.n_operations:
        return
    for warp in range(of.n_warps):
        seen = entry_of(number) + SEEN + warp
        b.operations[seen] = max(b.operations[seen], np.int32(1))


@njit(types.void(_C, _INT))
def publish(checks, warp):
    """A warp releases for the cluster: mbarriers that are initialised, and operations that are complete."""
    a = asynchronous_at(checks.asynchronous, 0)
    known = flat_i32(checks.clocks + np.uint64(4 * MAX_WARPS * warp), MAX_WARPS)
    if a.unpublished:
        for k in range(a.n_mbarriers):
            entry = k * MBARRIER_WORDS
            opener = np.int64(a.mbarriers[entry + OPENER])
            if a.mbarriers[entry + PUBLISHED] == 0 and a.mbarriers[entry + OPENED] <= known[opener]:
                a.mbarriers[entry + PUBLISHED] = 1
                a.unpublished -= 1
    if checks.members == np.uint64(0):
        return
    n = np.int64(a.n_operations)
    for number in range(max(np.int64(0), n - N_OPERATIONS), n):
        entry = entry_of(number)
        if a.operations[entry + OTHER_CTA] and is_complete(checks, stamp_of(number), warp):
            _tell(checks, entry)
