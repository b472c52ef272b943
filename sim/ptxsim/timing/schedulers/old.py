"""Oldest first: always the candidate launched first (timing-model section 2: `owf` without sharing; GPGPU-Sim's `old`).

Unlike `gto` it leaves a warp as soon as an older one can issue.
"""

from ptxsim.timing.schedulers.warps import oldest


def pick(sm, scheduler, candidates):
    return oldest(sm, candidates)
