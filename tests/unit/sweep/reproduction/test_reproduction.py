"""Exhibits and findings of made-up results: nothing is simulated here."""

import pytest
from paper_runs import made_up, run

from ptxtool.formats.gpu import load_gpu
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.findings import findings
from ptxtool.sweep.reproduction.papers import SHARING, paper


@pytest.mark.parametrize("name", SHARING)
def test_results_as_the_papers_agree_in_everything_but_what_the_papers_do_not_have(name: str) -> None:
    papers = paper(name)
    exhibits = Exhibits(papers, made_up(name), load_gpu(papers.gpu)).all()
    for exhibit in exhibits:
        if exhibit.key in ("gain", "factors", "absolute", "ladder", "resident-by-percent"):
            assert all(v.ours == pytest.approx(v.paper) for v in exhibit.values if v.paper is not None)
    found = findings(papers, exhibits)
    differ = {f.question for f in found if not f.agrees}
    beyond = {"locks released early", "the release marks alone"}
    beyond |= {f.question for f in found if f.question.startswith(("signs of what", "With 16 KB"))}
    assert differ <= {*beyond, f"faster or slower than twice the {papers.resource}"}
    mean = next(f for f in found if f.question == "geometric mean of the gains")
    ours = {"register-sharing": "+10.99%", "scratchpad-sharing": "+12.47%"}[name]
    assert mean.ours == f"{ours}, +0.0 points apart"


def test_two_orders_of_loads_are_a_range() -> None:
    """NW1 gains 12% with its loads first, 2% in the order of the source, 5.62% in the papers; NW2 2%, 4%, 9.03%."""
    papers = paper("scratchpad-sharing")
    results = {
        (row, scheme): run(ipc)
        for row, first, full in (
            ("NW1", 100, 112),
            ("NW1, order of the source", 100, 102),
            ("NW2", 100, 102),
            ("NW2, order of the source", 50, 52),
            ("NW2, as PTX", 80, 60),
        )
        for scheme, ipc in (("Unshared-LRR", first), ("Shared-OWF-0", 1.1 * first), ("Shared-OWF", full))
    }
    exhibits = Exhibits(papers, results, load_gpu(papers.gpu)).all()
    by_key = {exhibit.key: exhibit for exhibit in exhibits}
    orders, forms = by_key["orders"], by_key["forms"]
    assert [
        orders.text(v.ours)
        for column in ("IPC, order of the source", "order", "gain", "gain, order of the source")
        if (v := orders.at("NW2", column)) is not None
    ] == ["50.00", "10.00", "2.00", "4.00"]
    assert [forms.text(v.ours) for column in forms.columns if (v := forms.at("NW2", column)) is not None] == [
        "100.00",
        "80.00",
        "10.00",
        "10.00",
        "2.00",
        "-25.00",
    ]
    found = {f.question: f for f in findings(papers, exhibits)}
    between = found["gains between those of two orders of loads, or within 3 points"]
    assert (between.ours, between.paper, between.agrees) == ("1 of 2", "2", False)


def test_absolute_ipc_has_two_thresholds() -> None:
    """The papers' IPC of NW1 without sharing is 38.37 / 1.0562 = 36.33, of NW2 39.72 / 1.0903 = 36.43."""
    papers = paper("scratchpad-sharing")
    results = {("NW1", "Unshared-LRR"): run(38), ("NW2", "Unshared-LRR"): run(43)}
    found = findings(papers, Exhibits(papers, results, load_gpu(papers.gpu)).all())
    (absolute,) = [f for f in found if f.question == "thread IPC without sharing within 10%"]
    assert absolute.ours == "1 of 2, 2 within 20%, a factor of 1.11 apart on average"
