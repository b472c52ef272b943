"""Fixtures for every test: the corpus of real assembly, the command line in this process, kernels to run it on; tests
that are files."""

import gc
from pathlib import Path

import casefile
import pytest
from checkout import CHECKOUT
from click.testing import CliRunner, Result
from hypothesis import settings
from scalekernel import LAUNCH, SCALE
from smallkernel import KERNEL, Cli

from ptxtool.cli.main import main

COMPILES = "tests/applications/test_faults.py"
COMPILES_NOTHING = (
    "tests/diff/test_mutations_",
    "tests/diff/test_forms_",
    "tests/unit/isa/",
    "tests/unit/analysis/",
)

settings.register_profile("untimed", deadline=None)  # a loaded machine is no failure
settings.load_profile("untimed")


def shared_dir() -> Path | None:
    """The folder of reference material beside the checkout, or None where it is absent."""
    folder = CHECKOUT.parent / "shared"
    return folder if folder.is_dir() else None


def corpus_files() -> tuple[Path, ...]:
    """Every PTX and PTXPlus file of the corpus in a fixed order; empty where the corpus is absent."""
    shared = shared_dir()
    if shared is None:
        return ()
    return tuple(sorted(p for p in (shared / "corpus").rglob("*") if p.suffix in (".ptx", ".ptxplus")))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material; skips the test where it is absent."""
    folder = shared_dir()
    if folder is None:
        pytest.skip("no ../shared beside the checkout")
    return folder


@pytest.fixture(scope="session")
def corpus() -> tuple[Path, ...]:
    """Every corpus file; skips the test where the corpus is absent."""
    files = corpus_files()
    if not files:
        pytest.skip("no corpus in ../shared beside the checkout")
    return files


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """`cli("live", path)` runs a command: `.exit_code`, `.stdout`, `.stderr`."""

    monkeypatch.setenv("PTXTOOL_DEBUG", "1")

    def run_command(*arguments: object, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(a) for a in arguments], input=input, prog_name="ptxtool")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code != 70, result.stderr
        return result

    return run_command


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


def pytest_addoption(parser: pytest.Parser) -> None:
    casefile.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    casefile.refuse_blessing_in_ci(config)
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays: Python need not look for rubbish in it again and again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker compiles the simulator for all; the next begins with what does not need it, not with the same."""

    def turn(item: pytest.Item) -> int:
        return 0 if item.nodeid.startswith(COMPILES) else 2 - item.nodeid.startswith(COMPILES_NOTHING)

    items.sort(key=turn)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return casefile.collect_file(file_path, parent)
