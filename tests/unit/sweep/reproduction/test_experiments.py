"""The experiments by name."""

import pytest

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.sweep.reproduction.experiments import EXPERIMENTS, reproduce


def test_an_unknown_experiment() -> None:
    with pytest.raises(PtxError) as raised:
        reproduce("registers-sharing", api.kernel)
    assert raised.value.diagnostics[0].code == "E502"
    assert "did you mean 'register-sharing'?" in (raised.value.diagnostics[0].help or "")
    with pytest.raises(PtxError) as raised:
        reproduce("", api.kernel)
    assert (
        raised.value.diagnostics[0].help
        == "there are register-sharing, scratchpad-sharing, regdem and finereg"
    )
    assert len(EXPERIMENTS) == 4
