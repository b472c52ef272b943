"""`ptxtool cfg FILE`: the control flow graph as tables, Graphviz text or a picture."""

import subprocess
from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.base.diag import error
from ptxtool.cli import common
from ptxtool.cli.cuda_source import source_option
from ptxtool.formats.cuda_sources import CudaSources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxtool.analysis.flow.loops import Loops
    from ptxtool.cfg.blocks import Cfg
    from ptxtool.cfg.dominance import DominatorTree
    from ptxtool.ir.nodes import Function


@click.command()
@common.file_argument
@common.kernel_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "dot", "svg"]),
    default="text",
    show_default=True,
    help="Tables, Graphviz text, or a picture of one kernel made by Graphviz.",
)
@source_option()
@common.report_options
def command(file: str, kernel: str | None, form: str, sources: CudaSources | None, sink: common.Sink) -> int:
    """Basic blocks, edges, dominators, loops, and where divergent branches reconverge."""
    from ptxtool.report.kernels.flow import flow_data, flow_parts

    if sink.as_json and form != "text":
        raise click.UsageError("--json is a format of its own: leave out --format")
    module = common.load_module(file)
    if form == "svg":
        common.put_bytes(_draw(_dot(api.kernel(module, kernel))), sink.output)
        return 0
    chosen = common.kernels(module, kernel)
    if form == "dot":
        common.put_text("\n".join(_dot(f).rstrip("\n") for f in chosen), sink.output)
    else:
        sink.put_kernels(
            module, chosen, lambda f: flow_data(*_flow(f)), lambda f: flow_parts(*_flow(f), sources=sources)
        )
    return 0


def _flow(
    kernel: "Function",
) -> "tuple[Cfg, DominatorTree, DominatorTree, Loops, Mapping[int, int], frozenset[int]]":
    graph = api.cfg(kernel)
    trees = api.dominators(graph), api.post_dominators(graph)
    divergent = api.uniformity(kernel).divergent
    return graph, *trees, api.loops(kernel), api.reconvergence_points(kernel), divergent


def _dot(kernel: "Function") -> str:
    from ptxtool.cfg.dot import to_dot

    return to_dot(api.cfg(kernel), api.uniformity(kernel).divergent)


def _draw(dot: str) -> bytes:
    """The picture of a graph, drawn by Graphviz's `dot`. Raises E502 where there is none."""
    try:
        done = subprocess.run(
            ["dot", "-Tsvg"], input=dot.encode("utf-8", "replace"), capture_output=True, check=False
        )
    except OSError:
        help = "install Graphviz, or take the text with --format dot"
        raise error("E502", "drawing needs the program 'dot', which is not on the PATH", help=help) from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[0] if lines else f"exit code {done.returncode}"
        raise error("E502", f"'dot' failed: {reason}", help="take the text with --format dot")
    return done.stdout
