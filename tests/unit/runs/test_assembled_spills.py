"""What ptxas spills, without and with its pragma."""

import pytest
from crowded import crowded
from ptxas import needs_ptxas

from ptxtool.parse import parse
from ptxtool.runs import assembled_spills as module
from ptxtool.runs.assembled_spills import NO_PTXAS, PRAGMA, _bounded, assembled_spills


def test_the_pragma_is_in_the_kernel_and_the_version_has_it() -> None:
    text = _bounded(parse(crowded()).kernels["crowded"], 24, 256, PRAGMA).source.text
    assert text.startswith(".version 8.7\n.target sm_75\n")
    assert text.index(".maxnreg 24\n.maxntid 256\n{") < text.index(PRAGMA) < text.index(".reg")
    recent = crowded(".reqntid 64\n.maxnreg 99\n").replace("7.0", "9.0").replace("sm_70", "sm_90a")
    newer = _bounded(parse(recent).kernels["crowded"], 24, 256, "").source.text
    assert newer.startswith(".version 9.0\n.target sm_90a\n")
    assert ".reqntid 64\n\n.maxnreg 24\n{" in newer
    assert PRAGMA not in newer


def test_without_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_ptxas", lambda: None)
    assert assembled_spills(parse(crowded()).kernels["crowded"], (24,), 256) == (NO_PTXAS, ())


def test_ptxplus_has_no_ptxas() -> None:
    text = ".version 1.4+\n.target sm_10\n.entry k ()\n{\n\t.reg .u32 $r<2>;\n\texit;\n}\n"
    assert assembled_spills(parse(text).kernels["k"], (24,), 256) == ("ptxas does not read PTXPlus", ())


@needs_ptxas
def test_figures() -> None:
    """90 values that live at once: at 24 registers some are spilled, at 128 none."""
    text = crowded("", 90).replace("ld.global", "ld.volatile.global")  # which ptxas does not move
    kernel = parse(text).kernels["crowded"]
    ptxas, (few, many) = assembled_spills(kernel, (24, 128), 256)
    assert ptxas.startswith("ptxas ")
    assert (few.target, many.target) == (24, 128)
    assert (many.spill_bytes, many.pragma_spill_bytes) == (0, 0)
    assert few.registers is not None
    assert few.registers <= 24
    assert few.spill_bytes
    assert few.pragma_spill_bytes is not None
    assert few.pragma_spill_bytes < few.spill_bytes
