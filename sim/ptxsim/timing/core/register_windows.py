"""How many registers the warps of an SM access within WINDOW instructions.

In a run that counts hotspots. A window is WINDOW warp instructions that an SM issues one after the other; the next one
begins after it. Counted are registers of warps, 32 lanes each: those that the instructions of the window name, each
once, as a share of the registers of the warps that are in the pipeline at its end or have issued in it. A place that
a warp leaves and another one takes within a window counts once. Windows that a run does not fill are left out.

Y. Oh et al., "FineReg", MICRO 2018, section III.B and Figure 5: windows of 1000 instructions.
"""

from ptxsim.base.jit import ctz, flat_i64, njit, popcount

WINDOW = 1000
MILLION = 1_000_000
"""Shares are in millionths."""
ISSUED, WINDOWS, SUM, LEAST, MOST = range(5)
"""Of an SM: instructions of the window so far, windows, and of their shares the sum, the least and the most."""
N_COUNTS = 5


@njit
def note_registers(run, sm, h, i, w):
    """Warp w has issued instruction i. The lowest bit of each set of `h.accesses` says that its warp has issued."""
    words = h.access_words
    sets = flat_i64(h.accesses, run.n_instructions * words)
    accessed = flat_i64(h.accessed, run.n_sms * run.contexts * words)
    counts = flat_i64(h.windows, run.n_sms * N_COUNTS)
    mine, first = (sm.index * run.contexts + sm.context[w]) * words, sm.index * N_COUNTS
    for k in range(words):
        accessed[mine + k] |= sets[i * words + k]
    counts[first + ISSUED] += 1
    if counts[first + ISSUED] < WINDOW:
        return
    share = _share(run, sm, h, accessed)
    if counts[first + WINDOWS] == 0 or share < counts[first + LEAST]:
        counts[first + LEAST] = share
    counts[first + MOST] = max(counts[first + MOST], share)
    counts[first + SUM] += share
    counts[first + WINDOWS] += 1
    counts[first + ISSUED] = 0


@njit
def _share(run, sm, h, accessed):
    """The share of the window that ends, whose sets are cleared."""
    words = h.access_words
    base = sm.index * run.contexts * words
    warps, n = 0, 0
    left = sm.resident
    while left:
        at = base + sm.context[ctz(left)] * words
        left &= left - 1
        warps += 1 - (accessed[at] & 1)
    for at in range(base, base + run.contexts * words, words):
        if accessed[at] & 1:
            warps += 1
            n -= 1
            for k in range(at, at + words):
                n += popcount(accessed[k])
                accessed[k] = 0
    return n * MILLION // (warps * h.thread_registers)
