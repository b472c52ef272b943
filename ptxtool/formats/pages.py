"""The pages of the documentation, `docs/`: for `help`, and those of diagnostic codes for `check --explain` and SARIF.

They are Markdown, written for people; tests run their examples (`tests/docs`). A page's topic is its path without
`.md`; that of a folder's README is the folder. `docs/README.md` lists the topics by job.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ptxtool.base.diag import CODES
from ptxtool.base.resources import resource_dir


@dataclass(frozen=True)
class Job:
    """What a reader wants to do, and the topics of the pages about it. `heading` is the part of the list."""

    heading: str
    text: str
    topics: tuple[str, ...]


def page_path(code: str) -> Path:
    """Where the page of a code lies."""
    assert code in CODES, code
    return resource_dir("docs") / "errors" / f"{code}.md"


def page(code: str) -> str:
    """The page of a code."""
    return _read(page_path(code))


def meaning(code: str) -> str:
    """What a code means: the first paragraph of its page, as one line."""
    return " ".join(page(code).split("\n\n")[1].split())


def topics() -> dict[str, Path]:
    """Every page by its topic, those of single codes apart."""
    root = resource_dir("docs")
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*.md")):
        if path.stem not in CODES and path != root / "README.md":
            found[_topic(path.relative_to(root).as_posix())] = path
    return found


def topic_page(topic: str) -> str:
    """The page of a topic of `topics`."""
    return _read(topics()[topic])


def command_section(command: str) -> str:
    """What docs/commands.md says about a command."""
    found = re.search(rf"(?ms)^## {re.escape(command)}$.*?(?=^## |\Z)", topic_page("commands"))
    assert found is not None, command
    return found[0].rstrip("\n")


def pages_of_pass(name: str) -> tuple[str, ...]:
    """The topics that the row about a pass in docs/commands.md links to."""
    found = re.search(rf"(?m)^\| `{re.escape(name)}` \|.*$", topic_page("commands"))
    return tuple(dict.fromkeys(_linked(found[0]))) if found else ()


def jobs() -> tuple[Job, ...]:
    """The list of docs/README.md, without the pages that are not in `docs`."""
    found: list[Job] = []
    heading = ""
    known = topics()
    for line in _read(resource_dir("docs") / "README.md").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        row = re.fullmatch(r"\| (.*?) \| (.*) \|", line)
        if row is not None:
            pages = tuple(dict.fromkeys(topic for topic in _linked(row[2]) if topic in known))
            if pages:
                found.append(Job(heading, row[1], pages))
    return tuple(found)


def _linked(text: str) -> list[str]:
    """The topics that a text links to."""
    return [_topic(path) for path in re.findall(r"\]\(([^)#]+)", text)]


def _topic(path: str) -> str:
    return path.removesuffix(".md").removesuffix("/README")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip("\n")
