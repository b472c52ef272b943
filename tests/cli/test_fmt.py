"""`ptxtool fmt`: what is written where, and what is not."""

import json
import os
from pathlib import Path

import pytest
from smallkernel import Cli

TEXT = b".version 7.0\n.target sm_70\n.entry k(){ret;}\n"
LAID_OUT = b".version 7.0\n.target sm_70\n\n.entry k()\n{\n    ret;\n}\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "k.ptx"
    path.write_bytes(TEXT)
    return path


def test_in_place(cli: Cli, file: Path) -> None:
    result = cli("fmt", "k.ptx")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "laid out k.ptx\n")
    assert file.read_bytes() == LAID_OUT
    assert os.listdir() == ["k.ptx"]


def test_what_does_not_change_is_not_written(cli: Cli, file: Path) -> None:
    file.write_bytes(LAID_OUT)
    before = file.stat()
    result = cli("fmt", "k.ptx")
    assert (result.exit_code, result.output) == (0, "")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_modes_and_links_stay(cli: Cli, file: Path) -> None:
    file.chmod(0o640)
    Path("link.ptx").symlink_to(file)
    assert cli("fmt", "link.ptx").exit_code == 0
    assert Path("link.ptx").is_symlink()
    assert (file.stat().st_mode & 0o777, file.read_bytes()) == (0o640, LAID_OUT)


def test_standard_input(cli: Cli) -> None:
    result = cli("fmt", "-", input=TEXT)
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, LAID_OUT, "")


@pytest.mark.parametrize("out", ["new.ptx", "-"])
def test_output_elsewhere(cli: Cli, file: Path, out: str) -> None:
    result = cli("fmt", "k.ptx", "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (result.stdout_bytes or Path(out).read_bytes()) == LAID_OUT
    assert file.read_bytes() == TEXT


def test_a_broken_file_stays_and_the_others_are_laid_out(cli: Cli, file: Path) -> None:
    Path("bad.ptx").write_bytes(TEXT.replace(b";", b" 1 2;"))
    result = cli("fmt", "bad.ptx", "nowhere.ptx", "k.ptx")
    assert result.exit_code == 1
    assert "bad.ptx:3:" in result.stderr
    assert "nowhere.ptx" in result.stderr
    assert Path("bad.ptx").read_bytes() == TEXT.replace(b";", b" 1 2;")
    assert file.read_bytes() == LAID_OUT


def test_check(cli: Cli, file: Path) -> None:
    Path("good.ptx").write_bytes(LAID_OUT)
    result = cli("fmt", "--check", "k.ptx", "good.ptx")
    assert (result.exit_code, result.stdout) == (1, "k.ptx\n")
    assert file.read_bytes() == TEXT
    assert cli("fmt", "--check", "good.ptx").exit_code == 0


def test_diff(cli: Cli, file: Path) -> None:
    result = cli("fmt", "--diff", "k.ptx")
    assert result.exit_code == 0
    assert result.stdout == (
        "--- k.ptx\n+++ k.ptx (laid out)\n@@ -1,3 +1,7 @@\n .version 7.0\n .target sm_70\n"
        "-.entry k(){ret;}\n+\n+.entry k()\n+{\n+    ret;\n+}\n"
    )
    assert file.read_bytes() == TEXT
    assert cli("fmt", "--diff", "--check", "k.ptx").exit_code == 1


def test_diff_in_colour(cli: Cli, file: Path) -> None:
    out = cli("fmt", "--diff", "k.ptx", "--color", "always").stdout
    assert "\x1b[31m-.entry k(){ret;}\x1b[0m\n\x1b[32m+\x1b[0m\n" in out
    assert cli("fmt", "--diff", "k.ptx", "--color", "always", "-o", "changes").exit_code == 0
    assert b"\x1b" not in Path("changes").read_bytes()


def test_json(cli: Cli, file: Path) -> None:
    Path("bad.ptx").write_bytes(b"nonsense")
    result = cli("fmt", "--json", "--diff", "k.ptx", "bad.ptx")
    good, bad = json.loads(result.stdout)["files"]
    assert result.exit_code == 1
    assert (good["file"], good["changed"], good["text"]) == ("k.ptx", True, LAID_OUT.decode())
    assert good["diff"].startswith("--- k.ptx\n")
    assert (bad["changed"], bad["diagnostics"][0]["code"]) == (False, "E101")
    assert file.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-", "k.ptx"], "stands alone"),
        (["k.ptx", "k.ptx", "-o", "x"], "takes one FILE"),
        (["sgemm"], "packaged sample"),
        ([], "Missing argument"),
    ],
)
def test_usage(cli: Cli, file: Path, arguments: list[str], why: str) -> None:
    result = cli("fmt", *arguments, input=TEXT)
    assert result.exit_code == 2
    assert why in result.stderr
    assert file.read_bytes() == TEXT


def test_a_file_that_cannot_be_written(cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    result = cli("fmt", "k.ptx")
    assert (result.exit_code, "E503" in result.stderr, file.read_bytes()) == (1, True, TEXT)
