"""The folders of packaged data, in a checkout and in an installed package."""

from pathlib import Path

import pytest
from checkout import CHECKOUT

from ptxtool.base import resources
from ptxtool.base.resources import resource_dir


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("docs", "docs/passes.md"),
        ("grammars", "grammars/ptx.lark"),
        ("samples", "samples/hotspot"),
        ("gpus", "sim/gpus/tesla-c2050.toml"),
    ],
)
def test_in_a_checkout(kind: str, file: str) -> None:
    assert (resource_dir(kind) / Path(file).name).exists()
    assert resource_dir(kind) == (CHECKOUT / file).parent


def test_the_data_of_an_installed_package_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "__file__", str(tmp_path / "ptxtool" / "base" / "resources.py"))
    inside = tmp_path / "ptxtool" / "data" / "gpus"
    assert resource_dir("gpus") == tmp_path / "sim" / "gpus"
    inside.mkdir(parents=True)
    assert resource_dir("gpus") == inside
    assert resource_dir("docs") == tmp_path / "docs"
