"""Remarks of passes, as text and as data."""

import pytest

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.diag import Diagnostic
from ptxtool.passes.base import Remark, WrongOption


@pytest.mark.parametrize(
    ("remark", "text", "data"),
    [
        (Remark("p", "done"), "p: done", {"pass": "p", "message": "done"}),
        (
            Remark("p", "done", "k", 7),
            "p: k: done (line 7)",
            {"pass": "p", "message": "done", "function": "k", "line": 7},
        ),
        (
            Remark("p", "done", "k", 7, CudaPlace("k.cu", 3)),
            "p: k: done (line 7, k.cu:3)",
            {"pass": "p", "message": "done", "function": "k", "line": 7, "cuda": "k.cu:3"},
        ),
        (Remark("p", ""), "p: ", {"pass": "p", "message": ""}),
    ],
)
def test_a_remark_leaves_out_what_it_has_not(remark: Remark, text: str, data: dict[str, object]) -> None:
    assert str(remark) == text
    assert remark.to_dict() == data


def test_a_wrong_option_keeps_its_diagnostic_and_its_name() -> None:
    found = WrongOption("share", Diagnostic("E502", "share = 100"))
    assert found.option == "share"
    assert [d.code for d in found.diagnostics] == ["E502"]
