"""`ptxtool gate`: exit codes, baselines, formats."""

import json
from pathlib import Path

import pytest
from checkout import CHECKOUT
from smallkernel import KERNEL, Cli

GROWN = KERNEL.replace("\tmov.u32 $r4, $r2;", "\tbar.sync 0x00000000;\n\tmov.u32 $r4, $r2;")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ptxplus").write_text(KERNEL)
    Path("b.ptxplus").write_text(GROWN)


def test_limits_decide_the_exit_code(cli: Cli) -> None:
    assert cli("gate", "a.ptxplus", "b.ptxplus", "--no-ptxas").exit_code == 0
    found = cli("gate", "a.ptxplus", "b.ptxplus", "--no-ptxas", "--limit", "barriers=+0")
    assert found.exit_code == 1
    assert "barriers went from 0 to 1, at most 0 is accepted" in found.stderr
    assert cli("gate", "b.ptxplus", "--no-ptxas", "--limit", "barriers=1").exit_code == 0


def test_a_baseline(cli: Cli) -> None:
    assert cli("gate", "a.ptxplus", "--no-ptxas", "--save", "base.json").exit_code == 0
    assert json.loads(Path("base.json").read_text())["kernels"]["k"]["barriers"] == 0
    arguments = ("gate", "b.ptxplus", "--no-ptxas", "--baseline", "base.json")
    assert cli(*arguments).exit_code == 0
    Path("limits.toml").write_text('[kernels.k]\nbarriers = "+0"\n')
    assert cli(*arguments, "--limits", "limits.toml").exit_code == 1


def test_formats(cli: Cli) -> None:
    arguments = ("gate", "a.ptxplus", "b.ptxplus", "--no-ptxas", "--limit", "barriers=+0")
    sarif = json.loads(cli(*arguments, "--format", "sarif").stdout)
    assert [r["ruleId"] for r in sarif["runs"][0]["results"]] == ["E304"]
    data = json.loads(cli(*arguments, "--format", "json").stdout)
    assert data["kept"] is False
    markdown = cli(*arguments, "--format", "markdown", "--summary", "summary.md").stdout
    assert markdown == Path("summary.md").read_text()
    assert "| `k` | barriers | 0 | 1 | +1 | <= 0 |" in markdown


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "give NEW"),
        (("a.ptxplus", "b.ptxplus", "--baseline", "x.json"), 2, "two ways"),
        (("a.ptxplus", "--limit", "speed=1"), 2, "none of"),
        (("a.ptxplus", "--no-ptxas", "--limit", "cycles=1"), 1, "give --launch FILE"),
        (("a.ptxplus", "--baseline", "a.ptxplus"), 1, "is no baseline"),
        (("a.ptxplus", "--baseline", "missing.json"), 1, "E501"),
    ],
)
def test_wrong_use(cli: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    found = cli("gate", *arguments)
    assert found.exit_code == code
    assert words in found.stderr


@pytest.mark.slow
def test_a_launch_is_simulated(cli: Cli) -> None:
    launch = str(CHECKOUT / "samples" / "reduction" / "launch.toml")
    found = cli("gate", "reduction", "reduction", "--no-ptxas", "--launch", launch, "--format", "json")
    values = {m["measure"]: m["after"] for m in json.loads(found.stdout)["measures"]}
    assert found.exit_code == 0
    assert values["cycles"] > 1000
    assert values["conflicts"] >= 0
    assert values["occupancy"] >= 1
