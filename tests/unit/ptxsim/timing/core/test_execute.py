"""Units and result buses (timing-model section 1.6)."""

import pytest
from microkernel import cycles

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")


class TestResultBuses:
    def test_one_bus_halves_the_rate_of_two_sps(self) -> None:
        # two SPs finish two instructions a cycle, one result bus takes one
        text = "\n".join(f"\tmov.u32 $r{k % 8}, 0x1;" for k in range(64)) + "\n"
        few, many = (
            [cycles(text * n, block=512, gpu=with_settings(C2050, s)) for n in (1, 2)]
            for s in (["fetch.perfect=true", "pipeline.ex_wb=1"], ["fetch.perfect=true"])
        )
        assert few[1] - few[0] == pytest.approx(64 * 16, rel=0.02)
        assert many[1] - many[0] == pytest.approx(64 * 16 / 2, rel=0.02)
