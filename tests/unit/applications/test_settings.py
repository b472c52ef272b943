"""What follows from the choices of a run."""

import pytest

from ptxsim.launch_options import LaunchOptions
from ptxtool.applications.settings import Settings
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu

GPU = load_gpu("tesla-c2050")


def test_launches_without_time_among_others_tolerate_the_same_accesses() -> None:
    timed = LaunchOptions(scheduler="gto", out_of_bounds="count")
    assert Settings(GPU, timed, timed=True).untimed_options == LaunchOptions(out_of_bounds="count")
    assert Settings(GPU, timed, timed=True).hertz == 575e6


def test_writes_are_tracked_where_initialisation_is_checked() -> None:
    for check, is_tracked in (((), False), ("memory,races", False), ("memory,init", True), ("all", True)):
        assert Settings(GPU, LaunchOptions(check=check)).tracks_writes == is_tracked


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (LaunchOptions(check="race"), "no check is named 'race'"),
        (LaunchOptions(scheduler="gtoo"), "no warp scheduler 'gtoo'"),
    ],
)
def test_unknown_names_are_refused_before_the_application_starts(options: LaunchOptions, what: str) -> None:
    with pytest.raises(PtxError, match=what):
        Settings(GPU, options, timed=True)
