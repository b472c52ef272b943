"""`ptxtool reproduce EXPERIMENT`: the tables and figures of papers, ours beside theirs."""

import click

from ptxtool import api
from ptxtool.cli.common import Sink, cluster_option, jobs_option, quiet_option, report_options
from ptxtool.cli.completion import complete_experiment
from ptxtool.cli.outputs import OUTPUT, reads
from ptxtool.cli.progress import SweepStatus
from ptxtool.cli.streams import print_note


@click.command()
@click.argument("experiment", metavar="EXPERIMENT", shell_complete=complete_experiment)
@click.option("--store", metavar="FILE", help="Where results are kept (default: EXPERIMENT.db).")
@click.option("--kernels", metavar="NAME,...", help="Of schemes: only these kernels.")
@click.option("--schemes", metavar="NAME,...", help="Of schemes: only these, and none.")
@click.option("--gpus", metavar="NAME,...", help="Of schemes: only these machines.")
@click.option("--explain", metavar="APPLICATION", help="Of a sharing paper: run what explains its result.")
@click.option(
    "--recorded", metavar="DIR", help="Of a sharing paper: beside launches of its applications in DIR."
)
@jobs_option
@cluster_option
@click.option("--page", type=OUTPUT, metavar="OUT.html", help="Also write one HTML page of everything.")
@click.option("--csv", type=OUTPUT, metavar="OUT.csv", help="Also write every number as CSV.")
@quiet_option
@report_options
def command(
    experiment: str,
    store: str | None,
    kernels: str | None,
    schemes: str | None,
    gpus: str | None,
    explain: str | None,
    recorded: str | None,
    jobs: int | None,
    cluster: str | None,
    page: str | None,
    csv: str | None,
    quiet: bool,
    sink: Sink,
) -> int:
    """Simulate what a paper compares, and print its tables and figures with ours.

    EXPERIMENT is register-sharing, scratchpad-sharing, regdem, finereg or schemes, which compares all register schemes
    on the kernels of all papers. With --explain an application of one of the first two is run with one thing changed
    at a time (its launch, its text, the machine), and each change has what it shows. With --recorded their tables have
    a third column: the same runs of launches that `exec --record DIR` kept of your copies of the applications.

    Results are kept as they come: the same command goes on with what is missing, and makes no run twice. Exits 1 where
    runs failed. Ctrl-C prints what there is and exits 130.
    """
    if cluster is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine; a cluster has as many as its workers")
    store = store or f"{experiment}.db"
    reads(store, "store of the results")
    with SweepStatus(quiet) as status:
        reproduction = api.reproduce(
            experiment,
            kernels=_names(kernels),
            schemes=_names(schemes),
            gpus=_names(gpus),
            explain=explain,
            recorded=recorded,
            store=store,
            jobs=jobs,
            cluster=cluster,
            progress=status.progress,
            on_interrupt="return",
        )
    from ptxtool.formats.files import write_output
    from ptxtool.report.pages.reproduction_page import reproduction_page
    from ptxtool.report.simulations.reproduction import reproduction_parts

    sink.put(reproduction.to_dict, lambda: reproduction_parts(reproduction))
    if page is not None:
        write_output(page, reproduction_page(reproduction).encode())
    if csv is not None:
        write_output(csv, reproduction.to_csv().encode())
    if not reproduction.complete:
        print_note("interrupted: the same command goes on with the rest")
        return status.code
    return 1 if reproduction.failures else 0


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
