"""`--out-of-bounds count` of commands that run one launch, and `out_of_bounds = "count"` of launch files: the run goes
on, and counts the accesses outside of all buffers."""

import json
from pathlib import Path

import pytest
from scalekernel import SCALE
from smallkernel import Cli

COUNT = ("--out-of-bounds", "count")
NOTE = "accesses out of bounds tolerated, the first at address 0x10000100, right after buffer 'x' (256 bytes)"
SEQUENCE = """\
file = "scale.ptx"
block = 32

[[args]]
name = "x"
type = "f32"
value = 1.0
count = 64
output = true

[[launch]]
grid = 3
args = ["x", 2.0]
time = false

[[launch]]
grid = 4
args = ["x", 2.0]
"""


@pytest.fixture
def launch(tmp_path: Path) -> tuple[str, ...]:
    """32 of 96 threads read and write beyond 64 elements."""
    kernel = tmp_path / "scale.ptx"
    kernel.write_text(SCALE)
    return str(kernel), "--grid", "3", "--block", "32", "--arg", "x:f32[64]=np.ones(64)", "--arg", "a:2"


@pytest.mark.parametrize("command", ["run", "sim"])
def test_accesses_beyond_a_buffer_are_counted(cli: Cli, launch: tuple[str, ...], command: str) -> None:
    stopped = cli(command, *launch)
    assert (stopped.exit_code, "error[E404]" in stopped.stderr) == (1, True)
    counted = cli(command, *launch, *COUNT)
    assert counted.exit_code == 0
    assert f"note: 64 {NOTE}" in counted.stdout
    data = json.loads(cli(command, *launch, *COUNT, "--json").stdout)
    assert data["out_of_bounds"] == 64
    assert data["remarks"][-1] == f"64 {NOTE}"
    assert "out_of_bounds" not in json.loads(cli(command, *launch, "--grid", "2", *COUNT, "--json").stdout)


@pytest.mark.parametrize(("command", "counts"), [("run", [64, 128]), ("sim", [128])])
def test_a_list_counts_for_every_launch(
    cli: Cli, launch: tuple[str, ...], command: str, counts: list[int]
) -> None:
    """`sim` reports launches with time."""
    file = Path(launch[0]).with_suffix(".toml")
    file.write_text(SEQUENCE)
    result = cli(command, str(file), *COUNT)
    assert result.exit_code == 0, result.stderr
    assert [int(line.split()[1]) for line in result.stdout.splitlines() if NOTE in line] == counts
    data = json.loads(cli(command, str(file), *COUNT, "--json").stdout)
    assert [one["out_of_bounds"] for one in data["launches"]] == counts


FILE = """\
file = "scale.ptx"
grid = 3
block = 32
out_of_bounds = "count"

[[args]]
name = "x"
type = "f32"
value = 1.0
count = 64
output = true

[[args]]
name = "a"
type = "f32"
value = 2.0
"""


@pytest.mark.parametrize("command", ["run", "sim"])
def test_a_launch_file_may_say_it(cli: Cli, launch: tuple[str, ...], command: str) -> None:
    """The option goes before it, and checks report what the file tolerates."""
    file = Path(launch[0]).with_suffix(".toml")
    file.write_text(FILE)
    assert json.loads(cli(command, str(file), "--json").stdout)["out_of_bounds"] == 64
    assert "error[E404]" in cli(command, str(file), "--out-of-bounds", "error").stderr
    if command == "run":
        found = json.loads(cli(command, str(file), "--check", "memory", "--json").stdout)
        assert "out_of_bounds" not in found
        assert {one["code"] for one in found["checks"]["findings"]} == {"E404"}


def test_comparisons_and_proofs(cli: Cli, launch: tuple[str, ...]) -> None:
    """Of every rung; a proof goes on to compare the memory."""
    data = json.loads(cli("compare", *launch, *COUNT, "--json").stdout)
    assert [rung["out_of_bounds"] for rung in data["rungs"]] == [64] * 5
    assert f"note: 64 {NOTE}" in cli("compare", *launch, *COUNT).stdout
    assert cli("prove", launch[0], *launch, *COUNT).exit_code == 0
    assert "error[E404]" in cli("prove", launch[0], *launch).stderr


def test_it_is_one_or_the_other(cli: Cli, launch: tuple[str, ...]) -> None:
    assert cli("run", *launch, "--out-of-bounds", "ignore").exit_code == 2
    both = cli("run", *launch, *COUNT, "--check", "memory")
    assert both.exit_code == 1
    assert "error[E401]: out_of_bounds = 'count' together with checks" in both.stderr
    file = Path(launch[0]).with_suffix(".toml")
    file.write_text(FILE.replace('"count"', '"warn"'))
    wrong = cli("run", str(file))
    assert (wrong.exit_code, "scale.toml:4:" in wrong.stderr) == (1, True)
    assert "out_of_bounds = 'warn'" in wrong.stderr
    assert 'help: give "error" or "count"' in wrong.stderr
