"""Pipelines: what their text means, what a wrong one is told, and that a wrong pass never gets through."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.check.declarations import check_only_declarations_changed
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes import PASSES, PassResult, parse_pipeline, pass_infos, rewrite, run
from ptxtool.passes.reorder_decls import ReorderDecls
from ptxtool.passes.unroll_decls import UnrollDecls

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
def test_a_wrong_pipeline_is_told_with_its_places(text: str, places: list[tuple[int, str, str]]) -> None:
    with pytest.raises(PtxError) as caught:
        parse_pipeline(text)
    found = caught.value.diagnostics
    assert len(found) == len(places)
    for diagnostic, (column, message, advice) in zip(found, places, strict=True):
        assert diagnostic.code == "E302"
        assert diagnostic.start + 1 == column
        assert message in diagnostic.message
        assert advice in diagnostic.help


def test_every_pass_describes_itself() -> None:
    infos = {info.name: info for info in pass_infos()}
    every = [
        *(
            "unroll-decls",
            "reorder-decls",
            "delay-first-use",
            "layout-shared",
            "settle-tail",
            "release-registers",
            "release-scratchpad",
        ),
        *("allocate", "compact", "lower-ptxplus"),
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
    ("old", "new", "told"),
    [
        ("mov.u32 a, b;", "mov.u32 a b;", "gave text that does not parse"),
        ("\t.reg .b32 b;\n", "", "gave a module with errors"),
        ("mov.u32 a, b;", "mov.u32 b, a;", "broke its claim"),
    ],
)
def test_a_wrong_pass_does_not_get_through(old: str, new: str, told: str) -> None:
    module = parse(TEXT)
    with pytest.raises(PtxError) as caught:
        run(module, [Replace(old, new)])
    first, *why = caught.value.diagnostics
    assert first.code == "E303"
    assert f"pass 'replace' {told}" in first.message
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
