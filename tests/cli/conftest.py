"""Running the command line in this process, and kernels to run it on."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from scalekernel import LAUNCH, SCALE
from smallkernel import KERNEL, Cli

from ptxtool.cli.main import main


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """`cli("live", path)` runs a command: `.exit_code`, `.stdout`, `.stderr`."""

    monkeypatch.setenv("PTXTOOL_DEBUG", "1")

    def run(*arguments: object, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(a) for a in arguments], input=input, prog_name="ptxtool")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code != 70, result.stderr
        return result

    return run


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptxplus"
    path.write_text(KERNEL)
    return path


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The file of a kernel that scales a vector, with its launch file beside it."""
    (tmp_path / "launch.toml").write_text(LAUNCH)
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    return path
