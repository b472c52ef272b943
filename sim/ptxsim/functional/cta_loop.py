"""The loop of a run without time: the warps of one CTA, from its start to its end.

A warp runs until it ends, waits at a barrier, finds an mbarrier incomplete, or has had its share of instructions: so
warps that spin on memory let the others of their CTA run. Instructions that only compute and access memory are executed
many at a time (`semantics.execute.straight`), unless checks or a trace look at each. Reconvergence is that of the timed
run: a stack of (pc, reconvergence pc, mask, call depth) per warp.

`functional/interpreter.py` calls `run_cta` and says what it is for.
"""

import numpy as np
from numba import types

from ptxsim.base.jit import array_of, entry, flat_u8, njit
from ptxsim.base.program import (
    BARRIER,
    BRANCH,
    CALL,
    CONTEXT,
    EXIT,
    INDIRECT,
    INSTRUCTION,
    INVOKE,
    MISALIGNED,
    OUT_OF_BOUNDS,
    RETURN,
)
from ptxsim.execute.calls import enter_call, leave_call, note_exit
from ptxsim.execute.micro_operations import execute, guard_mask, straight
from ptxsim.execute.start import init_warp
from ptxsim.functional.barriers import BARRIER as BARRIER_STATE
from ptxsim.functional.barriers import (
    DEPTH,
    N_BARRIERS,
    WARP,
    advance,
    arrive,
    complete,
    let_outer_run,
    live_lanes,
    take_turns,
)
from ptxsim.sanitizer.inspect import (
    accessed,
    acquire,
    after,
    before,
    copied,
    fault,
    join,
    reach,
    release,
    returned,
    stack,
    start,
)
from ptxsim.sanitizer.shadow_state import (
    ACQUIRES,
    AFTER,
    BEFORE,
    CHECKED,
    CHECKS,
    MEMORY,
    ORDERS_WARP,
    RELEASES,
    REPORT,
    TRACED,
)

SLICE = 20_000
"""Instructions of one warp before the next has its turn: a warp that spins on memory lets the others run."""
_PATIENCE = 1 << 18
_TESTS = 64  # rounds in which all test an mbarrier in vain, before other lanes of the warps have a turn
_OVERFLOW = 100  # as in ptxsim/memory_image/faults.py
TOO_LONG = 101
DEADLOCK = 102
PAUSED = -2  # the print buffer is half full, or a traced instruction is reached
WATCHED = -3  # many instructions have passed

_ARGUMENTS = (
    array_of(CONTEXT),
    array_of(INSTRUCTION),
    array_of(WARP),
    array_of(BARRIER_STATE),
    array_of(CHECKS),
    array_of(CHECKED),
    array_of(REPORT),
)


@njit
def _split(warp, targets, active, rpc):
    """Lanes go to their `targets`: an entry each above the one that waits at `rpc`. False if the stack is full."""
    top = warp.depth - 1
    call = warp.call[top]
    first = np.int64(-1)
    uniform = True
    for n in range(32):
        if (active >> n) & 1:
            if first < 0:
                first = targets[n]
            elif targets[n] != first:
                uniform = False
    if uniform:
        advance(warp, first)
        return True
    if rpc < 0 or warp.rpc[top] == rpc:
        top -= 1
    else:
        warp.pc[top] = rpc
    left = active
    for n in range(31, -1, -1):
        if (left >> n) & 1 == 0:
            continue
        group = np.int64(0)
        for other in range(32):
            if (left >> other) & 1 and targets[other] == targets[n]:
                group |= np.int64(1) << other
        left &= ~group
        if targets[n] == rpc:
            continue
        top += 1
        if top >= DEPTH:
            return False
        warp.pc[top], warp.rpc[top], warp.mask[top], warp.call[top] = targets[n], rpc, group, call
        warp.waits[top] = 0
    warp.depth = top + 1
    return True


@njit
def _leave(warp, leaving, call):
    """Lanes leave every entry of a call depth >= `call`."""
    for k in range(warp.depth):
        if warp.call[k] >= call:
            warp.mask[k] &= ~leaving
    top = warp.depth - 1
    while top >= 0 and warp.mask[top] == 0:
        top -= 1
    warp.depth = top + 1


@njit
def _come_back(x, warp, c, checked):
    """End the calls of which all lanes have come back or exited."""
    while True:
        depth = leave_call(
            x,
            warp.depth,
            warp.pc[:],
            warp.rpc[:],
            warp.call[:],
            warp.waits[:],
            warp.waits_since[:],
            warp.mask[:],
            warp.waiting_lanes[:],
        )
        if depth < 0:
            return
        warp.depth = depth
        execute(x, ~x.returned_call, x.returned_mask)
        if c.what and x.returned_mask:
            returned(c, checked, x, x.returned_call, x.returned_mask)
        if depth > 0:
            advance(warp, warp.pc[depth - 1])


@njit
def _attempt(x, c, reports, i, k, mask):
    """Execute record k: instruction i or a piece of it. Lanes with a bad access are left out; those that are left."""
    execute(x, k, mask)
    while c.what & MEMORY and (x.error == OUT_OF_BOUNDS or x.error == MISALIGNED):
        mask &= ~(np.int64(1) << fault(c, reports, x, i, k))
        x.access_mask = np.uint64(0)
        if mask:
            execute(x, k, mask)
    return mask


@njit
def _execute_checked(x, c, checked, reports, i, active, mask):
    """Execute an instruction under the checks, whole or in pieces."""
    before(c, reports, checked, x, i, active, mask)
    if mask and (checked[i].call >= 0 or checked[i].allocates):
        stack(c, checked, x, i, mask)
    if checked[i].pieces == checked[i].pieces_end:
        left = _attempt(x, c, reports, i, i, mask)
        accessed(c, reports, checked, x, i, i, left)
    else:
        left = mask
        for k in range(checked[i].pieces, checked[i].pieces_end):
            left = _attempt(x, c, reports, i, k, left)
            if x.error:
                return
            accessed(c, reports, checked, x, i, k, left)
    after(c, checked, x, i, mask)


@njit
def _ordered(x, c, checked, i):
    """What an instruction that was executed orders: for the checks."""
    orders, own = checked[i].orders, np.int64(1) << x.warp
    if orders & ORDERS_WARP:
        join(c, own, own)
    if orders & ACQUIRES and x.yields == 0:
        acquire(c, x.warp)
    if orders & RELEASES:
        release(c, x.warp)


@njit
def _open(c, barriers):
    """Barriers that have ended since: for the checks."""
    for number in range(N_BARRIERS):
        barrier = barriers[number]
        if barrier.released:
            join(c, barrier.came, barrier.released)
            barrier.released = 0


@njit
def _step(x, instructions, barriers, warps, n_warps, w, c, checked, reports):
    """Execute one instruction of warp w. False after a fault."""
    warp = warps[w]
    top = warp.depth - 1
    i = warp.pc[top]
    active = warp.mask[top]
    instruction = instructions[i]
    mask = guard_mask(x, i, active) if instruction.guard_row >= 0 else active
    if c.what:
        _execute_checked(x, c, checked, reports, i, active, mask)
    else:
        execute(x, i, mask)
    if x.error:
        return False
    kind = instruction.kind
    following = i + 1
    if kind == BRANCH and (mask == active or mask == 0):
        advance(warp, np.int64(instruction.target) if mask else following)
        return True
    if kind == BRANCH or kind == INDIRECT:
        for n in range(32):
            taken = (mask >> n) & 1 != 0
            if kind == BRANCH:
                x.lane_target[n] = np.int64(instruction.target) if taken else following
            elif not taken:
                x.lane_target[n] = following
        if not _split(warp, x.lane_target, active, np.int64(instruction.reconverge)):
            x.error = _OVERFLOW
            return False
        return True
    if kind == CALL and mask != 0:
        warp.pc[top] = following
        if top + 1 >= DEPTH:
            x.error = _OVERFLOW
            return False
        top += 1
        warp.pc[top], warp.rpc[top], warp.mask[top] = np.int64(instruction.target), np.int64(-1), mask
        warp.call[top], warp.waits[top] = warp.call[top - 1] + 1, 0
        warp.depth = top + 1
        return True
    if kind == INVOKE and mask != 0:
        depth = enter_call(
            x,
            i,
            instruction.target,
            mask,
            warp.depth,
            warp.pc[:],
            warp.rpc[:],
            warp.call[:],
            warp.waits[:],
            warp.waits_since[:],
            warp.mask[:],
            warp.waiting_lanes[:],
        )
        if depth > 0:
            warp.depth = depth
        return depth > 0
    if (kind == EXIT or kind == RETURN or instruction.exit_after) and mask != 0:
        if kind != RETURN and x.call_words:
            note_exit(x, mask)
        call = warp.call[top] if kind == RETURN else np.int64(0)
        _leave(warp, mask, call)
        if mask == active:
            if warp.depth > 0:
                advance(warp, warp.pc[warp.depth - 1])
            if x.call_words:
                _come_back(x, warp, c, checked)
            return True
    if kind == BARRIER and mask != 0:
        if c.what:
            reach(c, reports, x, i, instruction.barrier_aligned, mask, live_lanes(x, warp, w))
        arrive(x, barriers, warps, n_warps, w, instructions, i, mask)
        if c.what:
            _open(c, barriers)
    else:
        advance(warp, following)
    if c.what and mask != 0:
        if checked[i].copies:
            copied(c, checked, x, i, mask)
        if checked[i].orders:
            _ordered(x, c, checked, i)
    return True


@njit
def _stops(x, instructions, warp, w, c, checked):
    """Whether the loop stops before the next instruction of warp w, which is traced."""
    i = warp.pc[warp.depth - 1]
    if checked[i].traced == 0 or (c.traced_warps >> w) & 1 == 0 or c.stage == BEFORE:
        return False
    c.stage, c.traced_at, c.traced_warp = BEFORE, i, w
    c.traced_lanes = guard_mask(x, i, warp.mask[warp.depth - 1])
    return True


@njit
def _straight_on(x, instructions, warp, most):
    """Execute the instructions from the top's on that only compute and access memory, at most `most`; how many were
    executed. A fault leaves `error`, and where it was in `pc`."""
    top = warp.depth - 1
    first = np.int64(warp.pc[top])
    last = first + min(np.int64(instructions[first].straight), most)
    if first < warp.rpc[top] < last:
        last = np.int64(warp.rpc[top])
    if last == first:
        return np.int64(0)
    end = straight(x, first, last, warp.mask[top])
    if x.error:
        warp.pc[top] = end
    else:
        advance(warp, end)
    return end - first


@njit
def _turn(x, instructions, barriers, warps, n_warps, w, limit, c, checked, reports):
    """Run a warp until it ends, waits, yields or has had its share; the instructions executed, -1 after a fault, or
    PAUSED."""
    warp = warps[w]
    x.warp = w
    x.yields = 0
    done = np.int64(0)
    while warp.depth > 0 and warp.waits[warp.depth - 1] == 0 and done < limit:
        if warp.pc[warp.depth - 1] >= len(instructions):
            _leave(warp, warp.mask[warp.depth - 1], 0)
            continue
        if c.what == 0:
            executed = _straight_on(x, instructions, warp, limit - done)
            if x.error:
                x.cycle = warp.pc[warp.depth - 1]
                return np.int64(-1)
            if executed:
                done += executed
                continue
        if c.what & TRACED and _stops(x, instructions, warp, w, c, checked):
            return np.int64(PAUSED)
        if not _step(x, instructions, barriers, warps, n_warps, w, c, checked, reports):
            x.cycle = warp.pc[max(warp.depth - 1, 0)]
            return np.int64(-1)
        x.warp = w
        done += 1
        x.cycle += 1
        if c.stage == BEFORE and c.traced_warp == w:
            c.stage = AFTER
            return np.int64(PAUSED)
        if x.yields:
            break
    if warp.depth > 1 and (done == limit or (x.yields and c.in_vain > _TESTS)):
        take_turns(warp)
    return done


@njit
def _run_cta(xs, instructions, warps, barriers, cs, checked, reports, n_warps, limit):
    """Run the warps of a CTA to their end; the instructions executed, -1 after a fault, PAUSED or WATCHED.

    `limit` is the cycle, which is the number of instructions so far, that must not be passed.
    """
    x, c = xs[0], cs[0]
    half = x.host_bytes >> 1
    began = x.cycle
    first, c.next_warp = c.next_warp, 0  # where it paused
    while True:
        alive, ran, in_hope = False, first > 0, first > 0
        for w in range(first):
            alive |= warps[w].depth > 0
        for w in range(first, n_warps):
            done = _turn(x, instructions, barriers, warps, n_warps, w, SLICE, c, checked, reports)
            if x.cycle > limit and x.error == 0:
                x.error = TOO_LONG
                return np.int64(-1)
            if done == PAUSED or (done >= 0 and x.host_used > half):
                c.next_warp = w
                return np.int64(PAUSED)
            if done < 0:
                return done
            ran |= done > 0
            in_hope |= done > 0 and x.yields == 0
            alive |= warps[w].depth > 0
        first = 0
        if not alive:
            return x.cycle - began
        c.in_vain = 0 if in_hope else c.in_vain + 1
        for number in range(N_BARRIERS):  # threads that have ended are not waited for
            if barriers[number].arrived and complete(x, barriers, warps, n_warps, instructions, number):
                ran = True
        if c.what:
            _open(c, barriers)
        if not ran:
            for w in range(n_warps):
                ran |= warps[w].depth > 1 and let_outer_run(warps[w])
        if not ran or c.in_vain > _PATIENCE:
            x.error = DEADLOCK
            return np.int64(-1)
        if x.cycle >= c.watch:
            return np.int64(WATCHED)


@njit
def _start_cta(xs, warps, barriers, special_rows, shared_image, block, grid, cta, n_warps):
    """Shared memory, stacks, barriers and registers of a CTA."""
    x = xs[0]
    for number in range(N_BARRIERS):
        barrier = barriers[number]
        barrier.arrived, barrier.counted, barrier.expected, barrier.holds, barrier.seen = 0, 0, 0, 0, 0
        barrier.released = 0
    memory = flat_u8(x.shared_memory, x.shared_bytes)
    for k in range(len(shared_image)):
        memory[k] = shared_image[k]
    threads = block[0] * block[1] * block[2]
    for w in range(n_warps):
        warp = warps[w]
        warp.depth, warp.waits[0] = 1, 0
        warp.pc[0], warp.rpc[0], warp.call[0] = 0, -1, 0
        lanes = min(32, threads - 32 * w)
        warp.mask[0] = (np.int64(1) << lanes) - 1
        x.warp = w
        cx, cy = cta % grid[0], cta // grid[0] % grid[1]
        init_warp(x, special_rows, w, cx, cy, cta // (grid[0] * grid[1]), block, grid, 0, w)


_EXTENT = types.Array(types.int64, 1, "C")


@entry(
    types.int64(
        *_ARGUMENTS,
        types.Array(types.int32, 2, "C"),
        types.Array(types.uint8, 1, "C"),
        _EXTENT,
        _EXTENT,
        types.int64,
        types.int64,
        types.int64,
        types.boolean,
    )
)
def run_cta(
    xs,
    instructions,
    warps,
    barriers,
    cs,
    checked,
    reports,
    special_rows,
    shared_image,
    block,
    grid,
    cta,
    n_warps,
    limit,
    goes_on,
):
    """One CTA from start to end, or from where it paused."""
    c = cs[0]
    if not goes_on:
        _start_cta(xs, warps, barriers, special_rows, shared_image, block, grid, cta, n_warps)
        c.cta, c.in_vain = cta, 0
        if c.what:
            start(c, xs[0])
    return _run_cta(xs, instructions, warps, barriers, cs, checked, reports, n_warps, limit)
