"""Kernels whose results were worked out by hand (tests/hand), in both implementations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hand_kernels import files, hand_kernels

from ptxsim.semantics import functional
from ptxsim.semantics.reference import run_reference


@pytest.mark.parametrize("run", [functional.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_by_hand(path: Path, run: Callable[..., Any]) -> None:
    kernels = hand_kernels(path)
    assert kernels
    wrong = [line for kernel in kernels for line in kernel.differences(run)]
    assert not wrong, "\n".join(wrong)
