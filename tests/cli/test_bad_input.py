"""What bad input gets: a message with code, place, caret and next step; exit code 1; outputs untouched."""

import os
import re
from pathlib import Path

import pytest
from smallkernel import KERNEL, Cli

REPORTS = ("check", "first-use", "live", "pressure", "cfg")


def variant(tmp_path: Path, old: str, new: str) -> Path:
    assert old in KERNEL
    path = tmp_path / "bad.ptxplus"
    path.write_text(KERNEL.replace(old, new, 1))
    return path


@pytest.mark.parametrize("command", REPORTS)
def test_a_file_that_is_not_there(cli: Cli, command: str) -> None:
    result = cli(command, "nowhere.ptx")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[E501]: cannot read 'nowhere.ptx': no such file or directory\n")
    assert "help: give the path of a PTX or PTXPlus file" in result.stderr


def test_a_folder(cli: Cli, tmp_path: Path) -> None:
    result = cli("live", tmp_path)
    assert result.exit_code == 1
    assert "error[E501]" in result.stderr
    assert "is a directory" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read(cli: Cli, kernel_file: Path) -> None:
    kernel_file.chmod(0)
    result = cli("live", kernel_file)
    assert (result.exit_code, "permission denied" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "E104"),
        (b"\n  // nothing\n", "E104"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0", "E103"),
        (KERNEL[:200].encode(), "E102"),
        (b"/* never closed", "E102"),
        (KERNEL.replace("mov.u32 $r1, $r124;", "mov.u32 $r1 $r124;").encode(), "E101"),
    ],
    ids=["empty", "comments", "binary", "truncated", "open-comment", "missing-comma"],
)
@pytest.mark.parametrize("command", ["check", "live", "rewrite"])
def test_what_is_no_kernel_file(cli: Cli, tmp_path: Path, content: bytes, code: str, command: str) -> None:
    path = tmp_path / "bad.ptx"
    path.write_bytes(content)
    options = ["-p", "unroll-decls"] if command == "rewrite" else []
    result = cli(command, *options, path)
    assert result.exit_code == 1
    place = rf"{re.escape(str(path))}:\d+:\d+: error\[{code}\]"
    assert re.match(place, result.stderr), result.stderr
    assert str(path) in result.stderr
    assert "help: " in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "code", "name"),
    [
        ("add.u32 $r2, $r1, $r3", "add.u32 $r2, $r1, $r9", "E201", "$r9"),
        ("bra L1;", "bra L2;", "E202", "L2"),
        (".reg .u32 $r124;", ".reg .u32 $r124;\n\t.reg .u32 $r124;", "E204", "$r124"),
    ],
    ids=["register", "label", "duplicate"],
)
@pytest.mark.parametrize("command", REPORTS)
def test_names(cli: Cli, tmp_path: Path, old: str, new: str, code: str, name: str, command: str) -> None:
    path = variant(tmp_path, old, new)
    result = cli(command, path)
    assert result.exit_code == 1
    wrong = new.split("\n")[-1].strip()
    line = max(n for n, text in enumerate(path.read_text().splitlines(), 1) if wrong in text)
    assert re.search(rf"{re.escape(str(path))}:{line}:\d+: error\[{code}\].*{re.escape(name)}", result.stderr)
    assert re.search(r"^ +\| \s*\^+$", result.stderr, re.MULTILINE)


def test_all_errors_of_a_file_at_once(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.ptxplus"
    path.write_text(
        KERNEL.replace("bra L1", "bra L2").replace("add.u32 $r2, $r1, $r3", "add.u32 $r2, $r8, $r9")
    )
    result = cli("check", path)
    assert [result.stderr.count(code) for code in ("[E201]", "[E202]")] == [2, 1]
    assert result.stdout == f"{path}: 3 errors, 1 kernel, 6 instructions\n"


def test_check_goes_on_behind_a_bad_file(cli: Cli, kernel_file: Path) -> None:
    result = cli("check", "nowhere.ptx", kernel_file)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "nowhere.ptx: 1 error",
        f"{kernel_file}: ok, 1 kernel, 6 instructions",
        "2 files: 1 ok, 1 not; 1 error",
    ]


def test_unknown_instruction_is_a_warning(cli: Cli, tmp_path: Path) -> None:
    path = variant(tmp_path, "add.u32 $r2", "adx.u32 $r2")
    result = cli("live", path)
    assert result.exit_code == 0
    assert "warning[W201]" in result.stderr
    assert result.stdout.startswith("k: live registers")


@pytest.mark.parametrize("command", ["first-use", "live", "pressure", "cfg"])
def test_kernel_not_in_the_file(cli: Cli, kernel_file: Path, command: str) -> None:
    result = cli(command, kernel_file, "--kernel", "q")
    assert result.exit_code == 1
    assert "error[E205]: kernel 'q' is not in" in result.stderr
    assert "its kernels are k" in result.stderr


def test_no_kernel_in_the_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "none.ptx"
    path.write_text(".version 2.3\n.target sm_20\n.func f () { ret; }\n")
    result = cli("live", path)
    assert result.exit_code == 1
    assert "error[E205]: no kernel in" in result.stderr
    assert "a function can be named instead: f" in result.stderr
    assert cli("live", path, "--kernel", "f").exit_code == 0


def test_several_kernels_where_one_is_needed(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.ptxplus"
    path.write_text(KERNEL + KERNEL.split("\n", 2)[2].replace(".entry k ", ".entry second "))
    result = cli("live", path, "--format", "c")
    assert result.exit_code == 1
    assert "its kernels are k, second; name one" in result.stderr


@pytest.mark.parametrize(
    ("pipeline", "reported"),
    [
        ("unrol-decls", "no pass named 'unrol-decls'"),
        ("reorder-decls{order=txt}", "'order' cannot be 'txt'"),
        ("reorder-decls{ordr=text}", "no option 'ordr'"),
        ("reorder-decls{order=text", "'{' is not closed"),
    ],
)
def test_wrong_pipelines(cli: Cli, kernel_file: Path, pipeline: str, reported: str) -> None:
    result = cli("rewrite", "-p", pipeline, kernel_file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E302]" in result.stderr
    assert reported in result.stderr


def test_a_pass_that_declines(cli: Cli, kernel_file: Path) -> None:
    result = cli("rewrite", "-p", "reorder-decls", kernel_file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E301]" in result.stderr


@pytest.mark.parametrize("what", [["rewrite", "-p", "reorder-decls"], ["live", "--kernel", "q"]])
def test_a_failed_run_leaves_the_output_as_it_was(
    cli: Cli, kernel_file: Path, tmp_path: Path, what: list[str]
) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    assert cli(*what, kernel_file, "-o", out).exit_code == 1
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.ptxplus", "out"]


@pytest.mark.parametrize("place", ["missing/out", "."])
def test_an_output_that_cannot_be_written(cli: Cli, kernel_file: Path, tmp_path: Path, place: str) -> None:
    result = cli("live", kernel_file, "-o", tmp_path / place)
    assert result.exit_code == 1
    assert f"error[E503]: cannot write '{tmp_path / place}'" in result.stderr


def test_output_over_the_input(cli: Cli, kernel_file: Path) -> None:
    kernel_file.chmod(0o640)
    assert cli("rewrite", "-p", "unroll-decls", kernel_file, "-o", kernel_file).exit_code == 0
    assert kernel_file.read_text().count(".reg") == 9
    assert kernel_file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("options", "code", "reported"),
    [
        (["--registers", 60, "--block", 1024], "E402", "does not fit"),
        (["--registers", 300, "--block", 32], "E402", "a thread of sm_20 has at most 63"),
        (["--registers", 8, "--block", 2048], "E402", "does not fit"),
        (["--registers", 8, "--block", 64, "--scratchpad", 65536], "E402", "does not fit"),
        (["--registers", 8, "--block", 64, "--share-registers", 100], "E502", "leaves a CTA no private part"),
        (["--registers", 8, "--block", 64, "--share-registers", "lots"], "E502", "'lots' is no number"),
        (
            ["--registers", 8, "--block", 64, "--share-registers", 5, "--share-scratchpad", 5],
            "E502",
            "at once",
        ),
        (["--registers", 8, "--block", 64, "--gpu", "tesla"], "E502", "no GPU named 'tesla'"),
        (["--registers", 8, "--block", 64, "--gpu", "./no.toml"], "E501", "cannot read 'no.toml'"),
    ],
)
def test_occupancy_that_cannot_be(cli: Cli, options: list[object], code: str, reported: str) -> None:
    result = cli("occupancy", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
    assert reported in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["live"],
        ["lives", "x"],
        ["live", "x", "--bogus"],
        ["live", "x", "--format", "xml"],
        ["live", "x", "--format", "c", "--json"],
        ["first-use", "x", "--registers", "20"],
        ["first-use", "x", "--share-registers", "90"],
        ["occupancy", "--registers", "20"],
        ["occupancy", "--block", "20"],
        ["occupancy", "--block", "a,b", "--registers", "20"],
        ["rewrite", "x"],
    ],
    ids=" ".join,
)
def test_usage(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: ptxtool" in result.stderr


LAUNCHED = """\
.version 7.0
.target sm_70
.address_size 64
BEFORE
.visible .entry k()
{
	.reg .b32 %q<3>;
	BODY
	ret;
}
"""


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        ("sim --max-cycles 1" + 20 * "0", "error[E401]: max_cycles = 1"),
        ("run --max-instructions 1" + 20 * "0", "error[E401]: max_instructions = 1"),
        ("sim --set sm.count=100000", "error[E502]: sm.count: 100000"),
        ("sim --set sm.count=2147483647", "error[E502]: sm.count: 2147483647"),
        ("sim --set sm.count=" + 5000 * "9", "error[E502]"),
        ("sim --scheduler two_level:" + 5000 * "9", "is no number of warps"),
        ("sim --share-registers 1e999999999", "is no number"),
        ("sim --dynamic-shared 1" + 15 * "0", "error[E402]"),
        ("run --dynamic-shared 1" + 15 * "0", "error[E402]"),
    ],
)
def test_numbers_beyond_every_limit(cli: Cli, tmp_path: Path, command: str, reported: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(LAUNCHED.replace("BEFORE", "").replace("BODY", ""))
    result = cli(*command.split(), path, "--grid", 1, "--block", 32)
    assert result.exit_code == 1
    assert reported in result.stderr


@pytest.mark.parametrize(
    ("before", "body", "reported"),
    [
        (
            ".global .b8 a[1000000000000];",
            "",
            ":4:1: error[E402]: the '.global' variables take 1000000000000 bytes",
        ),
        (
            ".const .b8 a[1000000000000];",
            "",
            ":4:1: error[E402]: the '.const' variables take 1000000000000 bytes",
        ),
        (f".global .b8 a{'[2]' * 5000};", "", "error[E402]: the '.global' variables take"),
        (
            ".shared .b8 a[1000000000000];",
            "ld.shared.b32 %q1, [a];",
            "error[E402]: a CTA of 'k' takes 1000000000000 bytes of shared memory",
        ),
        ("", ".reg .b32 %r<2147483648>;", "error[E212]: 'k' declares 2147483651 registers"),
        ("", ".reg .b32 %r<99999999999999999999>;", "error[E212]: 'k' declares"),
        ("", f"mov.b32 %q1, {'9' * 5000};", "error[E101]: a number of more than 1000 digits"),
    ],
    ids=["global", "const", "dimensions", "shared", "registers", "more-registers", "digits"],
)
@pytest.mark.parametrize("command", ["run", "sim"])
def test_declarations_beyond_every_limit(
    cli: Cli, tmp_path: Path, command: str, before: str, body: str, reported: str
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(LAUNCHED.replace("BEFORE", before).replace("BODY", body))
    result = cli(command, path, "--grid", 1, "--block", 32)
    assert result.exit_code == 1
    assert reported in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        "check NAME", "live NAME", "run NAME", "sim NAME --launch NAME", "overhead --gpu NAME", "sweep NAME",
        "sweep show NAME", "rewrite NAME -p unroll-decls", "occupancy NAME --block 32", "check --fix NAME",
        "gpus NAME", "sim saxpy --gpu NAME", "reproduce register-sharing --store NAME --cluster tcp://nowhere:1",
    ],
)  # fmt: skip
def test_names_of_5000_characters(cli: Cli, command: str) -> None:
    result = cli(*command.replace("NAME", "a" * 5000).split())
    assert result.exit_code == 1
    assert "error[E5" in result.stderr
    assert max(map(len, result.output.splitlines())) < 300


@pytest.mark.parametrize(
    "command", [*REPORTS, "rewrite -p compact -o OUT", "diff SAME", "occupancy --block 32"]
)
def test_a_kernel_with_a_name_of_5000_characters(cli: Cli, tmp_path: Path, command: str) -> None:
    path = variant(tmp_path, "entry k ", f"entry {'k' * 5000} ")
    words = command.replace("OUT", str(tmp_path / "out.ptxplus")).replace("SAME", str(path)).split()
    result = cli(*words, path)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) < 300


@pytest.mark.parametrize("block", ["9" * 5000, "1,2,3,4", "\x1f", "1,,2"])
def test_sizes_of_a_cta_that_are_none(cli: Cli, block: str) -> None:
    result = cli("occupancy", "--registers", "20", "--block", block)
    assert result.exit_code == 2
    assert "is not one to three whole numbers, such as 256 or 16,16" in result.stderr
