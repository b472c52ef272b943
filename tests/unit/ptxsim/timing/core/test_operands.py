"""The operand collector: its units and the banks of the register file (timing-model section 1.5)."""

import pytest
from microkernel import cycles
from microkernels.measure import lines, slope

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")


@pytest.mark.parametrize(
    ("access", "sources"), [("ld.shared.u32 %r{a}, [%r1];", 1), ("st.shared.u32 [%r1], %r{a};", 2)]
)
def test_two_collector_units_bound_the_rate_of_memory_instructions(access: str, sources: int) -> None:
    # 2 units for s + 1 cycles each: loads 1.0, stores, which read their data too, 0.67 a cycle
    setup = (
        "mov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 31;\n\tmov.u32 %r2, tile;\n\tmad.lo.u32 %r1, %r1, 4, %r2;"
    )
    eight = lines(access, 8)
    found = 24 * 8 / slope(eight, few=2, many=6, setup=setup, block=768)
    assert found == pytest.approx(2 / (sources + 1), rel=0.01)


class TestBanks:
    def test_it_is_the_option_of_a_launch(self) -> None:
        line = "\n".join(f"\tmad.f32 $r{k}, $r8, $r9, $r10;" for k in range(8)) + "\n"
        off = with_settings(C2050, ["pipeline.bank_conflicts=false"])
        by_key = cycles(line * 8, block=512, gpu=off)
        assert by_key == cycles(line * 8, block=512, gpu=C2050, bank_conflicts=False)
        assert by_key < cycles(line * 8, block=512, gpu=C2050)
