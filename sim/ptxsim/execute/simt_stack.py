"""SIMT stack: where a warp's lanes are, and where they reconverge (timing-model section 1.7). For both loops.

Entries hold a PC, a reconvergence PC (-1: the end of the function), a lane mask and the call depth; an entry may wait
at a barrier. A divergent instruction turns the top into the entry that waits at the reconvergence point and pushes one
entry per distinct target; the group that does not hold the highest lane runs first, or the taken path of a branch. All
PCs are instruction indices.

`stack` is any record with the fields `depth` and `base.program.stack_fields`, `w` the warp's column in it: the record
of an SM has the stacks of all its warps, the run without time has a record per warp.
"""

from ptxsim.base.jit import bit, ctz, inline, njit
from ptxsim.base.program import MAX_STACK
from ptxsim.execute.calls import enter_call, lanes_aside, leave_call
from ptxsim.execute.micro_operations import execute

FULL, UNIFORM, DIVERGENT = range(3)
"""What a branch did: it found no room on the stack, all lanes took one path, or they took several."""


@inline
def start(stack, w, mask):
    """The stack of a fresh warp: one entry at instruction 0."""
    stack.depth[w] = 1
    stack.stack_pc[0, w] = 0
    stack.stack_rpc[0, w] = -1
    stack.stack_mask[0, w] = mask
    stack.stack_call[0, w] = 0
    stack.stack_wait[0, w] = 0


@njit
def copy(source, v, target, w):
    """Copy the stack of warp v of one record to warp w of another."""
    target.depth[w] = source.depth[v]
    for k in range(source.depth[v]):
        target.stack_pc[k, w] = source.stack_pc[k, v]
        target.stack_rpc[k, w] = source.stack_rpc[k, v]
        target.stack_mask[k, w] = source.stack_mask[k, v]
        target.stack_call[k, w] = source.stack_call[k, v]
        target.stack_wait[k, w] = source.stack_wait[k, v]
        target.waits_since[k, w] = source.waits_since[k, v]
        target.waiting_lanes[k, w] = source.waiting_lanes[k, v]


@inline
def advance(stack, w, pc):
    """All lanes of the top go to `pc`; entries at their reconvergence point are popped, unless they wait."""
    top = stack.depth[w] - 1
    stack.stack_pc[top, w] = pc
    while (
        top > 0
        and stack.stack_rpc[top, w] >= 0
        and stack.stack_pc[top, w] == stack.stack_rpc[top, w]
        and stack.stack_wait[top, w] == 0
    ):
        top -= 1
    stack.depth[w] = top + 1


@njit
def live_lanes(stack, w, context, warp):
    """The lanes of a warp that have not exited; `warp` is its number among the warps of the machine."""
    lanes = bit(0) & 0
    if context.call_words:
        lanes |= lanes_aside(context, warp)
    for k in range(stack.depth[w]):
        lanes |= stack.stack_mask[k, w]
    return lanes


@inline
def wait(stack, w, number, i, mask, divergent):
    """The top waits at barrier `number`, of instruction i. Where only a part of the warp does, the next entry of the
    same level that does not wait becomes the top: True if there is one."""
    top = stack.depth[w] - 1
    stack.stack_pc[top, w] = i + 1
    stack.stack_wait[top, w] = number + 1
    stack.waits_since[top, w] = i
    stack.waiting_lanes[top, w] = mask
    k = top - 1
    while divergent and k >= 0 and stack.stack_rpc[k, w] == stack.stack_rpc[top, w]:
        if stack.stack_call[k, w] != stack.stack_call[top, w]:
            return False
        if stack.stack_wait[k, w] == 0:
            for column in (stack.stack_pc, stack.stack_wait, stack.waits_since):
                column[k, w], column[top, w] = column[top, w], column[k, w]
            for lanes in (stack.stack_mask, stack.waiting_lanes):
                lanes[k, w], lanes[top, w] = lanes[top, w], lanes[k, w]
            return True
        k -= 1
    return False


@njit
def _move_entry(stack, w, source, target):
    """Move an entry to another depth; those between move by one."""
    step = 1 if target > source else -1
    for column in (stack.stack_pc, stack.stack_rpc, stack.stack_call, stack.stack_wait, stack.waits_since):
        moved = column[source, w]
        for k in range(source, target, step):
            column[k, w] = column[k + step, w]
        column[target, w] = moved
    for lanes in (stack.stack_mask, stack.waiting_lanes):
        moved_lanes = lanes[source, w]
        for k in range(source, target, step):
            lanes[k, w] = lanes[k + step, w]
        lanes[target, w] = moved_lanes


@njit
def take_turns(stack, w):
    """Entries of one level run in turn: the top goes below the others, and the next that does not wait is the top."""
    top = stack.depth[w] - 1
    low = top
    while (
        low > 0
        and stack.stack_rpc[low - 1, w] == stack.stack_rpc[top, w]
        and stack.stack_call[low - 1, w] == stack.stack_call[top, w]
    ):
        low -= 1
    for _ in range(top - low):
        _move_entry(stack, w, top, low)
        if stack.stack_wait[top, w] == 0:
            return


@njit
def let_outer_run(stack, w):
    """Where the top waits: make an entry of an outer level that does not the top. False if there is none."""
    top = stack.depth[w] - 1
    above = stack.stack_mask[top, w]
    for k in range(top - 1, -1, -1):
        mask = stack.stack_mask[k, w]
        is_apart = mask != 0 and mask & above == 0 and stack.stack_call[k, w] == stack.stack_call[top, w]
        if is_apart and stack.stack_wait[k, w] == 0 and stack.stack_pc[k, w] != stack.stack_rpc[k, w]:
            _move_entry(stack, w, k, top)
            return True
        above |= mask
    return False


@njit
def yield_lanes(stack, w, now):
    """The paths of a diverged warp take turns: those of one level, and every 1024 cycles one of an outer level."""
    if stack.depth[w] > 1 and not (now & 1024 and let_outer_run(stack, w)):
        take_turns(stack, w)


@njit
def _push(stack, w, pc, rpc, mask, call):
    top = stack.depth[w]
    if top >= MAX_STACK:
        return False
    stack.stack_pc[top, w] = pc
    stack.stack_rpc[top, w] = rpc
    stack.stack_mask[top, w] = mask
    stack.stack_call[top, w] = call
    stack.stack_wait[top, w] = 0
    stack.depth[w] = top + 1
    return True


@njit
def _open(stack, w, rpc):
    """Make the top wait at `rpc`, unless the entry below it does already; its call depth."""
    top = stack.depth[w] - 1
    call = stack.stack_call[top, w]
    if rpc < 0 or stack.stack_rpc[top, w] == rpc:
        stack.depth[w] = top
    else:
        stack.stack_pc[top, w] = rpc
    return call


@inline
def branch(stack, w, target, following, rpc, taken, active, taken_first):
    """Lanes `taken` of `active` go to `target`, the others to `following`."""
    if taken == 0:
        advance(stack, w, following)
        return UNIFORM
    if taken == active:
        advance(stack, w, target)
        return UNIFORM
    call = _open(stack, w, rpc)
    rest = active & ~taken
    # what is pushed last runs first: the taken path, or the group without the highest lane
    if taken > rest and not taken_first:
        first_pc, first_mask, second_pc, second_mask = target, taken, following, rest
    else:
        first_pc, first_mask, second_pc, second_mask = following, rest, target, taken
    fits = True
    if first_pc != rpc:
        fits = _push(stack, w, first_pc, rpc, first_mask, call)
    if second_pc != rpc:
        fits = fits and _push(stack, w, second_pc, rpc, second_mask, call)
    return DIVERGENT if fits else FULL


@inline
def jump(stack, w, targets, following, rpc, jumping, active):
    """Lanes `jumping` of `active` go to their own `targets`, the others to `following`."""
    rest = active & ~jumping
    first = active
    for lane in range(31, -1, -1):
        if active >> lane & 1:
            first = targets[lane] if jumping >> lane & 1 else following
            break
    uniform = True
    lanes = active
    while lanes:
        lane = ctz(lanes)
        lanes &= lanes - 1
        pc = targets[lane] if jumping >> lane & 1 else following
        if pc != first:
            uniform = False
    if uniform:
        advance(stack, w, first)
        return UNIFORM
    call = _open(stack, w, rpc)
    fits = True
    lanes = active
    for lane in range(31, -1, -1):
        if lanes >> lane & 1:
            pc = targets[lane] if jumping >> lane & 1 else following
            group = 0
            for other in range(lane + 1):
                if lanes >> other & 1:
                    other_pc = following if rest >> other & 1 else targets[other]
                    if other_pc == pc:
                        group |= 1 << other
            lanes &= ~group
            if pc != rpc:
                fits = fits and _push(stack, w, pc, rpc, group, call)
    return DIVERGENT if fits else FULL


@inline
def call(stack, w, target, following, calling):
    """Lanes `calling` enter a function; they return to `following`, where the other lanes wait. False if the stack is
    full."""
    depth = stack.stack_call[stack.depth[w] - 1, w]
    if calling == 0:
        advance(stack, w, following)
        return True
    top = stack.depth[w] - 1
    stack.stack_pc[top, w] = following
    return _push(stack, w, target, -1, calling, depth + 1)


@inline
def invoke(context, stack, w, i, target, calling):
    """Lanes `calling` enter functions; they return to the instruction after i, where the other lanes wait. False, and
    an error in the context, if there is no room."""
    if calling == 0:
        advance(stack, w, i + 1)
        return True
    depth = enter_call(
        context,
        i,
        target,
        calling,
        stack.depth[w],
        stack.stack_pc[:, w],
        stack.stack_rpc[:, w],
        stack.stack_call[:, w],
        stack.stack_wait[:, w],
        stack.waits_since[:, w],
        stack.stack_mask[:, w],
        stack.waiting_lanes[:, w],
    )
    if depth > 0:
        stack.depth[w] = depth
    return depth > 0


@inline
def end_call(context, stack, w):
    """End the last call if all of its lanes have returned or exited; False if there is none."""
    depth = leave_call(
        context,
        stack.depth[w],
        stack.stack_pc[:, w],
        stack.stack_rpc[:, w],
        stack.stack_call[:, w],
        stack.stack_wait[:, w],
        stack.waits_since[:, w],
        stack.stack_mask[:, w],
        stack.waiting_lanes[:, w],
    )
    if depth < 0:
        return False
    stack.depth[w] = depth
    execute(context, ~context.returned_call, context.returned_mask)
    settle(stack, w)
    return True


@njit
def leave(stack, w, leaving, lowest_call):
    """Take lanes out of every entry of a call depth >= `lowest_call`, and pop entries without lanes."""
    top = stack.depth[w] - 1
    for k in range(top, -1, -1):
        if stack.stack_call[k, w] >= lowest_call:
            stack.stack_mask[k, w] &= ~leaving
    while top >= 0 and stack.stack_mask[top, w] == 0:
        top -= 1
    stack.depth[w] = top + 1


@njit
def settle(stack, w):
    """Pop entries that wait at their own reconvergence point (after a pop)."""
    top = stack.depth[w] - 1
    if top >= 0:
        advance(stack, w, stack.stack_pc[top, w])
