"""`ptxtool sim` for a launch file with a list of launches."""

from typing import TYPE_CHECKING, Any

from ptxtool import api
from ptxtool.cli.common import exit_code, put_json, put_parts, put_text
from ptxtool.cli.progress import INTERRUPTED, Status

if TYPE_CHECKING:
    from ptxtool.formats.launch import Launch
    from ptxtool.ir.nodes import Module


def simulate_list(
    module: "Module",
    launch: "Launch",
    status: Status,
    options: dict[str, Any],
    stats: str,
    output: str | None,
) -> int:
    """Simulate, print each launch and the totals as `stats` says; the exit code."""
    try:
        run = api.simulate_sequence(module, launch, announce=status.announce, **options)
    finally:
        status.clear()
    if stats == "json":
        put_json(run.to_dict(), output)
    elif stats == "gpgpusim":
        from importlib.metadata import version

        from ptxtool.report.gpgpusim import counters

        put_text(counters(run.results, version("ptxtool")), output)
    else:
        from ptxtool.report.sequence import sequence_parts

        put_parts(sequence_parts(run), output)
    if run.status == "interrupted":
        return INTERRUPTED
    return exit_code(run.problems)
