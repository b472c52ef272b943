"""`ptxtool help`: the pages by job, and each of them by its name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT
from commands import data, shown_on
from smallkernel import Cli

from ptxtool.cli.main import COMMANDS
from ptxtool.formats.pages import topics
from ptxtool.passes.registry import PASSES


def test_the_list_has_every_page_by_job(cli: Cli) -> None:
    listed = cli("help").stdout
    assert "\nRewrite a kernel\n" in listed
    line = next(line for line in listed.splitlines() if line.startswith("  passes "))
    assert line.endswith("write a pass of my own, and see that it changes nothing")
    named = {topic for job in data(cli, "help")["jobs"] for topic in job["topics"]}
    assert named >= {topic for topic in topics() if "/" not in topic}


@pytest.mark.parametrize(
    ("topic", "beginning"),
    [
        ("passes", "# A pass of your own\n"),
        ("launch-file.md", "# "),
        ("model", "# "),
        ("model/memory", "# "),
        ("errors", "# Diagnostics\n"),
        ("E305", "# E305: the rewritten kernel computes something else\n"),
        ("w203", "# W203: "),
        ("check", "## check\n"),
        ("demote", "# demote\n\nMove registers to shared memory"),
        ("settle-tail", "# split-tail-ranges\n"),  # a former name
        ("help", "## help\n"),
    ],
)
def test_a_page_by_its_name(cli: Cli, topic: str, beginning: str) -> None:
    result = cli("help", topic)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(beginning)
    assert data(cli, "help", topic)["page"] == result.stdout.rstrip("\n")


def test_every_command_pass_and_page_has_help(cli: Cli) -> None:
    for topic in (*COMMANDS, *PASSES, *topics()):
        assert cli("help", topic).exit_code == 0, topic


def test_the_page_of_a_code_is_that_of_check(cli: Cli) -> None:
    assert cli("help", "E203").stdout == cli("check", "--explain", "E203").stdout


def test_an_unknown_topic(cli: Cli) -> None:
    result = cli("help", "pases")
    assert result.exit_code == 1
    assert "error[E502]: no page about 'pases'" in result.stderr
    assert "did you mean 'passes' or 'page'? 'ptxtool help' lists the pages" in result.stderr
    near = cli("help", "release").stderr
    assert "did you mean 'release-registers' or 'release-scratchpad'? 'ptxtool help'" in near
    assert "help: 'ptxtool help' lists the pages" in cli("help", "zzz").stderr


def test_a_page_in_a_file(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "page.md"
    assert cli("help", "sweep", "-o", out).exit_code == 0
    assert out.read_text() == (CHECKOUT / "docs" / "sweep.md").read_text()


@pytest.mark.parametrize("colour", ["auto", "never"])
def test_on_a_terminal_the_page_goes_to_the_pager(tmp_path: Path, colour: str) -> None:
    import pty

    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    parent, child = pty.openpty()
    env = {**os.environ, "PAGER": str(pager), "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "ptxtool", "help", "passes", "--color", colour]
    with subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=env) as process:
        os.close(child)
        shown = shown_on(parent)
    assert process.returncode == 0, shown
    assert shown.startswith("PAGED")
    assert "A pass of your own" in shown
    assert ("\x1b[" in shown) == (colour == "auto")


def test_the_data_is_json(cli: Cli) -> None:
    assert set(json.loads(cli("help", "isa", "--json").stdout)) == {"topic", "page"}
