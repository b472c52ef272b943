"""The experiments by name."""

import pytest

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.sweep.reproduction.experiments import EXPERIMENTS, reproduce
from ptxtool.sweep.reproduction.register_schemes.matrix import Restriction


def test_an_unknown_experiment() -> None:
    with pytest.raises(PtxError) as raised:
        reproduce("registers-sharing", api.kernel)
    assert raised.value.diagnostics[0].code == "E502"
    assert "did you mean 'register-sharing'?" in (raised.value.diagnostics[0].help or "")
    with pytest.raises(PtxError) as raised:
        reproduce("", api.kernel)
    names = "register-sharing, scratchpad-sharing, regdem, finereg and schemes"
    assert raised.value.diagnostics[0].help == f"there are {names}"
    assert len(EXPERIMENTS) == 5


def test_experiments_of_papers_are_not_restricted() -> None:
    with pytest.raises(PtxError, match=r"E502.*experiment 'regdem' is of all its runs"):
        reproduce("regdem", api.kernel, Restriction(kernels=("nw1",)))
    with pytest.raises(PtxError, match=r"E502.*no kernel 'nw3'"):
        reproduce("schemes", api.kernel, Restriction(kernels=("nw3",)))
