"""What a ptxas says is read, and whatever goes wrong with it is a reason and no error: programs that play ptxas."""

from pathlib import Path

import pytest
from ptxas import needs_ptxas

from ptxtool.external.ptxas import find_ptxas, ptxas_usage, version
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.results.register_counts import PtxasRun, PtxasUsage, register_counts

TEXT = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry a() { ret; }
.visible .entry b() { ret; }
"""
SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_75'
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for b
    24 bytes stack frame, 16 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 24 bytes cumulative stack size, 352 bytes cmem[0]
ptxas info    : Compiling entry function 'a' for 'sm_75'
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]
"""
HEAD = """\
#!/bin/sh
[ "$1" = --version ] && { echo "Cuda compilation tools, release 12.9, V12.9.86"; exit 0; }
[ "$1" = --help ] && { echo "Allowed values: 'compute_75','sm_100a','sm_80','sm_75','sm_90'"; exit 0; }
echo "$@" > "$(dirname "$0")/asked"
"""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Play":
    return Play(tmp_path, monkeypatch)


class Play:
    """`play("exit 1")` puts a ptxas on the PATH that runs these shell commands."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder, self.monkeypatch = folder, monkeypatch

    def __call__(self, commands: str) -> None:
        program = self.folder / "ptxas"
        program.write_text(HEAD + commands + "\n")
        program.chmod(0o755)
        self.monkeypatch.setenv("PATH", f"{self.folder}:/usr/bin:/bin")

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().split()


def usage(text: str = TEXT, level: int = 3, timeout: float = 20) -> PtxasRun:
    found = ptxas_usage(parse(text), level, timeout)
    assert found is not None
    return found


def test_registers_stack_and_spills_of_every_kernel(play: Play) -> None:
    play(f"cat >&2 <<'END'\n{SAID}END")
    found = usage()
    assert str(found) == "ptxas 12.9 -O3 for sm_75"
    assert dict(found.kernels) == {"a": PtxasUsage(4, 0, 0), "b": PtxasUsage(24, 24, 16)}
    assert found.problem == ""
    assert {"-v", "-arch=sm_75", "-O3"} <= set(play.asked)
    assert found.version == version(find_ptxas() or "") == "12.9"


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("sm_80", ["-arch=sm_80", "-O3"]),
        ("sm_20", ["-arch=sm_75", "-O3"]),
        ("compute_90", ["-arch=sm_90", "-O3"]),
        ("sm_100a", ["-arch=sm_100a", "-O3"]),
        ("sm_80, debug", ["-arch=sm_80", "-O0"]),
    ],
)
def test_target_and_level(play: Play, target: str, asked: list[str]) -> None:
    """A ptxas that no longer knows sm_20."""
    message = "ptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'"
    play(f'case "$*" in *-arch=sm_20*) echo "{message}" >&2; exit 255;; esac')
    found = usage(TEXT.replace("sm_75", target))
    assert [word for word in play.asked if word.startswith(("-arch", "-O"))] == asked
    assert [f"-arch={found.arch}", f"-O{found.level}"] == asked


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ("echo 'ptxas fatal   : Out of memory' >&2; exit 1", "Out of memory"),
        ("echo \"ptxas a.ptx, line 3; error   : Unknown symbol 'x'\" >&2; exit 1", "Unknown symbol 'x'"),
        ("exit 7", "exit code 7"),
        ("exec sleep 60", "it was not done after 0.2 seconds"),
    ],
)
def test_a_failure_is_a_reason(play: Play, commands: str, reason: str) -> None:
    play(commands)
    found = usage(timeout=0.2 if "sleep" in commands else 20)
    assert (found.problem, dict(found.kernels)) == (reason, {})
    counts = register_counts(parse(TEXT).kernels["a"], found)
    assert counts.ptxas_problem == f"no figure from ptxas 12.9 -O3 for sm_75: {reason}"
    assert counts.to_dict()["ptxas"] is None
    assert str(counts) == "registers per thread: 0 live at once, 0 allocated"


def test_a_program_that_cannot_start(play: Play) -> None:
    play("")
    (play.folder / "ptxas").write_bytes(b"no program")
    assert usage().problem == "Exec format error"


def test_functions_defined_elsewhere(play: Play) -> None:
    play(
        'case "$*" in *" -c") echo done;; *) '
        "echo \"ptxas fatal   : Unresolved extern function 'f'\" >&2; exit 255;; esac"
    )
    assert usage().problem == ""
    assert play.asked[-1] == "-c"


def test_it_is_found_in_cuda_home(tmp_path: Path, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play("exit 0")
    (tmp_path / "bin").mkdir()
    (tmp_path / "ptxas").rename(tmp_path / "bin" / "ptxas")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert find_ptxas() == str(tmp_path / "bin" / "ptxas")


def test_without_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxtool.external.ptxas.find_ptxas", lambda: None)
    assert ptxas_usage(parse(TEXT)) is None


def test_ptxplus_is_not_given_to_it(play: Play) -> None:
    play("exit 0")
    assert ptxas_usage(parse(".version 1.4+\n.target sm_10\n.entry k() { exit; }\n")) is None
    assert not (play.folder / "asked").exists()


@needs_ptxas
def test_the_real_one() -> None:
    found = usage()
    assert found.problem == ""
    assert set(found.kernels) == {"a", "b"}
    assert all(0 < used.registers < 32 for used in found.kernels.values())


def test_a_vector_register_is_no_error_of_a_report() -> None:
    module: Module = parse(".version 3.0\n.target sm_20\n.entry k() { .reg .v2 .f32 %v; ret; }\n")
    counts = register_counts(module.kernels["k"], None)
    assert counts.to_dict() == {
        "live": None,
        "allocated": None,
        "problem": "registers of vector type have no physical register",
        "ptxas": None,
    }
    assert str(counts) == (
        "registers per thread: unknown\n  no count: registers of vector type have no physical register"
    )
