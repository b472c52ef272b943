"""What the papers print, as data."""

import pytest

from ptxtool.formats.files import sample_names
from ptxtool.sweep.reproduction.papers import SHARING, paper


@pytest.mark.parametrize("name", SHARING)
def test_every_application_has_a_sample_and_a_number_for_each_percentage(name: str) -> None:
    found = paper(name)
    assert found.percents == tuple(sorted(found.percents))
    assert found.full_percent == 90
    assert {each.sample for each in (*found.application, *found.unlimited)} <= set(sample_names())
    for application in found.application:
        assert len(application.resident) == len(application.ipc) == len(found.percents)
        assert list(application.resident) == sorted(application.resident)  # more sharing, no fewer CTAs
