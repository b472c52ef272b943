"""`sim --scheme`: CTA switching from the command line."""

import json
import re
from pathlib import Path

from smallkernel import Cli

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.cli import common

RUN = ("sim", "saxpy", "--gpu", "gtx980-finereg", "--max-cycles", 4000)


def test_the_report_says_what_came_of_it(cli: Cli) -> None:
    result = cli(*RUN, "--scheme", "finereg")
    assert result.exit_code == 1  # the cycle limit
    assert "finereg: " in result.stdout
    assert "of 1024 entries at most" in result.stdout
    thread = cli(*RUN, "--set", "switching.scheme=virtual-thread")
    assert "virtual-thread: " in thread.stdout
    assert "PCRF" not in thread.stdout
    assert "switches" not in cli(*RUN).stdout
    assert cli(*RUN, "--switching", "finereg").stdout == result.stdout


def test_counters_are_in_the_json(cli: Cli) -> None:
    data = json.loads(cli(*RUN, "--scheme", "finereg", "--json").stdout)
    found = data["switching"]
    assert data["stats"]["cta_switches"] == found["switches"]
    assert found["scheme"] == "finereg"
    assert found["resident_most"] > found["active_most"] == 8
    assert found["evictions"] <= found["switches"]
    assert 0 < found["switches"] <= found["stalls"] == data["stats"]["cta_stalls"]
    assert found["cycles_to_first_stall"] > 100
    assert data["stats"]["cta_switch_cycles"] == found["switch_cycles"] >= 24 * found["switches"]


def test_what_cannot_be_is_refused(cli: Cli) -> None:
    result = cli(*RUN, "--scheme", "finereg", "--share-registers", 90)
    assert result.exit_code == 1
    assert "error[E502]: CTA switching (finereg) together with sharing of registers" in result.stderr
    assert cli(*RUN, "--scheme", "zorua").exit_code == 2


def test_one_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def never(view):\n    return 0\n\n\ndef wrong(view):\n    return 2\n")
    assert f"{file}:never: " in cli(*RUN, "--scheme", f"{file}:never").stdout
    wrong = cli(*RUN, "--scheme", f"{file}:wrong")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "error[E416]: 'wrong' decided FETCH" in wrong.stderr
    assert cli(*RUN, "--scheme", str(file)).exit_code == 1  # no function
    in_a_file = cli(*RUN, "--set", f"switching.scheme={file}:never")
    assert in_a_file.exit_code != 0
    assert "never" in in_a_file.stderr
    assert cli("occupancy", "saxpy", "--scheme", f"{file}:never").exit_code == 2


def test_schemes() -> None:
    assert tuple(scheme.name for scheme in SCHEMES) == common.SCHEMES


def test_occupancy(cli: Cli) -> None:
    options = ("--gpu", "gtx980-finereg", "--block", 64, "--registers", 32)
    found = json.loads(cli("occupancy", *options, "--scheme", "finereg", "--json").stdout)
    assert (found["resident_ctas"], found["acrf_ctas"], found["most_resident_ctas"]) == (16, 16, 128)
    by_live = dict(map(tuple, found["resident_by_live"]))
    assert by_live[10] == 16 + 51  # row 23 of the micro-kernels
    assert by_live[32] == 16 + 16
    thread = cli("occupancy", *options, "--scheme", "virtual-thread").stdout
    assert "32 CTAs resident at most" in thread
    assert cli("occupancy", *options, "--scheme", "finereg", "--curve").exit_code == 2


def test_unified_memory_in_the_report(cli: Cli) -> None:
    result = cli(*RUN, "--scheme", "unified").stdout
    assert re.search(r"^resident CTAs per SM +8  limited by threads$", result, re.M)
    # 256 threads x 16 registers: the 8 CTAs fit into what is outside the pool
    split = "registers 0 (131072 outside), shared memory 0, L1 276480 (45 ways), unused 2048"
    assert f"unified memory: 278528 bytes for 8 CTAs: {split}" in result
    data = json.loads(cli(*RUN, "--scheme", "virtual-thread-unified", "--json").stdout)
    # n x 16384 - 131072 <= 278528 - 8 x 6144 up to n = 22
    assert data["unified"]["ctas"] == 22 == data["switching"]["resident_limit"]
    assert data["unified"]["l1_ways"] == 8
    assert data["switching"]["scheme"] == "virtual-thread-unified"
    assert "unified" not in json.loads(cli(*RUN, "--scheme", "finereg", "--json").stdout)


def test_registers_in_dram(cli: Cli) -> None:
    settings = "--set", "sm.registers=16384", "--set", "switching.dram_ctas=3"
    report = cli(*RUN, *settings, "--scheme", "reg-dram").stdout
    assert re.search(
        r"^DRAM: 3 of 3 CTAs at most, \d+ evictions, \d+ restores, \d+ bytes written, \d+ read$", report, re.M
    )
    data = json.loads(cli(*RUN, *settings, "--scheme", "reg-dram", "--json").stdout)
    found = data["switching"]
    # 8 warps of saxpy's registers, whole, as lines of 128 bytes
    assert found["dram_bytes_written"] == found["evictions"] * 8 * data["registers"] * 128
    assert data["stats"]["cta_dram_bytes_read"] == found["restores"] * 8 * data["registers"] * 128 > 0
    assert found["resident_most"] == 4 + 3
    options = "--gpu", "gtx980-finereg", "--block", 256, "--registers", 40, *settings[2:]
    shown = cli("occupancy", *options, "--scheme", "reg-dram").stdout
    # 65536 // (256 x 40) = 6; 256 x 40 x 4 bytes
    assert "6 CTAs in the file, 9 CTAs resident at most, 3 of them in DRAM (40960 bytes each)" in shown


def test_occupancy_with_unified_memory(cli: Cli) -> None:
    options = ("occupancy", "--gpu", "gtx980-finereg", "--block", 256, "--registers", 64)
    found = json.loads(cli(*options, "--scheme", "unified", "--json").stdout)
    # 65536 bytes of registers a CTA: 5 x 65536 - 131072 = 196608, and 13 ways of 6144 are left
    assert (found["resident_ctas"], found["limiter"]) == (5, "unified memory")
    assert (found["unified"]["register_bytes"], found["unified"]["l1_ways"]) == (196608, 13)
    assert (
        "5 resident CTAs on an SM of gtx980-finereg, limited by unified memory"
        in cli(*options, "--scheme", "unified").stdout
    )
    fine = cli(*options, "--scheme", "finereg-unified").stdout
    assert "2 active CTAs" in fine
    # 8 warps x 64 x 128 = 65536 a waiting CTA: 3, and 2 in the ACRF
    assert "5 CTAs: registers 196608 (131072 outside, 1536 PCRF entries)" in fine
    assert cli(*options, "--scheme", "unified", "--scratchpad-per-sm", 1000).exit_code == 2
    missing = cli("occupancy", "--block", 256, "--registers", 20, "--scheme", "unified")
    assert "switching.unified_bytes is 0, there is no unified memory" in missing.stderr


def test_the_split_of_a_file_counts_what_is_live(cli: Cli) -> None:
    found = json.loads(
        cli("occupancy", "saxpy", "--gpu", "gtx980-finereg", "--scheme", "finereg-unified", "--json").stdout
    )
    live = json.loads(cli("pressure", "saxpy", "--json").stdout)["kernels"][0]["maximum"]
    waiting = 229376 // (8 * live * 128)
    assert found["unified"]["ctas"] == 8 + waiting
    assert found["unified"]["pcrf_entries"] == waiting * 8 * live
