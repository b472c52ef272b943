"""The simulator against what it was built from: the tables of docs/accuracy.md. Prints them, or writes them there.

    python benchmarks/accuracy.py [--write] [--only figures|runs|modern|streams] [--launches NAME ...]

The first tables are the micro-kernels of `tests/microkernels`, expected against measured. The others are the reference
kernels, as GPGPU-Sim 4.2 ran them and as `gpgpusim42-c2050` does, and the same on machines from Kepler on, read from
their configuration files; they need the recorded runs beside the checkout (`../shared`), and stay as they are in the
page without them. Figures are counters of a deterministic simulator: they do not depend on the machine that this runs
on.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / folder) for folder in ("tests", "tests/helpers", "benchmarks")]

from microkernels import C2050, GPGPUSIM42, VOLTA_MEMORY, Case  # noqa: E402
from microkernels.case import shown  # noqa: E402
from modern_runs import (  # noqa: E402
    COUNTERS,
    EXACT,
    modern_runs,
    simulate_modern,
    simulate_streams,
    stream_policy,
    stream_runs,
)
from page_tables import put_tables  # noqa: E402
from reference_kernels import recorded_runs, simulate_recorded  # noqa: E402

from ptxtool.formats.gpu import Gpu, load_gpu  # noqa: E402
from ptxtool.formats.gpu_names import DEFAULT_GPU  # noqa: E402

PAGE = CHECKOUT / "docs" / "accuracy.md"
SHARED = CHECKOUT.parent / "shared"

SCHEDULERS = {"lrr": "lrr", "gto": "gto", "two_level": "two_level:6"}
_MACHINES: dict[str, Callable[[Gpu], Gpu]] = {
    "": lambda gpu: gpu,
    "2xregs": lambda gpu: gpu.with_sm(registers=65536),
    "2xshared": lambda gpu: gpu.with_sm(scratchpad_bytes=98304),
    "16K-shared": lambda gpu: gpu.with_sm(scratchpad_bytes=16384),
    "32K-shared": lambda gpu: gpu.with_sm(scratchpad_bytes=32768),
}
"""What the names of recorded configurations (C2050-SCHEDULER[-CHANGE]) say."""


def table(header: Sequence[str], rows: Iterable[Sequence[object]], right: int = 1) -> str:
    """A Markdown table; columns from `right` on are numbers."""
    lines = [header, ["---" if k < right else "---:" for k in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def figures(cases: Sequence[Case]) -> str:
    """Expected against measured, one line a case."""
    rows = [(c.row, c.what, c.expected, shown(c.measure()), c.why) for c in cases]
    head = ("row" if cases is C2050 else "section", "what", "expected", "measured", "why not exactly")
    return table(head, rows, 5)


def configuration(name: str) -> tuple[str, str]:
    """The scheduler and the change of a recorded configuration."""
    scheduler, _, change = name.removeprefix("C2050-").partition("-")
    return scheduler, change


def title(config: str) -> str:
    """A recorded configuration as the page names it."""
    scheduler, change = configuration(config)
    return ", ".join(
        filter(None, (SCHEDULERS[scheduler], change.replace("2x", "twice the ").replace("-", " ")))
    )


def simulate(row: dict[str, Any]) -> Any:
    """Run a recorded launch on the machine of its configuration."""
    scheduler, change = configuration(row["config"])
    machine = _MACHINES[change](load_gpu("gpgpusim42-c2050"))
    return simulate_recorded(SHARED, row, gpu=machine, scheduler=SCHEDULERS[scheduler])


def _percent(ours: float, theirs: float) -> str:
    return f"{(ours / theirs - 1) * 100:+.1f}%" if theirs else "0" if not ours else f"+{ours:g}"


def is_kernel(launch: str) -> bool:
    """False for the launches of one kernel with other numbers of warps."""
    return re.search(r"_w\d+", launch) is None


def _summary(name: str, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> tuple[object, ...]:
    errors = np.array([ours["cycles"] / theirs["cycles"] - 1 for theirs, ours in pairs])
    correlation = np.corrcoef([[p[k]["gpu_ipc"] for p in pairs] for k in (0, 1)])[0, 1]
    worst = int(np.argmax(np.abs(errors)))

    def furthest(counter: str) -> str:
        found = [ours[counter] / theirs[counter] - 1 for theirs, ours in pairs if theirs[counter]]
        return f"{100 * max(found, key=abs):+.1f}%" if found else "-"

    def equal(counter: str) -> str:
        return f"{sum(t[counter] == o[counter] for t, o in pairs)} of {len(pairs)}"

    return (
        name,
        f"{100 * np.abs(errors).mean():.1f}%",
        f"{100 * errors[worst]:+.1f}% ({pairs[worst][0]['launch']})",
        f"{correlation:.4f}",
        equal("warp_insn"),
        equal("max_ctas_per_core"),
        furthest("l1d_accesses"),
        furthest("l2_accesses"),
    )


_CYCLES = ("cycles", "gpu_ipc", "max_ctas_per_core", "sched_stall", "sched_w0_idle", "sched_w0_scoreboard")
_CACHES = ("l1d_accesses", "l1d_misses", "l2_accesses", "l2_misses")


def _value(name: str, row: dict[str, Any]) -> str:
    return f"{row[name]:.1f}" if name == "gpu_ipc" else f"{row[name]:.0f}"


def _runs_table(pairs: list[tuple[dict[str, Any], dict[str, Any]]], names: Sequence[str]) -> str:
    titles = {"gpu_ipc": "thread IPC", "max_ctas_per_core": "CTAs"}
    head = ["launch"]
    for name in names:
        column = titles.get(
            name, name.removeprefix("sched_").replace("_", " ").replace("l1d", "L1D").replace("l2", "L2")
        )
        head += [column, "ours"] + (["error"] if name == "cycles" else [])
    rows = []
    for theirs, ours in pairs:
        row = [theirs["launch"]]
        for name in names:
            row += [_value(name, theirs), _value(name, ours)]
            row += [_percent(ours[name], theirs[name])] if name == "cycles" else []
        rows.append(row)
    return table(head, rows)


def runs(names: Sequence[str]) -> str:
    """The recorded runs, theirs against ours: a summary, then two tables for each configuration."""
    found: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for row in recorded_runs(SHARED):
        if not names or row["launch"] in names:
            ours = simulate(row).stats
            found.setdefault(row["config"], []).append((row, ours))
            print(
                f"{row['config']} {row['launch']} {_percent(ours['cycles'], row['cycles'])}", file=sys.stderr
            )
    ordered = sorted(found, key=lambda c: (configuration(c)[1], list(SCHEDULERS).index(configuration(c)[0])))
    summary: list[tuple[object, ...]] = []
    for config in ordered:
        kernels = [pair for pair in found[config] if is_kernel(pair[0]["launch"])]
        if len(kernels) > 1:
            summary.append(_summary(f"{title(config)}, {len(kernels)} launches", kernels))
        if len(kernels) < len(found[config]):
            summary.append(_summary(f"{title(config)}, all {len(found[config])} launches", found[config]))
    parts = [
        table(
            (
                "runs",
                "mean error of cycles",
                "largest",
                "correlation of IPC",
                "instructions equal",
                "CTAs equal",
                "L1D accesses, furthest",
                "L2 accesses, furthest",
            ),
            summary,
        )
    ]
    for config in ordered:
        parts += [
            f"### {title(config)}",
            _runs_table(found[config], _CYCLES),
            _runs_table(found[config], _CACHES),
        ]
    return "\n\n".join(parts)


def _mean_and_worst(errors: Any, names: Sequence[str]) -> tuple[str, str]:
    worst = int(np.argmax(np.abs(errors)))
    return f"{100 * np.abs(errors).mean():.1f}%", f"{100 * errors[worst]:+.1f}% ({names[worst]})"


def _near(pairs: list[tuple[dict[str, Any], dict[str, Any]]], counter: str) -> str:
    """In how many runs a counter is within 10%; equal where it is 0 there."""
    near = sum(abs(ours[counter] - theirs[counter]) <= 0.1 * theirs[counter] for theirs, ours in pairs)
    return f"{near} of {len(pairs)}"


def modern_summary(config: str, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> tuple[object, ...]:
    """A machine's row: errors of cycles and IPC, counters that are equal, and counters that are near."""
    errors = np.array([ours["cycles"] / theirs["cycles"] - 1 for theirs, ours in pairs])
    ipc = [[float(p[k]["thread_insn"]) / p[k]["cycles"] for p in pairs] for k in (0, 1)]
    equal = sum(all(theirs[name] == ours[name] for name in EXACT) for theirs, ours in pairs)
    return (
        f"{config}, {len(pairs)} launches",
        *_mean_and_worst(errors, [theirs["launch"] for theirs, _ in pairs]),
        f"{np.corrcoef(ipc)[0, 1]:.4f}" if len(pairs) > 2 else "-",
        f"{equal} of {len(pairs)}",
        *(_near(pairs, counter) for counter in COUNTERS),
    )


def modern(names: Sequence[str], configs: Sequence[str]) -> str:
    """The recorded runs of machines from Kepler on: a summary of each machine, then its launches."""
    found: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for row in modern_runs(SHARED):
        if (not names or row["launch"] in names) and (not configs or row["config"] in configs):
            ours = simulate_modern(SHARED, row).stats
            found.setdefault(row["config"], []).append((row, ours))
            error = _percent(ours["cycles"], row["cycles"])
            print(f"{row['config']} {row['launch']} {error}", file=sys.stderr)
    within = [
        f"{counter.replace('_', ' ').replace('l1d', 'L1D').replace('l2', 'L2')}" for counter in COUNTERS
    ]
    head = (
        "machine",
        "mean error of cycles",
        "largest",
        "correlation of IPC",
        "instructions and CTAs equal",
        *within,
    )
    parts = [table(head, [modern_summary(config, pairs) for config, pairs in found.items()])]
    for config, pairs in found.items():
        parts += [f"### {config}", _runs_table(pairs, ("cycles", *COUNTERS))]
    return "\n\n".join(parts)


def streams() -> str:
    """Launches at the same time: the cycle in which each ends."""
    rows = []
    for row in stream_runs():
        ours = [launch.end_cycle for launch in simulate_streams(SHARED, row).launches]
        theirs = [kernel["done_cycle"] for kernel in row["kernels"]]
        ends = [f"{t} ({_percent(o, t)})" for o, t in zip(ours, theirs, strict=True)]
        rows.append(
            (
                " + ".join(row["launches"]),
                stream_policy(row),
                ", ".join(ends),
                _percent(max(ours), max(theirs)),
            )
        )
    return table(("launches", "SMs", "ends in GPGPU-Sim (ours)", "the last one"), rows, 3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the tables into docs/accuracy.md")
    parser.add_argument("--only", choices=("figures", "runs", "modern", "streams"), help="one kind of tables")
    parser.add_argument(
        "--launches", nargs="+", default=(), help="of the recorded ones only these; not with --write"
    )
    parser.add_argument(
        "--machines", nargs="+", default=(), help="of those from Kepler on only these; not with --write"
    )
    options = parser.parse_args()
    if options.write and (options.launches or options.machines):
        parser.error("--write needs all launches")
    made: dict[str, str] = {}
    if options.only in (None, "figures"):
        made |= {DEFAULT_GPU: figures(C2050), "gpgpusim42-c2050": figures(GPGPUSIM42)}
        made |= {"volta-memory": figures(VOLTA_MEMORY)}
    if options.only != "figures":
        if SHARED.is_dir():
            if options.only in (None, "runs"):
                made["runs"] = runs(options.launches)
            if options.only in (None, "modern"):
                made["modern"] = modern(options.launches, options.machines)
            if options.only in (None, "streams"):
                made["streams"] = streams()
        else:
            print(f"no recorded runs: {SHARED} is not there", file=sys.stderr)
    if not options.write:
        print("\n\n".join(made.values()))
        return
    put_tables(PAGE, made)


if __name__ == "__main__":
    main()
