"""What register schemes do to the samples on `gtx980-finereg`: the tables of docs/switching.md. Prints or writes them.

    python benchmarks/switching.py [--write] [--tables samples|unified|half|stalls ...] [--samples NAME ...]

Figures are counters of a deterministic simulator: they do not depend on the machine that this runs on.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "helpers"))

from kernels import sample  # noqa: E402
from page_tables import put_tables  # noqa: E402

import ptxsim  # noqa: E402
from ptxtool.base.resources import resource_dir  # noqa: E402
from ptxtool.formats.gpu import load_gpu  # noqa: E402
from ptxtool.formats.settings import with_settings  # noqa: E402
from ptxtool.sweep.reproduction.finereg.paper import paper  # noqa: E402

PAGE = CHECKOUT / "docs" / "switching.md"
GPU = "gtx980-finereg"
_HEAD = (
    "| sample | cycles | CTAs | Virtual Thread: cycles | CTAs active, resident | switches "
    "| FineReg: cycles | CTAs active, resident | switches | depletion | PCRF |\n"
    f"|---|{'---:|' * 10}"
)
_UNIFIED = ("unified", "virtual-thread-unified", "finereg-unified")
_UNIFIED_HEAD = (
    "| sample | cycles | CTAs |" + "".join(f" `{scheme}` | CTAs | L1 ways |" for scheme in _UNIFIED) + "\n"
    f"|---|{'---:|' * 11}"
)


def simulate(name: str, scheme: str, *settings: str) -> Any:
    """The launch of a sample's launch file under a scheme, on the machine with other settings."""
    launch, kernel = sample(name)
    return ptxsim.launch(
        kernel,
        launch.grid,
        launch.block,
        launch.arguments(),
        gpu=with_settings(load_gpu(GPU), settings),
        registers=launch.registers,
        dynamic_shared=launch.dynamic_shared,
        scheme=scheme,
    )


def _cells(result: Any, before: int) -> list[str]:
    """Cycles and the change against a run without switching; average CTAs, and switches."""
    found = result.switching
    return [
        f"{result.cycles} ({result.cycles / before - 1:+.1%})",
        f"{found.active_average:.1f}, {found.resident_average:.1f}",
        f"{found.switches}",
    ]


def row(name: str) -> str:
    """A line of the table."""
    without, thread, fine = (simulate(name, scheme) for scheme in ("none", "virtual-thread", "finereg"))
    cells = [name, f"{without.cycles}", f"{without.resident_ctas}"]
    cells += [*_cells(thread, without.cycles), *_cells(fine, without.cycles)]
    stalled = fine.switching.depletion_cycles / (fine.cycles * fine.n_sms)
    cells += [f"{stalled:.1%}", f"{fine.switching.pcrf_most}"]
    return f"| {' | '.join(cells)} |"


def unified_row(name: str) -> str:
    """A line of the table of unified memory."""
    without = simulate(name, "none")
    cells = [name, f"{without.cycles}", f"{without.resident_ctas}"]
    for scheme in _UNIFIED:
        found = simulate(name, scheme)
        ctas = f"{found.switching.resident_average:.1f}" if found.switching else f"{found.resident_ctas}"
        change = f"{found.cycles} ({found.cycles / without.cycles - 1:+.1%})"
        cells += [change, ctas, f"{found.unified.l1_ways}"]
    return f"| {' | '.join(cells)} |"


def half_row(name: str) -> str:
    """A line of the table of half the registers: cycles against those with the whole file."""
    whole = simulate(name, "none").cycles
    by_name = ("release-by-name", "switching.physical_registers=32768")
    cells = [simulate(name, *run).cycles / whole - 1 for run in (("none", "sm.registers=32768"), by_name)]
    return f"| {name} | {' | '.join(f'{cell:+.1%}' for cell in cells)} |"


def stalls_row(name: str) -> tuple[str, list[float]]:
    """A line of the table of first stalls, and how many times its two are off (0: none stalled)."""
    application = next(each for each in paper().application if name in each.samples)
    ctas = simulate(name, "none").resident_ctas
    cells, distances = [application.name, name, f"{application.cycles_to_stall}"], []
    for refused in ("true", "false"):
        settings = (f"switching.ctas={ctas}", f"switching.refused_is_stalled={refused}")
        first = simulate(name, "virtual-thread", *settings).switching.cycles_to_first_stall
        times = first / application.cycles_to_stall if first else 0.0
        cells.append(f"{first:.0f} ({times - 1:+.0%})" if first else "none")
        distances.append(max(times, 1 / times) if times else 0.0)
    return f"| {' | '.join(cells)} |", distances


def stalls_table(names: Sequence[str]) -> list[str]:
    """The table of first stalls, the geometric mean of the distances below."""
    rows, distances = zip(*(stalls_row(name) for name in names), strict=True)
    means = []
    for column in zip(*distances, strict=True):
        found = [math.log(each) for each in column if each]
        near = sum(each <= math.log(1.25) for each in found)
        means.append(f"{math.exp(sum(found) / len(found)):.1f} times off, {near} of {len(found)} within 25%")
    return [*rows, f"| | geometric mean | | {' | '.join(means)} |"]


_HEADS = {
    "samples": _HEAD,
    "unified": _UNIFIED_HEAD,
    "half": "| half of the registers | `none` (`sm.registers=32768`) | `release-by-name` |\n|---|---:|---:|",
    "stalls": (
        "| application | sample | Table III | refused warps stalled | refused warps not stalled |\n"
        f"|---|---|{'---:|' * 3}"
    ),
}
_ROWS = {"samples": row, "unified": unified_row, "half": half_row}


def table(kind: str, chosen: Sequence[str]) -> list[str]:
    """The lines of a table for some samples, by default for all that it is about."""
    if kind == "stalls":
        stand_ins = [name for each in paper().application for name in each.samples]
        return stalls_table(chosen or stand_ins)
    names = chosen or sorted(p.parent.name for p in resource_dir("samples").glob("*/launch.toml"))
    return [_ROWS[kind](name) for name in names]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tables", nargs="+", choices=tuple(_HEADS), default=tuple(_HEADS))
    parser.add_argument("--samples", nargs="*", default=[])
    options = parser.parse_args(arguments)
    for kind in options.tables:
        lines = "\n".join([_HEADS[kind], *table(kind, options.samples)])
        print(lines, flush=True)
        if options.write:
            put_tables(PAGE, {kind: lines})


if __name__ == "__main__":
    main(sys.argv[1:])
