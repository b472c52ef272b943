"""The table of register schemes."""

from typing import get_args

import pytest

from ptxtool.analysis.occupancy.register_schemes import SCHEMES, SchemeName, scheme_named
from ptxtool.base.diag import PtxError


def test_a_scheme_has_its_parts() -> None:
    assert scheme_named("none").switching == "none"
    finereg = scheme_named("finereg")
    assert (finereg.switching, finereg.extended, finereg.unified, finereg.renamed) == (
        "finereg",
        False,
        False,
        False,
    )
    both = scheme_named("virtual-thread-unified")
    assert (both.switching, both.unified) == ("virtual-thread", True)


def test_every_name_has_a_row() -> None:
    assert tuple(scheme.name for scheme in SCHEMES) == get_args(SchemeName)


def test_a_misspelt_name() -> None:
    with pytest.raises(PtxError, match="no register scheme named 'virtual_thread'") as caught:
        scheme_named("virtual_thread")
    (reported,) = caught.value.diagnostics
    assert reported.code == "E502"
    assert (reported.help or "").startswith(
        "did you mean 'virtual-thread'? there are 'none', 'virtual-thread', "
    )
