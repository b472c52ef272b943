"""The loop of a run without time: the warps of one CTA, from its start to its end.

Warps run in turn, a slice of instructions each. A slice ends with the warp, at a barrier, after a load or an atomic of
global or shared memory, whose result a warp would wait for on hardware, at an mbarrier that is not complete, or after
`slice_length` instructions. So warps that run the same code load before any of them stores, as on hardware, and a warp
that spins on memory lets the others run. Every ROUNDS rounds diverged lanes of a warp take turns too. Checks and traces
do not change the order.

Instructions that only compute and access memory are executed many at a time (`micro_operations.straight`), unless
checks or a trace look at each. Reconvergence is that of the timed run (execute/simt_stack.py).

The CTAs of a cluster run together, a round of slices of each in turn (`functional/cluster_loop.py`); the others cannot
access a CTA's shared memory any more when it has ended.

`functional/interpreter.py` fills a `CTA_RUN` record once per launch and calls `run_ctas` for a range of CTAs; for
a cluster it fills a record for every CTA.
"""

from typing import Any, NamedTuple

import numpy as np

from ptxsim.base import program
from ptxsim.base.jit import array_of, ctz, entry, flat_u8, flat_u64, njit, record, records, types
from ptxsim.base.program import N_BARRIERS
from ptxsim.execute import simt_stack
from ptxsim.execute.calls import note_exit
from ptxsim.execute.micro_operations import execute, guard_mask, straight
from ptxsim.execute.simt_stack import FULL, advance, leave, let_outer_run, live_lanes, settle, take_turns
from ptxsim.execute.start import init_warp
from ptxsim.functional.barriers import BARRIER as BARRIER_STATE
from ptxsim.functional.barriers import WARP, arrive, complete
from ptxsim.functional.register_pool import set_registers
from ptxsim.sanitizer import inspect as checks
from ptxsim.sanitizer import order
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.asynchronous.note import before_asynchronous, end_asynchronous, note_asynchronous
from ptxsim.sanitizer.asynchronous_state import COPIES_BULK
from ptxsim.sanitizer.races import forget_blocks

ROUNDS = 1024
"""Rounds, of a slice of every warp each, before other lanes of diverged warps have a turn."""
PATIENCE = 1 << 18
_TESTS = 64  # rounds in which all warps test an mbarrier in vain, before other lanes of the warps have a turn
_OVERFLOW = 100  # as in ptxsim/memory_image/faults.py
TOO_LONG = 101
DEADLOCK = 102
PAUSED = -2  # the print buffer is half full, or a traced instruction is reached
WATCHED = -3  # many instructions have passed
GOES_ON = -4  # a CTA of a cluster has run a round
BETWEEN = -5  # many instructions have passed, and no CTA runs
_MANY = 100_000  # instructions after which no CTA begins before Python has had its turn
MOST_CLEARED = 1024
"""Bytes of a thread's local memory up to which it is zero when a CTA starts. (More is a stack.)"""

ARRAYS = {
    "context": program.CONTEXT,
    "instructions": program.INSTRUCTION,
    "warps": WARP,
    "barriers": BARRIER_STATE,
    "checks": state.CHECKS,
    "checked": state.CHECKED,
    "reports": state.REPORT,
    "special_rows": np.dtype(np.int32),
    "shared_image": np.dtype(np.uint8),
}
"""The arrays of a launch, by the fields of `CTA_RUN` that have their addresses."""
CTA_RUN = record(
    [
        *((name, "u8") for name in ARRAYS),
        *((f"n_{name}", "i8") for name in ARRAYS),  # their lengths
        ("block", "i8", (3,)),
        ("grid", "i8", (3,)),
        ("cta", "i8"),
        ("end_cta", "i8"),  # the CTA before which `run_ctas` ends
        (
            "begun",
            "i8",
        ),  # the cycle, which is the number of instructions so far, when the CTA started or went on
        ("entry_registers", "i8"),  # per thread, for `setmaxnreg`; 0: it does nothing
        ("most", "i8"),  # instructions of a CTA
        ("limit", "i8"),  # the cycle that it must not pass
        ("first_look", "i8"),  # instructions of a CTA before WATCHED
        ("slice_length", "i8"),  # instructions of a warp before the next one runs
        # of clusters; `current` and `passes` are those of the first record
        ("ended", "i8"),
        ("current", "i8"),  # the CTA that runs
        ("passes", "i8"),  # of all CTAs, modulo ROUNDS
        ("in_vain", "i8"),  # passes in which no CTA could do more than wait
    ]
)
contexts, _instructions, warps_at, _barriers = (
    records(ARRAYS[name]) for name in ("context", "instructions", "warps", "barriers")
)
checks_at, _checked, _reports = (records(ARRAYS[name]) for name in ("checks", "checked", "reports"))
_special_rows = records(np.dtype(np.int32), 2)


class Cta(NamedTuple):
    """What the functions of the loop work on: the arrays of a `CTA_RUN`, and its only context and checks."""

    x: Any
    c: Any
    instructions: Any
    warps: Any
    barriers: Any
    checked: Any
    reports: Any
    n_warps: Any
    entry_registers: Any


@njit
def _attempt(cta, i, k, mask):
    """Execute record k: instruction i or a piece of it. Lanes with a bad access are left out; returns the others. Lanes
    start bulk copies one after the other, so that only those after a bad one are executed again."""
    context, c = cta.x, cta.c
    one_by_one = cta.checked[i].asynchronous == COPIES_BULK
    execute(context, k, mask)
    while c.what & state.MEMORY and (
        context.error == program.OUT_OF_BOUNDS or context.error == program.MISALIGNED
    ):
        bad = np.int64(1) << checks.fault(c, cta.reports, context, i, k)
        if mask & bad == 0:  # what the warp does as a whole
            return np.int64(0)
        mask &= ~bad
        context.access_mask = np.uint64(0)
        again = mask & -(bad << 1) if one_by_one else mask
        if again:
            execute(context, k, again)
    return mask


@njit
def _execute_checked(cta, i, active, mask):
    """Execute an instruction under the checks, whole or in pieces; the lanes without a bad access."""
    context, c, checked, reports = cta.x, cta.c, cta.checked, cta.reports
    checks.before(c, reports, checked, context, i, active, mask)
    if c.asynchronous and mask:
        before_asynchronous(c, reports, checked, context, i)
    if mask and (checked[i].call >= 0 or checked[i].allocates):
        checks.stack(c, checked, context, i, mask)
    if checked[i].pieces == checked[i].pieces_end:
        left = _attempt(cta, i, i, mask)
        checks.accessed(c, reports, checked, context, i, i, left)
    else:
        left = mask
        for k in range(checked[i].pieces, checked[i].pieces_end):
            left = _attempt(cta, i, k, left)
            if context.error:
                return left
            checks.accessed(c, reports, checked, context, i, k, left)
    checks.after(c, checked, context, i, mask)
    if checked[i].block >= 0 and c.what & state.RACES:
        forget_blocks(c, context, np.int64(checked[i].block), mask)
    return left


@njit
def _note_order(cta, i):
    """For the checks: the order that an executed instruction establishes."""
    context, c = cta.x, cta.c
    orders, own = np.int64(cta.checked[i].orders), np.int64(1) << context.warp
    if orders & state.ORDERS_WARP:
        order.join(c, own, own)
    if orders & state.ACQUIRES and context.yields == 0:
        order.acquire(c, context.warp, orders)
    if orders & state.RELEASES:
        order.release(c, context.warp, orders)


@njit
def _note_released(cta):
    """For the checks: barriers that are complete since the last call."""
    for number in range(N_BARRIERS):
        barrier = cta.barriers[number]
        if barrier.released:
            order.join(cta.c, barrier.came, barrier.released)
            barrier.released = 0
        if barrier.missed:
            ended = cta.warps[ctz(barrier.missed)].ended_at
            checks.missed(cta.c, cta.reports, barrier.at, barrier.came, barrier.missed, np.int64(ended))
            barrier.missed = 0


@njit
def _step(cta, w):
    """Execute one instruction of warp w. False after a fault."""
    context, c, warp = cta.x, cta.c, cta.warps[w]
    top = warp.depth[0] - 1
    i = warp.stack_pc[top, 0]
    active = warp.stack_mask[top, 0]
    instruction = cta.instructions[i]
    mask = guard_mask(context, i, active) if instruction.guard_row >= 0 else active
    done = mask
    if c.what:
        done = _execute_checked(cta, i, active, mask)
    else:
        execute(context, i, mask)
    if context.error:
        return False
    kind = instruction.kind
    following = i + 1
    if kind == program.BRANCH or kind == program.INDIRECT:
        target, meeting = np.int64(instruction.target), np.int64(instruction.reconverge)
        if kind == program.BRANCH:
            outcome = simt_stack.branch(warp, 0, target, following, meeting, mask, active, False)
        else:
            outcome = simt_stack.jump(warp, 0, context.lane_target, following, meeting, mask, active)
        if outcome == FULL:
            context.error = _OVERFLOW
        return outcome != FULL
    if kind == program.CALL and mask != 0:
        fits = simt_stack.call(warp, 0, np.int64(instruction.target), following, mask)
        if not fits:
            context.error = _OVERFLOW
        return fits
    if kind == program.INVOKE and mask != 0:
        return simt_stack.invoke(context, warp, 0, i, instruction.target, mask)
    if (kind == program.EXIT or kind == program.RETURN or instruction.exit_after) and mask != 0:
        if kind != program.RETURN and context.call_words:
            note_exit(context, mask)
        leave(warp, 0, mask, warp.stack_call[top, 0] if kind == program.RETURN else np.int64(0))
        if mask == active:
            settle(warp, 0)
            while context.call_words and simt_stack.end_call(context, warp, 0):
                if c.what and context.returned_mask:
                    checks.returned(c, cta.checked, context, context.returned_call, context.returned_mask)
            return True
    if kind == program.BARRIER and mask != 0:
        if c.what:
            checks.reach(
                c, cta.reports, context, i, instruction.barrier_aligned, mask, live_lanes(warp, 0, context, w)
            )
        arrive(cta, w, i, mask)
        if c.what:
            context.warp = w  # not the last one that it has released
            _note_released(cta)
    elif kind == program.SET_REGISTERS and mask != 0 and cta.entry_registers != 0:
        set_registers(cta, w, i, mask)
    elif kind == program.REPEAT and mask != 0 and context.repeats:
        return True
    else:
        advance(warp, 0, following)
    if c.what and mask != 0:
        if cta.checked[i].copies:
            checks.copied(c, cta.checked, context, i, mask)
        if cta.checked[i].asynchronous and done:
            note_asynchronous(c, cta.reports, cta.checked, context, i, done, warp.registers)
        if cta.checked[i].orders:
            _note_order(cta, i)
    return True


@njit
def _stops(cta, w):
    """Whether the loop stops before the next instruction of warp w, which is traced."""
    c, warp = cta.c, cta.warps[w]
    top = warp.depth[0] - 1
    i = warp.stack_pc[top, 0]
    if cta.checked[i].traced == 0 or (c.traced_warps >> w) & 1 == 0 or c.stage == state.BEFORE:
        return False
    c.stage, c.traced_at, c.traced_warp = state.BEFORE, i, w
    c.traced_lanes = guard_mask(cta.x, i, warp.stack_mask[top, 0])
    return True


@njit
def _straight_on(cta, warp, most):
    """Execute the instructions from the top's on that only compute and access memory, at most `most`; the number of
    executed instructions. A fault leaves `error`, and the PC of the instruction in the stack."""
    top = warp.depth[0] - 1
    first, rpc = np.int64(warp.stack_pc[top, 0]), np.int64(warp.stack_rpc[top, 0])
    last = first + min(np.int64(cta.instructions[first].straight), most)
    if first < rpc < last:
        last = rpc
    if last == first:
        return np.int64(0)
    end = straight(cta.x, first, last, warp.stack_mask[top, 0])
    if cta.x.error:
        warp.stack_pc[top, 0] = end
    else:
        advance(warp, 0, end)
    return end - first


@njit
def _run_warp(cta, w):
    """Run a warp to the end of its slice, of which `left_of_slice` instructions are left; the number of executed
    instructions, -1 after a fault, or PAUSED."""
    context, c, warp = cta.x, cta.c, cta.warps[w]
    context.warp = w
    context.yields = 0
    done = np.int64(0)
    while warp.depth[0] > 0 and warp.stack_wait[warp.depth[0] - 1, 0] == 0 and c.left_of_slice > 0:
        top = warp.depth[0] - 1
        i = np.int64(warp.stack_pc[top, 0])
        if i >= len(cta.instructions):
            leave(warp, 0, warp.stack_mask[top, 0], 0)
            warp.ended_at = len(cta.instructions) - 1
            continue
        if c.what == 0:
            executed = _straight_on(cta, warp, c.left_of_slice)
            if context.error:
                context.cycle = warp.stack_pc[warp.depth[0] - 1, 0]
                return np.int64(-1)
            if executed:
                done += executed
                c.left_of_slice -= executed
                if cta.instructions[i + executed - 1].ends_slice:
                    break
                continue
        if c.what & state.TRACED and _stops(cta, w):
            return np.int64(PAUSED)
        if not _step(cta, w):
            context.cycle = warp.stack_pc[max(warp.depth[0] - 1, 0), 0]
            return np.int64(-1)
        context.warp = w
        done += 1
        context.cycle += 1
        c.left_of_slice = 0 if context.yields or cta.instructions[i].ends_slice else c.left_of_slice - 1
        if warp.depth[0] == 0:
            warp.ended_at = i
        if c.stage == state.BEFORE and c.traced_warp == w:
            c.stage = state.AFTER
            return np.int64(PAUSED)
    if warp.depth[0] > 1 and (c.rounds == 0 or (context.yields and c.in_vain > _TESTS)):
        take_turns(warp, 0)
    return done


@njit
def _run(cta, limit, slice_length, in_cluster):
    """Run the warps of a CTA to their end; the instructions executed, -1 after a fault, PAUSED or WATCHED. In a
    cluster: for a round; GOES_ON if they have not ended."""
    context, c, warps = cta.x, cta.c, cta.warps
    half = context.host_bytes >> 1
    began = context.cycle
    paused, first = c.next_warp >= 0, max(c.next_warp, 0)
    c.next_warp = -1
    while True:
        alive, ran, in_hope = False, paused, paused
        for w in range(first):
            alive |= warps[w].depth[0] > 0
        for w in range(first, cta.n_warps):
            if not paused:
                c.left_of_slice = slice_length
            paused = False
            done = _run_warp(cta, w)
            if context.cycle > limit and context.error == 0:
                context.error = TOO_LONG
                return np.int64(-1)
            if done == PAUSED or (done >= 0 and context.host_used > half):
                c.next_warp = w
                return np.int64(PAUSED)
            if done < 0:
                return done
            ran |= done > 0
            in_hope |= done > 0 and context.yields == 0
            alive |= warps[w].depth[0] > 0
        first = 0
        if not alive:
            if c.asynchronous:
                end_asynchronous(c, cta.reports, context)
            return context.cycle - began
        c.rounds = (c.rounds + 1) % ROUNDS
        c.in_vain = 0 if in_hope else c.in_vain + 1
        for number in range(N_BARRIERS):  # threads that have ended are not waited for
            if cta.barriers[number].arrived and complete(cta, number):
                ran = True
        if c.what:
            _note_released(cta)
        if not ran:
            for w in range(cta.n_warps):
                ran |= warps[w].depth[0] > 1 and let_outer_run(warps[w], 0)
        if not ran or (c.in_vain > PATIENCE and not in_cluster):
            context.error = DEADLOCK
            return np.int64(-1)
        if in_cluster:
            return np.int64(GOES_ON)
        if context.cycle >= c.watch and c.rounds == 0:  # a state that repeats includes the number of rounds
            return np.int64(WATCHED)


@njit
def _start(cta, run):
    """Shared and local memory, stacks, barriers and registers of a CTA."""
    context, block, grid = cta.x, run.block, run.grid
    for number in range(N_BARRIERS):
        barrier = cta.barriers[number]
        barrier.arrived, barrier.counted, barrier.expected, barrier.holds, barrier.seen = 0, 0, 0, 0, 0
        barrier.released, barrier.missed = 0, 0
    memory = flat_u8(context.shared_memory, context.shared_bytes)
    initial = flat_u8(run.shared_image, run.n_shared_image)
    for k in range(len(initial)):
        memory[k] = initial[k]
    special_rows = _special_rows(run.special_rows, run.n_special_rows)
    if context.local_bytes <= MOST_CLEARED:
        local = flat_u64(context.local_memory, (cta.n_warps * 32 * context.local_bytes) >> 3)
        for k in range(len(local)):
            local[k] = np.uint64(0)
    threads = block[0] * block[1] * block[2]
    cx, cy, cz = run.cta % grid[0], run.cta // grid[0] % grid[1], run.cta // (grid[0] * grid[1])
    for w in range(cta.n_warps):
        lanes = min(32, threads - 32 * w)
        simt_stack.start(cta.warps[w], 0, (np.int64(1) << lanes) - 1)
        cta.warps[w].registers = run.entry_registers
        context.warp = w
        init_warp(context, special_rows, w, cx, cy, cz, block, grid, 0, w)


@njit
def run_one(run, is_new, goes_on, in_cluster):
    """Begin a CTA if it is new, and run it if it goes on."""
    context, c = contexts(run.context, 1)[0], checks_at(run.checks, 1)[0]
    cta = Cta(
        context,
        c,
        _instructions(run.instructions, run.n_instructions),
        warps_at(run.warps, run.n_warps),
        _barriers(run.barriers, run.n_barriers),
        _checked(run.checked, run.n_checked),
        _reports(run.reports, run.n_reports),
        run.n_warps,
        run.entry_registers,
    )
    if is_new:
        _start(cta, run)
        c.next_warp = -1
        c.cta, c.in_vain, c.rounds = run.cta, 0, 1
        if c.what:
            checks.start(c, context)
    if not goes_on:
        return np.int64(0)
    return _run(cta, run.limit, run.slice_length, in_cluster)


@entry(types.int64(array_of(CTA_RUN), types.boolean))
def run_ctas(runs, goes_on):
    """Run CTAs one after the other up to `end_cta`: from the start of `cta`, or from where it paused. `cta` is then
    `end_cta`, or the one that has not ended: after -1 (a fault), PAUSED, WATCHED or BETWEEN."""
    run = runs[0]
    context, c = contexts(run.context, 1)[0], checks_at(run.checks, 1)[0]
    turn = context.cycle + _MANY
    while run.cta < run.end_cta:
        if not goes_on:
            if context.cycle > turn:
                return np.int64(BETWEEN)
            run.begun, context.noted_cta = context.cycle, run.cta
            run.limit, c.watch = run.begun + run.most, run.begun + run.first_look
        done = run_one(run, not goes_on, True, False)
        if done < 0:
            return done
        run.cta += 1
        goes_on = False
    return np.int64(0)
