"""`--source`: show the text of CUDA lines, in reports and diagnostics of the command that has the option."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ptxtool.cli.streams import print_note, show_sources
from ptxtool.formats.cuda_sources import CudaSources

F = TypeVar("F", bound=Callable[..., Any])


def _choose(context: click.Context, parameter: click.Parameter, value: bool) -> "CudaSources | None":
    """The lines of sources if they are wanted; diagnostics show them from here on."""
    sources = CudaSources(print_note) if value else None
    show_sources(sources)
    return sources


def source_option(**options: Any) -> Callable[[F], F]:
    """`--source`; the command takes its sources as `sources`, unless it shows them in diagnostics only."""
    return click.option(
        "--source",
        "sources",
        is_flag=True,
        callback=_choose,
        help="Also print the CUDA source line (of a text compiled with -lineinfo).",
        **options,
    )
