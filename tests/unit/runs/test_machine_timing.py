"""The predictor's view of a machine, computed by hand from its GPU file."""

from ptxtool.analysis.demotion.predictor import UnitTiming
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.runs.machine_timing import machine_timing


def test_the_tesla_c2050() -> None:
    """Two schedulers of 32 lanes; two SP units, one SFU; a row of the file each."""
    timing = machine_timing(load_gpu("tesla-c2050"))
    assert (timing.max_throughput, timing.memory_throughput) == (64, 32)
    assert timing.units["add", "int"] == UnitTiming(4, 64, "SP")  # SP, interval 1: 2 * 32 lanes
    assert timing.units["add", "fp64"] == UnitTiming(8, 8, "SP")  # SP, interval 8
    assert timing.units["mul", "int"] == UnitTiming(4, 16, "SFU")  # SFU, interval 2
    assert timing.units["mul", "fp32"] == UnitTiming(4, 64, "EITHER")  # either: 96 lanes, but two schedulers
    assert timing.units["div", "fp64"] == UnitTiming(330, 32 / 130, "SFU")
    assert timing.register_banks == 0, "warps have them in turn"
    assert timing.memory_units == {"ld", "st", "atom", "tex", "membar"}


def test_the_gtx_titan_x() -> None:
    """Four schedulers; doubles at 4 lanes per cycle; 16 banks in four partitions."""
    timing = machine_timing(load_gpu("gtx-titan-x"))
    assert timing.max_throughput == 128
    assert timing.units["add", "fp64"].throughput == 4
    assert (timing.register_banks, timing.partitions) == (4, 4)
    plain = with_settings(load_gpu("gtx-titan-x"), ["pipeline.bank_conflicts=false"])
    assert machine_timing(plain).register_banks == 0
