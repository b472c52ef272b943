"""What reports take from the launch file beside a kernel: only what it says of this kernel, and never in silence."""

from pathlib import Path

import pytest
from smallkernel import Cli

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 more[];
"""
KERNEL = """\
.visible .entry NAME()
{
\t.reg .b32 %r<3>;
\t.shared .align 4 .b8 NAME_tile[4096];
\tmov.u32 %r1, 0;
\tst.shared.u32 [NAME_tile], %r1;
\tst.shared.u32 [more], %r1;
\tld.shared.u32 %r2, [NAME_tile+4092];
\tret;
}
"""
LAUNCH = 'kernel = "histo"\ngrid = 28\nblock = 128\nregisters = 12\ndynamic_shared = 8192\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two kernels with 4096 static bytes of scratchpad; the launch file is for histo."""
    path = tmp_path / "k.ptx"
    path.write_text(HEAD + KERNEL.replace("NAME", "histo") + KERNEL.replace("NAME", "scale"))
    path.with_suffix(".toml").write_text(LAUNCH)
    return path


def test_occupancy_takes_nothing_from_another_kernels_launch(cli: Cli, file: Path) -> None:
    mine = cli("occupancy", file)
    assert "128 threads, 12 registers per thread" in mine.stdout
    assert "12288 bytes of scratchpad" in mine.stdout
    other = cli("occupancy", file, "--kernel", "scale", "--block", 64)
    assert "64 threads, 1 register per thread" in other.stdout
    assert "4096 bytes of scratchpad" in other.stdout
    result = cli("occupancy", file, "--kernel", "scale")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"--block T is needed: threads per CTA; '{file.with_suffix('.toml')}' is not for" in result.stderr


def test_occupancy_of_a_list_takes_the_kernels_own_entry(cli: Cli, file: Path) -> None:
    file.with_suffix(".toml").write_text(
        f'{LAUNCH}\n[[launch]]\n\n[[launch]]\nkernel = "scale"\nblock = [16, 4]\ndynamic_shared = 100\n'
    )
    other = cli("occupancy", file, "--kernel", "scale")
    assert "64 threads, 12 registers per thread" in other.stdout
    assert "4196 bytes of scratchpad" in other.stdout


def test_first_use_takes_nothing_from_another_kernels_launch(cli: Cli, file: Path) -> None:
    shared = cli("first-use", "--space", "shared", file, "--share-scratchpad", 50).stdout.split("scale:")
    assert "private bytes: 0 to 6143" in shared[0]  # of 4096 + 8192
    assert "private bytes: 0 to 2047" in shared[1]
    result = cli("first-use", file, "--share-registers", 50)
    assert result.stdout.count("private registers: 1 to 6") == 1
    assert "no launch says how many registers scale takes: give --registers N" in result.stderr
    result = cli("first-use", file, "--kernel", "scale", "--share-registers", 50)
    assert (result.exit_code, "--share-registers needs --registers N" in result.stderr) == (2, True)


def test_a_launch_file_that_cannot_be_read(cli: Cli, file: Path) -> None:
    launch = file.with_suffix(".toml")
    launch.write_text("hello")
    for needing in (
        ("occupancy", file, "--kernel", "scale"),
        ("first-use", "--space", "shared", file, "--share-scratchpad", 50),
        ("first-use", file, "--share-registers", 50),
    ):
        result = cli(*needing)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"{launch}:1:6: error[E502]" in result.stderr
    without = cli("occupancy", file, "--kernel", "scale", "--block", 64)
    assert (without.exit_code, "4096 bytes of scratchpad" in without.stdout) == (0, True)
    assert f"{launch}:1:6: error[E502]" in without.stderr
    assert f"going on without '{launch}'" in without.stderr
    given = ("--kernel", "scale", "--block", 64, "--registers", 8, "--scratchpad", 0)
    assert cli("occupancy", file, *given).stderr == ""


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--block", "1025", "E402]: a CTA of 1025 threads does not fit: it has at most 1024"),
        ("--block", "64,32", "E402]: a CTA of 2048 threads does not fit: it has at most 1024"),
        ("--registers", "0", "0 is not in the range x>=1"),
    ],
)
def test_what_no_run_takes(cli: Cli, file: Path, option: str, value: str, why: str) -> None:
    result = cli("occupancy", file, option, value)
    assert (result.exit_code, result.stdout, why in result.stderr) == (
        2 if option == "--registers" else 1,
        "",
        True,
    )


OUTSIDE = LAUNCH + '[constants.c]\ntype = "u8"\nfile = "../secret.npy"\n'


@pytest.mark.parametrize(
    "command", ["occupancy", "run --kernel histo", "sim --kernel histo", "compare --kernel histo"]
)
def test_a_launch_file_reads_no_file_of_another_folder(cli: Cli, file: Path, command: str) -> None:
    (file.parent.parent / "secret.npy").write_bytes(b"contents:of:it")
    file.with_suffix(".toml").write_text(OUTSIDE)
    result = cli(*command.split(), file)
    assert result.exit_code == 1
    assert "k.toml:8:1: error[E502]: '../secret.npy' is not in the folder of the launch file" in result.stderr
    assert "--allow-outside" in result.stderr
    allowed = cli(*command.split(), file, "--allow-outside")
    assert "cannot read '../secret.npy': it is no .npy file" in allowed.stderr
    assert "contents" not in result.stderr + allowed.stderr
