"""Lines of the L1 shorter than 128 bytes: an access lies in one line, and no store waits for ever."""

import numpy as np
import pytest
from built import kernel_of

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

COPY = """ld.param.u64 %l1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %l2, %r1, 4;
	add.u64 %l3, %l1, %l2;
	ld.global.u32 %r2, [%l3];
	add.u32 %r2, %r2, 1;
	st.global.u32 [%l3], %r2;"""


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050"])
@pytest.mark.parametrize("line", [32, 64])
def test_a_warp_that_loads_and_stores_128_bytes(gpu: str, line: int) -> None:
    machine = with_settings(load_gpu(gpu), [f"l1d.line_bytes={line}", 'l1d.set_hash="linear"'])
    data = np.arange(64, dtype=np.uint32)
    result = ptxsim.launch(kernel_of(COPY), 1, 64, [data], gpu=machine)
    assert data.tolist() == [k + 1 for k in range(64)]
    # two warps, each of 128 / line accesses for its load and as many for its store
    assert result.l1["accesses"] == 2 * 2 * 128 // line
    assert result.l1["stores"] == 2 * 128 // line


def test_lines_shorter_than_an_access_are_refused() -> None:
    machine = with_settings(load_gpu("tesla-c2050"), ["l1d.line_bytes=16", 'l1d.set_hash="linear"'])
    with pytest.raises(PtxError, match=r"l1d\.line_bytes is 16") as raised:
        ptxsim.launch(kernel_of(COPY), 1, 64, [np.zeros(64, np.uint32)], gpu=machine)
    assert raised.value.diagnostics[0].code == "E502"
