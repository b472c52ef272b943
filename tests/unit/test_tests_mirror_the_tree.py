"""A test lies where the file that it tests lies, and has its name.

`ptxtool/ir/edit.py` has `tests/unit/ir/test_edit.py`; `sim/ptxsim/timing/core/issue.py` has
`tests/unit/ptxsim/timing/core/test_issue.py`. A large test is several files: `test_assignment_modules.py`. A test of a
whole folder has the folder's name: `timing/schedulers/test_schedulers.py`.
"""

import ast
from pathlib import Path

import pytest
from checkout import CHECKOUT, TESTS

UNIT = TESTS / "unit"
OF_THE_TREE = {UNIT / "test_architecture.py", Path(__file__).resolve()}
SIMULATOR = UNIT / "ptxsim"


def mirrored_folder(test: Path) -> Path:
    """The folder of the product that the folder of a test mirrors."""
    if test.is_relative_to(SIMULATOR):
        return CHECKOUT / "sim" / test.parent.relative_to(UNIT)
    return CHECKOUT / "ptxtool" / test.parent.relative_to(UNIT)


def folder_of_tests(path: Path) -> Path:
    """The folder of tests that mirrors the folder of a file of the product; `tests/cli` is that of all of `cli`."""
    if path.is_relative_to(CHECKOUT / "sim"):
        return UNIT / path.parent.relative_to(CHECKOUT / "sim")
    if path.is_relative_to(CHECKOUT / "ptxtool" / "cli"):
        return TESTS / "cli"
    return UNIT / path.parent.relative_to(CHECKOUT / "ptxtool")


def is_test_of(test: str, name: str) -> bool:
    """Whether a test's stem is that of a file's name: `test_NAME` or `test_NAME_...`."""
    return test == f"test_{name}" or test.startswith(f"test_{name}_")


def has_functions(path: Path) -> bool:
    """Whether a file does anything: one that only has names, tables or classes of data needs no test of its own."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return any(isinstance(node, ast.FunctionDef) for node in nodes)


def files_without_tests() -> dict[str, list[str]]:
    """By folder the files of the product that have functions and no test of their name."""
    without: dict[str, list[str]] = {}
    for path in sorted([*(CHECKOUT / "ptxtool").rglob("*.py"), *(CHECKOUT / "sim" / "ptxsim").rglob("*.py")]):
        tests = folder_of_tests(path).glob("test_*.py")
        if path.stem.startswith("__") or any(is_test_of(test.stem, path.stem) for test in tests):
            continue
        if has_functions(path):
            without.setdefault(str(path.parent.relative_to(CHECKOUT)), []).append(path.name)
    return without


@pytest.mark.parametrize(
    "test", sorted(set(UNIT.rglob("test_*.py")) - OF_THE_TREE), ids=lambda p: str(p.relative_to(UNIT))
)
def test_a_test_lies_beside_what_it_tests(test: Path) -> None:
    folder = mirrored_folder(test)
    names = [folder.name, *(path.stem for path in folder.glob("*.py"))]
    assert any(is_test_of(test.stem, name) for name in names), f"{folder} has no file of this name"


def test_a_file_has_a_test_of_its_name() -> None:
    assert files_without_tests() == {}, "files without a test of their own: write one, test_NAME.py"
