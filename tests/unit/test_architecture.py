"""The rules of the house that a reader cannot see in one file: import directions, lazy imports, paths in documents."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

LAYERS = (
    ("base",),
    ("isa",),
    ("ir",),
    ("parse", "cfg"),
    ("emit",),  # the layout reads the grammar's tokens
    ("analysis",),
    ("sema",),
    ("validate",),  # the passes name the check that proves their claim
    ("passes",),
    ("formats",),
    ("results",),
    ("external",),
    ("report", "runs"),
    ("sweep",),
    ("applications",),
    ("api",),
    ("cli", "lsp", "testing"),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SIMULATOR_LAYERS = (
    ("base",),
    ("execute",),
    ("lowering",),
    ("memory_image",),
    ("timing",),
    ("observe",),
    ("sanitizer",),
    ("functional",),
    ("launch_options",),
    ("functional_run",),
    ("launcher",),
    ("loaded_modules",),
    ("streams",),
    ("concurrent_launcher",),
    ("machine",),
    ("frontends",),
    ("prepare",),
)
SIMULATOR_RANK = {name: rank for rank, names in enumerate(SIMULATOR_LAYERS) for name in names}
ANYWHERE = {"jit", "schemes"}  # for schedulers and schemes of users; nothing of ours imports them
SIMULATOR_MAY_IMPORT = {"base", "isa", "ir", "parse", "cfg", "analysis", "formats", "results"}
MAY_IMPORT_SIMULATOR = {"api", "applications", "cli", "runs", "sweep", "testing"}
MOST_FILES = 20
"""Files of one folder."""

OFFERS = {
    ("ptxtool.ir.nodes", "ptxtool.ir.symbols"),
    ("ptxtool.ir.nodes", "ptxtool.ir.defuse"),
    ("ptxtool.base.render", "ptxtool.base.diag"),
}
"""Circles that are wanted: a value offers what is computed from it (`Function.registers`, `str(diagnostic)`)."""

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
            assert room(path) in MAY_IMPORT_SIMULATOR, (
                f"{where}: only {', '.join(sorted(MAY_IMPORT_SIMULATOR))} may import ptxsim"
            )
            assert not found.at_load, (
                f"{where}: ptxsim is imported inside functions, so that nothing else loads it"
            )


@pytest.mark.parametrize("path", SIMULATOR, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_the_simulator_needs_only_the_lower_half(path: Path) -> None:
    for found in imports(path):
        target = layer_of(found.module)
        assert target is None or target in SIMULATOR_MAY_IMPORT, f"{path.name}:{found.line}: imports {target}"


def simulator_room(module: str) -> str | None:
    """The layer of the simulator that a dotted name lies in, None for other packages and for `ptxsim` itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "ptxsim" and len(parts) > 1 and parts[1] in SIMULATOR_RANK else None


@pytest.mark.parametrize("path", SIMULATOR, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_imports_point_down_in_the_simulator(path: Path) -> None:
    own = path.relative_to(CHECKOUT / "sim" / "ptxsim").with_suffix("").parts[0]
    if own == "__init__" or own in ANYWHERE:
        return
    assert own in SIMULATOR_RANK, f"{own} has no place in SIMULATOR_LAYERS"
    for found in imports(path):
        target = simulator_room(found.module)
        if target is not None and target != own:
            below = SIMULATOR_RANK[target] < SIMULATOR_RANK[own]
            assert below, f"{path.name}:{found.line}: {own} may not import {target}"


def module_name(path: Path) -> str:
    """The dotted name of a file; that of a package ends in `.__init__`."""
    root = CHECKOUT if CHECKOUT / "ptxtool" in path.parents else CHECKOUT / "sim"
    return ".".join(path.relative_to(root).with_suffix("").parts)


def dependences(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Which file imports which, wherever the import stands: in a function and for types as well."""
    names = {module_name(path): path for path in paths}
    for name, path in names.items():
        for found in imports(path):
            module, _, _ = found.module.rpartition(".")
            for target in (found.module, f"{found.module}.__init__", module, f"{module}.__init__"):
                if target in names and target != name:
                    yield name, target
                    break


def circles(edges: Iterable[tuple[str, str]]) -> list[str]:
    """Files and folders that import each other, directly or not, looked for among the neighbours in each folder."""
    graphs: dict[str, networkx.DiGraph] = {}
    for source, target in edges:
        ours, theirs = source.split("."), target.split(".")
        depth = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
        graph = graphs.setdefault(".".join(ours[:depth]), networkx.DiGraph())
        graph.add_edge(ours[depth], theirs[depth])
    return [
        f"{folder}: {', '.join(sorted(circle))}"
        for folder, graph in graphs.items()
        for circle in networkx.strongly_connected_components(graph)
        if len(circle) > 1
    ]


def wanted(edge: tuple[str, str]) -> bool:
    """Whether an import counts: not those of a public root, which imports all public names, and not `OFFERS`."""
    roots = ("ptxtool.__init__", "ptxsim.__init__")
    return edge[0] not in roots and edge[1] not in roots and edge not in OFFERS


@pytest.mark.parametrize("paths", [TOOLCHAIN, SIMULATOR], ids=["ptxtool", "ptxsim"])
def test_there_are_no_circles(paths: list[Path]) -> None:
    edges = list(filter(wanted, dependences(paths)))
    assert len(edges) > len(paths)
    assert circles(edges) == []


def test_circles_are_found() -> None:
    tree = [("p.a.x", "p.b.y"), ("p.b.y", "p.c"), ("p.c", "p.d.z")]
    assert circles(tree) == []
    assert circles([*tree, ("p.c", "p.a.w")]) == ["p: a, b, c"]  # no file imports itself, but folders do
    assert circles([("p.a.x", "p.a.y"), ("p.a.y", "p.a.x")]) == ["p.a: x, y"]


@pytest.mark.parametrize(
    "source", ["import ptxsim.b", "def f():\n    from ptxsim import b", "from ptxsim.b import g"]
)
def test_a_planted_circle_is_found(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "CHECKOUT", tmp_path)
    package = tmp_path / "sim" / "ptxsim"
    package.mkdir(parents=True)
    (package / "a.py").write_text(source)
    (package / "b.py").write_text("from ptxsim.a import f")
    assert circles(dependences(sorted(package.rglob("*.py")))) == ["ptxsim: a, b"]


@pytest.mark.parametrize(
    "folder",
    sorted({path.parent for path in [*TOOLCHAIN, *SIMULATOR]}),
    ids=lambda p: str(p.relative_to(CHECKOUT)),
)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES


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
