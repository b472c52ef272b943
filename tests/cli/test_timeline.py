"""`sim --trace`: the file, what it says of itself, and options that cannot be."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from smallkernel import Cli

from ptxtool.base.diag import PtxError
from ptxtool.base.resources import resource_dir
from ptxtool.cli import timeline


def test_a_timeline_beside_the_counters(cli: Cli, job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json.gz"
    plain = cli("sim", job)
    traced = cli("sim", job, "--trace", out)
    assert (traced.exit_code, traced.stdout) == (0, plain.stdout)
    file = json.loads(gzip.decompress(out.read_bytes()))
    (launch,) = file["otherData"]["launches"]
    cycles = launch["cycles"]
    n_events = sum(event["ph"] != "M" for event in file["traceEvents"])
    assert traced.stderr == (
        f"{out}: scale, cycles 0 to {cycles} of {cycles}; {n_events} events; "
        "open it at https://ui.perfetto.dev (1 us = 1 cycle)\n"
    )
    (kernel,) = [e for e in file["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
    assert (kernel["name"], kernel["ts"], kernel["dur"]) == ("scale", 0, cycles)


def test_a_part_of_it(cli: Cli, job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = cli("sim", job, "--trace", out, "--trace-sms", "1-2", "--trace-cycles", "20-60")
    assert ", cycles 20 to 60 of " in result.stderr
    events: list[dict[str, Any]] = json.loads(out.read_text())["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names <= {"GPU", "SM 1", "SM 2"}
    assert all(20 <= e["ts"] <= 60 for e in events if "ts" in e)


def test_two_runs_give_the_same_bytes(cli: Cli, job: Path, tmp_path: Path) -> None:
    files = []
    for more in ([], ["--no-event-skip"], []):
        out = tmp_path / "out.json.gz"
        cli("sim", job, "--trace", out, *more)
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2]


def test_a_cycle_limit_leaves_a_whole_file(cli: Cli, job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = cli("sim", job, "--trace", out, "--max-cycles", "30")
    assert result.exit_code == 1
    assert "E408" in result.stderr
    assert ", cycles 0 to 30 of 30; " in result.stderr
    assert json.loads(out.read_text())["otherData"]["launches"][0]["cycles"] == 30


def test_what_cannot_be(cli: Cli, job: Path, tmp_path: Path) -> None:
    assert "go with --trace FILE" in cli("sim", job, "--trace-sms", "0").stderr
    for options, reported in (
        (["--trace-sms", "2-1"], "--trace-sms '2-1' selects nothing"),
        (["--trace-cycles", "7"], "--trace-cycles '7' selects nothing"),
        (["--trace-cycles", "7-7"], "--trace-cycles '7-7' selects nothing"),
        (["--trace-sms", "99"], "the timeline has no SM 99: tesla-c2050 has 14"),
    ):
        result = cli("sim", job, "--trace", tmp_path / "out.json", *options)
        assert (result.exit_code, reported in result.stderr) == (1, True), result.stderr
    assert "E503" in cli("sim", job, "--trace", tmp_path / "no" / "out.json").stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["launch.toml", "scale.ptx"]


def test_ranges() -> None:
    assert list(timeline._sms("0-2, 5")) == [0, 1, 2, 5]
    assert timeline._cycles("10-20") == (10, 20)
    assert timeline._cycles("10-") == (10, None)
    for text in ("", "x", "1,", "-1"):
        with pytest.raises(PtxError, match="E502"):
            list(timeline._sms(text))


def test_a_list_of_launches(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out.json.gz"
    file = resource_dir("samples") / "reduction" / "two-passes.toml"
    result = cli("sim", file, "--trace", out, "--trace-sms", "1", "--trace-cycles", "0-200", "--quiet")
    assert result.exit_code == 0, result.stderr
    read = json.loads(gzip.decompress(out.read_bytes()))
    first, second = read["otherData"]["launches"]
    assert (first["grid"], second["grid"]) == ([512, 1, 1], [1, 1, 1])
    kernels = [(e["ts"], e["dur"]) for e in read["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
    assert kernels == [(0, 200), (first["cycles"], 200)]  # one after the other, the same cycles of each
    assert result.stderr.count("cycles 0 to 200 of ") == 2
