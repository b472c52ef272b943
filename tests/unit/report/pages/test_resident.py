"""Resident CTAs for a page: by hand for the Tesla C2050 (32768 registers, 4 a thread at a time; 48 warps, 8 CTAs)."""

import pytest

from ptxtool.analysis.occupancy.cuda_limits import cuda_target
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import machine_of
from ptxtool.report.pages.resident import CtaTakes, resident_data

C2050 = machine_of("tesla-c2050")
TAKES = CtaTakes(threads=256, registers=36, source="as it ran", scratchpad=4096, static=4096, live=30)


def test_the_limiter_and_the_curves() -> None:
    found = resident_data(C2050, TAKES)
    # a CTA of 8 warps takes 36 * 256 = 9216 registers: 3 fit; 12 by shared memory (49152 bytes), 6 by threads, 8 CTAs
    assert (found["resident_ctas"], found["limiter"]) == (3, "registers")
    assert found["limits"] == {"registers": 3, "scratchpad": 12, "threads": 6, "ctas": 8}
    # registers per thread in fours: 17 to 20 take 5120 of a CTA, 6 fit, as many as threads allow; 21 to 24 take 6144,
    # 5 fit; 25 to 32 at most 8192, 4 fit; 33 to 40 at most 10240, 3 fit; from 41 on 11264, 2 fit. A thread of sm_20
    # has 63 at most
    assert [(n, ctas, limiter) for n, ctas, _, limiter in found["register_curve"]] == [
        (1, 6, "threads"),
        (17, 6, "registers"),
        (21, 5, "registers"),
        (25, 4, "registers"),
        (33, 3, "registers"),
        (41, 2, "registers"),
        (63, 2, "registers"),
    ]
    assert found["scratchpad_curve"][0] == [0, 3, 24, "registers"]
    assert found["scratchpad_curve"][-1][0] == 49152


def test_what_would_change() -> None:
    rows = {row["what"]: row for row in resident_data(C2050, TAKES)["changes"]}
    # 90% shared (figure 6 of the paper's arithmetic): 3 pairs, as threads limit to 6; 0.1 * 36 = 3 stay private
    shared = rows["share 90% of registers"]
    assert (shared["ctas"], shared["warps"]) == (6, 48)
    assert shared["note"] == "3 pairs; 3 of 36 registers stay private"
    assert rows["share 90% of shared memory"]["ctas"] == 3  # registers limit, not shared memory
    assert any(what.startswith("demote ") and row["ctas"] > 3 for what, row in rows.items())
    for what, row in rows.items():
        assert ("ctas" in row) != ("reason" in row), what


def test_schemes_where_the_machine_switches_ctas() -> None:
    machine = machine_of("gtx980-finereg")
    rows = {row["what"]: row for row in resident_data(machine, CtaTakes(128, 32, "", 0, 0, 16))["changes"]}
    # 1024 entries of the PCRF hold 1024 / (4 warps * 16 live) = 16 waiting CTAs beside the 8 with registers
    assert rows["scheme finereg"]["ctas"] == 24
    assert rows["scheme finereg"]["note"].startswith("8 of them active at a time")
    assert "scheme regmutex" not in rows  # depends on the text


def test_a_compute_capability_has_no_schemes() -> None:
    found = resident_data(cuda_target("sm_90"), TAKES)
    assert not any(row["what"].startswith("scheme") for row in found["changes"])
    assert found["gpu"] == "sm_90"


def test_a_cta_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(PtxError) as problem:
        resident_data(C2050, CtaTakes(256, 36, "", 50_000, 0, 0))
    assert problem.value.diagnostics[0].code == "E402"
