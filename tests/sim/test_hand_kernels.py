"""Kernels whose results were worked out by hand (tests/hand), in both implementations."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hand_kernels import files, hand_kernels
from ptxas import needs_ptxas, ptxas_errors

from ptxsim.semantics import functional
from ptxsim.semantics.reference import run_reference


@pytest.mark.parametrize("run", [functional.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_by_hand(path: Path, run: Callable[..., Any]) -> None:
    kernels = hand_kernels(path)
    assert kernels
    wrong = [line for kernel in kernels for line in kernel.differences(run)]
    assert not wrong, "\n".join(wrong)


@needs_ptxas
@pytest.mark.parametrize("path", [p for p in files() if p.suffix == ".ptx"], ids=lambda path: path.name)
def test_ptxas_takes_them(path: Path) -> None:
    text = path.read_text()
    target = re.search(r"^\.target\s+sm_(\d+)(\w?)", text, re.MULTILINE)
    assert target is not None
    arch = f"sm_{max(int(target[1]), 75)}{target[2]}"  # the oldest that ptxas still makes code for
    assert not ptxas_errors(text, arch)
