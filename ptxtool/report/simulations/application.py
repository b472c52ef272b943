"""A run of an application as a table of its kernels."""

from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted
from ptxtool.report.tables import Part, head, table
from ptxtool.results.applications import ApplicationRun, KernelSums

_TIMED = head("kernel:bold | >launches | >warp instructions | >cycles | >time | >share")
_REWRITTEN = head("kernel:bold | >threads of a CTA | >before | >after:bold")
_SAMPLED = head(
    "kernel:bold | >launches | >simulated | >warp instructions | >cycles | >time | >share | >error"
)
_UNTIMED = head("kernel:bold | >launches | >warp instructions | >share")


def application_parts(run: ApplicationRun) -> list[Part]:
    """A line for every kernel, then the calls that are not implemented."""
    n = len(run.launches)
    where = f"on {run.gpu}" if run.timed else "without time"
    title = f"{' '.join(run.command)}: {counted(n, 'launch', 'launches')} {where}, exit status {run.status}"
    if not run.processes:
        return [f"{title}; no CUDA call was made"]
    is_sampled = run.sim_launches is not None
    rows = [_row(kernel, run.timed, is_sampled) for kernel in run.kernels]
    columns = _SAMPLED if is_sampled else _TIMED if run.timed else _UNTIMED
    parts: list[Part] = [table(columns, rows, title) if rows else title]
    if is_sampled and rows:
        parts.append(_estimates(run))
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


def _row(kernel: KernelSums, timed: bool, is_sampled: bool) -> tuple[object, ...]:
    name, instructions, share = shown_name(kernel.kernel), kernel.warp_instructions, f"{kernel.share:.1%}"
    if not timed:
        return name, kernel.launches, instructions, share
    figures = instructions, kernel.cycles, _duration(kernel.seconds), share
    if not is_sampled:
        return name, kernel.launches, *figures
    error = "" if not kernel.estimated else "unknown" if kernel.error is None else f"{kernel.error:.1%}"
    return name, kernel.launches, kernel.simulated, *figures, error


def _estimates(run: ApplicationRun) -> str:
    """How much of the time is estimated, and how well."""
    n_simulated = sum(kernel.simulated for kernel in run.kernels)
    n_estimated = sum(kernel.estimated for kernel in run.kernels)
    seconds = sum(launch.seconds for launch in run.launches)
    estimated = sum(kernel.estimated_seconds for kernel in run.kernels)
    share = estimated / seconds if seconds else 0.0
    text = f"simulated: {n_simulated}; estimated: {n_estimated}, {share:.1%} of the time"
    if n_estimated:
        error = "unknown" if run.error is None else f"{run.error:.1%}"
        text += f", error of all together {error}"
        largest = max((k.largest_error for k in run.kernels if k.largest_error is not None), default=None)
        text += "" if largest is None else f", of one launch at most {largest:.1%}"
    untimed = sum(not launch.cycles and not launch.error for launch in run.launches)
    if untimed:
        text += (
            f"; {counted(untimed, 'launch', 'launches')} without time, as none of the kernel was simulated"
        )
    return text


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
