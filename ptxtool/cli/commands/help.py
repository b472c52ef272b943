"""`ptxtool help [TOPIC]`: the pages of the documentation."""

import io
import shutil
import sys

import click

from ptxtool.base.diag import CODES, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.cli import colour
from ptxtool.cli.common import Sink, put_json, put_text, report_options


@click.command()
@click.argument("topic", metavar="[TOPIC]", required=False)
@report_options
def command(topic: str | None, sink: Sink) -> int:
    """Show a page of the documentation, or without TOPIC list all pages by job.

    TOPIC is a page such as sweep, a command, or the code of a diagnostic such as E203. On a terminal a page is shown
    in a pager.
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

    pages = topics()
    name = word.removesuffix(".md")
    if name in pages:
        return name, topic_page(name)
    if word.upper() in CODES:
        return word.upper(), page(word.upper())
    if word in COMMANDS:
        return word, command_section(word)
    known = [*pages, *COMMANDS, *CODES]
    help = did_you_mean(word, known, then="'ptxtool help' lists the pages")
    raise error("E502", f"no page about '{word}'", help=help)


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
        "ptxtool help TOPIC shows a page; 'commands' has every command, E203 is the code of a diagnostic.",
    ]
    put_text("\n".join(lines), sink.output)
