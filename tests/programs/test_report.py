"""Output of kernels, and their assertions."""

import numpy as np
import pytest

from ptxtool.base.diag import PtxError


def test_output(execute):
    x, y = np.arange(64, dtype=np.int32), np.linspace(0, 1, 64)
    x[[3, 40]] = -7, -2
    result = execute("report", 2, 32, [x, y])
    expected = ""
    for i in (3, 40):
        expected += f"thread {i}: {x[i]} is negative, {y[i]:.3f}, so there"
        expected += f"|{i * 10:5}|{i + 255:<6x}|{chr(97 + i % 26)}|{int(x[i]) << 33}%\n"
    assert result.printed == expected


def test_assertion(execute):
    x = np.arange(32, dtype=np.int32)
    roots = np.zeros_like(x)
    execute("careful", 1, 32, [x, roots])
    assert roots.tolist() == np.floor(np.sqrt(x)).astype(int).tolist()
    x[17] = -1
    with pytest.raises(PtxError) as caught:
        execute("careful", 1, 32, [x, roots])
    (found,) = caught.value.diagnostics
    assert found.code == "E413"
    assert "x[i] >= 0" in found.message
    assert "thread (17,0,0)" in found.message
