"""Pipelines: what their text means, what is reported of a wrong one, and that a wrong pass never gets through."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.base import PassResult
from ptxtool.passes.pipeline import parse_pipeline, rewrite, run
from ptxtool.passes.registry import PASSES, pass_infos
from ptxtool.passes.sharing.reorder_decls import ReorderDecls
from ptxtool.passes.sharing.unroll_decls import UnrollDecls
from ptxtool.runs.run_values import for_run
from ptxtool.validate.declarations import check_only_declarations_changed

TEXT = """.version 7.0
.target sm_70
.address_size 64
.entry k()
{
	.reg .b32 a;
	.reg .b32 b;
	mov.u32 a, b;
	exit;
}
"""


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("unroll-decls", (UnrollDecls(),)),
        (" unroll-decls , reorder-decls ", (UnrollDecls(), ReorderDecls())),
        ("unroll-decls{},reorder-decls{order=cfg}", (UnrollDecls(), ReorderDecls("cfg"))),
        ("reorder-decls{ order = text }", (ReorderDecls("text"),)),
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
        ("reorder-decls{order}", [(15, "'order' is no option=value", "pass{option=value")]),
        ("reorder-decls{order=order}", [(21, "'order' cannot be 'order'", "text, cfg")]),
        ("unroll-decls{a=1}", [(14, "'unroll-decls' has no option 'a'", "'unroll-decls' has no options")]),
        ("unroll-decls{", [(13, "'{' is not closed", "a pipeline reads")]),
        ("unroll-decls}", [(13, "unexpected '}'", "a pipeline reads")]),
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
        ("compact{max-regs=-1}", "E301", "-1", "max-regs cannot be -1"),
        ("lower-ptxplus{regs=0}", "E301", "0", "regs cannot be 0"),
        ("release-registers{share=100}", "E502", "100", "leaves a CTA no private part"),
        ("split-tail-ranges{ share = ninety }", "E502", "ninety", "'ninety' is no number"),
        ("layout-shared{share=50,scratchpad=-1}", "E502", "-1", "scratchpad = -1 is less than 0"),
        ("delay-first-use{registers=-4,share=50}", "E502", "-4", "registers = -4 is less than 0"),
        ("delay-first-use", "E301", "delay-first-use", "needs the sharing percentage"),
        ("reorder-decls{share=90}", "E301", "90", "{order=text} has no use for 'share'"),
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


def test_what_a_later_pass_refuses_is_not_shown_in_the_file() -> None:
    many = TEXT.replace(".reg .b32 b;", ".reg .b32 b<3>;").replace("a, b;", "a, b1;")
    with pytest.raises(PtxError) as caught:
        rewrite(parse(many, "k.ptx"), "unroll-decls,lower-ptxplus,allocate")
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert (found.source.name, found.start) == ("<pipeline>", len("unroll-decls,lower-ptxplus,"))
    shared = "\t.shared .b8 x[4], y[4];\n\tst.shared.u32 [x], a;\n\tst.shared.u32 [y], a;\n\texit;"
    with pytest.raises(PtxError) as caught:
        rewrite(parse(many.replace("\texit;", shared), "k.ptx"), "unroll-decls,layout-shared{share=50}")
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert found.source.name == "k.ptx (after unroll-decls)"


@pytest.mark.parametrize(
    ("former", "name"), [("hasten-last-access", "hoist-last-access"), ("settle-tail", "split-tail-ranges")]
)
def test_former_names_of_passes_are_read_and_not_listed(former: str, name: str) -> None:
    options = "{share=50,registers=6}"
    assert parse_pipeline(former + options) == parse_pipeline(name + options)
    module = parse(TEXT)
    assert rewrite(module, former + options) == rewrite(module, name + options)
    assert for_run(f"{former}{{share=run}}", Fraction(0), Fraction(50), lambda: None) == for_run(
        f"{name}{{share=run}}", Fraction(0), Fraction(50), lambda: None
    ).replace(name, former)
    assert former not in PASSES
    with pytest.raises(PtxError) as caught:
        parse_pipeline("lift-last-access")
    assert former not in str(caught.value)


def test_every_pass_describes_itself() -> None:
    infos = {info.name: info for info in pass_infos()}
    every = [
        *(
            "unroll-decls",
            "reorder-decls",
            "delay-first-use",
            "layout-shared",
            "hoist-last-access",
            "split-tail-ranges",
            "release-registers",
            "release-scratchpad",
        ),
        *("allocate", "compact", "demote", "lower-ptxplus"),
    ]
    assert list(infos) == list(PASSES) == every
    order = infos["reorder-decls"].options[0]
    assert (order.name, order.kind, order.choices, order.default) == (
        "order",
        "choice",
        ("text", "cfg", "late"),
        "text",
    )
    assert "order=text|cfg|late (default text)" in str(infos["reorder-decls"])
    assert "share=P (required for order=late)" in str(infos["reorder-decls"])
    assert "delay=true|false (default false)" in str(infos["reorder-decls"])
    assert "registers=N (default: the kernel's own)" in str(infos["delay-first-use"])
    assert "share=P (required)" in str(infos["delay-first-use"])
    assert infos["unroll-decls"].summary == "Declare every register by itself, one per line."


@dataclass(frozen=True)
class Replace:
    """A pass that replaces a text, and claims to have changed declarations only."""

    old: str
    new: str
    name: ClassVar[str] = "replace"

    def run(self, module: Module) -> PassResult:
        start = module.source.text.index(self.old)
        edit = TextEdit(start, start + len(self.old), self.new)
        return PassResult((edit,), (), check_only_declarations_changed)


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("mov.u32 a, b;", "mov.u32 a b;", "gave text that does not parse"),
        ("\t.reg .b32 b;\n", "", "gave a module with errors"),
        ("mov.u32 a, b;", "mov.u32 b, a;", "broke its claim"),
    ],
)
def test_a_wrong_pass_does_not_get_through(old: str, new: str, reported: str) -> None:
    module = parse(TEXT)
    with pytest.raises(PtxError) as caught:
        run(module, [Replace(old, new)])
    first, *why = caught.value.diagnostics
    assert first.code == "E303"
    assert f"pass 'replace' {reported}" in first.message
    assert why
    assert module.source.text == TEXT


def test_a_module_with_errors_is_refused_before_the_first_pass() -> None:
    with pytest.raises(PtxError) as caught:
        rewrite(parse(TEXT.replace("mov.u32 a, b;", "mov.u32 a, %c;")), "unroll-decls")
    assert [d.code for d in caught.value.diagnostics] == ["E201"]


def test_remarks_of_all_passes_stand_in_order() -> None:
    result = rewrite(parse(TEXT), "unroll-decls,reorder-decls,unroll-decls")
    assert [remark.pass_name for remark in result.remarks] == [
        "unroll-decls",
        "reorder-decls",
        "unroll-decls",
    ]
    assert result.to_dict()["text"] == TEXT


def test_the_name_of_the_file_stays() -> None:
    module = parse(TEXT.replace("\t.reg .b32 a;\n\t.reg .b32 b;", "\t.reg .b32 a, b;"), name="k.ptx")
    assert rewrite(module, "unroll-decls").module.source.name == "k.ptx"
