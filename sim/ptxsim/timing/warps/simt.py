"""SIMT stack: where a warp's lanes are, and where they meet again (timing-model section 1.7).

Entries hold a PC, a reconvergence PC (-1: the end of the function), a lane mask and the call depth. A divergent
instruction turns the top into the entry that waits at the reconvergence point and pushes one entry per distinct
target; the group that does not hold the highest lane runs first, or the taken path of a branch. All PCs are
instruction indices.
"""

from ptxsim.base.jit import bit, ctz, inline, njit
from ptxsim.base.program import MAX_STACK
from ptxsim.execute.calls import enter_call, lanes_aside, leave_call
from ptxsim.execute.micro_operations import execute


@inline
def start(sm, w, mask):
    """The stack of a fresh warp: one entry at instruction 0."""
    sm.depth[w] = 1
    sm.stack_pc[0, w] = 0
    sm.stack_rpc[0, w] = -1
    sm.stack_mask[0, w] = mask
    sm.stack_call[0, w] = 0
    sm.stack_wait[0, w] = 0


@inline
def advance(sm, w, pc):
    """All lanes of the top go to `pc`; entries at their reconvergence point are left, unless they wait."""
    top = sm.depth[w] - 1
    sm.stack_pc[top, w] = pc
    while (
        top > 0
        and sm.stack_rpc[top, w] >= 0
        and sm.stack_pc[top, w] == sm.stack_rpc[top, w]
        and sm.stack_wait[top, w] == 0
    ):
        top -= 1
    sm.depth[w] = top + 1


@njit
def live_lanes(run, sm, x, w):
    """The lanes of a warp that have not exited."""
    lanes = bit(0) & 0
    if x.call_words:
        lanes |= lanes_aside(x, sm.index * run.contexts + sm.context[w])
    for k in range(sm.depth[w]):
        lanes |= sm.stack_mask[k, w]
    return lanes


@inline
def wait(sm, w, number, i, mask, divergent):
    """The top waits at barrier `number`, of instruction i; with a part of the warp, the next of its level goes on."""
    top = sm.depth[w] - 1
    sm.stack_pc[top, w] = i + 1
    sm.stack_wait[top, w] = number + 1
    sm.waits_since[top, w] = i
    sm.waiting_lanes[top, w] = mask
    k = top - 1
    while divergent and k >= 0 and sm.stack_rpc[k, w] == sm.stack_rpc[top, w]:
        if sm.stack_call[k, w] != sm.stack_call[top, w]:
            return
        if sm.stack_wait[k, w] == 0:
            _swap(sm, w, k, top)
            sm.inner_wait |= bit(w)
            return
        k -= 1


@inline
def _swap(sm, w, k, top):
    """Two entries of one level change places."""
    for column in (sm.stack_pc, sm.stack_wait, sm.waits_since):
        column[k, w], column[top, w] = column[top, w], column[k, w]
    for lanes in (sm.stack_mask, sm.waiting_lanes):
        lanes[k, w], lanes[top, w] = lanes[top, w], lanes[k, w]


@njit
def _push(sm, w, pc, rpc, mask, call):
    top = sm.depth[w]
    if top >= MAX_STACK:
        return False
    sm.stack_pc[top, w] = pc
    sm.stack_rpc[top, w] = rpc
    sm.stack_mask[top, w] = mask
    sm.stack_call[top, w] = call
    sm.stack_wait[top, w] = 0
    sm.depth[w] = top + 1
    return True


@njit
def _open(sm, w, rpc):
    """Make the top wait at `rpc`, unless the entry below it does already; its call depth."""
    top = sm.depth[w] - 1
    call = sm.stack_call[top, w]
    if rpc < 0 or sm.stack_rpc[top, w] == rpc:
        sm.depth[w] = top
    else:
        sm.stack_pc[top, w] = rpc
    return call


@inline
def branch(sm, w, target, following, rpc, taken, active, taken_first):
    """Lanes `taken` of `active` go to `target`, the others to `following`. False if the stack is full."""
    if taken == 0:
        advance(sm, w, following)
        return True
    if taken == active:
        advance(sm, w, target)
        return True
    sm.divergent_branches += 1
    call = _open(sm, w, rpc)
    rest = active & ~taken
    # what is pushed last runs first: the taken path, or the group without the highest lane
    if taken > rest and not taken_first:
        first_pc, first_mask, second_pc, second_mask = target, taken, following, rest
    else:
        first_pc, first_mask, second_pc, second_mask = following, rest, target, taken
    fits = True
    if first_pc != rpc:
        fits = _push(sm, w, first_pc, rpc, first_mask, call)
    if second_pc != rpc:
        fits = fits and _push(sm, w, second_pc, rpc, second_mask, call)
    return fits


@inline
def jump(sm, w, targets, following, rpc, jumping, active):
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
        advance(sm, w, first)
        return True
    sm.divergent_branches += 1
    call = _open(sm, w, rpc)
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
                fits = fits and _push(sm, w, pc, rpc, group, call)
    return fits


@inline
def call(sm, w, target, following, calling):
    """Lanes `calling` enter a function; they come back to `following`, where the other lanes wait."""
    depth = sm.stack_call[sm.depth[w] - 1, w]
    if calling == 0:
        advance(sm, w, following)
        return True
    top = sm.depth[w] - 1
    sm.stack_pc[top, w] = following
    return _push(sm, w, target, -1, calling, depth + 1)


@inline
def invoke(x, sm, w, i, target, calling):
    """Lanes `calling` enter functions; they come back behind instruction i, where the other lanes wait."""
    if calling == 0:
        advance(sm, w, i + 1)
        return True
    depth = enter_call(
        x,
        i,
        target,
        calling,
        sm.depth[w],
        sm.stack_pc[:, w],
        sm.stack_rpc[:, w],
        sm.stack_call[:, w],
        sm.stack_wait[:, w],
        sm.waits_since[:, w],
        sm.stack_mask[:, w],
        sm.waiting_lanes[:, w],
    )
    if depth > 0:
        sm.depth[w] = depth
    return depth > 0


@inline
def come_back(x, sm, w):
    """End the calls of which all lanes have come back or exited."""
    while True:
        depth = leave_call(
            x,
            sm.depth[w],
            sm.stack_pc[:, w],
            sm.stack_rpc[:, w],
            sm.stack_call[:, w],
            sm.stack_wait[:, w],
            sm.waits_since[:, w],
            sm.stack_mask[:, w],
            sm.waiting_lanes[:, w],
        )
        if depth < 0:
            return
        sm.depth[w] = depth
        execute(x, ~x.returned_call, x.returned_mask)
        settle(sm, w)


@njit
def leave(sm, w, leaving, lowest_call):
    """Take lanes out of every entry of a call depth >= `lowest_call`, and drop empty entries from the top."""
    top = sm.depth[w] - 1
    for k in range(top, -1, -1):
        if sm.stack_call[k, w] >= lowest_call:
            sm.stack_mask[k, w] &= ~leaving
    while top >= 0 and sm.stack_mask[top, w] == 0:
        top -= 1
    sm.depth[w] = top + 1


@njit
def settle(sm, w):
    """Leave entries that wait at their own reconvergence point (after a pop)."""
    top = sm.depth[w] - 1
    if top >= 0:
        advance(sm, w, sm.stack_pc[top, w])
