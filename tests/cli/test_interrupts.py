"""Interrupts that arrive in callbacks of C libraries, where Python drops them."""

import ctypes
import signal
import sys
import time

import pytest
from smallkernel import Cli

import ptxtool.cli.commands.lookup.gpus as gpus
from ptxtool.cli.interrupts import Interrupts


@ctypes.CFUNCTYPE(None)
def interrupted() -> None:
    raise KeyboardInterrupt


@ctypes.CFUNCTYPE(None)
def wrong() -> None:
    raise ZeroDivisionError


def test_an_interrupt_is_raised_again() -> None:
    before = sys.unraisablehook
    interrupts = Interrupts()

    def wait() -> None:
        with interrupts:
            interrupted()
            for _ in range(6000):  # one long sleep would not end
                time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert interrupts.any
    assert sys.unraisablehook is before


def test_at_the_end_none_is_left() -> None:
    with Interrupts() as interrupts:
        interrupted()
    time.sleep(0.1)
    assert interrupts.any


def test_other_exceptions_go_where_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(what.exc_type))
    with Interrupts() as interrupts:
        wrong()
    assert (seen, interrupts.any) == ([ZeroDivisionError], False)


def test_what_fails_after_one_was_interrupted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        interrupted()
        raise RuntimeError("no compiled object")

    monkeypatch.setattr(gpus.command, "callback", fail)
    result = cli("gpus")
    assert (result.exit_code, result.stderr) == (130, "ptxtool: interrupted\n")


def test_what_a_library_makes_of_one_is_interrupted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise TypeError("missing an argument") from None

    monkeypatch.setattr(gpus.command, "callback", fail)
    result = cli("gpus")
    assert (result.exit_code, result.stderr) == (130, "ptxtool: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
