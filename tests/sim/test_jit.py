"""The machine-code cache: it must never answer for other sources than those it was made of."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import ptxsim
import ptxtool.isa
from ptxsim import jit

PACKAGE = Path(ptxsim.__file__).parent


def _imports(path: Path) -> set[str]:
    """The ptxsim modules that a source imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ptxsim"):
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("ptxsim")}
    return found


def test_no_source_of_compiled_code_imports_a_host_only_one():
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE).as_posix()
        # functional.py also lowers and lays out memory, in Python; its compiled part takes nothing from there
        if jit.is_host_only(relative) or relative in ("__init__.py", "semantics/functional.py"):
            continue
        for module in _imports(path):
            target = module.removeprefix("ptxsim.").replace(".", "/") + ".py"
            assert not jit.is_host_only(target), f"{relative} imports {module}"


def test_sources_of_compiled_code_import_only_hashed_instruction_facts():
    """A source outside `jit.ISA_SOURCES` may change without a new cache folder, so no constant may come from it."""
    isa = Path(ptxtool.isa.__file__).parent
    hashed = {f"ptxtool.isa.{Path(name).stem}" for name in jit.ISA_SOURCES}
    own = [p for p in PACKAGE.rglob("*.py") if not jit.is_host_only(p.relative_to(PACKAGE).as_posix())]
    for path in [*own, *(isa / n for n in jit.ISA_SOURCES if n.endswith(".py"))]:
        if path.name == "functional.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ptxtool.isa"):
                assert node.module in hashed, f"{path.name} imports {node.module}"


def test_host_only_sources_compile_nothing():
    for path in PACKAGE.rglob("*.py"):
        if jit.is_host_only(path.relative_to(PACKAGE).as_posix()):
            names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
            assert "njit" not in names, path


def test_an_edited_callee_changes_the_cache_folder(tmp_path):
    copy = tmp_path / "ptxsim"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def folder() -> str:
        code = "import ptxsim.jit as j; print(j.__file__, j.cache_dir())"
        out = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
        ).stdout
        assert str(tmp_path) in out.split()[0]
        return out.split()[1]

    before = folder()
    assert folder() == before
    callee = copy / "schedulers" / "lrr.py"
    callee.write_text(callee.read_text().replace("w + 1", "w + 0"))
    assert folder() != before
