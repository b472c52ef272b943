"""`ptxtool prove A B`: run a kernel before and after it was rewritten, and compare the memory."""

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.progress import SimulationStatus


@click.command()
@job_options
@click.argument("rewritten", metavar="REWRITTEN")
@click.option(
    "--random",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Then N times with random inputs: buffers of the same sizes and types with other contents.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="S",
    help="The seed of the first random inputs; the next ones have S+1, S+2, ...",
)
@click.option(
    "--rtol",
    type=click.FloatRange(0),
    default=0.0,
    metavar="R",
    help="Let floats differ by R times their value: atomics in another order round otherwise.",
)
@click.option("--atol", type=click.FloatRange(0), default=0.0, metavar="A", help="Let floats differ by A.")
@common.gpu_option
@common.quiet_option
@common.report_options
def command(
    job: Job,
    rewritten: str,
    random: int,
    seed: int,
    rtol: float,
    atol: float,
    gpu: str,
    quiet: bool,
    sink: common.Sink,
) -> int:
    """Run FILE and REWRITTEN with the same inputs and compare the memory afterwards.

    Both are run with the inputs of the launch, then with random ones, each time without time and with time. Exits 1
    with E305 at the first element of a buffer that is another one. Runs show nothing about inputs that were not run.
    """
    before, launch = job.load_any()
    after = common.load_module(rewritten)
    chosen = common.machine(gpu, before.target)
    status = SimulationStatus(quiet)
    try:
        proof = api.prove(
            before,
            after,
            launch,
            kernel=job.kernel,
            random=random,
            seed=seed,
            rtol=rtol,
            atol=atol,
            gpu=chosen,
            announce=status.announce,
            progress=status.progress,
        )
    finally:
        status.clear()
    sink.put(proof.to_dict, lambda: [str(proof)])
    return common.exit_code(proof.problems)
