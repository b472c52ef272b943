"""Fixtures every test may use (the corpus of real assembly, where the machine has one), and tests that are files."""

from pathlib import Path

import casefile
import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a loaded machine is no failure
settings.load_profile("untimed")

CHECKOUT = Path(__file__).resolve().parent.parent


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


def pytest_addoption(parser: pytest.Parser) -> None:
    casefile.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    casefile.refuse_blessing_in_ci(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return casefile.collect_file(file_path, parent)
