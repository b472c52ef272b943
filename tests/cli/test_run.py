"""`run`: a launch without time, from a launch file or from options."""

import json
from pathlib import Path

import numpy as np
import pytest
from scalekernel import LAUNCH, SCALE
from smallkernel import Cli

OPTIONS = ("--grid", "2", "--block", "32")


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    kernel = tmp_path / "scale.ptx"
    kernel.write_text(SCALE)
    return kernel


def test_a_launch_file_is_run_and_compared(cli: Cli, scale: Path) -> None:
    scale.with_suffix(".toml").write_text(LAUNCH)
    result = cli("run", str(scale))
    assert result.exit_code == 0, result.stderr
    assert "results: x as expected" in result.stdout


def test_wrong_results_are_an_error(cli: Cli, scale: Path) -> None:
    scale.with_suffix(".toml").write_text(LAUNCH)
    scale.write_text(SCALE.replace("mul.f32", "add.f32"))
    result = cli("run", str(scale))
    assert result.exit_code == 1
    assert "E409" in result.stderr
    assert "results: wrong (1 problem)" in result.stdout


def test_options_instead_of_a_launch_file(cli: Cli, scale: Path) -> None:
    result = cli("run", str(scale), *OPTIONS, "--arg", "f32[64]=np.arange(64)", "--arg", "0.5", "--json")
    assert result.exit_code == 0, result.stderr
    (buffer,) = json.loads(result.stdout)["buffers"]
    assert buffer["values"] == [0.5 * k for k in range(64)]
    assert (buffer["name"], buffer["type"], buffer["shape"], buffer["changed"]) == ("x", "f32", [64], 63)


def test_buffers_come_from_files_and_go_to_files(cli: Cli, scale: Path, tmp_path: Path) -> None:
    given = tmp_path / "in.npy"
    np.save(given, np.ones(64, np.float32))
    result = cli(
        "run",
        str(scale),
        *OPTIONS,
        "--arg",
        f"y:{given}",
        "--arg",
        "3",
        "--save",
        str(tmp_path / "new" / "out"),
    )
    assert result.exit_code == 0, result.stderr
    saved = np.load(tmp_path / "new" / "out" / "y.npy")
    assert saved.dtype == np.float32
    assert (saved == 3).all()
    assert (np.load(given) == 1).all()


def test_a_run_that_fails_saves_nothing(cli: Cli, scale: Path, tmp_path: Path) -> None:
    arguments = (*OPTIONS, "--arg", "f32[32]", "--arg", "1.5", "--save", str(tmp_path / "out"))
    result = cli("run", str(scale), *arguments)
    assert result.exit_code == 1
    assert "E404" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        (("--grid", "2", "--block", "32", "--arg", "f32[64]"), 1, "takes 2 arguments, 1 given"),
        ((*OPTIONS, "--arg", "f32[64", "--arg", "1"), 1, "'f32[64' is none of the forms"),
        ((*OPTIONS, "--arg", "f32[64]=np.nothing(1)", "--arg", "1"), 1, "<options>"),
        ((*OPTIONS, "--arg", "f31[64]", "--arg", "1"), 1, "'f31' where an element type must stand"),
        ((*OPTIONS, "--arg", "1", "--arg", "1"), 1, "E404"),
        ((*OPTIONS, "--arg", "0", "--arg", "1"), 1, "help: a null pointer"),
        ((*OPTIONS, "--arg", "0", "--arg", "1", "--check", "all"), 1, "help: a null pointer"),
        (
            (*OPTIONS, "--arg", "f32[64]", "--arg", "1", "--dynamic-shared", "300000"),
            1,
            "a CTA has at most 232448",
        ),
        ((*OPTIONS, "--arg", "f32[64]", "--arg", "1", "--trace", "cta 9"), 1, "there is no cta 9"),
        ((*OPTIONS, "--arg", "f32[64]", "--arg", "1", "--trace", "line 20-12"), 1, "selects nothing"),
        ((*OPTIONS, "--arg", "nowhere.npy", "--arg", "1"), 1, "cannot read 'nowhere.npy'"),
        (("--grid", "two", "--block", "32", "--arg", "f32[64]", "--arg", "1"), 1, "--grid 'two'"),
        (("--grid", "1", "--block", "4096", "--arg", "f32[64]", "--arg", "1"), 1, "at most 1024"),
        ((*OPTIONS, "--arg", "f32[64]", "--arg", "1", "--check", "rases"), 1, "did you mean 'races'"),
        (("--grid", "1"), 2, "go together"),
        (("--grid", "1", "--block", "1", "--launch", "x.toml"), 2, "not both"),
        (("--dynamic-shared", "4"), 2, "goes with --grid and --block"),
        ((), 1, "no launch file"),
    ],
)
def test_what_can_be_wrong(
    cli: Cli, scale: Path, arguments: tuple[str, ...], code: int, reported: str
) -> None:
    result = cli("run", str(scale), *arguments)
    assert result.exit_code == code
    assert reported in result.stderr
    assert "Traceback" not in result.stderr


RACE = """.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 x)
{
	.reg .b32 %r<2>; .reg .b64 %x; .reg .pred %p;
	ld.param.u64 %x, [x];
	mov.u32 %r1, %tid.y;
	setp.ne.u32 %p, %r1, 0;
	@%p bra STORE;
	mov.u32 %r0, 0;
LOOP:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, 50;
	@%p bra LOOP;
STORE:
	st.global.u32 [%x], %r1;
	ret;
}
"""


@pytest.mark.parametrize(("length", "last"), [((), 0), (("--slice", "1000"), 1)])
def test_a_slice_is_how_long_a_warp_runs_before_the_next(
    cli: Cli, tmp_path: Path, length: tuple[str, ...], last: int
) -> None:
    """The first warp executes more instructions than the second before both store their numbers at one place."""
    kernel = tmp_path / "race.ptx"
    kernel.write_text(RACE)
    launch = ("run", str(kernel), "--grid", "1", "--block", "32,2", "--arg", "u32[1]=9")
    result = cli(*launch, *length, "--json")
    assert json.loads(result.stdout)["buffers"][0]["values"] == [last]
    assert cli(*launch, "--slice", "0").exit_code == 2
    checked = cli(*launch, "--check", "races")
    assert checked.exit_code == 1
    assert "race.ptx:17:2: error[E410]: race: thread (0,0,0) of CTA (0,0,0) writes" in checked.stderr


UNWAITED = """.version 8.0
.target sm_90a
.visible .entry k(.param .u64 out)
{
	.reg .f32 %f<4>;
	.reg .b32 %r<4>;
	.reg .b64 %d<3>;
	.shared .align 128 .b8 b[256];
	ld.param.u64 %d1, [out];
	mov.u32 %r1, b;
	shr.u32 %r1, %r1, 4;
	cvt.u64.u32 %d2, %r1;
	or.b64 %d2, %d2, 0x1000080000;
	mov.f32 %f0, 0f40400000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
	mov.u32 %r2, 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r2, %r2, %r2, %r2}, %d2, 0, 1, 1, 0;
	st.global.f32 [%d1], %f0;
	ret;
}
"""


@pytest.mark.parametrize(("when", "value"), [("early", 0.0), ("late", 3.0)])
def test_a_product_that_is_not_waited_for(cli: Cli, tmp_path: Path, when: str, value: float) -> None:
    """Zeros times zeros without what was there; late, it is still there."""
    kernel = tmp_path / "unwaited.ptx"
    kernel.write_text(UNWAITED)
    launch = ("run", str(kernel), "--grid", "1", "--block", "128", "--arg", "f32[1]")
    result = cli(*launch, "--asynchronous", when, "--json")
    assert json.loads(result.stdout)["buffers"][0]["values"] == [value]


def test_endless_kernels_can_be_given_up(cli: Cli, tmp_path: Path) -> None:
    kernel = tmp_path / "loop.ptx"
    kernel.write_text(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\nL: bra L;\n}\n")
    result = cli("run", str(kernel), "--grid", "1", "--block", "1", "--max-instructions", "1000")
    assert result.exit_code == 1
    assert "E408" in result.stderr


def test_checks_report_faults(cli: Cli, scale: Path) -> None:
    result = cli("run", str(scale), *OPTIONS, "--arg", "f32[32]", "--arg", "1.5", "--check", "all")
    assert result.exit_code == 1
    assert "right after buffer 'x' (128 bytes)" in result.stderr
    assert result.stdout.endswith(  # the load, and the store
        "results: nothing expected, nothing compared\nchecks: 2 faults found (memory, init, races, barriers)\n"
    )


def test_checks_say_that_they_found_nothing(cli: Cli, scale: Path) -> None:
    arguments = (*OPTIONS, "--arg", "f32[64]", "--arg", "1.5", "--check", "races,memory")
    result = cli("run", str(scale), *arguments)
    assert result.exit_code == 0
    assert result.stdout.endswith("checks: nothing found (races, memory)\n")
    assert json.loads(cli("run", str(scale), *arguments, "--json").stdout)["checks"] == {
        "looked_for": ["races", "memory"],
        "findings": [],
        "lost_findings": 0,
    }


@pytest.mark.parametrize("checks", [(), ("--check", "memory")])
def test_reports_call_buffers_what_the_user_does(cli: Cli, scale: Path, checks: tuple[str, ...]) -> None:
    result = cli("run", str(scale), *OPTIONS, "--arg", "mine:f32[32]", "--arg", "1.5", *checks)
    assert result.exit_code == 1
    assert "right after buffer 'mine' (128 bytes)" in result.stderr


def test_many_findings(cli: Cli, tmp_path: Path) -> None:
    body = "\n".join("ld.global.u32 %r1, [%rd1+4];" for _ in range(30))
    text = f".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n{body}\nret;"
    kernel = tmp_path / "k.ptx"
    kernel.write_text(
        f".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p)\n{{\n{text}\n}}\n"
    )
    arguments = ("run", str(kernel), "--grid", "1", "--block", "1", "--arg", "u32[1]", "--check", "memory")
    result = cli(*arguments)
    assert result.stderr.endswith("... and 10 more; --json has all\n")
    assert "checks: 30 faults found (memory)" in result.stdout
    assert len(json.loads(cli(*arguments, "--json").stdout)["checks"]["findings"]) == 30


def test_buffers_without_contents(cli: Cli, scale: Path) -> None:
    arguments = (*OPTIONS, "--arg", "y:f32[64]=?", "--arg", "1.5")
    assert cli("run", str(scale), *arguments).exit_code == 0
    result = cli("run", str(scale), *arguments, "--check", "init")
    assert "reads byte 0 of buffer 'y' (256 bytes), which nothing has written" in result.stderr


def test_a_trace_is_printed_or_part_of_the_json(cli: Cli, scale: Path) -> None:
    arguments = (*OPTIONS, "--arg", "f32[64]=np.arange(64)", "--arg", "0.5", "--trace", "lane 3; line 18")
    printed = cli("run", str(scale), *arguments).stdout
    data = json.loads(cli("run", str(scale), *arguments, "--json").stdout)
    assert len(data["trace"]) == 1
    assert data["trace"][0]["writes"] == {"%f2": ["1.5"]}
    assert data["trace"][0]["reads"] == {"%f2": ["3"], "%f1": ["0.5"]}
    assert printed.splitlines()[0].split()[-4:] == ["%f2=1.5", "<-", "%f2=3", "%f1=0.5"]
    assert "did you mean" in cli("run", str(scale), *arguments[:-1], "lone 3").stderr


def test_stack_sizes_come_from_the_launch_file_or_before_it_from_the_command_line(
    cli: Cli, tmp_path: Path
) -> None:
    """2000 calls of a function with a frame of 16 bytes."""
    kernel = tmp_path / "deep.ptx"
    kernel.write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func down(.reg .u32 n)\n{\n.reg .pred p;\n.reg .u32 m;\n"
        "setp.eq.u32 p, n, 0;\n@p ret;\nsub.u32 m, n, 1;\ncall down, (m);\nret;\n}\n"
        ".visible .entry k(.param .u32 n)\n{\n.reg .u32 r;\nld.param.u32 r, [n];\ncall down, (r);\nret;\n}\n"
    )
    launch = kernel.with_suffix(".toml")
    text = 'grid = 1\nblock = 1\n[[args]]\nname = "n"\ntype = "u32"\nvalue = 2000\n'
    launch.write_text(text)
    result = cli("run", str(kernel))
    assert result.exit_code == 1
    assert "E415" in result.stderr
    assert "(--stack-bytes)" in result.stderr
    assert cli("run", str(kernel), "--stack-bytes", "40000").exit_code == 0
    launch.write_text(f"stack_bytes = 40000\n{text}")
    assert cli("run", str(kernel)).exit_code == 0
    assert cli("sim", str(kernel)).exit_code == 0
    assert "E415" in cli("run", str(kernel), "--stack-bytes", "5000").stderr
    launch.write_text(f"stack_bytes = -1\n{text}")
    assert "deep.toml:1:1: error[E502]" in cli("run", str(kernel)).stderr


PASSING = """.version 7.0
.target sm_70
.address_size 64
.const .align 4 .f32 weights[2];
.visible .entry _Z4blurPfy6__half(.param .u64 x, .param .u64 image, .param .align 2 .b8 h[2])
{
	.reg .b16 %h<2>;
	.reg .f32 %f<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [image];
	ld.param.b16 %h1, [h];
	mov.f32 %f1, 0f3F000000;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f1}];
	ld.const.f32 %f2, [weights+4];
	mul.f32 %f1, %f1, %f2;
	cvt.f32.f16 %f2, %h1;
	add.f32 %f1, %f1, %f2;
	st.global.f32 [%rd1], %f1;
	ret;
}
.visible .entry other() { ret; }
"""


@pytest.mark.parametrize("name", ["run", "sim", "compare"])
def test_textures_structures_and_constants(cli: Cli, tmp_path: Path, name: str) -> None:
    """The texel 7, times the second weight 3, and half a one."""
    kernel = tmp_path / "k.ptx"
    kernel.write_text(PASSING)
    arguments = ("--kernel", "blur", "--grid", "1", "--block", "1", "--arg", "x:f32[1]")
    arguments += ("--arg", "texture(point) f32[2]=7", "--arg", "{f16 0.5}", "--constant", "weights:f32[2]=3")
    result = cli(name, str(kernel), *arguments, *(["--json"] if name == "run" else []))
    assert result.exit_code == 0, result.stderr
    if name == "run":  # what is passed by value is no buffer
        buffers = json.loads(result.stdout)["buffers"]
        assert [(b["name"], b["values"]) for b in buffers] == [("x", [21.5]), ("image", [7, 7])]


def test_what_to_do_without_a_launch_file(cli: Cli, tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(PASSING)
    assert "help: give --grid, --block and an --arg for each parameter" in cli("run", str(kernel)).stderr
    several = cli("run", str(kernel), "--grid", "1", "--block", "1")
    assert "name one (--kernel NAME)" in several.stderr
