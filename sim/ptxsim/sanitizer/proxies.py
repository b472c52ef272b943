"""Proxy fences: which generic writes an asynchronous operation of a warp may read.

Copies and products access memory through the asynchronous proxy. A write of an ordinary store is visible to them if a
proxy fence lies on the way from the write to the operation, in the order of barriers and releases: in the writing
thread, or in a later one. So each warp keeps, for every warp, the latest epoch whose writes it knows to be fenced:
beside the vector clocks of `order.py`, and joined, published and taken where these are. The proxy of tensor maps has
fences of its own (`fence.proxy.tensormap`), and so have shared and global memory.

    fence(checks, warp, proxies)            a fence, of a mask of proxies; a new epoch begins
    join_fences(checks, arrived, released)  a barrier; `publish_fences`: a release; `take_fences`: an acquire
    is_fenced(checks, proxy, warp, writer, epoch)
    is_fenced_by_any(checks, proxy, writer, epoch)    for operations of other CTAs

Reference: PTX ISA, "Memory Consistency Model": proxies, proxy-preserved base causality order.
"""

import numpy as np

from ptxsim.base.jit import flat_i32, njit, record_type, types
from ptxsim.sanitizer.asynchronous_state import N_PROXIES, asynchronous_at
from ptxsim.sanitizer.shadow_state import CHECKS, MAX_WARPS

_C = record_type(CHECKS)
_INT = types.int64
_TABLE = MAX_WARPS * MAX_WARPS


@njit(types.void(_C, _INT, _INT))
def fence(checks, warp, proxies):
    """All writes that are ordered before are fenced for some proxies."""
    a = asynchronous_at(checks.asynchronous, 0)
    clocks = flat_i32(checks.clocks, _TABLE)
    for p in range(N_PROXIES):
        if proxies >> p & 1:
            for w in range(checks.n_warps):
                a.fenced[p * _TABLE + warp * MAX_WARPS + w] = clocks[warp * MAX_WARPS + w]
    clocks[warp * MAX_WARPS + warp] += 1


@njit(types.void(_C, _INT, _INT))
def join_fences(checks, arrived, released):
    """A barrier: what the arrived warps know, the released ones know."""
    a = asynchronous_at(checks.asynchronous, 0)
    for p in range(N_PROXIES):
        for w in range(checks.n_warps):
            latest = np.int32(0)
            for k in range(checks.n_warps):
                if ((arrived | released) >> k) & 1:
                    latest = max(latest, a.fenced[p * _TABLE + k * MAX_WARPS + w])
            for k in range(checks.n_warps):
                if (released >> k) & 1:
                    a.fenced[p * _TABLE + k * MAX_WARPS + w] = latest


@njit(types.void(_C, _INT))
def publish_fences(checks, warp):
    """A release of a warp."""
    a = asynchronous_at(checks.asynchronous, 0)
    for p in range(N_PROXIES):
        for w in range(checks.n_warps):
            known = a.fenced[p * _TABLE + warp * MAX_WARPS + w]
            a.published[p * MAX_WARPS + w] = max(a.published[p * MAX_WARPS + w], known)


@njit(types.void(_C, _INT))
def take_fences(checks, warp):
    """An acquire of a warp."""
    a = asynchronous_at(checks.asynchronous, 0)
    for p in range(N_PROXIES):
        for w in range(checks.n_warps):
            at = p * _TABLE + warp * MAX_WARPS + w
            a.fenced[at] = max(a.fenced[at], a.published[p * MAX_WARPS + w])


@njit(types.boolean(_C, *[_INT] * 4))
def is_fenced(checks, proxy, warp, writer, epoch):
    """Whether a warp knows that the writes of another one in an epoch are fenced."""
    a = asynchronous_at(checks.asynchronous, 0)
    return epoch <= a.fenced[proxy * _TABLE + warp * MAX_WARPS + writer]


@njit(types.boolean(_C, *[_INT] * 3))
def is_fenced_by_any(checks, proxy, writer, epoch):
    """Whether any warp knows that the writes of a warp in an epoch are fenced."""
    for warp in range(checks.n_warps):
        if is_fenced(checks, proxy, warp, writer, epoch):
            return True
    return False
