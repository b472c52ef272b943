"""`ptxtool prove`, and `ptxtool rewrite` with a pass of one's own: wrong results do not go through."""

import json
from pathlib import Path

import pytest
from commands import data
from ownpass import write_passes
from scalekernel import LAUNCH, SCALE
from smallkernel import Cli

MAD = SCALE.replace("mul.f32 %f2, %f2, %f1;", "mad.rn.f32 %f2, %f2, %f1, %f1;")
MAD_TO_SUB = '''
from dataclasses import dataclass
from ptxtool import PassResult, TextEdit


@dataclass(frozen=True)
class MadToSub:
    """Turn a multiply-add into a subtraction."""

    name = "mad-to-sub"

    def run(self, module):
        text = module.source.text
        start = text.index("mad.rn.f32")
        return PassResult((TextEdit(start, text.index(";", start), "sub.f32 %f2, %f2, %f1"),))
'''


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a kernel, the launch that goes with it, and passes."""
    (tmp_path / "k.ptx").write_text(MAD)
    small = LAUNCH.split("[[expect]]")[0].replace("grid = 28", "grid = 1").replace("3584", "128")
    (tmp_path / "launch.toml").write_text(small)
    write_passes(tmp_path)
    (tmp_path / "wrong.py").write_text(MAD_TO_SUB)
    return tmp_path


def test_mad_into_sub_does_not_go_through(cli: Cli, files: Path) -> None:
    out = files / "out.ptx"
    result = cli("rewrite", "-p", f"{files}/wrong.py:MadToSub", files / "k.ptx", "-o", out)
    assert result.exit_code == 1
    assert (
        f"{files}/wrong.py:12:5: error[E305]: pass 'mad-to-sub': the rewritten kernel computes"
        in result.stderr
    )
    assert "'x'[0] is -2.5, 2.5 before; 128 of 128 elements differ (without time," in result.stderr
    assert not out.exists()


def test_without_a_launch_nothing_is_run_and_that_is_said(cli: Cli, files: Path) -> None:
    (files / "launch.toml").rename(files / "other.toml")
    command = "rewrite", "-p", f"{files}/wrong.py:MadToSub", files / "k.ptx"
    result = cli(*command)
    assert result.exit_code == 0
    assert "sub.f32 %f2, %f2, %f1;" in result.stdout
    assert "mad-to-sub: nothing was run to compare the kernel" in result.stderr
    assert "--launch FILE" in result.stderr
    assert "ptxtool prove" in result.stderr
    assert cli(*command, "--launch", files / "other.toml").exit_code == 1


def test_no_prove_leaves_the_runs_out(cli: Cli, files: Path) -> None:
    command = "rewrite", "-p", f"{files}/wrong.py:MadToSub", files / "k.ptx", "--no-prove"
    assert cli(*command).exit_code == 0
    assert cli(*command, "--launch", files / "launch.toml").exit_code == 2


def test_a_pass_that_is_right(cli: Cli, files: Path) -> None:
    (files / "k.ptx").write_text(SCALE)
    out = files / "out.ptx"
    result = cli("rewrite", "-p", f"{files}/mine.py:Flip", files / "k.ptx", "-o", out)
    assert result.exit_code == 0
    assert "mul.f32 %f2, %f1, %f2;" in out.read_text()
    assert "flip: scale: run on 1 set of inputs before and after, without and with time" in result.stderr
    assert result.stderr.rstrip().endswith("same memory")
    proved = cli("prove", files / "k.ptx", out, "--random", "2", "--seed", "7")
    assert (proved.exit_code, proved.stderr) == (0, "")
    assert "random inputs, seed 8: same memory, 128 elements changed" in proved.stdout


def test_our_own_passes_are_not_run(cli: Cli, files: Path) -> None:
    (files / "launch.toml").write_text("this is no launch file")
    assert cli("rewrite", "-p", "allocate", files / "k.ptx").exit_code == 0
    result = cli("rewrite", "-p", f"{files}/mine.py:Swap", files / "k.ptx")
    assert (result.exit_code, "E502" in result.stderr) == (1, True)


def test_the_file_of_a_pass_is_no_output(cli: Cli, files: Path) -> None:
    text = (files / "mine.py").read_text()
    result = cli("rewrite", "-p", f"{files}/mine.py:Swap", files / "k.ptx", "-o", files / "mine.py")
    assert (result.exit_code, "E503" in result.stderr) == (1, True)
    assert (files / "mine.py").read_text() == text


def test_prove_shows_the_first_element_that_differs(cli: Cli, files: Path) -> None:
    (files / "b.ptx").write_text(
        MAD.replace("%f1, %f1;", "%f1, 0f40200001;")
    )  # 2.5 and one unit in the last place
    command = "prove", files / "k.ptx", files / "b.ptx"
    result = cli(*command)
    assert result.exit_code == 1
    assert (
        f"{files}/b.ptx:4:1: error[E305]: the rewritten kernel computes something else: 'x'[0]"
        in result.stderr
    )
    assert f"ptxtool prove {files}/k.ptx {files}/b.ptx --launch {files}/launch.toml" in result.stderr
    assert cli(*command, "--rtol", "1e-6").exit_code == 0
    found = json.loads(cli(*command, "--json").stdout)
    assert [problem["code"] for problem in found["problems"]] == ["E305"]


def test_prove_as_json_and_with_a_launch_on_the_command_line(cli: Cli, files: Path) -> None:
    (files / "launch.toml").unlink()
    options = "--grid", "1", "--block", "32", "--arg", "f32[32]=1.0", "--arg", "2.0"
    found = data(cli, "prove", files / "k.ptx", files / "k.ptx", *options, "--gpu", "gtx480", "--random", "1")
    assert (found["holds"], found["kernels"], found["buffers"]) == (True, ["scale"], ["x"])
    assert found["trials"][1] == {"seed": 0, "changed": 32, "same": True, "skipped": ""}


def test_prove_without_a_launch(cli: Cli, files: Path) -> None:
    (files / "launch.toml").unlink()
    result = cli("prove", files / "k.ptx", files / "k.ptx")
    assert (result.exit_code, "error[E501]: no launch file for" in result.stderr) == (1, True)
