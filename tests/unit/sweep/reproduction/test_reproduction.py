"""Exhibits and findings of made-up results: nothing is simulated here."""

import pytest
from paper_runs import made_up

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
