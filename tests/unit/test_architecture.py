"""The rules of the house that a reader cannot see in one file: import directions, lazy imports, paths in documents."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

LAYERS = (
    ("base",),
    ("isa",),
    ("ir",),
    ("parse", "cfg"),
    ("emit",),  # the layout reads the grammar's tokens
    ("analysis",),
    ("check",),  # the passes name the check that proves their claim
    ("passes",),
    ("formats",),
    ("report", "sweep"),
    ("api",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SIMULATOR_MAY_IMPORT = {"base", "isa", "ir", "parse", "cfg", "analysis", "formats"}
MAY_IMPORT_SIMULATOR = {"api", "cli", "sweep"}

TOOLCHAIN = sorted((CHECKOUT / "ptxtool").rglob("*.py"))
SIMULATOR = sorted((CHECKOUT / "sim" / "ptxsim").rglob("*.py"))


def room(path: Path) -> str:
    """The layer of a file of the toolchain: its folder, or the file itself; "" for `ptxtool/__init__.py`."""
    parts = path.relative_to(CHECKOUT / "ptxtool").with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


@dataclass(frozen=True)
class Import:
    """One imported module: its dotted name, its line, and whether it is imported when the file is loaded."""

    module: str
    line: int
    at_load: bool


def imports(path: Path) -> Iterator[Import]:
    """Every import of a file. Those of functions and of `if TYPE_CHECKING` do not happen when the file is loaded."""

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_load)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = path.parent
                for _ in range(node.level - 1):
                    package = package.parent
                root = CHECKOUT if CHECKOUT / "ptxtool" in (package, *package.parents) else CHECKOUT / "sim"
                base = ".".join((*package.relative_to(root).parts, *([base] if base else [])))
            for alias in node.names:  # `from ptxtool import api` imports ptxtool.api
                yield Import(f"{base}.{alias.name}", node.lineno, at_load)
        else:
            inner = at_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                inner = False
            for child in ast.iter_child_nodes(node):
                yield from visit(child, inner)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), True)


def layer_of(module: str) -> str | None:
    """The layer that a dotted name of the toolchain lies in, None for other packages and for `ptxtool` itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "ptxtool" and len(parts) > 1 and parts[1] in RANK else None


@pytest.mark.parametrize("path", TOOLCHAIN, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    if not own:
        return
    assert own in RANK, f"{own} has no place in LAYERS"
    for found in imports(path):
        target = layer_of(found.module)
        if target is not None and target != own:
            assert RANK[target] < RANK[own], f"{path.name}:{found.line}: {own} may not import {target}"


@pytest.mark.parametrize("path", TOOLCHAIN, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_only_the_top_imports_the_simulator_and_only_when_it_runs(path: Path) -> None:
    for found in imports(path):
        if found.module.split(".")[0] == "ptxsim":
            where = f"{path.name}:{found.line}"
            assert room(path) in MAY_IMPORT_SIMULATOR, f"{where}: only api, cli and sweep may import ptxsim"
            assert not found.at_load, (
                f"{where}: ptxsim is imported inside functions, so that nobody else pays for it"
            )


@pytest.mark.parametrize("path", SIMULATOR, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_the_simulator_needs_only_the_lower_half(path: Path) -> None:
    for found in imports(path):
        target = layer_of(found.module)
        assert target is None or target in SIMULATOR_MAY_IMPORT, f"{path.name}:{found.line}: imports {target}"


@pytest.mark.parametrize(
    "module",
    [
        "ptxtool",
        "ptxtool.cli.main",
        "ptxtool.cli.commands.live",
        "ptxtool.cli.commands.first_use",
        "ptxtool.passes",
    ],
)
def test_starting_pays_for_nothing_heavy(module: str) -> None:
    heavy = ("numba", "numpy", "lark", "networkx", "ptxsim", "rich")
    code = f"import sys, {module}; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


_PATH = re.compile(r"`((?:\.ci|benchmarks|docs|grammars|ptxtool|samples|sim|tests)/[\w./-]*)`")


@pytest.mark.parametrize(
    "path",
    [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")],
    ids=lambda p: str(p.relative_to(CHECKOUT)),
)
def test_paths_in_documents_exist(path: Path) -> None:
    named = _PATH.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if "..." not in name and not (CHECKOUT / name).exists()] == []
