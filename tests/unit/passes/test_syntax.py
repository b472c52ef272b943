"""The text of a pipeline: what it means in both spellings, what is reported of a wrong one, and passes of one's own."""

from pathlib import Path

import pytest
from ownpass import OWN, write_passes

from ptxtool.base.diag import PtxError
from ptxtool.passes.own import own_passes
from ptxtool.passes.regalloc.allocate import Allocate
from ptxtool.passes.sharing.reorder_decls import ReorderDecls
from ptxtool.passes.sharing.unroll_decls import UnrollDecls
from ptxtool.passes.syntax import parse_pipeline, read_stages


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("unroll-decls", (UnrollDecls(),)),
        (" unroll-decls , reorder-decls ", (UnrollDecls(), ReorderDecls())),
        ("unroll-decls{},reorder-decls{order=cfg}", (UnrollDecls(), ReorderDecls("cfg"))),
        ("reorder-decls{ order = text }", (ReorderDecls("text"),)),
        ("reorder-decls:order=text", (ReorderDecls("text"),)),
        (
            "allocate:max-regs=96:order=pressure, unroll-decls",
            (Allocate(96, order="pressure"), UnrollDecls()),
        ),
        ("reorder-decls{counts=a:b.txt,order=late,share=9}", (ReorderDecls("late", "9", counts="a:b.txt"),)),
    ],
)
def test_reading_a_pipeline(text: str, passes: tuple[object, ...]) -> None:
    assert parse_pipeline(text) == passes


@pytest.mark.parametrize(
    ("text", "places"),  # (column, part of the message, part of the help) of every diagnostic
    [
        ("", [(1, "a pass name is missing", "there are unroll-decls, reorder-decls")]),
        ("unrol-decls", [(1, "no pass named 'unrol-decls'", "did you mean 'unroll-decls'?")]),
        ("unroll-decls,,reorder-decls", [(14, "a pass name is missing", "there are")]),
        (
            "reorder-decls{order=txt}",
            [(21, "'order' cannot be 'txt'", "did you mean 'text'? there are text, cfg")],
        ),
        ("reorder-decls{ordr=text}", [(15, "has no option 'ordr'", "did you mean 'order'?")]),
        ("reorder-decls{order=text,order=cfg}", [(26, "'order' is given twice", "once")]),
        ("reorder-decls{order}", [(15, "'order' is no option=value", "pass:option=value")]),
        ("reorder-decls{order=order}", [(21, "'order' cannot be 'order'", "text, cfg")]),
        ("unroll-decls{a=1}", [(14, "'unroll-decls' has no option 'a'", "'unroll-decls' has no options")]),
        ("unroll-decls{", [(13, "'{' is not closed", "a pipeline reads")]),
        ("unroll-decls}", [(13, "unexpected '}'", "a pipeline reads")]),
        ("allocate:max-regs=1:order", [(21, "'order' is no option=value", "pass:option=value")]),
        ("unroll-decls:", [(14, "'' is no option=value", "a pipeline reads")]),
        ("allocate:max-regs=1{}", [(20, "unexpected '{'", "a pipeline reads")]),
        ("allocate:max-regs=1:max_regs=2", [(21, "'max_regs' is given twice", "once")]),
        ("unroll-decls reorder-decls", [(14, "unexpected 'r'", "a pipeline reads")]),
        (
            "x,reorder-decls{order=y,z=1},",
            [(1, "'x'", ""), (23, "'y'", ""), (25, "'z'", ""), (30, "missing", "")],
        ),
    ],
)
def test_a_wrong_pipeline_is_reported_with_its_places(text: str, places: list[tuple[int, str, str]]) -> None:
    with pytest.raises(PtxError) as caught:
        parse_pipeline(text)
    found = caught.value.diagnostics
    assert len(found) == len(places)
    for diagnostic, (column, message, advice) in zip(found, places, strict=True):
        assert diagnostic.code == "E302"
        assert diagnostic.start + 1 == column
        assert message in diagnostic.message
        assert advice in diagnostic.help


@pytest.mark.parametrize(
    ("text", "code", "marked", "message"),
    [
        ("unroll-decls,allocate{max-regs=0}", "E301", "0", "max-regs cannot be 0"),
        ("compact:max-regs=-1", "E301", "-1", "max-regs cannot be -1"),
        ("compact{max-regs=-1}", "E301", "-1", "max-regs cannot be -1"),
        ("lower-ptxplus{regs=0}", "E301", "0", "regs cannot be 0"),
        ("release-registers{share=100}", "E502", "100", "leaves a CTA no private part"),
        ("split-tail-ranges{ share = ninety }", "E502", "ninety", "'ninety' is no number"),
        ("layout-shared{share=50,scratchpad=-1}", "E502", "-1", "scratchpad = -1 is less than 0"),
        ("delay-first-use{registers=-4,share=50}", "E502", "-4", "registers = -4 is less than 0"),
        ("delay-first-use", "E301", "delay-first-use", "needs the sharing percentage"),
        ("reorder-decls{share=90}", "E301", "90", ":order=text has no use for 'share'"),
        ("allocate{max-reg=4}", "E302", "max-reg", "has no option 'max-reg'"),
    ],
)
def test_a_wrong_value_is_reported_with_its_place(text: str, code: str, marked: str, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        parse_pipeline(text)
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert (found.code, found.source.name) == (code, "<pipeline>")
    assert text[found.start : found.end] == marked
    assert message in found.message
    assert "max_reg" not in found.help


def test_the_advice_for_a_missing_share_is_a_pipeline() -> None:
    with pytest.raises(PtxError) as caught:
        parse_pipeline("reorder-decls{order=late}")
    (found,) = caught.value.diagnostics
    advice = found.help.rpartition(": ")[2]
    assert parse_pipeline(advice) == (ReorderDecls("late", "90"),)


@pytest.mark.parametrize("options", ["{base=mul,by=sub}", ":base=mul:by=sub", ": by=sub", ""])
def test_a_pass_of_ones_own_is_named_by_its_file(tmp_path: Path, options: str) -> None:
    path = write_passes(tmp_path)
    first, second = read_stages(f"unroll-decls, {path}:Swap{options}")
    assert (first.own, first.run) == (None, UnrollDecls())
    assert second.own is not None
    assert second.run == second.own.cls(by="sub" if options else "add")


def test_a_path_may_have_blanks(tmp_path: Path) -> None:
    (tmp_path / "my passes").mkdir()
    path = write_passes(tmp_path / "my passes")
    assert read_stages(f"{path}:Swap:by=sub")[0].own is not None


def test_the_options_of_a_pass_of_ones_own_are_checked(tmp_path: Path) -> None:
    path = write_passes(tmp_path)
    with pytest.raises(PtxError, match=f"'{path}:Swap' has no option 'bas'") as caught:
        parse_pipeline(f"{path}:Swap:bas=sub")
    assert caught.value.diagnostics[0].help == "did you mean 'base'? there are base, by"


def test_a_class_that_cannot_be_constructed(tmp_path: Path) -> None:
    check = (
        "    def __post_init__(self):\n        if self.base == 'x':\n            raise ValueError('no x')\n"
    )
    path = write_passes(tmp_path, OWN.replace("    def run", f"{check}\n    def run", 1))
    with pytest.raises(PtxError) as caught:
        parse_pipeline(f"{path}:Swap:base=x")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E302", "'Swap' cannot be constructed: ValueError: no x")
    assert found.source is not None
    assert found.source.text[found.start : found.end] == "raise ValueError('no x')"


def test_a_text_that_may_not_name_files(tmp_path: Path) -> None:
    path = write_passes(tmp_path, "raise SystemExit\n")
    with pytest.raises(PtxError) as caught:
        read_stages(f"unroll-decls,{path}:Swap", {})
    (found,) = caught.value.diagnostics
    assert (found.code, found.start) == ("E302", len("unroll-decls,"))
    assert found.message == f"'{path}:Swap' names a file"
    assert "--pass FILE.py:CLASS" in found.help
    write_passes(tmp_path)
    own = own_passes([f"{path}:Swap"])
    assert read_stages("swap:by=sub", own)[0].run == own["swap"].cls(by="sub")
    with pytest.raises(PtxError, match="no pass named 'swop'") as caught:
        read_stages("swop", own)
    assert "did you mean 'swap'?" in caught.value.diagnostics[0].help
