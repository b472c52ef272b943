"""What goes to standard output and standard error."""

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.cli import streams

SOURCE = Source("k.ptx", "one\ntwo\n")
FIRST, SECOND = Diagnostic("E101", "first", SOURCE, 0, 3), Diagnostic("E201", "second", SOURCE, 4, 7)
WARNING = Diagnostic("W209", "warned", SOURCE, 0, 3)


def test_at_most_so_many_errors_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    streams.print_diagnostics([FIRST, SECOND, FIRST, WARNING], most=1)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("first" in shown.err, "second" in shown.err, "warned" in shown.err) == (True, False, True)


def test_the_rest_is_counted_with_a_way_to_see_it(capsys: pytest.CaptureFixture[str]) -> None:
    streams.print_diagnostics([FIRST, SECOND, FIRST], most=1)
    assert capsys.readouterr().err.endswith("... and 2 more; ptxtool check --max-errors 0 prints all\n")
    streams.print_diagnostics([Diagnostic("E409", "wrong")] * 3, most=1)
    assert capsys.readouterr().err.endswith("... and 2 more\n")
    streams.print_diagnostics([FIRST, SECOND], most=1, rest="--json has all")
    assert capsys.readouterr().err.endswith("... and 1 more; --json has all\n")


def test_errors_are_raised_in_the_order_of_the_text() -> None:
    with pytest.raises(PtxError) as caught:
        streams.raise_errors([SECOND, FIRST])
    assert caught.value.diagnostics == (FIRST, SECOND)


def test_warnings_alone_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    streams.raise_errors([WARNING])
    assert "warning[W209]: warned" in capsys.readouterr().err


def test_bytes_that_are_no_text_pass_through(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    streams.print_text("a\udcff")
    assert capfdbinary.readouterr().out == b"a\xff\n"
