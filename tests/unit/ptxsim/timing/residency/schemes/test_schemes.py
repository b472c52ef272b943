"""The table of the built-in schemes."""

from ptxsim.timing.residency.schemes import DECISIONS
from ptxtool.analysis.occupancy.register_schemes import SCHEMES


def test_every_kind_of_switching_has_a_decision() -> None:
    kinds = {scheme.switching for scheme in SCHEMES} - {"none"}
    assert set(DECISIONS) == {(kind, order) for kind in kinds for order in ("launch-first", "ready-first")}
