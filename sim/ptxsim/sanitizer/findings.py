"""The table of findings, as compiled code fills it in; `reports.py` turns it into diagnostics."""

from ptxsim.base.jit import array_of, njit, record_type, types
from ptxsim.sanitizer import shadow_state as state

_C, _REPORTS = record_type(state.CHECKS), array_of(state.REPORT)
_INT = types.int64


@njit(types.int64(_C, _REPORTS, *[_INT] * 3, types.uint64, *[_INT] * 4))
def report(checks, reports, kind, at, thread, address, space, other, other_thread, count):
    """Note a finding; the same one at the same place again only counts. The number of a new report, or -1."""
    for k in range(checks.n_reports):
        r = reports[k]
        if r.other >= 0 and other >= 0:  # a race in either order is one
            same = (r.at == at and r.other == other) or (r.at == other and r.other == at)
        else:
            same = r.kind == kind and r.at == at
            same &= kind != state.UNWRITTEN_REGISTER or r.address == address
        if same:
            r.count += count
            return -1
    if checks.n_reports == state.MAX_REPORTS:
        checks.lost_reports += 1
        return -1
    r = reports[checks.n_reports]
    checks.n_reports += 1
    r.kind, r.at, r.thread, r.cta, r.other_cta = kind, at, thread, checks.cta, checks.cta
    r.address, r.space, r.other, r.other_thread, r.count = address, space, other, other_thread, count
    return checks.n_reports - 1
