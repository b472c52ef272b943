"""The pytest plugin in a pytest of its own: what passes, what fails and says why, and what it costs others."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from checkout import CHECKOUT
from scalekernel import SCALE

pytest_plugins = ["pytester"]
PLUGIN = "ptxtool.testing.plugin"
CACHE = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
"""Where compiled code is; pytester changes the home folder."""
# line 20 stores beyond the buffer where the element after it is meant
BROKEN = SCALE.replace("st.global.f32 [%rd3]", "st.global.f32 [%rd3+4]").replace("scale", "broken")
TESTS = """
import numpy as np

def test_against_numpy(ptx_kernel):
    kernel = ptx_kernel("scale.ptx")
    x = np.arange(64, dtype=np.float32)
    kernel.run(2, 32, [x, np.float32(3)])
    np.testing.assert_array_equal(x, 3 * np.arange(64, dtype=np.float32))
    kernel.assert_registers(at_most=64)
    assert kernel.live_registers == 6

def test_too_many_registers(ptx_kernel):
    ptx_kernel("scale.ptx").assert_registers(at_most=1)

def test_out_of_bounds(ptx_kernel):
    ptx_kernel("sub/broken.ptx").run(1, 32, [np.zeros(32, np.float32), np.float32(3)])

def test_an_unknown_name(ptx_kernel):
    ptx_kernel("scale.ptx", "scael")
"""


def test_what_passes_and_what_fails(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)
    (pytester.path / "scale.ptx").write_text(SCALE)
    (pytester.path / "sub").mkdir()
    (pytester.path / "sub" / "broken.ptx").write_text(BROKEN)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest("-p", PLUGIN)
    result.assert_outcomes(passed=1, failed=3)
    text = result.stdout.str()
    assert "scale has" in text
    assert "registers per thread, 1 are allowed" in text
    assert "live 32-bit registers before line" in text
    assert "broken.ptx:19:" in text
    assert "error[E404]" in text
    assert "kernel 'scael' is not in" in text
    # the test's own line is shown, and nothing of ptxtool's
    assert "kernel.py:" not in text
    assert "functional_run.py:" not in text


def test_the_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"ptxtool": PLUGIN}
    assert (CHECKOUT / Path(*PLUGIN.split("."))).with_suffix(".py").is_file()


def test_other_peoples_pytest_pays_for_no_import() -> None:
    # pytest itself is loaded when it imports its plugins
    code = (
        f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = {name for name in done.stdout.split() if not name.startswith("ptxtool")}
    assert new == set()
