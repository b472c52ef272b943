"""CONTRIBUTING's worked example of a new instruction, on a copy of the package: the table gets one row.

After it every part of the toolchain knows the instruction.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT

import ptxtool

PACKAGE = Path(ptxtool.__file__).parent
CONTRIBUTING = CHECKOUT / "CONTRIBUTING.md"


def example(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the example's row in its table, and the example's kernel beside it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "ptxtool", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(CHECKOUT / "grammars", folder / "grammars")
    family = folder / "ptxtool" / "isa" / "opcodes" / "arithmetic.toml"
    title, _, rest = family.read_text(encoding="utf-8").partition("\n")
    family.write_text(f"{title}\n{example('toml')}{rest}", encoding="utf-8")
    (folder / "k.ptx").write_text(example("ptx"), encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", "from ptxtool.cli.main import main; main()", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_example_is_not_in_the_table_yet() -> None:
    done = run(PACKAGE.parent, "isa", "clamp")
    assert "E203" in done.stderr


def test_the_new_instruction_is_checked(copy: Path) -> None:
    done = run(copy, "check", "--json", "k.ptx")
    (report,) = json.loads(done.stdout)["files"]
    errors = [(d["line"], d["code"]) for d in report["diagnostics"] if d["severity"] == "error"]
    assert [line for line, _ in errors] == [10, 11], report
    assert errors[1][1] == "E203"


def test_what_it_reads_and_writes_is_known(copy: Path) -> None:
    done = run(copy, "live", "--json", "k.ptx")
    assert done.returncode == 0, done.stderr
    (kernel,) = json.loads(done.stdout)["kernels"]
    live = {row["line"]: row for row in kernel["instructions"]}
    assert set(live[9]["before"]) >= {"%r1", "%r2"}
    assert "%r3" not in live[9]["before"]
    assert "%r3" in live[9]["after"]


def test_it_is_shown(copy: Path) -> None:
    done = run(copy, "isa", "clamp")
    assert done.stdout == "clamp{.ftz}.u32|.s32|.f32  d, a, low, high  PTX 9.0 sm_90, .f32 PTX 9.1 sm_100\n"
