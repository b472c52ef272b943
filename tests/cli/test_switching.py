"""`sim --scheme`: CTA switching from the command line."""

import json

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


def test_what_cannot_be_is_refused(cli: Cli) -> None:
    result = cli(*RUN, "--scheme", "finereg", "--share-registers", 90)
    assert result.exit_code == 1
    assert "error[E502]: CTA switching (finereg) together with sharing of registers" in result.stderr
    assert cli(*RUN, "--scheme", "zorua").exit_code == 2


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
