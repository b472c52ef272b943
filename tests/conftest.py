"""Fixtures every test may use: the corpus of real assembly, where the machine has one."""

from pathlib import Path

import pytest

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
