"""The machine-code cache: it must never answer for other sources than those it was made of."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ptxsim
import ptxtool
from ptxsim.base import code_cache as machine_code
from ptxsim.base import notice
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.execute.codes import FIRST
from ptxtool.isa.lanes import GROUP_SIZE, MAX_GROUPS

PACKAGE = Path(ptxsim.__file__).parent
SOURCES = {
    ".".join(("ptxsim", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def _imports(path: Path) -> set[str]:
    """What a source imports of ours, by Python's own parser: modules, and names that may be modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ptx"):
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("ptx")}
    return found


def _compiles(module: str) -> bool:
    return not machine_code.is_host_only(module)


def test_imports_are_found():
    for path in SOURCES.values():
        missed = _imports(path) - set(machine_code.imported(path.read_text()))
        assert not missed, path


def test_no_source_of_compiled_code_imports_a_host_only_one():
    for module, path in SOURCES.items():
        if _compiles(module) and module != "ptxsim":
            assert not any(map(machine_code.is_host_only, _imports(path))), path


def test_sources_of_compiled_code_import_only_hashed_instruction_facts():
    """A source outside `FACTS` may change and keep its cache folder, so no constant may come from it."""
    isa = Path(ptxtool.__file__).parent / "isa"
    facts = [isa / f"{name.rpartition('.')[2]}.py" for name in machine_code.FACTS]
    own = [path for module, path in SOURCES.items() if _compiles(module)]
    for path in [*own, *facts]:
        modules = {name for name in _imports(path) if name.startswith("ptxtool.isa")}
        outside = {m for m in modules if not any(m == f or m.startswith(f"{f}.") for f in machine_code.FACTS)}
        assert not outside, path


def test_host_only_sources_compile_nothing():
    for module, path in SOURCES.items():
        if not _compiles(module):
            assert not _imports(path) & {"ptxsim.base.jit.njit", "ptxsim.base.jit.entry"}, path


@pytest.mark.slow
@pytest.mark.skipif(JIT_DISABLED, reason="boundaries are plain functions without compilation")
def test_only_boundaries_are_imported_from_behind_one():
    import importlib

    from ptxsim.execute.boundary import Boundary

    for path in SOURCES.values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in machine_code.ACROSS_BOUNDARY:
                wrapped = importlib.import_module(node.module)
                for alias in node.names:
                    assert isinstance(getattr(wrapped, alias.name), Boundary), (path, alias.name)


def test_numbers_of_lane_operations_end_before_the_others():
    assert FIRST == GROUP_SIZE * MAX_GROUPS


def _folders(tmp_path: Path, *modules: str) -> list[str]:
    code = f"import ptxsim.base.code_cache as m; print(m.__file__, *map(m.folder, {modules!r}), sep='\\n')"
    out = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
    ).stdout.split("\n")
    assert str(tmp_path) in out[0]
    return out[1:-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edited", "old", "new", "changed"),
    [
        ("execute/simt_stack.py", '"""', '"""x', {"ptxsim.timing.core.cycle", "ptxsim.functional.cta_loop"}),
        (
            "execute/memory/accesses.py",
            '"""',
            '"""x',
            {"ptxsim.execute.micro_operations"},
        ),
        ("execute/start.py", '"""', '"""x', {"ptxsim.timing.core.cycle", "ptxsim.functional.cta_loop"}),
        ("lowering/lower.py", '"""', '"""x', set()),
        (
            "base/program.py",
            "range(8)",
            "range(0, 8)",
            {"ptxsim.timing.core.cycle", "ptxsim.execute.micro_operations", "ptxsim.functional.cta_loop"},
        ),
    ],
)
def test_an_edit_changes_the_folders_of_what_depends_on_it(tmp_path, edited, old, new, changed):
    copy = tmp_path / "ptxsim"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    modules = ("ptxsim.timing.core.cycle", "ptxsim.execute.micro_operations", "ptxsim.functional.cta_loop")
    before = _folders(tmp_path, *modules)
    assert _folders(tmp_path, *modules) == before
    callee = copy / edited
    text = callee.read_text()
    assert old in text
    callee.write_text(text.replace(old, new, 1))
    after = _folders(tmp_path, *modules)
    assert {m for m, b, a in zip(modules, before, after, strict=True) if a != b} == changed


def test_the_last_functions_to_be_compiled_are_there() -> None:
    for function in notice.LOOPS.values():
        module, _, name = function.rpartition(".")
        text = SOURCES[module].read_text()
        assert f"def {name.removesuffix('_plain').removesuffix('_wide')}(" in text
