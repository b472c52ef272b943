"""Make experiments of the papers and put their tables into docs/reproduction.md, reproduction-finereg.md (with all
numbers as CSV beside it) and benchmarks-of-the-papers.md.

Those on resource sharing have a table of what explains their results (`reproduce --explain`). Those of `schemes` go
into docs/reproduction-schemes.md, and every number of theirs into the CSV beside it.

    python benchmarks/write_reproduction.py [EXPERIMENT...] [--kernels NAME ...] [--jobs N] [--stores FOLDER]

Without a name all are made; `--kernels` are those of `schemes`, by default all. Runs that the stores have
(FOLDER/EXPERIMENT.db; default: the current folder) are not made again. Prints how long it took.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "benchmarks"))

from page_tables import put_tables  # noqa: E402

from ptxtool import api  # noqa: E402
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Reproduction  # noqa: E402
from ptxtool.sweep.reproduction.experiments import EXPERIMENTS, FINEREG, SCHEMES  # noqa: E402
from ptxtool.sweep.reproduction.papers import SHARING, paper  # noqa: E402

SHARING_SHOWN = (
    *("gain", "robust", "factors", "orders", "working", "absolute", "ladder", "why", "gto", "two-level"),
    *("double", "resident-by-percent"),
    *("ipc-by-percent", "unlimited", "release"),
)
REGISTERS_SHOWN = (*SHARING_SHOWN, "limits", "variant")
SCRATCHPAD_SHOWN = (*SHARING_SHOWN, "forms")
REGDEM_SHOWN = (
    *("registers", "slots", "occupancy", "gain", "rules", "switches"),
    *("predictor", "share", "causes", "conflicts", "banks", "added"),
)
FINEREG_SHOWN = (
    *("machine", "types", "turnover", "first-stall", "ctas", "speed", "assumptions", "causes"),
    *("register-use", "live", "larger", "one-more", "headroom", "depletion", "traffic", "energy"),
    *("energy-parts", "splits", "sms"),
    *("unified", "unified-ways"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(EXPERIMENTS))
    parser.add_argument("--kernels", nargs="*", default=())
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--stores", type=Path, default=Path())
    asked = parser.parse_args()
    made: dict[str, Reproduction] = {}
    for name in asked.experiments or EXPERIMENTS:
        begin = time.perf_counter()
        kernels = asked.kernels if name == SCHEMES else ()
        made[name] = api.reproduce(name, store=asked.stores / f"{name}.db", jobs=asked.jobs, kernels=kernels)
        print(f"{name}: {made[name].n_runs} runs, {time.perf_counter() - begin:.0f} s")
        if not made[name].complete or made[name].failures:
            sys.exit(f"{name}: not all runs have a result, so no page is changed")
    if SCHEMES in made:
        put_schemes(made.pop(SCHEMES))
    for name, reproduction in made.items():
        tables = {f"{name} findings": findings(reproduction)}
        tables |= {f"{name} {key}": exhibit_table(reproduction.exhibit(key)) for key in shown(name)}
        if name in SHARING:
            tables[f"{name} explained"] = explained(name, asked.stores, asked.jobs)
        put_tables(page_of(name), tables)
        if name == FINEREG:
            page_of(name).with_suffix(".csv").write_text(reproduction.to_csv(), encoding="utf-8")
    if set(SHARING) <= made.keys():
        put_tables(CHECKOUT / "docs" / "benchmarks-of-the-papers.md", {"gains": gains(made)})


def shown(experiment: str) -> tuple[str, ...]:
    """The exhibits of an experiment that are on the page."""
    if experiment == FINEREG:
        return FINEREG_SHOWN
    if experiment == "register-sharing":
        return REGISTERS_SHOWN
    return SCRATCHPAD_SHOWN if experiment in SHARING else REGDEM_SHOWN


def page_of(experiment: str) -> Path:
    """The page with an experiment's tables."""
    name = "reproduction-finereg.md" if experiment == FINEREG else "reproduction.md"
    return CHECKOUT / "docs" / name


def put_schemes(reproduction: Reproduction) -> None:
    """The page of the register schemes: by machine what they do, and then what they take."""
    page = CHECKOUT / "docs" / "reproduction-schemes.md"
    tables = {"schemes findings": "\n".join(_found(reproduction))}
    for machine in reproduction.gpu.split(" and "):
        shown = [e for e in reproduction.exhibits if e.place == machine and not e.key.startswith("cycles")]
        tables[f"schemes {machine}"] = "\n\n".join(section(exhibit) for exhibit in shown)
    tables["schemes storage"] = section(reproduction.exhibit("storage"), "")
    put_tables(page, tables)
    page.with_suffix(".csv").write_text(reproduction.to_csv(), encoding="utf-8")


def _found(reproduction: Reproduction) -> Iterator[str]:
    """What the results say, without a column of papers."""
    yield "| scheme | |\n|---|---|"
    for finding in reproduction.findings:
        yield f"| {finding.question} | {finding.ours} |"


def section(exhibit: Exhibit, heading: str = "### ") -> str:
    """A table with its heading and its notes."""
    title = [f"{heading}{exhibit.title}"] if heading else []
    return "\n\n".join([*title, exhibit_table(exhibit), *exhibit.notes])


def findings(reproduction: Reproduction) -> str:
    lines = ["| question | ours | papers | |", "|---|---|---|---|"]
    agrees = {True: "agrees", False: "**differs**", None: ""}
    lines += [f"| {f.question} | {f.ours} | {f.paper} | {agrees[f.agrees]} |" for f in reproduction.findings]
    return "\n".join(lines)


def exhibit_table(exhibit: Exhibit) -> str:
    """Ours, and the papers' in brackets."""
    lines = [
        f"| {exhibit.quantity} | {' | '.join(exhibit.columns)} |",
        f"|---|{'---:|' * len(exhibit.columns)}",
    ]
    for row in exhibit.rows:
        cells = (cell(exhibit, exhibit.at(row, column)) for column in exhibit.columns)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def explained(name: str, stores: Path, jobs: int | None) -> str:
    """The experiments of all applications that have some: what changes, and what each shows."""
    lines: list[str] = []
    for application in paper(name).application:
        if not application.experiment:
            continue
        made = api.reproduce(name, explain=application.name, store=stores / f"{name}.db", jobs=jobs)
        (exhibit,) = made.exhibits
        columns = exhibit.columns
        if not lines:
            lines = [
                f"| application | what changes | {' | '.join(columns)} | what it shows | |",
                f"|---|---|{'---:|' * len(columns)}---|---|",
            ]
        answers = {found.question.partition(": ")[0]: found for found in made.findings}
        for row in exhibit.rows:
            cells = [cell(exhibit, exhibit.at(row, column)) for column in columns]
            found = answers.get(row)
            shows = found.question.partition(": ")[2] if found else ""
            holds = {True: "holds", False: "**does not hold**", None: ""}[found.agrees if found else None]
            lines.append(f"| {application.name} | {row} | {' | '.join(cells)} | {shows} | {holds} |")
    return "\n".join(lines)


def cell(exhibit: Exhibit, value: ExhibitValue | None) -> str:
    if value is None or value.ours is None:
        return ""
    ours = exhibit.text(value.ours)
    return ours if value.paper is None else f"{ours} ({exhibit.text(value.paper)})"


def gains(made: dict[str, Reproduction]) -> str:
    """The table of docs/benchmarks-of-the-papers.md: the full schemes' gains."""
    lines = ["| shared | application | CTAs | gain | papers |", "|---|---|---:|---:|---:|"]
    for name in SHARING:
        reproduction = made[name]
        gain, resident = reproduction.exhibit("gain"), reproduction.exhibit("resident")
        for value in gain.values:
            ctas = [resident.at(value.row, column) for column in resident.columns]
            reported = " -> ".join(resident.text(v.ours) for v in ctas if v is not None)
            ours, paper = gain.text(value.ours), gain.text(value.paper)
            lines.append(f"| {name.partition('-')[0]} | {value.row} | {reported} | {ours}% | {paper}% |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
