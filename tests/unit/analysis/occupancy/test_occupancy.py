"""Resident CTAs of an SM: the manual's arithmetic, worked out by hand for the Tesla C2050."""

import pytest

from ptxtool.analysis.occupancy.occupancy import LIMITERS, occupancy
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu

GPU = load_gpu("tesla-c2050")


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "resident", "limiters"),
    [
        (256, 36, 0, 3, ("registers",)),  # 32768 // (256 * 36 = 9216)
        (508, 24, 0, 2, ("registers",)),  # 508 threads are 16 warps: 32768 // (512 * 24 = 12288)
        (256, 33, 0, 3, ("registers",)),  # 33 registers are allocated as 36
        (256, 32, 0, 4, ("registers",)),  # exactly 32768 // 8192
        (256, 16, 0, 6, ("threads",)),  # 1536 // 256; registers would admit 8
        (64, 16, 0, 8, ("ctas",)),
        (16, 8, 2180, 8, ("ctas",)),  # 22 by scratchpad, 48 by threads
        (16, 8, 6144, 8, ("scratchpad", "ctas")),  # 49152 // 6144 = 8
        (256, 20, 8192, 6, ("registers", "scratchpad", "threads")),  # 32768 // 5120 = 6, 49152 // 8192 = 6
        (192, 0, 0, 8, ("threads", "ctas")),
    ],
)
def test_resident_ctas_and_what_limits_them(
    threads: int, registers: int, scratchpad: int, resident: int, limiters: tuple[str, ...]
) -> None:
    result = occupancy(GPU, threads, registers, scratchpad)
    assert result.resident_ctas == resident
    assert result.all_limiters == limiters
    assert result.limiter == limiters[0]


def test_warps_and_fraction() -> None:
    result = occupancy(GPU, 500, 24)  # 2 CTAs of 16 warps
    assert (result.active_warps, result.max_warps) == (32, 48)
    assert result.fraction == 32 / 48
    assert result.needs.padded_threads == 512


def test_a_resource_that_is_not_used_limits_nothing() -> None:
    assert occupancy(GPU, 32, 0, 0).limits == {
        "registers": None,
        "scratchpad": None,
        "threads": 48,
        "ctas": 8,
    }


def test_plain_data_names_every_resource() -> None:
    data = occupancy(GPU, 256, 36).to_dict()
    assert (data["resident_ctas"], data["limiter"]) == (3, "registers")
    assert data["limits"] == {"registers": 3, "scratchpad": None, "threads": 6, "ctas": 8}


def test_text_names_every_resource() -> None:
    text = str(occupancy(GPU, 256, 36, 1024))
    assert text.startswith("3 resident CTAs, limited by registers (tesla-c2050)\n")
    assert all(f"by {name}:" in text for name in LIMITERS)


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "message"),
    [
        (1024, 36, 0, "36864 registers of 32768"),
        (64, 8, 49153, "49153 bytes of scratchpad of 49152"),
        (1537, 8, 0, "1568 threads in whole warps of 1536"),
        (0, 8, 0, "a CTA of 0 threads"),
        (32, -1, 0, "-1 registers"),
        (32, 8, -4, "-4 bytes of scratchpad"),
    ],
)
def test_a_cta_that_does_not_fit_is_refused(
    threads: int, registers: int, scratchpad: int, message: str
) -> None:
    with pytest.raises(PtxError) as caught:
        occupancy(GPU, threads, registers, scratchpad)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E402"
    assert message in diagnostic.message
    assert diagnostic.help


def test_every_resource_that_is_short_is_named() -> None:
    with pytest.raises(
        PtxError, match="65536 registers of 32768, 50000 bytes of scratchpad of 49152, 2048 threads"
    ):
        occupancy(GPU, 2048, 32, 50000)


REGDEM = [
    # benchmark, threads, registers before and after, demoted bytes, occupancy before and after (RegDem's evaluation)
    ("cfd", 192, 68, 56, 10752, 0.375, 0.5625),
    ("conv", 128, 35, 32, 2560, 0.75, 1.0),
    ("md", 256, 33, 32, 3072, 0.75, 1.0),
    ("md5hash", 256, 33, 32, 3072, 0.75, 1.0),
    ("nn", 192, 35, 32, 3840, 0.75, 0.9375),
    ("pc", 256, 36, 32, 6144, 0.75, 1.0),
    ("qtc", 64, 55, 48, 2304, 0.5625, 0.625),
    ("gauss", 64, 43, 40, 1280, 0.625, 0.75),
    ("vptree", 256, 34, 32, 4096, 0.75, 1.0),
]


@pytest.mark.parametrize(("name", "threads", "before", "after", "demoted", "low", "high"), REGDEM)
def test_the_benchmarks_of_regdem(
    name: str, threads: int, before: int, after: int, demoted: int, low: float, high: float
) -> None:
    gpu = load_gpu("gtx-titan-x")
    assert occupancy(gpu, threads, before).fraction == low
    assert occupancy(gpu, threads, after, demoted).fraction == high


@pytest.mark.parametrize(
    ("threads", "registers", "scratchpad", "limits"),
    [  # of 4 partitions of 16384 registers; 96 KB
        (192, 64, 0, (4, None, 10, 32)),  # 8 warps in a partition, 32 in all: 5 CTAs of 6 warps
        (64, 32, 12288, (32, 8, 32, 32)),
        (64, 32, 13824, (32, 6, 32, 32)),  # 98304 // 13824 = 7
        (1024, 64, 0, (1, None, 2, 32)),  # one that fits stays
        (64, 32, 49152, (32, 2, 32, 32)),
    ],
)
def test_ctas_in_even_numbers(
    threads: int, registers: int, scratchpad: int, limits: tuple[int | None, ...]
) -> None:
    found = occupancy(load_gpu("gtx-titan-x"), threads, registers, scratchpad)
    assert tuple(found.limits[name] for name in LIMITERS) == limits
    assert found.resident_ctas == min(limit for limit in limits if limit is not None)


def test_more_than_a_cta_may_have_does_not_fit() -> None:
    with pytest.raises(PtxError, match="49153 bytes of scratchpad of 49152"):
        occupancy(load_gpu("gtx-titan-x"), 64, 32, 49153)
