"""Owner warps first, greedy within a class: of the best class the warp that issued last, else the one launched first.

`owf` with the greed of `gto`: the other side of a choice of timing-model section 2. Without sharing it is `gto`.

sm.policy[scheduler, 0]: the greedy warp, initially slot 0.
"""

from ptxsim.base.jit import bit
from ptxsim.timing.schedulers.warps import first_of_class


def pick(sm, scheduler, candidates):
    w = first_of_class(sm, candidates)
    greedy = sm.policy[scheduler, 0]
    if candidates & bit(greedy) and sm.warp_class[greedy] == sm.warp_class[w]:
        return greedy
    sm.policy[scheduler, 0] = w
    return w
