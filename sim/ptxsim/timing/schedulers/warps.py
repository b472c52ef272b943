"""Questions of policies: which warps can run, which was launched first, which is first by its class."""

from ptxsim.base.jit import ctz, njit


@njit
def runnable(sm):
    """Mask of the resident warps that have not exited and wait for no barrier, fence, copy, atomic or lock.

    With warps that wait for a lock in the mask, a policy that looks at a few warps only could wait for ever: the holder
    of the lock may not be among them.
    """
    return sm.resident & ~(
        sm.finishing | sm.at_barrier | sm.in_membar | sm.in_wait | sm.in_atomic | sm.lock_wait
    )


@njit
def oldest(sm, warps):
    """The warp of a mask that was launched first."""
    w = ctz(warps)
    rest = warps & (warps - 1)
    while rest:
        other = ctz(rest)
        rest &= rest - 1
        if sm.dynamic_id[other] < sm.dynamic_id[w]:
            w = other
    return w


@njit
def first_of_class(sm, warps):
    """The warp of a mask with the best class (owner, unshared, non-owner), of these the one launched first."""
    w = ctz(warps)
    rest = warps & (warps - 1)
    while rest:
        other = ctz(rest)
        rest &= rest - 1
        better = sm.warp_class[other] - sm.warp_class[w]
        if better < 0 or (better == 0 and sm.dynamic_id[other] < sm.dynamic_id[w]):
            w = other
    return w
