"""Exhibits and findings of made-up results: nothing is simulated here."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.report.simulations.reproduction import reproduction_page, reproduction_parts
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Finding, Reproduction
from ptxtool.runs.schemes import ladder_schemes
from ptxtool.sweep.reproduction.exhibits import Exhibits, RunCounters
from ptxtool.sweep.reproduction.findings import findings, geometric_mean, rank_correlation
from ptxtool.sweep.reproduction.papers import EXPERIMENTS, paper
from ptxtool.sweep.reproduction.schemes import full_scheme, limited_schemes, unlimited_schemes


def run(thread_ipc: float, resident_ctas: int = 3) -> RunCounters:
    """The counters of a run that nobody made."""
    return {
        "cycles": 1000,
        "thread_ipc": thread_ipc,
        "resident_ctas": resident_ctas,
        "registers": 36,
        "scratchpad_bytes": 7200,
        "block": (16, 16, 1),
        "slots": {"stall": 40, "idle": 10, "scoreboard": 5},
        "l1": {"misses": 3},
        "l2": {"misses": 2},
    }


def made_up(name: str) -> dict[tuple[str, str], RunCounters]:
    """Runs whose gains are exactly those of the papers, and whose CTAs are those of their tables."""
    papers = paper(name)
    runs: dict[tuple[str, str], RunCounters] = {}
    for a in papers.application:
        for scheme in limited_schemes(papers):
            runs[a.name, scheme.name] = run(100 * (1 + a.ladder.get(scheme.name, 0) / 100))
        for percent, ctas in zip(papers.percents, a.resident, strict=True):
            gain = a.gain if percent == papers.full_percent else 0
            runs[a.name, full_scheme(papers, percent).name] = run(100 * (1 + gain / 100), resident_ctas=ctas)
    for u in papers.unlimited:
        runs |= {(u.name, scheme.name): run(50) for scheme in unlimited_schemes(papers)}
    return runs


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_as_the_papers_agree_in_everything_but_what_the_papers_do_not_have(name: str) -> None:
    papers = paper(name)
    exhibits = Exhibits(papers, made_up(name), load_gpu(papers.gpu)).all()
    for exhibit in exhibits:
        if exhibit.key in ("gain", "ladder", "resident-by-percent"):
            assert all(v.ours == pytest.approx(v.paper) for v in exhibit.values if v.paper is not None)
    found = findings(papers, exhibits)
    differ = {f.question for f in found if not f.agrees}
    beyond = {"locks released early", "the release marks alone"}
    assert differ <= {*beyond, f"faster or slower than twice the {papers.resource}"}
    mean = next(f for f in found if f.question == "geometric mean of the gains")
    assert mean.ours == {"register-sharing": "+10.99%", "scratchpad-sharing": "+12.47%"}[name]


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


def test_ranks() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [9, 5, 1]) == pytest.approx(-1)
    # ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_geometric_mean() -> None:
    assert geometric_mean([100, 0]) == pytest.approx(41.42, abs=0.01)
    assert geometric_mean([25, -20]) == pytest.approx(0)


def test_an_unknown_experiment() -> None:
    with pytest.raises(PtxError) as raised:
        paper("registers-sharing")
    assert raised.value.diagnostics[0].code == "E502"
    assert "did you mean 'register-sharing'?" in (raised.value.diagnostics[0].help or "")


def test_rungs_share_one_resource() -> None:
    for resource, n in (("registers", 5), ("scratchpad", 3)):
        first, *shared = ladder_schemes(resource, 90, release=True)  # type: ignore[arg-type]
        assert first.options == {}
        assert len(shared) == n
        assert all(scheme.options[f"share_{resource}"] == 90 for scheme in shared)
    hasten = "hoist-last-access{share=90,registers=20}"
    assert shared[-1].pipeline(20) == f"layout-shared{{share=90}},{hasten},release-scratchpad{{share=90}}"
    marked = ladder_schemes("registers", 90, release=True)[-1]  # type: ignore[arg-type]
    assert marked.pipeline(20).endswith(
        ",split-tail-ranges{share=90,registers=20},release-registers{share=90,registers=20}"
    )
    assert marked.pipeline(None).endswith(",split-tail-ranges{share=90},release-registers{share=90}")


def test_early_release_is_judged_with_and_without_its_marks() -> None:
    """CONV1 gains 10% by the order of its instructions and 1% of that by marks, CONV2 the other way round."""
    papers = paper("scratchpad-sharing")
    runs = made_up("scratchpad-sharing")
    for name, ordered, marked in (("CONV1", 110, 111.1), ("CONV2", 99, 98.01)):
        for scheme, ipc in (
            ("Shared-OWF", 100),
            ("Shared-OWF-Hastened", ordered),
            ("Shared-OWF-Release", marked),
        ):
            runs[name, scheme] = run(ipc)
    for name in ("lavaMD", "NW1", "NW2"):
        del runs[name, "Shared-OWF-Release"]
    for name in ("SRAD1", "SRAD2"):
        runs[name, "Shared-OWF-Hastened"] = runs[name, "Shared-OWF-Release"] = runs[name, "Shared-OWF"]
    found = {f.question: f.ours for f in findings(papers, Exhibits(papers, runs, load_gpu(papers.gpu)).all())}
    assert found["locks released early"] == "1 of 4 faster, 1 slower, by 1.99% at most"
    assert found["the release marks alone"] == "1 of 4 faster, 1 slower, by 1.00% at most"


def small() -> Reproduction:
    exhibit = Exhibit(
        "gain",
        "The <full> scheme",
        "figure 9",
        "gain, percent",
        (
            ExhibitValue("hotspot", "full", 28.5, 21.76),
            ExhibitValue("MUM", "full", None, 24.14),
            ExhibitValue("x", "full", -3.0),
        ),
        signed=True,
    )
    finding = Finding("sign of the gain: hotspot", "gain", "gain", True)
    return Reproduction("Register sharing", "tesla-c2050", ("B: a paper",), (exhibit,), (finding,), (), 3)


def test_text() -> None:
    text = "\n".join(str(part) for part in reproduction_parts(small()))
    assert "hotspot      +28.50 (+21.76)" in text
    assert "MUM               - (+24.14)" in text
    assert text.splitlines()[-1].split() == ["x", "-3.00"]
    assert "sign of the gain: hotspot  agrees  gain  gain" in text


def test_csv_has_every_value() -> None:
    assert small().to_csv().splitlines() == [
        "exhibit,quantity,row,column,ours,paper",
        'gain,"gain, percent",hotspot,full,28.5,21.76',
        'gain,"gain, percent",MUM,full,,24.14',
        'gain,"gain, percent",x,full,-3.0,',
    ]


def test_page_escapes_and_draws_bars() -> None:
    page = reproduction_page(small())
    assert "The &lt;full&gt; scheme" in page
    # -3 .. 28.5: zero lies at 3 / 31.5 of the width; ours is 28.5 / 31.5 long
    assert 'class="ours" style="left:9.52%;width:90.48%"' in page
    assert "http" not in page
