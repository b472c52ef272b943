"""The papers' tables and figures from results of runs."""

import pytest
from paper_runs import made_up, run

from ptxtool.formats.gpu import load_gpu
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.findings import findings
from ptxtool.sweep.reproduction.papers import paper


def test_a_run_without_a_result_leaves_a_gap() -> None:
    papers = paper("register-sharing")
    runs = made_up("register-sharing")
    del runs["hotspot", "Shared-OWF-Unrolled-Dyn"]
    exhibits = Exhibits(papers, runs, load_gpu(papers.gpu)).all()
    gain = next(e for e in exhibits if e.key == "gain").at("hotspot", "Shared-OWF-Unrolled-Dyn")
    assert gain is not None
    assert gain.ours is None
    assert gain.paper == 21.76
    assert not any(f.question == "sign of the gain: hotspot" for f in findings(papers, exhibits))


def test_waste_is_the_papers() -> None:
    # hotspot: 3 CTAs x 256 threads x 36 registers leave 5120 of 32768; lavaMD: 2 x 7200 bytes leave 1984 of 16384
    registers, scratchpad = paper("register-sharing"), paper("scratchpad-sharing")
    runs = {("hotspot", "Unshared-LRR"): run(1), ("lavaMD", "Unshared-LRR"): run(1, resident_ctas=2)}
    for papers, row in ((registers, "hotspot"), (scratchpad, "lavaMD")):
        value = Exhibits(papers, runs, load_gpu(papers.gpu)).waste().at(row, "unused")
        assert value is not None
        assert value.ours == pytest.approx(value.paper, abs=0.01)
