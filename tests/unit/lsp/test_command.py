"""The command starts only where pygls is."""

import sys

import pytest
from click.testing import CliRunner

from ptxtool.base.diag import PtxError
from ptxtool.lsp.command import command


def test_without_pygls_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    found = CliRunner().invoke(command, [])
    assert isinstance(found.exception, PtxError)
    assert "ptxtool[lsp]" in str(found.exception)
