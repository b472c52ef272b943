"""Whether what goes to a stream has colour: the option, then the environment, then the stream."""

import io
from collections.abc import Iterator

import click
import pytest

from ptxtool.cli import colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    colour.choose("auto")
    yield
    colour.choose("auto")


def test_a_terminal_has_colour_and_a_file_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert colour.wanted(Terminal())
    assert not colour.wanted(io.StringIO())
    assert not colour.wanted(None)
    monkeypatch.setenv("TERM", "dumb")
    assert not colour.wanted(Terminal())


def test_no_color_comes_before_force_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert colour.wanted(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.wanted(Terminal())
    monkeypatch.setenv("NO_COLOR", "")  # empty is unset, as no-color.org has it
    assert colour.wanted(io.StringIO())


def test_the_option_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    colour.choose("always")
    assert colour.wanted(io.StringIO())
    assert not colour.wanted(None)
    monkeypatch.setenv("FORCE_COLOR", "1")
    colour.choose("never")
    assert not colour.wanted(Terminal())


def test_a_command_gets_the_option_once() -> None:
    command = click.Command("x")
    colour.add_option(command)
    colour.add_option(command)
    assert [parameter.name for parameter in command.params] == ["colour"]
