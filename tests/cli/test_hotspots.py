"""`sim --hotspots` on a small kernel."""

import json
from pathlib import Path

import pytest
from scalekernel import LAUNCH, SCALE
from smallkernel import Cli


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The kernel file with a `.loc`, and its launch file beside it."""
    (tmp_path / "launch.toml").write_text(LAUNCH)
    path = tmp_path / "scale.ptx"
    text = SCALE.replace(".address_size 64\n", '.address_size 64\n.file 1 "scale.cu"\n')
    path.write_text(text.replace("\tld.global", "\t.loc 1 3 0\n\tld.global"))
    return path


def test_it_prints_where_the_time_goes(cli: Cli, job: Path) -> None:
    plain, text = cli("sim", job), cli("sim", job, "--hotspots")
    assert (text.exit_code, text.stderr) == (0, "")
    lines = text.stdout.splitlines()
    # what is there without it stays
    assert [line for line in plain.stdout.splitlines() if line not in lines] == []
    assert lines[-1] == "results: x as expected"
    assert max(map(len, lines)) <= 120
    listing = lines[lines.index("scale, instruction by instruction") + 3 :]
    # 12 instructions of 28 CTAs of 4 warps, from line 10; a .loc stands before the load
    wanted = [*range(10, 18), *range(19, 23)]
    assert [line.split()[:3] for line in listing[:12]] == [[str(n), "112", "32"] for n in wanted]
    assert any(line.startswith("scale.cu:3 ") for line in lines)


def test_json_has_all(cli: Cli, job: Path) -> None:
    plain = json.loads(cli("sim", job, "--json").stdout)
    found = json.loads(cli("sim", job, "--hotspots", "--json").stdout)
    spots = found.pop("hotspots")
    assert found == plain
    assert spots["kinds"] == plain["slots"]
    assert len(spots["per_sm"]) == plain["n_sms"]
    assert sum(s["lost"] for s in spots["instructions"]) + sum(spots["elsewhere"].values()) == (
        spots["slots"] - spots["reasons"]["issued"]
    )
