"""CUDA lines beside PTX lines, and their text with `--source`: in every report and diagnostic on a kernel."""

from pathlib import Path

import pytest
from commands import change, clean_data, data
from smallkernel import Cli

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4normPf(.param .u64 p)
{
	.reg .pred %p<2>;
	.reg .f32 %f<3>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 s[128];
	.loc 1 7 5
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.f32 %f1, [%rd3];
	setp.eq.u32 %p1, %r1, 5;
	@%p1 bra L;
	.loc 1 3 5, function_name $name, inlined_at 1 7 5
	mul.f32 %f2, %f1, %f1;
	.loc 1 8 5
	st.shared.f32 [s], %f2;
	st.global.f32 [%rd3+4], %f2;
L:
	ret;
}
.file 1 "/home/me/norm.cu"
.section .debug_str
{
$name:
.b8 115,113,0
}
"""
CUDA = """__device__ float sq(float x)
{
    return x * x;
}
__global__ void norm(float *p)
{
    float x = sq(p[threadIdx.x]);
    s[0] = p[threadIdx.x + 1] = x;
}
"""


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    (tmp_path / "norm.cu").write_text(CUDA)
    path = tmp_path / "norm.ptx"
    path.write_text(PTX)
    return path


@pytest.mark.parametrize(
    ("command", "plain", "with_source"),
    [
        (["pressure", "--no-ptxas"], "cuda: norm.cu:7", "cuda: norm.cu:7: float x = sq(p[threadIdx.x]);"),
        (["pressure", "--no-ptxas"], "14 17          norm.cu:7", "cuda: norm.cu:7: float"),
        (["cfg"], "B2 (fall)                      norm.cu:3 (inlined at norm.cu:7)", "norm.cu:7: float x = sq("),
        (["live"], "// norm.cu:3 (inlined at norm.cu:7)", "// norm.cu:3 (inlined at norm.cu:7): return x * x;"),
        (["cfg"], "line 25 (B2)  norm.cu:7", "norm.cu:7: float x = sq("),
        (["first-use"], "norm.cu:3 (inlined at norm.cu:7)", "norm.cu:7: float x = sq(p["),
        (["first-use", "--space", "shared"], "norm.cu:8", "norm.cu:8: s[0] = p[threadIdx.x + 1] = x;"),
        (["first-use", "--share-registers", "90", "--registers", "8"], "before: line 12 (norm.cu:7), %rd1",
         "before: line 12 (norm.cu:7: float x"),
    ],
)  # fmt: skip
def test_reports(cli: Cli, ptx: Path, command: list[str], plain: str, with_source: str) -> None:
    without, shown = cli(*command, ptx), cli(*command, ptx, "--source")
    assert (without.exit_code, shown.exit_code) == (0, 0)
    assert plain in without.stdout
    assert "return x * x" not in without.stdout
    assert with_source in shown.stdout


def test_as_data(cli: Cli, ptx: Path) -> None:
    (live,) = clean_data(cli, "live", ptx)["kernels"]
    (multiply,) = (each for each in live["instructions"] if each["text"].startswith("mul.f32"))
    assert (multiply["cuda"], multiply["cuda_inlined_at"]) == ("norm.cu:3", ["norm.cu:7"])
    (pressure,) = clean_data(cli, "pressure", ptx, "--no-ptxas")["kernels"]
    assert pressure["cuda"] == "norm.cu:7"
    assert {tuple(each["def_cuda"]) for each in pressure["holders"]} == {("norm.cu:7",)}
    (uses,) = clean_data(cli, "first-use", ptx)["kernels"]
    assert {each["name"]: each.get("cuda") for each in uses["registers"]}["%f2"] == "norm.cu:3"
    (shared,) = clean_data(cli, "first-use", ptx, "--space", "shared")["kernels"]
    assert [each["cuda"] for each in shared["variables"]] == ["norm.cu:8"]


def test_diagnostics_of_a_text(cli: Cli, ptx: Path) -> None:
    ptx.write_text(PTX.replace("mul.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f9"))
    shown = cli("check", ptx).stderr
    assert "\n   cuda: norm.cu:3 (inlined at norm.cu:7)\n   help: " in shown
    shown = cli("check", ptx, "--source").stderr
    assert (
        "\n   cuda: norm.cu:3 (inlined at norm.cu:7)\n    3 | return x * x;\n    7 | float x = sq(p[threadIdx.x]);\n"
        in shown
    )
    (found,) = clean_check(cli, ptx)
    assert (found["line"], found["cuda"]) == (20, "norm.cu:3")
    assert "return x * x" not in cli("check", ptx).stderr  # the option is for one command


def clean_check(cli: Cli, ptx: Path) -> list[dict[str, object]]:
    import json

    (file,) = json.loads(cli("check", ptx, "--json").stdout)["files"]
    return list(file["diagnostics"])


@pytest.mark.parametrize("command", [["run", "--check", "memory"], ["sim"]])
def test_faults_of_a_run(cli: Cli, ptx: Path, command: list[str]) -> None:
    launch = ["--grid", "1", "--block", "32", "--arg", "f32[32]"]
    result = cli(*command, ptx, *launch, "--source")
    assert result.exit_code == 1
    assert "error[E404]" in result.stderr
    assert command[0] == "run" or "kernel 'norm(float*)', CTA (0,0,0)" in result.stderr
    assert "\n   cuda: norm.cu:8\n    8 | s[0] = p[threadIdx.x + 1] = x;\n   help: " in result.stderr


@pytest.mark.parametrize("command", [["run"], ["sim"]])
def test_where_warps_wait(cli: Cli, ptx: Path, command: list[str]) -> None:
    ptx.write_text(PTX.replace("\tst.shared", "\tbar.sync 1, 64;\n\tst.shared"))
    result = cli(*command, ptx, "--grid", "1", "--block", "32", "--arg", "f32[64]")
    assert result.exit_code == 1
    assert "waits at 'bar.sync 1, 64;' in line 22 (norm.cu:8)" in result.stderr


def test_a_source_that_is_not_there(cli: Cli, ptx: Path) -> None:
    (ptx.parent / "norm.cu").unlink()
    result = cli("live", ptx, "--source")
    assert result.stderr == f"--source: '/home/me/norm.cu' is not there, nor is '{ptx.parent / 'norm.cu'}'\n"
    assert "// norm.cu:7\n" in result.stdout


LAUNCH = ["--grid", "1", "--block", "32", "--arg", "f32[64]"]


def test_a_trace(cli: Cli, ptx: Path) -> None:
    shown = cli("run", ptx, *LAUNCH, "--trace", "line 18-20").stdout.splitlines()
    assert shown[1].startswith("cta 0 warp 0 line 20 norm.cu:3 lane 0  mul.f32 %f2, %f1, %f1;")
    shown = cli("run", ptx, *LAUNCH, "--trace", "line 18-20", "--source").stdout.splitlines()
    assert shown[0] == "norm.cu:7: float x = sq(p[threadIdx.x]);"
    assert shown[2] == "norm.cu:3 (inlined at norm.cu:7): return x * x;"
    steps = clean_data(cli, "run", ptx, *LAUNCH, "--trace", "line 20; lane 0,1")["trace"]
    assert [(s["cuda"], s["cuda_inlined_at"], s["lanes"]) for s in steps] == [
        ("norm.cu:3", ["norm.cu:7"], [0, 1])
    ]


def test_a_difference(cli: Cli, ptx: Path) -> None:
    other = ptx.with_name("other.ptx")
    other.write_text(PTX.replace("mul.f32 %f2, %f1, %f1", "add.f32 %f2, %f1, %f1"))
    lines = cli("diff", ptx, other).stdout.splitlines()
    assert next(line for line in lines if "+" in line).endswith("norm.cu:3 (inlined at norm.cu:7)")
    lines = cli("diff", ptx, other, "--source").stdout.splitlines()
    assert next(line for line in lines if "+" in line).endswith(
        "norm.cu:3 (inlined at norm.cu:7): return x * x;"
    )
    (found,) = clean_data(cli, "diff", ptx, other)["kernels"]
    removed, added = found["changes"]
    assert removed["before"]["cuda"] == added["after"]["cuda"] == "norm.cu:3"


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        (["compare"], "first stall|instruction 4 (line 14, norm.cu:7"),
        (["sim", "--share-registers", "90"], "stall points|norm.cu:7"),
    ],
)
def test_stall_points(cli: Cli, job: Path, command: list[str], plain: str) -> None:
    """The kernel of `test_compare.py`, whose warps stop at its fifth instruction."""
    (job.parent / "norm.cu").write_text(CUDA)
    head, end = job.read_text().split("\tld.param", 1)
    job.write_text(f'{head}\t.loc 1 7 5\n\tld.param{end}.file 1 "norm.cu"\n')
    launch = job.with_name("launch.toml")
    change(launch, "registers = 20", "registers = 44")
    change(launch, "grid = 28", "grid = 112")
    change(launch, "3584]", "14336]")
    change(launch, "count = 3584", "count = 14336")
    title, place = plain.split("|")
    without, shown = (cli(*command, job, "--as-written", *more).stdout for more in ((), ("--source",)))
    assert place in without[without.index(title) :]
    assert "float x" not in without
    assert "norm.cu:7: float x = sq(p[threadIdx.x]);" in shown[shown.index(title) :]
    found = data(cli, *command, job, "--as-written")
    points = found["stall_points"] if command[0] == "sim" else [found["rungs"][-1]["first_stall"]]
    assert {point["cuda"] for point in points} == {"norm.cu:7"}


def test_remarks_of_passes(cli: Cli, ptx: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(PASS)
    said = cli("rewrite", "-p", f"{mine}:Note", "--no-prove", ptx).stderr
    assert "note: norm(float*): here (line 20, norm.cu:3 (inlined at norm.cu:7))" in said
    remarks = clean_data(cli, "rewrite", "-p", f"{mine}:Note", "--no-prove", ptx)["remarks"]
    assert [remark.get("cuda") for remark in remarks] == ["norm.cu:3", None]


PASS = """from dataclasses import dataclass
from typing import ClassVar

from ptxtool.passes.base import PassResult, Remark


@dataclass(frozen=True)
class Note:
    name: ClassVar[str] = "note"

    def run(self, module):
        (kernel,) = module.kernels
        return PassResult((), (Remark("note", "here", kernel, 20), Remark("note", "there", kernel, 4)))
"""
