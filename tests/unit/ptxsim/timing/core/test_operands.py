"""The operand collector: its units and the banks of the register file (timing-model section 1.5)."""

import pytest
from microkernel import cycles
from microkernels.measure import counted, lines, one_sm, slope

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

    @pytest.mark.parametrize(
        ("line", "by_number", "by_warp"),
        [  # four banks, operands of an instruction read at once: of n in one bank n - 1 wait a cycle, n - 2 another
            ("fma.rn.f32 %f20, %f20, %f24, %f28;", 3, 3),
            ("fma.rn.f32 %f20, %f20, %f24, %f25;", 1, 1),
            ("fma.rn.f32 %f20, %f20, %f21, %f22;", 0, 0),
            (
                "add.u64 %l20, %l20, %l22;",
                1,
                0,
            ),  # registers 40 and 44, both in bank 0; numbers 20 and 22 in 0 and 2
            ("add.u64 %l20, %l20, %l23;", 0, 0),
        ],
    )
    def test_reads_that_wait_for_their_bank_are_counted(
        self, line: str, by_number: int, by_warp: int
    ) -> None:
        for function, expected in (("reg", by_number), ("reg+warp", by_warp)):
            settings = [f'pipeline.bank_function="{function}"', "pipeline.register_banks=4"]
            found = counted("register_bank_conflicts", line, gpu=with_settings(GPGPUSIM42, settings))()
            assert found == expected

    @pytest.mark.parametrize(
        ("function", "partitions", "expected"),
        [
            ("reg+warp", 1, 2.0),  # the warps' registers lie in all banks: two SPs
            ("reg", 1, 1.0),  # all read bank 4 (register 20 of 16 banks), once a cycle
            ("reg", 2, 2.0),  # bank 4 of each partition
        ],
    )
    def test_warps_that_read_one_register(self, function: str, partitions: int, expected: float) -> None:
        settings = [f'pipeline.bank_function="{function}"', f"sm.register_partitions={partitions}"]
        gpu = with_settings(one_sm("tesla-c2050"), settings)
        eight = "\n\t".join(["mov.b32 %r17, %r20;"] * 8)
        found = 24 * 8 / slope(eight, few=2, many=6, block=768, gpu=gpu)
        assert found == pytest.approx(expected, rel=0.02)
