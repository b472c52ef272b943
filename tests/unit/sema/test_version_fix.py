"""The edit that raises a file's version."""

from ptxtool.base.diag import Fix
from ptxtool.parse import parse
from ptxtool.sema.version_fix import raised_version

MODULE = parse("// 1.0\n.version 6.0\n.target sm_70\n")


def test_the_number_of_the_directive() -> None:
    assert raised_version(MODULE, "'sm_80' needs '.version 7.0'") == Fix(16, 19, "7.0")


def test_nothing_to_raise() -> None:
    assert raised_version(MODULE, "'.target sm_80'") is None
    assert raised_version(parse(".target sm_10\n.entry k() { exit; }"), "'.version 7.0'") is None
