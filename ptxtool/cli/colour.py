"""Whether to print in colour.

`--color always` and `--color never`, an option of every command, decide by themselves. Otherwise the environment does,
as https://no-color.org and https://force-color.org have it: NO_COLOR, then FORCE_COLOR; and then what the stream is:
colour for a terminal that is not dumb, never for a pipe or a file.
"""

import os
from typing import TextIO

import click

CHOICES = ("auto", "always", "never")

_choice = "auto"


def choose(choice: str) -> None:
    """Set what --color says; "auto" for every new run."""
    global _choice
    assert choice in CHOICES
    _choice = choice


def wanted(stream: TextIO | None) -> bool:
    """True if what goes to a stream should have colour."""
    if stream is None or _choice == "never":
        return False
    if _choice == "always":
        return True
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def add_option(command: click.Command) -> None:
    """Give a command the option `--color`, unless it has it."""
    if not any(parameter.name == "colour" for parameter in command.params):
        option = click.Option(
            ["--color", "colour"],
            type=click.Choice(CHOICES),
            default="auto",
            show_default=True,
            expose_value=False,
            is_eager=True,
            callback=lambda ctx, parameter, value: choose(value),
            help="Colour: on a terminal, always, or never.",
        )
        command.params.append(option)
