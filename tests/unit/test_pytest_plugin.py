"""The fixture `ptx_kernel`, in a pytest of its own."""

import pytest

pytest_plugins = ["pytester"]

KERNEL = '''
TEXT = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %r<3>;
	.reg .u64 %rd<3>;
	.shared .u32 cell[1];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	RACE
	st.global.u32 [%rd1], %r1;
	ret;
}
"""
import numpy as np
'''


def outcomes(pytester: pytest.Pytester, body: str, race: str = "") -> "tuple[dict[str, int], str]":
    pytester.makepyfile(KERNEL.replace("RACE", race) + body)
    found = pytester.runpytest_subprocess("-p", "ptxtool.pytest_plugin", "-p", "no:cacheprovider")
    return found.parseoutcomes(), found.stdout.str()


def test_run_and_registers(pytester: pytest.Pytester) -> None:
    body = """
def test_run(ptx_kernel):
    out = np.zeros(32, np.uint32)
    kernel = ptx_kernel(TEXT)
    kernel.check_races(1, 32, out)
    assert (out == np.arange(32)).all()
    kernel.assert_registers(8)

def test_registers(ptx_kernel):
    ptx_kernel(TEXT).assert_registers(2)

def test_wrong_text(ptx_kernel):
    ptx_kernel(TEXT.replace("%tid.x;", "%tid.x"))

def test_wrong_name(ptx_kernel):
    ptx_kernel(TEXT, "q")
"""
    found, text = outcomes(pytester, body)
    assert found == {"passed": 1, "failed": 3}
    assert "at most 2 are accepted" in text
    assert "error[E101]" in text
    assert "error[E205]" in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_a_race_fails(pytester: pytest.Pytester) -> None:
    body = """
def test_race(ptx_kernel):
    ptx_kernel(TEXT).check_races(1, 64, np.zeros(64, np.uint32))
"""
    # two warps write different values to one cell without a barrier
    found, text = outcomes(pytester, body, "st.shared.u32 [cell], %r1;")
    assert found == {"failed": 1}
    assert "E410" in text


@pytest.mark.slow
def test_cycles(pytester: pytest.Pytester) -> None:
    body = """
def test_few(ptx_kernel):
    ptx_kernel(TEXT).assert_cycles(5, 1, 32, np.zeros(32, np.uint32))

def test_enough(ptx_kernel):
    assert ptx_kernel(TEXT).assert_cycles(100_000, 1, 32, np.zeros(32, np.uint32)).cycles > 5
"""
    found, text = outcomes(pytester, body)
    assert found == {"passed": 1, "failed": 1}
    assert "at most 5 are accepted" in text
