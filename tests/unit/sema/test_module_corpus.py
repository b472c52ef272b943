"""Right files have no errors: the corpus, where the machine has one, and the project's samples."""

from pathlib import Path

import pytest
from conftest import CHECKOUT, corpus_files

from ptxtool.parse import parse
from ptxtool.sema.module import check_module

SAMPLES = tuple(sorted(p for p in Path(CHECKOUT, "samples").rglob("*") if p.suffix in (".ptx", ".ptxplus")))
FILES = (*SAMPLES, *corpus_files())
# written by hand to show forms: their registers hold nothing, one PTXPlus file leaves a hardware register undeclared
SHOW_FORMS = ("base_sm50", "hopper_sm90a", "modern_sm80", "hand_global_tex_local")


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-2:]))
def test_a_right_file_has_no_errors(path: Path) -> None:
    found = check_module(parse(path.read_bytes(), path.name))
    assert [str(d) for d in found if d.is_error] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-2:]))
def test_what_a_compiler_made_has_no_warnings(path: Path) -> None:
    if path.stem in SHOW_FORMS:
        pytest.skip("it has warnings that are true")
    assert [str(d) for d in check_module(parse(path.read_bytes(), path.name))] == []


def test_there_are_samples() -> None:
    assert len(SAMPLES) >= 4
