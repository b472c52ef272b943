"""`ptxtool check`: its formats, its limits, what it exits with, and the pages that it explains codes with."""

import json
import os
import re
from pathlib import Path

import pytest
from smallkernel import KERNEL, Cli

from ptxtool.base.diag import CODES

WARNED = KERNEL.replace("\t.reg .u32 $r124;", "\t// $r124")
BROKEN = WARNED.replace("bra L1", "bra L2").replace("$r2, $r1, $r3", "$r2, $r8, $r9")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good file, one with a warning, and one with three errors and a warning."""
    for name, text in (("good", KERNEL), ("warned", WARNED), ("broken", BROKEN)):
        (tmp_path / f"{name}.ptxplus").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_one_line_per_file_and_their_sum(cli: Cli, folder: Path) -> None:
    result = cli("check", "good.ptxplus", "warned.ptxplus", "broken.ptxplus")
    assert result.exit_code == 1
    assert lines(result.stdout) == [
        "good.ptxplus: ok, 1 kernel, 6 instructions",
        "warned.ptxplus: ok, 1 warning, 1 kernel, 6 instructions",
        "broken.ptxplus: 3 errors, 1 warning, 1 kernel, 6 instructions",
        "3 files: 2 ok, 1 not; 3 errors, 2 warnings",
    ]
    codes = re.findall(r"^(\w+)\.ptxplus:(\d+):\d+: (?:error|warning)\[(\w+)\]", result.stderr, re.MULTILINE)
    assert codes == [
        ("warned", "9", "W202"),
        ("broken", "9", "W202"),
        ("broken", "11", "E202"),
        ("broken", "12", "E201"),
        ("broken", "12", "E201"),
    ]


def test_a_report_stands_behind_its_diagnostics(cli: Cli, folder: Path) -> None:
    output = cli("check", "broken.ptxplus", "warned.ptxplus").output
    assert re.findall(r"^(\w+)\.ptxplus:( |\d)", output, re.MULTILINE) == [
        ("broken", "9"),
        *[("broken", "1")] * 3,
        ("broken", " "),
        ("warned", "9"),
        ("warned", " "),
    ]


def test_quiet_names_no_good_file(cli: Cli, folder: Path) -> None:
    assert lines(cli("check", "-q", "good.ptxplus").stdout) == []
    assert lines(cli("check", "-q", "good.ptxplus", "warned.ptxplus").stdout) == [
        "warned.ptxplus: ok, 1 warning, 1 kernel, 6 instructions",
        "2 files: all ok; 1 warning",
    ]


def test_werror(cli: Cli, folder: Path) -> None:
    assert cli("check", "warned.ptxplus").exit_code == 0
    result = cli("check", "--werror", "warned.ptxplus")
    assert result.exit_code == 1
    assert result.stdout == "warned.ptxplus: 1 warning, 1 kernel, 6 instructions\n"
    assert cli("check", "--werror", "good.ptxplus").exit_code == 0
    assert cli("check", "--werror", "--disable", "W202", "warned.ptxplus").exit_code == 0


@pytest.mark.parametrize("options", [["--disable", "W201,w202"], ["--disable", "W201", "--disable", "W202"]])
def test_warnings_can_be_disabled(cli: Cli, folder: Path, options: list[str]) -> None:
    result = cli("check", *options, "warned.ptxplus")
    assert (result.stdout, result.stderr) == ("warned.ptxplus: ok, 1 kernel, 6 instructions\n", "")


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("E201", "E201 is an error: only warnings can be disabled"),
        ("W2O1", "no diagnostic has the code 'W2O1'"),
    ],
)
def test_what_cannot_be_disabled(cli: Cli, folder: Path, code: str, reported: str) -> None:
    result = cli("check", "--disable", code, "warned.ptxplus")
    assert (result.exit_code, reported in result.stderr) == (2, True)


def many(folder: Path, n: int) -> Path:
    path = folder / "many.ptxplus"
    path.write_text(
        KERNEL.replace("L1:", "\tbra L1;\n" + "".join(f"\tbra X{i};\n" for i in range(n)) + "L1:")
    )
    return path


def test_at_most_so_many_errors_are_printed_but_all_are_counted(cli: Cli, folder: Path) -> None:
    path = many(folder, 50)
    result = cli("check", path)
    assert result.stderr.count("error[E202]") == 20
    assert lines(result.stderr)[-1] == "... and 30 more; ptxtool check --max-errors 0 prints all"
    assert ": 50 errors, " in result.stdout
    assert cli("check", "--max-errors", 3, path).stderr.count("error[E202]") == 3
    assert cli("check", "--max-errors", 0, path).stderr.count("error[E202]") == 50
    assert len(lines(cli("check", "--format", "concise", path).stdout)) == 50
    assert len(lines(cli("check", "--format", "concise", "--max-errors", 4, path).stdout)) == 4
    data = json.loads(cli("check", "--json", "--max-errors", 4, path).stdout)
    assert (data["errors"], len(data["files"][0]["diagnostics"])) == (50, 4)


def test_other_commands_print_as_few(cli: Cli, folder: Path) -> None:
    result = cli("live", many(folder, 50))
    assert (result.exit_code, result.stderr.count("error[E202]")) == (1, 20)


def test_concise_is_one_line_per_diagnostic(cli: Cli, folder: Path) -> None:
    result = cli("check", "--format", "concise", "good.ptxplus", "broken.ptxplus", "nowhere.ptx")
    assert (result.exit_code, result.stderr) == (1, "")
    assert lines(result.stdout) == [
        "broken.ptxplus:9:15: warning[W202]: register '$r124' is not declared",
        "broken.ptxplus:11:14: error[E202]: label 'L2' is not declared",
        "broken.ptxplus:12:15: error[E201]: register '$r8' is not declared",
        "broken.ptxplus:12:20: error[E201]: register '$r9' is not declared",
        "nowhere.ptx: error[E501]: cannot read 'nowhere.ptx': no such file or directory",
    ]
    assert cli("check", "--format", "concise", "good.ptxplus").output == ""


def test_json(cli: Cli, folder: Path) -> None:
    result = cli("check", "--json", "good.ptxplus", "broken.ptxplus")
    assert (result.exit_code, result.stderr) == (1, "")
    data = json.loads(result.stdout)
    assert data == json.loads(cli("check", "--format", "json", "good.ptxplus", "broken.ptxplus").stdout)
    good, broken = data.pop("files")
    assert data == {"ok": False, "errors": 3, "warnings": 1}
    assert good == {
        "file": "good.ptxplus",
        "ok": True,
        "errors": 0,
        "warnings": 0,
        "kernels": 1,
        "instructions": 6,
        "diagnostics": [],
    }
    assert broken["diagnostics"][1] == {
        "code": "E202",
        "severity": "error",
        "message": "label 'L2' is not declared",
        "file": "broken.ptxplus",
        "line": 11,
        "column": 14,
        "end_line": 11,
        "end_column": 16,
        "help": "add 'L2:' before the target",
    }


def test_a_file_that_cannot_be_parsed_has_no_contents(cli: Cli, folder: Path) -> None:
    Path("cut.ptx").write_text(".version 8.0\n.target sm_80\n/* ")
    (file,) = json.loads(cli("check", "--json", "cut.ptx").stdout)["files"]
    assert (file["kernels"], file["instructions"], file["errors"]) == (None, None, 1)
    assert cli("check", "cut.ptx").stdout == "cut.ptx: 1 error\n"


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif"])
def test_the_exit_code_does_not_depend_on_the_format(cli: Cli, folder: Path, form: str) -> None:
    for options, name, code in (
        ((), "good", 0),
        ((), "warned", 0),
        (("--werror",), "warned", 1),
        ((), "broken", 1),
    ):
        assert cli("check", "--format", form, *options, f"{name}.ptxplus").exit_code == code


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif"])
def test_output_to_a_file_is_what_would_be_printed(cli: Cli, folder: Path, form: str) -> None:
    files = ("good.ptxplus", "broken.ptxplus")
    printed = cli("check", "--format", form, *files)
    written = cli("check", "--format", form, *files, "-o", "out")
    assert (written.stdout, written.stderr) == ("", printed.stderr)
    assert Path("out").read_text() == printed.stdout


def test_without_a_file(cli: Cli) -> None:
    result = cli("check")
    assert (result.exit_code, "Missing argument 'FILE...'" in result.stderr) == (2, True)


# ---- the pages


@pytest.mark.parametrize("code", ["E101", "W201", "E303"])  # that every code has a page: test_error_pages.py
def test_a_code_is_explained(cli: Cli, code: str) -> None:
    result = cli("check", "--explain", code.lower())
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines(result.stdout)[0] == f"# {code}: {CODES[code]}"
    assert "## Why" in result.stdout


def test_a_page_as_data(cli: Cli) -> None:
    data = json.loads(cli("check", "--explain", "E201", "--json").stdout)
    assert (data["code"], data["meaning"]) == ("E201", CODES["E201"])
    assert data["page"] + "\n" == cli("check", "--explain", "E201").stdout


def test_a_page_in_colour_has_the_same_words(cli: Cli) -> None:
    result = cli("check", "--explain", "E201", "--color", "always")
    assert "\x1b[" in result.stdout
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    for word in ("E201: undeclared register or variable", "add.u32 %r2, %r1, %r3;", "^^^", "Why"):
        assert word in plain


def test_a_code_that_does_not_exist(cli: Cli) -> None:
    result = cli("check", "--explain", "E21")
    assert result.exit_code == 2
    assert re.search(r"no diagnostic has the code 'E21'; did you mean E2\d+\?", result.stderr)


# ---- colour


def escapes(text: str) -> bool:
    return "\x1b" in text


@pytest.fixture
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_environment")
@pytest.mark.parametrize(
    ("option", "environment", "coloured"),
    [
        ((), {}, False),
        (("--color", "auto"), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_who_decides_on_colour(
    cli: Cli,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: tuple[str, ...],
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert escapes(cli("check", "broken.ptxplus", *option).stderr) == coloured
    assert escapes(cli("first-use", "good.ptxplus", *option).stdout) == coloured


def test_colour_ends_with_the_command(cli: Cli, folder: Path) -> None:
    cli("check", "broken.ptxplus", "--color", "always")
    assert not os.environ.get("FORCE_COLOR")
    assert not escapes(cli("check", "broken.ptxplus").stderr)


@pytest.mark.usefixtures("no_environment")
@pytest.mark.parametrize("command", ["check", "live", "first-use", "cfg", "pressure"])
def test_colour_changes_no_word(cli: Cli, folder: Path, command: str) -> None:
    plain = cli(command, "warned.ptxplus")
    coloured = cli(command, "warned.ptxplus", "--color", "always")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout + coloured.stderr)
    words = (plain.stdout + plain.stderr).split()
    assert bare.split() == [word for word in words if word.strip("-")]  # a plain table rules off its titles


def test_a_file_cannot_steer_the_terminal(cli: Cli, folder: Path) -> None:
    Path("evil.ptx").write_bytes(b".version 8.0\n.target sm_80\n\x1b[2J\n")
    result = cli("check", "evil.ptx", "--color", "always")
    assert "\x1b[2J" not in result.output
    assert "\\x1b" in result.stderr


def test_check_counts_what_is_in_the_file(cli: Cli, kernel_file: Path) -> None:
    result = cli("check", kernel_file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{kernel_file}: ok, 1 kernel, 6 instructions\n"


def test_fix_rewrites_the_file_and_checks_it_again(cli: Cli, tmp_path: Path) -> None:
    head = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\n\t.reg .b32 %r<2>;\n"
    path = tmp_path / "k.ptx"
    path.write_text(f"{head}\tmov.u32 %r1 1;\n\tmul.u32 %r1, %r1, %r1;\n\tret;\n}}\n")
    result = cli("check", "--fix", path)
    assert result.exit_code == 1
    assert path.read_text() == f"{head}\tmov.u32 %r1, 1;\n\tmul.u32 %r1, %r1, %r1;\n\tret;\n}}\n"
    assert "k.ptx:7: fixed E101: missing ',' before '1'" in result.stderr
    assert "error[E203]: 'mul.u32' lacks a modifier" in result.stderr


def test_fix_needs_files(cli: Cli) -> None:
    assert "--fix rewrites files" in cli("check", "--fix", "-", input="x").stderr
    assert "is a packaged sample" in cli("check", "--fix", "saxpy").stderr


def test_a_fix_is_data(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(".version 7.0\n.target sm_70\n.entry k()\n{\n\tbar.sync 0 1;\n\tret;\n}\n")
    (found,) = json.loads(cli("check", "--json", path).stdout)["files"][0]["diagnostics"]
    assert found["fix"] == {"text": ",", "line": 5, "column": 12, "end_line": 5, "end_column": 12}
