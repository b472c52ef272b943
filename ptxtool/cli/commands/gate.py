"""`ptxtool gate [OLD] NEW`: limits and a baseline for pull requests."""

import json
from pathlib import Path
from typing import Any

import click

from ptxtool import api
from ptxtool.base.diag import error
from ptxtool.cli.common import (
    allow_outside_option,
    cta_threads,
    gpu_option,
    json_option,
    load_launch,
    load_module,
    machine,
    no_ptxas_option,
    output_option,
    put_json,
    put_parts,
    put_text,
)
from ptxtool.cli.completion import complete_file, complete_path
from ptxtool.cli.streams import print_diagnostics
from ptxtool.formats.gate_limits import MEASURES, Limits, limits_of_options, load_limits


def limit_words(values: tuple[str, ...]) -> Limits | None:
    """The limits of `--limit`; None without any."""
    try:
        return Limits(limits_of_options(values)) if values else None
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command()
@click.argument("files", metavar="[OLD] NEW", nargs=-1, shell_complete=complete_file)
@click.option(
    "--limit",
    "words",
    metavar="WHAT=LIMIT",
    multiple=True,
    help=f"At most N, or +N or +P% more than before; may be repeated. WHAT: {', '.join(MEASURES)}.",
)
@click.option(
    "--limits", "limits_file", metavar="FILE", help="The same in a TOML file, also for single kernels."
)
@click.option("--baseline", metavar="FILE", help="Values of before, instead of OLD: what --save wrote.")
@click.option("--save", metavar="FILE", help="Write the values of NEW as a baseline.")
@click.option(
    "--block", type=cta_threads, metavar="T|X,Y,Z", help="Threads per CTA: also hold the resident CTAs."
)
@click.option(
    "--launch",
    "launch_file",
    metavar="FILE",
    shell_complete=complete_path,
    help="A launch file: simulate it, and hold its cycles and bank conflicts.",
)
@allow_outside_option
@gpu_option
@no_ptxas_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "sarif"]),
    default="text",
    show_default=True,
    help="For people; for summaries of GitHub and GitLab; data; SARIF 2.1.0 for code scanning.",
)
@json_option
@click.option(
    "--summary", metavar="FILE", help="Also append the Markdown to a file, such as $GITHUB_STEP_SUMMARY."
)
@output_option
def command(
    files: tuple[str, ...],
    words: tuple[str, ...],
    limits_file: str | None,
    baseline: str | None,
    save: str | None,
    block: int | None,
    launch_file: str | None,
    gpu: str,
    no_ptxas: bool,
    form: str,
    as_json: bool,
    summary: str | None,
    output: str | None,
) -> int:
    """Hold the kernels of NEW to limits, beside OLD or a baseline; exit 1 if one is exceeded.

    With --launch the launch is simulated, and cycles and bank conflicts count too. Without limits, nothing of
    registers, occupancy, spills, cycles and conflicts may get worse.
    """
    from ptxtool.report.kernels.gate import gate_markdown, gate_table

    if not 1 <= len(files) <= 2:
        raise click.UsageError("give NEW, or OLD and NEW")
    if len(files) == 2 and baseline is not None:
        raise click.UsageError("OLD and --baseline are two ways to say what was before: give one")
    chosen = limit_words(words)
    if limits_file is not None:
        read = load_limits(limits_file)
        chosen = Limits({**read.common, **(chosen.common if chosen else {})}, read.kernels)
    before = None if baseline is None else _read_baseline(baseline)
    modules = [load_module(file) for file in files]
    found = api.gate(
        modules[-1],
        modules[0] if len(modules) == 2 else None,
        limits=chosen,
        baseline=before,
        launch=None if launch_file is None else load_launch(launch_file),
        threads=block,
        gpu=machine(gpu, modules[-1].target),
        ptxas=not no_ptxas,
    )
    if save is not None:
        put_text(json.dumps({"kernels": found.values()}, indent=2, sort_keys=True), save)
    if summary is not None:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(gate_markdown(found) + "\n")
    if form == "sarif" and not as_json:
        put_json(_sarif(modules[-1].source.name, found.problems), output)
    elif form == "json" or as_json:
        put_json(found.to_dict(), output)
    elif form == "markdown":
        put_text(gate_markdown(found), output)
    else:
        put_parts([gate_table(found)], output)
    print_diagnostics(found.problems)
    return 0 if found.is_kept else 1


def _sarif(name: str, problems: Any) -> dict[str, Any]:
    from importlib.metadata import version

    from ptxtool.report.kernels.checked import Checked
    from ptxtool.report.sarif import sarif

    return sarif([Checked(name, problems, len(problems), 0)], version("ptxtool"))


def _read_baseline(path: str) -> dict[str, dict[str, int]]:
    """The values that `--save` wrote. Raises E501, and E502 for anything else."""
    from ptxtool.formats.files import read_input

    name, data = read_input(path)
    try:
        kernels = json.loads(data)["kernels"]
        return {
            str(kernel): {m: int(values[m]) for m in MEASURES if m in values}
            for kernel, values in kernels.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        help = "write one with 'ptxtool gate NEW --save FILE'"
        raise error("E502", f"'{name}' is no baseline", help=help) from None
