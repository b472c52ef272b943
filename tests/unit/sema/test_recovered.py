"""Errors of meaning beside syntax errors: the rest of a sound file stays sound, wherever one token of it is broken."""

import random
import re

import pytest

from ptxtool import api
from ptxtool.base.diag import PtxError

OTHERS = ("", "[", "]", "(", ")", "{", "}", ",", ";", ":", "@", "5 5", ".")
TOKEN = re.compile(r"[\w$%.]+|[^\s\w]")


def syntax_errors(text: str) -> PtxError | None:
    try:
        api.parse(text)
    except PtxError as problem:
        return problem
    return None


@pytest.mark.parametrize("sample", ["saxpy", "hotspot"])
def test_one_broken_token_makes_no_errors_elsewhere(sample: str) -> None:
    text = api.emit(api.load(sample))
    choice = random.Random(sample)
    broken = 0
    for token in choice.sample(list(TOKEN.finditer(text)), 200):
        changed = text[: token.start()] + choice.choice(OTHERS) + text[token.end() :]
        problem = syntax_errors(changed)
        broken += problem is not None
        assert problem is None or not api.check_recovered(problem), changed[
            token.start() - 80 : token.end() + 80
        ]
    assert broken > 50


def test_statements_around_a_broken_instruction_are_checked() -> None:
    head = ".version 8.0\n.target sm_80\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n"
    problem = syntax_errors(head + "mov.u32 %r1 1;\nand.s32 %r1, %r1, 3;\nret;\n}\n")
    assert problem is not None
    assert [d.code for d in problem.diagnostics] == ["E101"]
    assert [(d.code, d.source and d.source.line(d.start)) for d in api.check_recovered(problem)] == [
        ("E203", 7)
    ]


def test_errors_that_are_none_of_the_text_have_no_rest() -> None:
    with pytest.raises(PtxError) as problem:
        api.load("/no/such/file.ptx")
    assert api.check_recovered(problem.value) == ()
