"""`ptxtool compare`: the rungs of the papers' ladder, their first stalls and resident CTAs."""

import re
from pathlib import Path

import pressured
import pytest
from commands import change, data
from ownpass import write_passes
from smallkernel import Cli

from ptxtool.analysis.occupancy.register_schemes import SCHEMES as TABLE


def test_compare_runs_the_ladder(cli: Cli, job: Path) -> None:
    change(job.with_name("launch.toml"), "registers = 20", "registers = 44")
    found = data(cli, "compare", job)
    names = ["Unshared-LRR", "Shared-LRR-NoOpt", "Shared-LRR-Unrolled", "Shared-LRR-Unrolled-Dyn"]
    names.append("Shared-OWF-Unrolled-Dyn")
    assert [rung["name"] for rung in found["rungs"]] == names
    assert [rung["resident_ctas"] for rung in found["rungs"]] == [5, 8, 8, 8, 8]
    assert [rung["scheduler"] for rung in found["rungs"]] == [*["lrr"] * 4, "owf"]
    assert all(rung["same_memory"] and rung["expected"]["ok"] for rung in found["rungs"])
    assert len({rung["thread_instructions"] for rung in found["rungs"]}) == 1
    first = found["rungs"][0]["thread_ipc"]
    for rung in found["rungs"]:
        assert rung["gain_percent"] == pytest.approx(100 * (rung["thread_ipc"] / first - 1))
    text = cli("compare", job, "--as-written")
    assert text.exit_code == 0
    # 3 + 5 + 4 declared; %r2 and %rd1 would be in one place
    message = "compare: scale: its registers are not physical: 12 are declared, a thread takes 44, and 4 of these count"
    assert message in text.stderr
    assert [line.split()[0] for line in text.stdout.splitlines()[3:8]] == names
    assert "virtual" not in text.stdout
    text = cli("compare", job)
    assert "not physical" not in text.stderr
    note = "note: its 12 registers are virtual: the 6 physical ones that allocate assigns are shared (--as-written"
    assert text.stdout.count(note) == 1
    assert max(map(len, text.stdout.splitlines())) <= 120


def test_rewriting_moves_the_first_stall_point(cli: Cli, job: Path) -> None:
    # as written: of 44 registers at 90% 1 to 4 are private. As declared %f0-2 are 1-3, %r0-4 4-8, %rd0-3 9-12: %rd1
    # stops the first instruction; in order of first use %rd1 %f1 %r1 %r2 are 1-4 and %r3 stops the fifth.
    launch = job.with_name("launch.toml")
    change(launch, "registers = 20", "registers = 44")
    change(launch, "grid = 28", "grid = 112")
    change(launch, "3584]", "14336]")
    change(launch, "count = 3584", "count = 14336")
    rungs = data(cli, "compare", job, "--as-written")["rungs"]
    stalls = [rung["first_stall"] for rung in rungs]
    assert stalls[0] is None
    assert [(s["instruction"], s["line"], s["register"], s["sequence"]) for s in stalls[1:]] == [
        (0, 9, "%rd1", 10),
        (4, 13, "%r3", 5),
        (4, 13, "%r3", 5),
        (4, 13, "%r3", 5),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "without", "shared"), [("sgemm", 5, 8), ("hotspot", 3, 6), ("reduction", 6, 6)]
)
def test_compare_on_the_samples(cli: Cli, sample: str, without: int, shared: int) -> None:
    # resident CTAs as the paper's table 5 has them for these numbers of threads and registers
    rungs = data(cli, "compare", sample)["rungs"]
    assert [rung["resident_ctas"] for rung in rungs] == [without, *[shared] * 4]
    assert all(rung["same_memory"] and rung["expected"]["ok"] for rung in rungs)
    stalls = [rung["first_stall"] for rung in rungs]
    if without == shared:
        assert stalls == [None] * 5
    else:
        assert stalls[0] is None
        assert stalls[1]["instruction"] < stalls[2]["instruction"]
        assert all(stalls[1]["instruction"] < later["instruction"] for later in stalls[3:])


def test_a_rung_with_a_pass_of_ones_own(cli: Cli, job: Path, tmp_path: Path) -> None:
    mine = write_passes(tmp_path)
    rungs = data(cli, "compare", job, "-p", f"{mine}:Flip")["rungs"]
    assert [rung["name"] for rung in rungs][-1] == "Shared-OWF-Unrolled-Dyn-Passes"
    assert rungs[-1]["passes"] == f"{rungs[-2]['passes']},{mine}:Flip"
    assert rungs[-1]["same_memory"]
    wrong = cli("compare", job, "-p", f"{mine}:Swap:by=sub")
    assert wrong.exit_code == 1
    assert "error[E305]: pass 'swap': the rewritten kernel computes something else: 'x'[" in wrong.stderr
    refused = cli("compare", job, "-p", f"{mine}:Flip", "-o", mine)
    assert (refused.exit_code, "E503" in refused.stderr) == (1, True)


SCHEMES = ("--gpu", "gtx980-finereg", "--jobs", 1, "--schemes")


def test_register_schemes_side_by_side(cli: Cli, tmp_path: Path) -> None:
    kernel = pressured.write(tmp_path)
    found = data(cli, "compare", kernel, *SCHEMES, "regmutex,finereg")
    assert [each["name"] for each in found["schemes"]] == ["none", "regmutex", "finereg"]
    plain, split, fine = found["schemes"]
    assert (plain["resident_ctas"], split["resident_ctas"]) == (25, 30)
    assert split["cycles_percent"] == pytest.approx(100 * (split["cycles"] / plain["cycles"] - 1))
    assert fine["switches"] == fine["switching"]["switches"] > 0
    assert all(each["same_memory"] for each in found["schemes"])
    text = cli("compare", kernel, *SCHEMES, "all")
    assert text.exit_code == 0
    assert "split-registers: pressured: 24 registers in the base set, 10 extended" in text.stdout
    names = [scheme.name for scheme in TABLE]
    assert [line.split()[0] for line in text.stdout.splitlines()[3 : 3 + len(names)]] == names
    assert max(map(len, text.stdout.splitlines()[: 3 + len(names)])) <= 120


def test_a_scheme_that_cannot_run_the_kernel_is_a_row(cli: Cli) -> None:
    result = cli("compare", "hotspot", *SCHEMES, "regmutex")
    assert result.exit_code == 0
    assert "\nregmutex: allocate is for PTX: the registers of PTXPlus are physical already\n" in result.stdout
    assert re.search(r"^regmutex +not run$", result.stdout, re.M)


def test_what_does_not_go_with_schemes(cli: Cli, job: Path) -> None:
    for flag in (
        *(("--release",), ("--share-registers", 90), ("--share-scratchpad", 90), ("--as-written",)),
        *(("--source",), ("--stack-bytes", 1024), ("--heap-bytes", 1024), ("--out-of-bounds", "count")),
    ):
        refused = cli("compare", job, "--schemes", "finereg", *flag)
        assert refused.exit_code == 2
        assert f"{flag[0]} does not go with --schemes" in refused.stderr
    unknown = cli("compare", job, "--schemes", "finreg")
    assert (unknown.exit_code, "did you mean 'finereg'?" in unknown.stderr) == (1, True)


def test_wrong_results_under_schemes(cli: Cli, job: Path) -> None:
    change(job.with_name("launch.toml"), "a * x", "a * x + 1")
    result = cli("compare", job, "--schemes", "virtual-thread", "--jobs", 1)
    assert result.exit_code == 1
    assert "results: WRONG, see the messages" in result.stdout
    assert "virtual-thread: argument 'x' is not as expected" in result.stderr
