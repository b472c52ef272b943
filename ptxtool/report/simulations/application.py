"""A run of an application as a table of its kernels."""

from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted
from ptxtool.report.tables import Part, head, table
from ptxtool.results.applications import ApplicationRun

_TIMED = head("kernel:bold | >launches | >warp instructions | >cycles | >time | >share")
_REWRITTEN = head("kernel:bold | >threads of a CTA | >before | >after:bold")
_UNTIMED = head("kernel:bold | >launches | >warp instructions | >share")


def application_parts(run: ApplicationRun) -> list[Part]:
    """A line for every kernel, then the calls that are not implemented."""
    n = len(run.launches)
    where = f"on {run.gpu}" if run.timed else "without time"
    title = f"{' '.join(run.command)}: {counted(n, 'launch', 'launches')} {where}, exit status {run.status}"
    if not run.processes:
        return [f"{title}; no CUDA call was made"]
    rows = []
    for kernel in run.kernels:
        counts = [kernel.launches, kernel.warp_instructions]
        if run.timed:
            counts += [kernel.cycles]
        time = [_duration(kernel.seconds)] if run.timed else []
        rows.append((shown_name(kernel.kernel), *counts, *time, f"{kernel.share:.1%}"))
    parts: list[Part] = [table(_TIMED if run.timed else _UNTIMED, rows, title) if rows else title]
    failed = sum(kernel.failed for kernel in run.kernels)
    findings = sum(kernel.findings for kernel in run.kernels)
    if failed:
        parts.append(f"failed: {counted(failed, 'launch', 'launches')}")
    if findings:
        parts.append(f"found by the checks: {counted(findings, 'fault')}")
    outside = sum(kernel.out_of_bounds for kernel in run.kernels)
    if outside:
        parts.append(f"outside of all allocations: {counted(outside, 'access', 'accesses')}")
    if run.rewritten:
        shown = [
            (
                shown_name(each.kernel),
                each.threads or "any",
                each.registers_before,
                f"as it was ({each.refused})" if each.refused else each.registers_after,
            )
            for each in run.rewritten
        ]
        parts += ["", table(_REWRITTEN, shown, f"registers per thread before and after {run.passes}")]
    if run.recording:
        sizes = f"{_size(run.recording.file_bytes)} for {_size(run.recording.content_bytes)} of memory"
        what = counted(run.recording.launches, "launch", "launches")
        parts.append(f"recorded: {what} in {run.recording.folder}, {sizes}")
    if run.missing:
        parts.append(f"not implemented: {', '.join(run.missing)}")
    return parts


def _size(n_bytes: int) -> str:
    """Bytes with a unit: `12.3 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} B"


def _duration(seconds: float) -> str:
    """Simulated time with its unit: `12.3 us`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
