"""A Python file of the user's: what it defines, and the place of everything that is wrong with it."""

import sys
from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.user_file import exception_text, line_span, raised_at, run_user_file


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.py"
    path.write_text(text)
    return str(path)


def test_what_a_file_defines_and_where(tmp_path: Path) -> None:
    path = written(
        tmp_path, "import os\n\n\nclass A:\n    def run(self):\n        pass\n\n\ndef run():\n    pass\n"
    )
    file = run_user_file(path, "E302", "pass")
    assert {"A", "run", "os"} <= set(vars(file.module))
    assert file.module.A.__module__ in sys.modules
    text = file.source.text
    lines = [file.source.line(file.definition(*name)[0]) for name in (("A",), ("run",), ("run", "A"))]
    assert lines == [4, 9, 5]
    start, end = file.definition("run", inside="A")
    assert text[start:end] == "def run(self):"
    assert file.definition("B") == file.definition("run", inside="B") == (0, 0)
    assert run_user_file(path, "E302", "pass").digest == file.digest
    assert run_user_file(written(tmp_path, "x = 1\n"), "E302", "pass").digest != file.digest


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("def f(:\n", 1, "not Python: "),
        ("x = '\0'\n", 1, "not Python: "),
        ("def f():\n    return 1 / 0\n\n\nf()\n", 2, "ZeroDivisionError: division by zero"),
        ("import nothing_of_that_name\n", 1, "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("\nraise SystemExit(3)\n", 2, "SystemExit: 3"),
    ],
)
def test_what_is_wrong_is_reported_at_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        run_user_file(written(tmp_path, text), "E302", "pass")
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert (found.code, found.source.name, found.line) == ("E302", str(tmp_path / "mine.py"), line)
    assert message in found.message


@pytest.mark.parametrize(
    ("name", "reason"), [("no.py", "no such file"), (".", "is a directory"), ("a\0.py", "null")]
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(PtxError, match="E501") as caught:
        run_user_file(str(tmp_path / name), "E302", "pass")
    assert reason in caught.value.diagnostics[0].message


def test_an_exception_in_one_line(tmp_path: Path) -> None:
    assert exception_text(ValueError("a\nb")) == "ValueError: a"
    assert exception_text(ValueError()) == "ValueError"
    assert len(exception_text(ValueError("x" * 5000))) < 250


def test_an_exception_from_elsewhere_has_no_line(tmp_path: Path) -> None:
    source = run_user_file(written(tmp_path, "x = 1\n  \n"), "E302", "pass").source
    assert raised_at(source, ValueError()) == (0, 0)
    assert line_span(source, 1) == (0, 5)
    assert line_span(source, 99) == (len(source.text), len(source.text))
