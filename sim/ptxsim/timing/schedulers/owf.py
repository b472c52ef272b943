"""Owner warps first: owners, then unshared warps, then non-owners; within a class the one launched first.

Jatala et al., register sharing, section 5.1; timing-model section 2. Not greedy: that is `owf_greedy`.
"""

from ptxsim.timing.schedulers.warps import first_of_class


def pick(sm, scheduler, candidates):
    return first_of_class(sm, candidates)
