"""Checks of an edited text are those of a fresh one."""

from itertools import chain
from pathlib import Path

import pytest
from random_edits import edits, typed

from ptxtool.base.source import Source
from ptxtool.ir.nodes import Function
from ptxtool.lsp import module_checks
from ptxtool.lsp.module_checks import ModuleChecks, outer_texts
from ptxtool.parse import parse
from ptxtool.parse.incremental import read, reread
from ptxtool.sema.module import check_module, function_problems

HAND = Path(__file__).parents[2] / "hand"
TWO = """\
.version 7.5
.target sm_75
.address_size 64
.global .u32 total;
.entry one()
{
	.reg .u32 %r<2>;
	mov.u32 %r1, total;
	ret;
}
.entry two()
{
	.reg .u32 %r<2>;
	add.u32 %r1, %r1, 1;
	ret;
}
"""


@pytest.mark.parametrize("name", ["calls.ptx", "functions.ptx", "arithmetic.ptxplus"])
def test_the_same_as_checking_anew(name: str) -> None:
    text = (HAND / name).read_text(encoding="utf-8")
    found, checks = read(Source(name, text)), ModuleChecks()
    for changed in chain(edits(text, 40, seed=5), typed(text, 3, seed=5)):
        found = reread(found, Source(name, changed))
        if found.module is not None:
            assert checks.check(found.module) == check_module(found.module)


def test_only_the_edited_function_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def counted(function: Function) -> object:
        seen.append(function.name)
        return function_problems(function)

    monkeypatch.setattr(module_checks, "function_problems", counted)
    checks = ModuleChecks()
    assert checks.n_unknown(parse(TWO)) == 4
    checks.check(parse(TWO))
    changed = parse(TWO.replace("mov.u32 %r1, total;", "mov.u32 %r1, total;\n\tmov.u32 %r1, 5;"))
    assert checks.n_unknown(changed) == 3  # `one` has an instruction more
    assert checks.check(changed) == check_module(changed)
    assert seen == ["one", "two", "one"]
    renamed = parse(TWO.replace(".global .u32 total", ".global .u32 sum"))  # seen in every body
    assert checks.check(renamed) == check_module(renamed)
    assert seen == ["one", "two", "one", "one", "two"]


def test_outer_texts_leave_bodies_out() -> None:
    texts = outer_texts(parse(TWO))
    assert texts[3:] == (".global .u32 total;", ".entry one()\n", ".entry two()\n")
