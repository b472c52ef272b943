"""`ptxtool reproduce` on an experiment with a kernel that takes a moment: what it writes, and that it goes on."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import change
from smallkernel import Cli

from ptxtool.sweep.reproduction import experiment, explanations
from ptxtool.sweep.reproduction.papers import Application, Experiment, Paper, Unlimited, paper


def page_data() -> dict[str, Any]:
    """What the page out.html has embedded."""
    text = Path("out.html").read_text()
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data: dict[str, Any] = json.loads(found)["reproduction"]
    return data


def rows() -> set[str]:
    """The rows of all tables of the page."""
    return {row for exhibit in page_data()["exhibits"] for row, _ in exhibit["rows"]}


@pytest.fixture
def tiny(job: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Register sharing as the papers have it, with one application that is limited by registers and one that is not."""
    monkeypatch.chdir(job.parent)
    change(job.with_name("launch.toml"), "registers = 20", "registers = 44")
    # a CTA has 128 x 44 = 5632 of 32768 registers: 5 fit, 4608 are left for private parts of 90, 70, 50 ... percent
    slower = Experiment("DRAM clock / 4", "DRAM bounds it", "IPC falls", settings=("clocks.dram_mhz=187",))
    grid = Experiment("half the CTAs", "the grid decides it", "IPC falls", launch="one.toml")
    explained = (slower, grid)
    limited = Application(
        "limited", "sum", str(job), 5.0, (5, 5, 6, 6, 7, 8), (1.0,) * 6, experiment=explained
    )
    other = job.parent / "other"
    other.mkdir()
    (other / "scale.ptx").write_text(job.read_text())
    (other / "launch.toml").write_text(job.with_name("launch.toml").read_text())
    change(other / "launch.toml", "registers = 44", "registers = 8")
    unlimited = Unlimited("unlimited", "other", str(other / "scale.ptx"))

    def small(name: str) -> Paper:
        return msgspec.structs.replace(paper(name), application=(limited,), unlimited=(unlimited,))

    monkeypatch.setattr(experiment, "paper", small)
    monkeypatch.setattr(explanations, "paper", small)
    return job


def test_an_experiment(cli: Cli, tiny: Path) -> None:
    asked = ("reproduce", "register-sharing", "--jobs", 1, "--page", "out.html", "--csv", "out.csv")
    first = cli(*asked)
    assert first.exit_code == 0, first.stderr
    # limited: 5 rungs, 5 percentages, 3 others, 2 with release, 4 replicas and 16 KB of two; unlimited: 5, 16 KB of two
    assert first.stdout.startswith("Register sharing on tesla-c2050: 32 runs\n")
    assert "memory identical under all schemes" in first.stdout
    found = {
        row["column"]: row
        for row in csv.DictReader(Path("out.csv").read_text().splitlines())
        if row["row"] == "limited"
    }
    assert found["90%"]["ours"] == "8"
    assert "limited" in rows()
    again = cli("reproduce", "register-sharing", "--jobs", 1, "--json")
    data = json.loads(again.stdout)
    assert (data["runs"], data["complete"], data["failures"]) == (32, True, [])
    reported = {f["question"]: (f["ours"], f["agrees"]) for f in data["findings"]}
    assert reported["memory identical under all schemes"] == ("2 of 2 launches", True)
    assert reported["entries of the resident-CTA table"] == ("6 of 6 equal", True)
    assert reported["Set-3: cycles shared as unshared, LRR"] == ("1 of 1 equal", True)
    assert reported["Set-3: cycles shared as unshared, GTO"] == ("1 of 1 equal", True)


def test_what_explains_an_application(cli: Cli, tiny: Path) -> None:
    one = tiny.with_name("one.toml")
    one.write_text(tiny.with_name("launch.toml").read_text())
    change(one, "grid = 28", "grid = 14")
    change(one, "count = 3584", "count = 1792")
    change(one, "[0, 3584]", "[0, 1792]")
    asked = ("reproduce", "register-sharing", "--explain", "limited", "--jobs", 1)
    found = cli(*asked, "--json")
    assert found.exit_code == 0, found.stderr
    data = json.loads(found.stdout)
    assert (data["runs"], data["complete"], data["failures"]) == (9, True, [])
    (table,) = data["exhibits"]
    ipc = {v["row"]: v["ours"] for v in table["values"] if v["column"] == "IPC"}
    assert ipc["as it is"] > ipc["DRAM clock / 4"] > 0
    assert [f["question"] for f in data["findings"]] == [
        "DRAM clock / 4: DRAM bounds it",
        "half the CTAs: the grid decides it",
    ]
    for claim in data["findings"]:
        assert claim["agrees"] == (float(claim["ours"].split()[-1].rstrip("%")) < -100 / 11)
    shown = cli(*asked)
    assert shown.stdout.startswith("Register sharing: limited explained on tesla-c2050: 9 runs\n")
    assert "0 simulated" in shown.stderr or not shown.stderr


@pytest.mark.slow
def test_recorded_launches_are_a_third_column(cli: Cli, tiny: Path) -> None:
    """Launches of `sum` are of our limited application; that of `scale` is of none."""
    from recorded_program import recorded

    from ptxtool.applications.launch_choice import launch_choice

    recorded(Path("recordings") / "app", launch_choice("1-3"))
    asked = ("reproduce", "register-sharing", "--recorded", "recordings", "--jobs", 1)
    found = cli(*asked, "--csv", "out.csv", "--page", "out.html", "--json")
    assert found.exit_code == 0, found.stderr
    data = json.loads(found.stdout)
    assert (data["complete"], data["failures"]) == (True, [])
    answers = {f["question"]: f for f in data["findings"]}
    assert answers["recorded launches"]["ours"] == "limited 2"
    assert answers["1 recorded launch of no application"]["ours"] == "scale 1"
    assert answers["applications without a recorded launch"]["ours"] == "unlimited"
    assert answers["memory identical under all schemes"]["ours"] == "4 of 4 launches"
    assert answers["sign of the gain: limited"]["recorded"].startswith("none")  # one CTA shares with none
    absolute = next(e for e in data["exhibits"] if e["key"] == "absolute")
    (value,) = absolute["values"]
    assert 0 < value["recorded"] != value["ours"] > 0
    lines = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    (same,) = [line for line in lines if line["exhibit"] == "absolute"]
    assert float(same["recorded"]) == value["recorded"]
    assert page_data()["has_recorded"]
    shown = cli(*asked).stdout
    assert "; (papers); [recorded]" in shown
    assert f"[{value['recorded']:.1f}]" in shown


def test_folders_without_recorded_launches(cli: Cli, tiny: Path) -> None:
    reported = cli("reproduce", "register-sharing", "--recorded", ".")
    assert (reported.exit_code, "error[E501]: no recorded launches in '.'" in reported.stderr) == (1, True)
    for asked in (("regdem",), ("register-sharing", "--explain", "limited")):
        reported = cli("reproduce", *asked, "--recorded", ".")
        assert "recorded launches have no place in what is asked for" in reported.stderr


def test_an_application_without_experiments(cli: Cli, tiny: Path) -> None:
    reported = cli("reproduce", "register-sharing", "--explain", "unlimited")
    assert reported.exit_code == 1
    assert "error[E502]: no experiments explain 'unlimited'" in reported.stderr
    assert "there are some for limited" in reported.stderr
    reported = cli("reproduce", "regdem", "--explain", "md")
    assert "there are experiments that explain register-sharing and scratchpad-sharing" in reported.stderr


def test_runs_that_fail_are_listed(cli: Cli, tiny: Path) -> None:
    change(tiny.with_name("launch.toml"), "a * x", "a * x + 1")
    reported = cli("reproduce", "register-sharing", "--jobs", 1)
    assert reported.exit_code == 1
    assert "25 runs have no result" in reported.stdout
    assert "  limited, Unshared-LRR: argument 'x' is not as expected" in reported.stdout


def test_an_unknown_experiment(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reported = cli("reproduce", "scratchpads")
    assert reported.exit_code == 1
    assert "error[E502]: no experiment 'scratchpads'" in reported.stderr
    assert not list(tmp_path.iterdir())


def test_demotion(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RegDem's tables of one small kernel: all runs, then the same from the store."""
    from crowded import crowded, launch

    from ptxtool.sweep.reproduction.regdem import experiment as regdem
    from ptxtool.sweep.reproduction.regdem.paper import Benchmark

    monkeypatch.chdir(tmp_path)
    Path("crowded.ptx").write_text(crowded())
    Path("launch.toml").write_text(launch(28))
    # 4 and 6 CTAs of 8 warps on an SM that can hold 48 warps; 25 - 20 + 2 registers of 4 * 256 bytes
    row = Benchmark("crowded", "ours", "crowded.ptx", 256, 7, (25, 20), 7168, (32 / 48, 1.0))
    small = msgspec.structs.replace(regdem.paper(), gpu="tesla-c2050", benchmark=(row,))
    monkeypatch.setattr(regdem, "paper", lambda: small)
    first = cli("reproduce", "regdem", "--jobs", 1, "--page", "out.html", "--csv", "out.csv")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("Register demotion on tesla-c2050: ")
    assert "What demotion gains (A abstract): gain of speed" in first.stdout
    lines = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    assert {(line["ours"], line["paper"]) for line in lines if line["exhibit"] == "slots"} == {
        ("7168", "7168")
    }
    assert "crowded" in rows()
    again = cli("reproduce", "regdem", "--jobs", 1, "--json")
    assert "0 simulated" in again.stderr or not again.stderr
    data = json.loads(again.stdout)
    agrees = {finding["question"]: finding["agrees"] for finding in data["findings"]}
    assert agrees["results as the original's under all variants"] is True
    assert agrees["bank conflicts of demoted accesses"] is True
    for table in ("registers", "shared memory", "occupancy"):
        assert agrees[f"entries of the table of {table}"] is True


def test_switching(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FineReg's figures of one small kernel: all runs, then the same from the store."""
    from crowded import crowded, launch

    from ptxtool.sweep.reproduction.finereg import experiment as finereg

    monkeypatch.chdir(tmp_path)
    Path("crowded.ptx").write_text(crowded())
    Path("launch.toml").write_text(launch(28))
    row = msgspec.structs.replace(finereg.paper().application[4], samples=("crowded.ptx",))
    small = msgspec.structs.replace(finereg.paper(), application=(row,))
    monkeypatch.setattr(finereg, "paper", lambda: small)
    first = cli("reproduce", "finereg", "--jobs", 1, "--page", "out.html", "--csv", "out.csv")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("FineReg on gtx980-finereg: ")
    assert "Which assumption the gain needs (section V.E): gain of speed" in first.stdout
    lines = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    machine = {line["row"]: (line["ours"], line["paper"]) for line in lines if line["exhibit"] == "machine"}
    assert machine["SMs"] == ("16", "16.0")
    gains = {
        line["column"]: line["ours"] for line in lines if (line["exhibit"], line["row"]) == ("speed", "KM")
    }
    assert {"virtual-thread", "finereg"} <= {column for column, ours in gains.items() if ours}
    larger = [line["column"] for line in lines if line["exhibit"] == "sms" and line["row"] == "16 SMs"]
    assert "none with FineReg's CTAs, over FineReg" in larger
    assert "KM" in rows()
    data = json.loads(cli("reproduce", "finereg", "--jobs", 1, "--json").stdout)
    assert (data["complete"], data["failures"]) == (True, [])
    agrees = {finding["question"]: finding["agrees"] for finding in data["findings"]}
    assert agrees["memory identical under all schemes"] is True
    assert agrees["entries of Table I"] is True


def test_register_schemes(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All schemes on one small kernel: all runs, then the same from the store."""
    import pressured

    from ptxtool.sweep.reproduction.register_schemes import experiment as schemes

    monkeypatch.chdir(tmp_path)
    path = pressured.write(tmp_path)
    monkeypatch.setattr(schemes, "kernel_file", lambda sample: path)
    only = ("--kernels", "nw1", "--schemes", "regmutex, unified", "--gpus", "gtx980-finereg")
    first = cli("reproduce", "schemes", "--jobs", 1, *only, "--page", "out.html", "--csv", "out.csv")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("Register schemes on gtx980-finereg: 3 runs\n\nWhat the results say\n")
    lines = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    marks = [line["ours"] for line in lines if line["column"] == "marks"]
    assert marks == ["2"]
    assert not page_data()["has_papers"]
    assert {exhibit["of_rows"] for exhibit in page_data()["exhibits"]} == {"kernel", "scheme"}
    again = cli("reproduce", "schemes", "--jobs", 1, *only, "--json")
    assert json.loads(again.stdout)["runs"] == 3


def test_names_that_the_experiment_does_not_have(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = cli("reproduce", "schemes", "--kernels", "nw3")
    assert (unknown.exit_code, "no kernel 'nw3' in this experiment" in unknown.stderr) == (1, True)
    whole = cli("reproduce", "regdem", "--gpus", "gtx-titan-x")
    assert (whole.exit_code, "experiment 'regdem' is of all its runs" in whole.stderr) == (1, True)
    assert not list(tmp_path.iterdir())
