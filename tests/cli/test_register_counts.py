"""`pressure` and `occupancy` say how many registers a thread takes, and where the number comes from."""

from pathlib import Path

import pytest
from commands import data
from smallkernel import Cli

# %a, %b and the pair %d: 4 live at once before the store; three words alone before the pair is made
TEXT = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .b64 out)
{
	.reg .b32 %a, %b;
	.reg .b64 %d;
	mov.u32 %a, %tid.x;
	mov.u32 %b, %tid.y;
	ld.param.b64 %d, [out];
	add.u32 %a, %a, %b;
	st.global.u32 [%d], %a;
	st.global.u32 [%d+4], %b;
	ret;
}
"""

LAUNCH = """\
kernel = "k"
grid = 1
block = 64
registers = 12

[[args]]
name = "out"
type = "u32"
count = 2
value = 0
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("ptxtool.external.ptxas.find_ptxas", lambda: None)
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    return path


def test_pressure(cli: Cli, file: Path) -> None:
    (kernel,) = data(cli, "pressure", file)["kernels"]
    counts = kernel["register_counts"]
    assert (counts["live"], counts["allocated"], counts["ptxas"]) == (4, 4, None)
    assert "\nregisters per thread: 4 live at once, 4 allocated\n" in cli("pressure", file).stdout


def test_occupancy_takes_what_allocate_needs(cli: Cli, file: Path) -> None:
    found = data(cli, "occupancy", file, "--block", 256)
    assert (found["registers"], found["registers_from"]) == (4, "what allocate needs")
    assert found["register_counts"]["allocated"] == 4
    text = cli("occupancy", file, "--block", 256).stdout
    assert "256 threads, 4 registers per thread" in text
    assert "registers per thread: 4 live at once, 4 allocated\n  taken: 4, what allocate needs\n" in text


def test_a_number_that_is_given_goes_before(cli: Cli, file: Path) -> None:
    found = data(cli, "occupancy", file, "--block", 256, "--registers", 20)
    assert (found["registers"], found["registers_from"]) == (20, "from the command line")
    assert found["register_counts"]["allocated"] == 4


def test_the_launch_files_number_goes_before(cli: Cli, file: Path) -> None:
    file.with_name("launch.toml").write_text(LAUNCH)
    found = data(cli, "occupancy", file)
    assert (found["registers"], found["threads"], found["registers_from"]) == (12, 64, "from the launch file")


def test_ptxas_stands_beside(cli: Cli, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ptxas"
    program.write_text(
        "#!/bin/sh\ncase $1 in --version) echo 'release 12.9, V1';; --help) echo \"'sm_75'\";; *) echo \""
        "Compiling entry function 'k' for 'sm_75'\n 0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
        'Used 9 registers";; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr("ptxtool.external.ptxas.find_ptxas", lambda: str(program))
    (kernel,) = data(cli, "pressure", file)["kernels"]
    assert kernel["register_counts"]["ptxas"] == {
        "registers": 9,
        "stack_bytes": 0,
        "spill_bytes": 8,
        "version": "12.9",
        "arch": "sm_75",
        "level": 3,
    }
    line = "4 allocated, 9 by ptxas 12.9 -O3 for sm_75 (which spills 8 bytes)\n"
    assert line in cli("pressure", file).stdout
    assert line in cli("occupancy", file, "--block", 64).stdout
    for command in (["pressure", file], ["occupancy", file, "--block", 64]):
        assert "ptxas" not in cli(*command, "--no-ptxas").stdout


def test_a_ptxas_that_fails_is_a_note(
    cli: Cli, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ptxas-that-fails"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr("ptxtool.external.ptxas.find_ptxas", lambda: str(program))
    result = cli("pressure", file)
    assert result.exit_code == 0
    assert result.stderr.count("exit code 3") == 1
    assert "registers per thread: 4 live at once, 4 allocated\n" in result.stdout


def test_ptxplus_takes_what_it_declares(cli: Cli, kernel_file: Path) -> None:
    # $r0 to $r4, as sim counts them; $r124 is zero, $o127 no register of the kernel, predicates apart
    result = cli("occupancy", kernel_file, "--block", 64)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "64 threads, 5 registers per thread" in result.stdout
    assert "taken: 5, as declared, which a run takes" in result.stdout


def test_vector_registers_have_no_count(cli: Cli, file: Path) -> None:
    file.write_text(TEXT.replace("%d;", "%d;\n\t.reg .v2 .f32 %v;", 1))
    assert "no count: registers of vector type" in cli("pressure", file).stdout
    result = cli("occupancy", file, "--block", 64)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E301]: registers of vector type have no physical register" in result.stderr
    assert "give the registers per thread with --registers N" in result.stderr
    assert cli("occupancy", file, "--block", 64, "--registers", 8).exit_code == 0


def test_the_block_that_the_head_asks_for(cli: Cli, file: Path) -> None:
    file.write_text(TEXT.replace("out)\n", "out)\n.reqntid 32, 4\n"))
    assert data(cli, "occupancy", file)["threads"] == 128
    result = cli("occupancy", file, "--block", 64)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E402]: 64 threads per CTA against '.reqntid 32, 4' of kernel 'k'" in result.stderr


def test_a_block_beyond_the_heads_bound(cli: Cli, file: Path) -> None:
    file.write_text(TEXT.replace("out)\n", "out)\n.maxntid 0x40\n"))
    assert cli("occupancy", file, "--block", 64).exit_code == 0
    result = cli("occupancy", file, "--block", 65)
    assert result.exit_code == 1
    assert "help: it takes CTAs of at most 64 threads" in result.stderr
    assert (
        "CTAs of 64 threads, the most that '.maxntid' of 'k' allows: --block T"
        in cli("occupancy", file).stderr
    )


def test_more_than_a_thread_has(cli: Cli, file: Path) -> None:
    many = "".join(f"\tld.global.u32 %r{i}, [%d];\n" for i in range(256))
    many += "".join(f"\tst.global.u32 [%d], %r{i};\n" for i in range(256))
    file.write_text(TEXT.replace("\tret;\n", f"\t.reg .b32 %r<256>;\n{many}\tret;\n"))
    reported = (
        "258 live at once, 258 allocated\n  a thread has 255 at most: 'rewrite -p allocate' spills the rest\n"
    )
    assert reported in cli("pressure", file).stdout
    result = cli("occupancy", file, "--block", 64)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E402]: 258 registers per thread" in result.stderr


def test_dynamic_shared_memory_is_not_passed_over(cli: Cli, file: Path) -> None:
    text = TEXT.replace(".visible", ".extern .shared .b8 room[];\n.visible").replace(
        "\tret;", "\tst.shared.u32 [room], %a;\n\tret;"
    )
    file.write_text(text)
    reported = "dynamic shared memory ('room') is not counted: give all the bytes with --scratchpad\n"
    sm_75 = ("--gpu", "sm_75")
    assert cli("occupancy", file, "--block", 64, *sm_75).stderr == reported
    assert cli("occupancy", file, "--block", 64, "--scratchpad", 4096, *sm_75).stderr == ""
    file.with_name("launch.toml").write_text(LAUNCH + "\n")
    assert cli("occupancy", file, *sm_75).stderr == ""
    file.write_text(TEXT)
    assert cli("occupancy", file, "--block", 64, *sm_75).stderr == ""
