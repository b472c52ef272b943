"""Pipelines: that a wrong pass never gets through, whether it is ours or the user's."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.base import PassResult
from ptxtool.passes.pipeline import NOT_RUN, Prove, rewrite, run, takes_context
from ptxtool.passes.registry import PASSES, pass_infos
from ptxtool.passes.syntax import parse_pipeline
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
            "hoist-loads",
            "split-tail-ranges",
            "release-registers",
            "release-scratchpad",
        ),
        *("allocate", "compact", "demote"),
        *("substitute-demotion-registers", "drop-redundant-demotions", "hoist-demotion-loads"),
        *("split-registers", "lower-ptxplus"),
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


def own_error(folder: Path, text: str, prove: Prove | None = None) -> Diagnostic:
    """The first diagnostic of a pass `Mine` of a file, whose `run` returns this or is this."""
    lines = [f"        {line}" for line in text.splitlines()]
    head = "from dataclasses import dataclass\nfrom ptxtool import PassResult, TextEdit\n\n\n"
    body = '@dataclass(frozen=True)\nclass Mine:\n    name = "mine"\n\n    def run(self, module):\n'
    path = folder / "mine.py"
    path.write_text(head + body + "\n".join(lines) + "\n")
    with pytest.raises(PtxError) as caught:
        rewrite(parse(TEXT, "k.ptx"), f"{path}:Mine", prove=prove)
    return caught.value.diagnostics[0]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x = {}\nreturn x['y']", 11, "pass 'mine' raised KeyError: 'y'"),
        ("return module.nothing", 10, "raised AttributeError: 'Module' object has no attribute 'nothing'"),
        ("raise SystemExit(2)", 10, "raised SystemExit: 2"),
        ("pass", 9, "returned NoneType, not a PassResult"),
        ("return PassResult([(0, 1, '')])", 9, "returned edits that are no tuple of TextEdit"),
        ("return PassResult((), ('x',))", 9, "returned remarks that are no tuple of Remark"),
        ("return PassResult((TextEdit(0, 9, ''), TextEdit(5, 7, '')))", 9, "edits that cannot be applied"),
        ("return PassResult((TextEdit(0, 10 ** 9, ''),))", 9, "edits that cannot be applied"),
        ("return PassResult((TextEdit(None, 3, ''),))", 9, "edits that cannot be applied"),
        ("return PassResult((TextEdit(0, 3, ''),))", 9, "gave text that does not parse"),
        (
            "return PassResult((TextEdit(0, 0, '//'),), (), lambda b, a: 1 / 0)",
            10,
            "raised ZeroDivisionError",
        ),
        (
            "return PassResult((TextEdit(0, 0, '//\\n'),), (), lambda b, a: None)",
            9,
            "has a claim that returns no",
        ),
    ],
)
def test_what_is_wrong_with_a_users_pass_is_shown_in_their_file(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    found = own_error(tmp_path, text)
    assert found.source is not None
    assert (found.code, found.source.name, found.line) == ("E303", str(tmp_path / "mine.py"), line)
    assert message in found.message


def test_what_a_users_pass_declines_stays_as_it_is(tmp_path: Path) -> None:
    text = "from ptxtool.base.diag import error\nraise error('E301', 'mine needs more', module.source, 0, 8, 'give it')"
    found = own_error(tmp_path, text)
    assert found.source is not None
    assert (found.code, found.message, found.source.name) == ("E301", "mine needs more", "k.ptx")


EDIT = "return PassResult((TextEdit(0, 0, '// mine\\n'),))"


def test_a_users_pass_is_proved_by_running(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    wrong = Diagnostic("E305", "other", help="look")

    def prove(before: Module, after: Module) -> tuple[str, tuple[Diagnostic, ...]]:
        seen.append((before.source.text, after.source.text))
        return "ran", (wrong,) if len(seen) == 1 else ()

    found = own_error(tmp_path, EDIT, prove)
    assert found.source is not None
    assert (found.code, found.message, found.help) == ("E305", "pass 'mine': other", "look")
    assert (found.source.name, found.line) == (str(tmp_path / "mine.py"), 9)
    assert seen == [(TEXT, f"// mine\n{TEXT}")]
    result = rewrite(parse(TEXT), f"unroll-decls,{tmp_path}/mine.py:Mine", prove=prove)
    assert [str(remark) for remark in result.remarks[1:]] == ["mine: ran"]
    result = rewrite(parse(TEXT), f"{tmp_path}/mine.py:Mine")
    assert [str(remark) for remark in result.remarks] == [f"mine: {NOT_RUN}"]


def test_a_callers_pass_raises_what_it_raises() -> None:
    with pytest.raises(ValueError, match="substring not found"):
        run(parse(TEXT), [Replace("nothing of that kind", "")])
    result = run(parse(TEXT), [Replace("\t.reg .b32 b;", "\t.reg .b32  b;")])
    assert str(result.remarks[-1]) == f"replace: {NOT_RUN}"


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("demote:count=1", True),
        ("allocate:max-regs=20:spill=shared", True),
        ("allocate", False),
        ("unroll-decls", False),
    ],
)
def test_passes_that_depend_on_machine_and_launch(pipeline: str, expected: bool) -> None:
    """Sweeps rewrite a kernel once for all others."""
    (one,) = parse_pipeline(pipeline)
    assert takes_context(one) == expected
