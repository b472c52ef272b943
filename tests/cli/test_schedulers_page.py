"""The page on warp schedulers is true: its files are written, its commands run, and what they print is what it shows.

Figures of a simulation may change with the model: numbers count as equal. `pytest --bless` writes what is printed now.
"""

import re
from pathlib import Path

import pytest
from smallkernel import Cli

import ptxsim.timing.schedulers
from ptxsim.timing.sm_state import POLICY, SM

PAGE = Path(__file__).resolve().parents[2] / "docs" / "schedulers.md"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOP = re.compile(r"for (\w) in (.*?); do ptxtool (.*?) \| grep -E \"(.*)\"; done")


def printed(command: str, cli: Cli) -> str:
    """What a command prints: ptxtool's, or a loop over several that keeps some lines of each."""
    loop = LOOP.fullmatch(command)
    if loop is None:
        result = cli(*command.split()[1:])
        assert result.exit_code == 0, result.stderr
        return str(result.stdout)
    name, values, words, pattern = loop.groups()
    outputs = [printed("ptxtool " + words.replace(f"${name}", value), cli) for value in values.split()]
    lines = "".join(outputs).splitlines(keepends=True)
    return "".join(line for line in lines if re.search(pattern, line))


@pytest.mark.slow
def test_what_the_page_shows(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    parts = FENCE.findall(text)
    for language, name, body in parts:
        if language == "python":
            Path(name).write_text(body, encoding="utf-8")
    consoles = [body for language, _, body in parts if language == "console"]
    assert (len(parts), len(consoles)) == (5, 3)
    for shown in consoles:
        command, _, wanted = shown.partition("\n")
        output = printed(command.removeprefix("$ "), cli)
        if request.config.getoption("bless"):
            text = text.replace(shown, f"{command}\n{output}")
            PAGE.write_text(text, encoding="utf-8")
        else:
            assert re.sub(r"\d+", "0", output) == re.sub(r"\d+", "0", wanted)


def test_the_page_knows_every_scheduler_and_no_other_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = set(re.findall(r"^\| `([a-z_]+)(?::N)?` \|", text, re.MULTILINE))
    assert names == set(ptxsim.timing.schedulers.SCHEDULERS)
    fields = set(re.findall(r"\bsm\.(\w+)", text))
    assert fields <= set(SM.names or ())
    assert f"[scheduler, {POLICY - 1}]" in text
