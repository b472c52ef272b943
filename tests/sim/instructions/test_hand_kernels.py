"""Kernels whose results were worked out by hand (tests/hand), in both implementations."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from assemblers import assemblers
from hand_kernels import files, hand_kernels
from ptxas import needs_ptxas, ptxas_errors
from reference.interpreter import run_reference

from ptxsim import functional_run as functional
from ptxsim.lowering.builder import RULES
from ptxtool.isa.table import table


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
    assert not ptxas_errors(text, arch, program=_assembler_for(text))


def _assembler_for(text: str) -> str:
    """An assembler that takes a file's version: the usual one up to PTX 9.0."""
    found = re.search(r"^\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    assert found is not None
    version = int(found[1]), int(found[2])
    if version <= (9, 0):
        return ""
    able = [program for newest, program in sorted(assemblers().items()) if newest >= version]
    if not able:
        pytest.skip(f"needs the assembler of PTX {found[1]}.{found[2]} in PTXTOOL_ASSEMBLERS")
    return able[0]


def test_every_row_has_a_kernel() -> None:
    """Every row with a meaning is shown by a kernel (`pytest -s` prints the count)."""
    shown = {id(form) for path in files() for kernel in hand_kernels(path) for form in kernel.shown()}
    meant = [form for forms in table().forms.values() for form in forms if form.sem in RULES]
    left = [form for form in meant if id(form) not in shown]
    print(f"{len(meant) - len(left)} of {len(meant)} rows with a meaning have a kernel worked by hand")
    names = [f"{f.family} {f.dialect} {f.base} {[g.alternatives for g in f.groups]}" for f in left]
    assert not left, "\n".join(names)
