"""The pages are whole: README is short, every command and option is documented, links lead to a file and a heading."""

import importlib
import re
from pathlib import Path

import click
import pytest
from documents import CHECKOUT

from ptxtool.cli.main import COMMANDS, main

README = CHECKOUT / "README.md"
PAGES = [README, CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_the_commands_of_the_readme_are_in_the_makefile() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"`make (\w+)`", README.read_text(encoding="utf-8"))
    assert targets == ["demo", "test", "wheel"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_index_has_every_page() -> None:
    text = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (CHECKOUT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= set(re.findall(r"\]\(([\w-]+\.md)", text))


def test_the_numbers_of_runs_of_the_experiments() -> None:
    from ptxtool.sweep.reproduction.experiment import configurations
    from ptxtool.sweep.reproduction.papers import SHARING, paper

    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    said = re.findall(r"`([\w-]+-sharing)` \((\d+) runs\)", text)
    assert said == [(name, str(len(configurations(paper(name))))) for name in SHARING]


def test_every_command_and_option_is_documented() -> None:
    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == list(COMMANDS)
    shared = text.split("\n## ")[0]
    for name in COMMANDS:
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for parameter in command.params:
            option = max(parameter.opts, key=len)
            if option.startswith("--") and option not in ("--output",):
                assert option in section + shared, f"{name} {option}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_commands_in_sentences_exist(path: Path) -> None:
    """`ptxtool COMMAND --option` in running text; blocks of code are run or read by test_examples.py."""
    prose = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
    for name, rest in re.findall(r"`ptxtool ([a-z-]+)([^`\n]*)`", prose):
        assert name in COMMANDS
        command = main.get_command(click.Context(main), name)
        assert command is not None
        members = vars(importlib.import_module(command.callback.__module__)).values()
        parameters = [p for each in members if isinstance(each, click.Command) for p in each.params]
        options = {option for p in parameters for option in (*p.opts, *p.secondary_opts)}
        used = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest.partition(" -- ")[0]))
        assert used <= options | {"--help"}, f"ptxtool {name}{rest}"


def anchors(path: Path) -> set[str]:
    """The names by which links find the headings of a page, as GitHub forms them."""
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    names = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{name}-{n}" if (n := names[:at].count(name)) else name for at, name in enumerate(names)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"(?ms)^```.*?^```|^ {4}[^\n]*$", "", path.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", prose):
        page = path.parent / target if target else path
        assert page.exists(), target
        if anchor and page.suffix == ".md":
            assert anchor in anchors(page), f"{target}#{anchor}"
