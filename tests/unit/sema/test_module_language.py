"""What ptxas takes is no error, what it refuses is one: samples of code outside the corpus."""

import pytest
from language_samples import SAMPLES, Sample

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.sema.module import check_module


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: " ".join(s.text.split())[-70:])
def test_the_verdict_is_that_of_ptxas(sample: Sample) -> None:
    try:
        errors = [d for d in check_module(parse(sample.text)) if d.is_error]
    except PtxError as problem:
        errors = list(problem.diagnostics)
    assert (not errors) is sample.is_taken, errors
