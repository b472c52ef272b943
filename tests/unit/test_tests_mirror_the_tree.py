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

MOST_WITHOUT: dict[str, int] = {
    "ptxtool/analysis/compare": 2,
    "ptxtool/analysis/flow": 4,
    "ptxtool/analysis/regalloc": 3,
    "ptxtool/analysis/sharing": 6,
    "ptxtool/base": 3,
    "ptxtool/cli": 5,
    "ptxtool/cli/commands": 10,
    "ptxtool/emit": 2,
    "ptxtool/formats": 5,
    "ptxtool/formats/gpgpusim": 7,
    "ptxtool/formats/launch": 4,
    "ptxtool/ir": 5,
    "ptxtool/isa": 7,
    "ptxtool/parse": 10,
    "ptxtool/passes": 3,
    "ptxtool/passes/ptxplus": 10,
    "ptxtool/passes/ptxplus/families": 11,
    "ptxtool/passes/regalloc": 8,
    "ptxtool/passes/sharing": 3,
    "ptxtool/report": 2,
    "ptxtool/report/kernels": 7,
    "ptxtool/report/simulations": 6,
    "ptxtool/results": 8,
    "ptxtool/runs": 6,
    "ptxtool/sema": 3,
    "ptxtool/sema/operands": 7,
    "ptxtool/sweep": 6,
    "ptxtool/sweep/reproduction": 5,
    "ptxtool/validate": 3,
    "ptxtool/validate/assignment": 6,
    "sim/ptxsim": 1,
    "sim/ptxsim/base": 4,
    "sim/ptxsim/execute": 12,
    "sim/ptxsim/execute/tensor": 1,
    "sim/ptxsim/functional": 2,
    "sim/ptxsim/lowering": 8,
    "sim/ptxsim/lowering/instructions": 11,
    "sim/ptxsim/memory_image": 4,
    "sim/ptxsim/observe": 3,
    "sim/ptxsim/sanitizer": 4,
    "sim/ptxsim/timing": 12,
    "sim/ptxsim/timing/core": 2,
    "sim/ptxsim/timing/memory": 6,
    "sim/ptxsim/timing/residency": 5,
    "sim/ptxsim/timing/schedulers": 1,
    "sim/ptxsim/timing/sharing": 1,
}
"""Files of a folder without a test of their own: the numbers may only become smaller. Folders not listed have none."""


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
    without = files_without_tests()
    more = {f: names for f, names in without.items() if len(names) > MOST_WITHOUT.get(f, 0)}
    assert more == {}, "files without a test of their own: write one, test_NAME.py"
