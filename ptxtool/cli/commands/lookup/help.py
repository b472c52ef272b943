"""`ptxtool help [TOPIC]`: the pages of the documentation, commands, passes and codes of diagnostics."""

import io
import shutil
import sys

import click

from ptxtool.base.diag import CODES, error
from ptxtool.base.phrases import alike, series
from ptxtool.cli import colour
from ptxtool.cli.common import Sink, put_json, put_text, report_options
from ptxtool.cli.completion import complete_topic


@click.command()
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=complete_topic)
@report_options
def command(topic: str | None, sink: Sink) -> int:
    """Show a page of the documentation, or without TOPIC list all pages by job.

    TOPIC is a page such as sweep, a command, a pass such as demote, or the code of a diagnostic such as E203. On a
    terminal a page is shown in a pager.
    """
    if topic is None:
        _list(sink)
        return 0
    name, page = _page(topic)
    if sink.as_json:
        put_json({"topic": name, "page": page}, sink.output)
    elif sink.output is None and sys.stdout.isatty():
        in_colour = colour.wanted(sys.stdout)
        click.echo_via_pager(_rendered(page) if in_colour else page, color=in_colour)
    else:
        put_text(page, sink.output)
    return 0


def _page(word: str) -> tuple[str, str]:
    """The name and the text of the page that a word means. Raises E502 if there is none."""
    from ptxtool.cli.main import COMMANDS
    from ptxtool.formats.pages import command_section, page, topic_page, topics
    from ptxtool.passes.registry import PASSES, find_pass
    from ptxtool.report.pass_page import pass_page

    pages = topics()
    name = word.removesuffix(".md")
    if name in pages:
        return name, topic_page(name)
    if word.upper() in CODES:
        return word.upper(), page(word.upper())
    if word in COMMANDS:
        return word, command_section(word)
    if (found := find_pass(word)) is not None:
        return found.name, pass_page(found)
    near = [f"'{each}'" for each in alike(word, [*pages, *COMMANDS, *PASSES, *CODES])]
    guess = f"did you mean {series(near)}? " if near else ""
    raise error("E502", f"no page about '{word}'", help=f"{guess}'ptxtool help' lists the pages")


def _rendered(page: str) -> str:
    """A page as a terminal shows it."""
    from ptxtool.report.terminal import show_page

    shown = io.StringIO()
    show_page(shown, page, shutil.get_terminal_size().columns)
    return shown.getvalue()


def _list(sink: Sink) -> None:
    from ptxtool.formats.pages import jobs

    found = jobs()
    if sink.as_json:
        data = [{"heading": job.heading, "job": job.text, "topics": list(job.topics)} for job in found]
        put_json({"jobs": data}, sink.output)
        return
    lines: list[str] = []
    width = max(len(", ".join(job.topics)) for job in found)
    for heading in dict.fromkeys(job.heading for job in found):
        of_heading = [job for job in found if job.heading == heading]
        lines += [*([""] if lines else []), heading]
        lines += [f"  {', '.join(job.topics):{width}}  {job.text.replace('`', '')}" for job in of_heading]
    lines += [
        "",
        "ptxtool help TOPIC shows one of these, a command, a pass such as demote, or a diagnostic's code such as E203.",
    ]
    put_text("\n".join(lines), sink.output)
