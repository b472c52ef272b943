"""Functions of the user's own, of any kind; more is in the tests of schedulers and schemes."""

from pathlib import Path

import pytest
from numba import types

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.timing.own_code import OwnKind, definition, run_own_file
from ptxtool.base.diag import PtxError

KIND = OwnKind("juggler", "docs/jugglers.md", "a ball", "ball")


def test_a_file_and_its_functions(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from math import sin\nN = 3\n\n\ndef throw(ball):\n    return ball + N\n")
    file = run_own_file(str(path), KIND)
    assert list(file.functions) == ["throw"]  # not what it imports
    assert file.names["N"] == 3
    throw = file.function("throw")
    start, end = definition(file.source, throw)
    assert file.source.text[start:end] == "def throw(ball):"
    file.check_parameters(throw, ("ball",))
    assert file.compiled(throw, types.int64(types.int64), "a number")(4) == 7


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_the_words_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def throw(ball):\n    return ball / 2\n")
    file = run_own_file(str(path), KIND)
    with pytest.raises(PtxError, match=r"(?s)returns float64, not a hand.*docs/jugglers.md builds one"):
        file.compiled(file.function("throw"), types.int64(types.int64), "a hand")
    path.write_text("1 / 0\n")
    with pytest.raises(PtxError, match=r"(?s)ZeroDivisionError.*when the juggler is loaded"):
        run_own_file(str(path), KIND)
