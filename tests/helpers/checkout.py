"""The folders of the checkout, for tests of any depth."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
TESTS = CHECKOUT / "tests"
