"""Completion of command lines, by the protocol between the shells and click."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from ptxtool.cli.commands.rewrite import command as rewrite
from ptxtool.cli.completion import CHANGE_KEYS, SCHEDULERS
from ptxtool.cli.main import COMMANDS, main
from ptxtool.formats.gpu_names import gpu_names
from ptxtool.passes.registry import PASSES

NBODY = "_Z5nbodyIfLi4EEvP6float4", "_Z5nbodyIfLi8EEvP6float4"
PTX = "".join(f".visible .entry {name}(\n)\n{{ ret; }}\n" for name in (*NBODY, "_ZN3lib5scaleEPf", "plain"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.ptx").write_text(f".version 8.0\n.target sm_80\n{PTX}")
    (tmp_path / "job.toml").write_text('file = "k.ptx"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What bash offers for the last word of a line, `type,value` each."""
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    return BashComplete(main, {}, "ptxtool", "_PTXTOOL_COMPLETE").complete().splitlines()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ptxtool ", list(COMMANDS)),
        ("ptxtool re", ["rewrite", "reproduce"]),
        ("ptxtool live k.ptx --per ", ["warp", "thread"]),
        ("ptxtool occupancy --gpu ", ["auto", *gpu_names()]),
        ("ptxtool gpus gtx", ["gtx-titan-x", "gtx480", "gtx980-finereg"]),
        ("ptxtool sim saxpy --scheduler ", list(SCHEDULERS)),
        ("ptxtool sim saxpy --scheduler owf", ["owf", "owf_greedy"]),
        ("ptxtool rewrite -p ", list(PASSES)),
        ("ptxtool rewrite -p unroll-decls,reorder-decls{order=text},al",
         ["unroll-decls,reorder-decls{order=text},allocate"]),
        ("ptxtool live k.ptx --kernel ", [*NBODY, "lib::scale", "plain"]),
        ("ptxtool live --per thread k.ptx --kernel p", ["plain"]),
        ("ptxtool sim job.toml --kernel l", ["lib::scale"]),
        ("ptxtool diff k.ptx saxpy --kernel s", ["saxpy"]),
        ("ptxtool run saxpy --kernel ", ["saxpy"]),
        ("ptxtool live nowhere.ptx --kernel ", []),
        ("ptxtool live sax", ["saxpy"]),
        ("ptxtool reproduce ", ["register-sharing", "scratchpad-sharing", "regdem", "finereg", "schemes"]),
        ("ptxtool page saxpy ", [f"{key}=" for key in CHANGE_KEYS]),
        ("ptxtool page saxpy scheduler=gto,sch", ["scheduler=gto,scheduler=", "scheduler=gto,scheme="]),
        ("ptxtool page saxpy scheme=f", ["scheme=finereg", "scheme=finereg-unified"]),
        ("ptxtool help del", ["delay-first-use"]),
        ("ptxtool help E30", ["E301", "E302", "E303", "E304", "E305"]),
        ("ptxtool help spl", ["split-tail-ranges", "split-registers"]),
    ],
)  # fmt: skip
def test_words(line: str, offered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(line, monkeypatch) == [f"plain,{word}" for word in offered]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ptxtool live ", "file,"),
        ("ptxtool live k", "file,k"),
        ("ptxtool occupancy --gpu ./mine", "file,./mine"),
        ("ptxtool sim saxpy --launch j", "file,j"),
        ("ptxtool live k.ptx -o ", "file,"),
        ("ptxtool run k.ptx --save ", "dir,"),
        ("ptxtool sweep ", "file,"),
    ],
)
def test_files(line: str, offered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(line, monkeypatch)[0] == offered


def test_a_broken_launch_file_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "job.toml").write_text("file = \n")
    assert completed("ptxtool sim job.toml --kernel ", monkeypatch) == []


def test_zsh_and_fish_show_what_things_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", "ptxtool pressure k.ptx --kernel lib")
    monkeypatch.setenv("COMP_CWORD", "4")
    shown = ZshComplete(main, {}, "ptxtool", "_PTXTOOL_COMPLETE").complete()
    assert shown.splitlines()[0] == "plain"
    assert "lib::scale(float*)" in shown.replace("\\", "")
    monkeypatch.setenv("COMP_WORDS", "ptxtool fm")
    monkeypatch.setenv("COMP_CWORD", "fm")
    assert COMMANDS["fmt"] in FishComplete(main, {}, "ptxtool", "_PTXTOOL_COMPLETE").complete()


def test_the_schedulers_are_those_of_the_simulator() -> None:
    from ptxsim.timing import schedulers

    names = [f"{name}:" if name in schedulers.NUMBERED else name for name in schedulers.SCHEDULERS]
    assert list(SCHEDULERS) == names


def test_a_completion_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom ptxtool.cli.main import main\ntry:\n    main()\nexcept SystemExit:\n"
        "    print(*{m.split('.')[0] for m in sys.modules} & {'numba', 'rich', 'lark'}, 'loaded')"
    )
    for line in (
        "ptxtool sim k.ptx --kernel ",
        "ptxtool rewrite -p ",
        "ptxtool occupancy --gpu ",
        "ptxtool page k.ptx ",
    ):
        environment = {
            **os.environ,
            "_PTXTOOL_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
        }
        program = [sys.executable, "-c", code.replace("main()", "main(prog_name='ptxtool')")]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "loaded", done.stdout
        assert len(done.stdout.splitlines()) > 4


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_the_script_for_bash_is_one() -> None:
    environment = {**os.environ, "_PTXTOOL_COMPLETE": "bash_source"}
    program = [sys.executable, "-c", "from ptxtool.cli.main import main; main(prog_name='ptxtool')"]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0
    assert "_PTXTOOL_COMPLETE=bash_complete" in done.stdout


def test_every_command_completes_its_file() -> None:
    (file,) = (parameter for parameter in rewrite.params if parameter.name == "file")
    assert (
        file.shell_complete(rewrite.make_context("rewrite", [], resilient_parsing=True), "sgem")[0].value
        == "sgemm"
    )
