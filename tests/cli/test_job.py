"""The kernel and the launch that FILE and the options of `run`, `sim` and `compare` select."""

from pathlib import Path

from commands import change, data
from scalekernel import INPUTS
from smallkernel import Cli


def test_a_launch_file_that_names_its_kernel_file(cli: Cli, job: Path) -> None:
    launch = job.with_name("launch.toml")
    change(launch, "kernel =", 'file = "scale.ptx"\nkernel =')
    assert data(cli, "sim", launch) == data(cli, "sim", job)
    assert data(cli, "sim", job, "--launch", launch) == data(cli, "sim", job)
    assert cli("sim", launch, "--launch", launch).exit_code == 2


def test_no_launch_file(cli: Cli, job: Path) -> None:
    job.with_name("launch.toml").unlink()
    result = cli("sim", job)
    assert result.exit_code == 1
    assert "error[E501]: no launch file for" in result.stderr
    assert "--launch" in result.stderr
    assert "cannot read 'no.toml'" in cli("sim", job, "--launch", "no.toml").stderr


def test_the_only_kernel_file_beside_a_launch_file(cli: Cli, job: Path) -> None:
    launch = job.with_name("launch.toml")
    assert data(cli, "run", launch) == data(cli, "run", job)
    job.with_name("other.ptx").write_text(job.read_text())
    result = cli("run", launch)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[E502]: '{launch}' does not say which file its kernel is in" in result.stderr


def test_a_kernel_is_not_named_for_a_list_of_launches(cli: Cli, job: Path) -> None:
    job.with_name("launch.toml").write_text(INPUTS + '[[launch]]\nargs = ["x", "a"]\n')
    assert cli("run", job).exit_code == 0
    result = cli("run", job, "--kernel", "scale")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--kernel goes with one launch" in result.stderr
