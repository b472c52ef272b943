"""What register schemes do to the samples on `gtx980-finereg`: the tables of docs/switching.md. Prints or writes them.

    python benchmarks/switching.py [--write] [--tables samples|unified ...] [--samples NAME ...]

Figures are counters of a deterministic simulator: they do not depend on the machine that this runs on.
"""

import argparse
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


def simulate(name: str, scheme: str) -> Any:
    """The launch of a sample's launch file under a scheme."""
    launch, kernel = sample(name)
    return ptxsim.launch(
        kernel,
        launch.grid,
        launch.block,
        launch.arguments(),
        gpu=GPU,
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


_TABLES = {"samples": (_HEAD, row), "unified": (_UNIFIED_HEAD, unified_row)}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tables", nargs="+", choices=tuple(_TABLES), default=tuple(_TABLES))
    parser.add_argument("--samples", nargs="*", default=[])
    options = parser.parse_args(arguments)
    names = options.samples or sorted(p.parent.name for p in resource_dir("samples").glob("*/launch.toml"))
    for table in options.tables:
        head, line = _TABLES[table]
        rows = []
        for name in names:
            rows.append(line(name))
            print(rows[-1], flush=True)
        if options.write:
            put_tables(PAGE, {table: "\n".join([head, *rows])})


if __name__ == "__main__":
    main(sys.argv[1:])
