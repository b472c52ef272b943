"""The verdicts of the samples of code outside the corpus, asked of ptxas again."""

from language_samples import SAMPLES
from ptxas import needs_ptxas, ptxas_errors


@needs_ptxas
def test_ptxas_on_the_samples() -> None:
    wrong = [s for s in SAMPLES if bool(ptxas_errors(s.text, s.arch)) is s.is_taken]
    assert wrong == []
