"""Passes of a user's own: found in their file, and everything that is no pass refused at its line."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from ownpass import OWN, write_passes

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.passes.base import PassResult
from ptxtool.passes.own import check_pass, is_own, load_pass, own_passes
from ptxtool.passes.registry import PASSES


@dataclass(frozen=True)
class Nothing:
    """Change nothing."""

    name = "nothing"

    def run(self, module: Module) -> PassResult:
        return PassResult(())


def test_a_pass_in_a_file(tmp_path: Path) -> None:
    path = write_passes(tmp_path)
    own = load_pass(f"{path}:Swap")
    assert own.info.name == "swap"
    assert [option.name for option in own.info.options] == ["base", "by"]
    assert own.info.summary == "Replace an instruction."
    assert is_own(own.cls())
    assert not any(is_own(PASSES[name]()) for name in ("unroll-decls", "compact"))
    assert own.digest == load_pass(f"{path}:Flip").digest
    write_passes(tmp_path, OWN + "\n")
    assert own.digest != load_pass(f"{path}:Swap").digest


def test_passes_by_name(tmp_path: Path) -> None:
    path = write_passes(tmp_path)
    found = own_passes([f"{path}:Swap", Nothing])
    assert list(found) == ["swap", "nothing"]
    assert found["nothing"].cls is Nothing
    assert found["nothing"].digest.endswith("test_own.Nothing")
    with pytest.raises(PtxError, match="'Swap' has the name 'swap' too"):
        own_passes([f"{path}:Swap", f"{path}:Swap"])


HEAD = "from dataclasses import dataclass\n\n\n"


@pytest.mark.parametrize(
    ("text", "cls", "line", "message"),
    [
        (OWN, "Swop", 1, "no class 'Swop' in"),
        (OWN, "dataclass", 1, "no class 'dataclass' in"),
        ("class A:\n    name = 'a'\n", "A", 1, "'A' is no frozen dataclass"),
        (f"{HEAD}@dataclass\nclass A:\n    name = 'a'\n", "A", 5, "'A' is no frozen dataclass"),
        (f"{HEAD}@dataclass(frozen=True)\nclass A:\n    x: int = 1\n", "A", 5, "'A' has no name"),
        (f"{HEAD}@dataclass(frozen=True)\nclass A:\n    name = 'a b'\n", "A", 5, "'A' has no name"),
        (
            f"{HEAD}@dataclass(frozen=True)\nclass A:\n    name: str = 'a'\n",
            "A",
            5,
            "has 'name' as an option",
        ),
        (f"{HEAD}@dataclass(frozen=True)\nclass A:\n    name = 'a'\n", "A", 5, "has no method 'run'"),
        (
            f"{HEAD}@dataclass(frozen=True)\nclass A:\n    name = 'compact'\n    def run(self, m): ...\n",
            "A",
            5,
            "has the name of ptxtool's pass 'compact'",
        ),
        (
            f"{HEAD}@dataclass(frozen=True)\nclass A:\n    x: int\n    name = 'a'\n    def run(self, m): ...\n",
            "A",
            5,
            "an option 'x' without a default",
        ),
        (
            f"{HEAD}@dataclass(frozen=True)\nclass A:\n    x: float = 1.0\n    name = 'a'\n    def run(self, m): ...\n",
            "A",
            5,
            "an option of an impossible type",
        ),
        (
            f"{HEAD}@dataclass(frozen=True)\nclass A:\n    x: 'Y' = 1\n    name = 'a'\n    def run(self, m): ...\n",
            "A",
            5,
            "an option of an impossible type",
        ),
    ],
)
def test_what_is_no_pass(tmp_path: Path, text: str, cls: str, line: int, message: str) -> None:
    path = write_passes(tmp_path, text)
    with pytest.raises(PtxError) as caught:
        load_pass(f"{path}:{cls}")
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert (found.code, found.source.name, found.line) == ("E302", str(path), line)
    assert message in found.message
    assert found.help


def test_a_file_without_a_class_is_not_run(tmp_path: Path) -> None:
    path = write_passes(tmp_path, "raise ValueError\n")
    for name in (str(path), f"{path}:"):
        with pytest.raises(PtxError, match="names no class"):
            load_pass(name)


def test_a_class_of_the_caller_has_no_place() -> None:
    with pytest.raises(PtxError) as caught:
        check_pass(int)
    (found,) = caught.value.diagnostics
    assert (found.message, found.source) == ("'int' is no frozen dataclass", None)


def test_a_class_that_raises_while_it_is_looked_at(tmp_path: Path) -> None:
    meta = "class Meta(type):\n    def __getattr__(cls, name):\n        raise RuntimeError(name)\n"
    text = f"{meta}\n\nclass A(metaclass=Meta):\n    x = 1\n"
    path = write_passes(tmp_path, text)
    with pytest.raises(PtxError) as caught:
        load_pass(f"{path}:A")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.line) == ("E302", "RuntimeError: name", 3)
