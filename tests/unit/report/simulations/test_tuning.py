"""The report of a tuning, from variants of a small kernel."""

from dataclasses import replace

from crowded import crowded

from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize
from ptxtool.report.simulations.tuning import tuning_parts
from ptxtool.results.tuning import AssembledSpills, Declined, Tuning
from ptxtool.runs.tuning_variants import enumerate_variants

FOUND = enumerate_variants(parse(crowded()).kernels["crowded"], CtaSize(256), load_gpu("tesla-c2050"))
ORIGINAL = replace(FOUND.variants[0], predicted=100.0)
LOCAL = replace(next(v for v in FOUND.variants if v.name == "local 24"), predicted=80.0)


def lines(tuning: Tuning) -> list[str]:
    return "\n".join(map(str, tuning_parts(tuning))).splitlines()


def tuning(**changes: object) -> Tuning:
    plain = Tuning("k.ptx", "crowded", "tesla-c2050", 256, (ORIGINAL, LOCAL), (), "")
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_the_table_and_the_reason() -> None:
    """25 registers take 28 of 32,768: four CTAs of eight warps; 24 leave room for five."""
    assert lines(tuning()) == [
        "crowded on tesla-c2050: CTAs of 256 threads",
        "variant   registers  shared  occupancy  instructions  predicted  cycles  simulated",
        "--------  ---------  ------  ---------  ------------  ---------  ------  ---------",
        "local 24         23       0      83.3%            56     +25.0%",
        "original         25       0      66.7%            54",
        "",
        "chosen by prediction: local 24",
        "  allocate:max-regs=24",
        "  25 -> 23 registers, 0 -> 0 bytes of shared memory, 2 instructions added",
        "  4 -> 5 CTAs per SM, 66.7% -> 83.3% of the warps; limited by registers",
    ]


def test_nothing_pays() -> None:
    slower = tuning(variants=(replace(ORIGINAL, cycles=100), replace(LOCAL, cycles=110)))
    found = lines(slower)
    assert found[3].split()[:2] == ["original", "25"]
    assert found[4].endswith("+25.0%     110      -9.1%")
    assert found[-1] == (
        "nothing pays (by simulation): the original is fastest, with 4 CTAs per SM, limited by registers"
    )


def test_what_was_not_made_is_said() -> None:
    found = lines(
        tuning(
            variants=(ORIGINAL, replace(ORIGINAL, name="copy", same_as="original")),
            declined=(Declined("a", "too small"), Declined("b", "too small")),
            end="threads limit an SM to 6 CTAs",
            ptxas="ptxas 13.0",
            assembled=(AssembledSpills(24, 24, 8, 24, 0), AssembledSpills(20, None, None, None, None)),
            interrupted=True,
        )
    )
    assert found[5:] == [
        "1 further variant with the same text as one of these",
        "2 variants declined: too small",
        "no further register counts to demote to: threads limit an SM to 6 CTAs",
        "ptxas 13.0, bytes spilled at most registers per thread:",
        "   24: 8 to local memory; with enable_smem_spilling 0",
        "   20: no figure",
        "",
        "interrupted: the same command with --store goes on with the rest",
        "nothing pays (by prediction): the original is fastest, with 4 CTAs per SM, limited by registers",
    ]


def test_wrong_results() -> None:
    wrong = tuning(
        variants=(replace(ORIGINAL, cycles=100), replace(LOCAL, cycles=50, problem="memory differs"))
    )
    assert lines(wrong)[3].endswith("50      WRONG")
