"""What was probably meant where the grammar refuses a token: slips that no example of tests/cases/check shows."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.parse.hints import directives, plain_words


@pytest.mark.parametrize(
    ("text", "marked", "help"),
    [
        ("mov.u32 %r1， %r2;", "，", "did you mean ','?"),
        ("mov.u32 %r1, –4;", "–", "did you mean '-'?"),
        ("mov.u32 %r1, 'a';", "'", "there are no character constants: write the number"),
        ('mov.u32 %r1, "a";', '"', "strings belong to directives"),
        (".shared .u32 t[4, 4];", ",", "write every dimension in brackets of its own"),
        ("call f, ([%r1]);", "[", "a call takes registers"),
        ("call f (%r1);", "(", "write 'call f, (arguments);'"),
        ("ld..u32 %r1, [%r2];", "..u32", "one dot is enough"),
        ("mov.u32, %r1, %r2;", ",", "no ',' stands between an instruction and its first operand"),
        ("mov.u32 %r1, ;", ";", "write another operand, or remove the ',' before it"),
        (".reg .u32 %r<;", ";", "write how many registers there are"),
        ("mov.u32 %r1, 0b2;", "0b2", "binary digits are 0 and 1"),
        ("mov.u32 %r1, 1f;", "1f", "write '1'"),
        ("mov.u32 %r1, 1ff0;", "1ff0", "write '0x1ff0' for a hexadecimal number"),
        ("and.b32 %r1, %r2, ~%r3;", "%r3", "'~' is for constants; 'not.b32' inverts a register"),
        ("bra L @%p1;", "@", "a guard stands before its instruction"),
    ],
)
def test_a_slip(text: str, marked: str, help: str) -> None:
    whole = f".version 8.0\n.entry k() {{ {text} }}"
    with pytest.raises(PtxError) as caught:
        parse(whole)
    found = caught.value.diagnostics[0]
    assert whole[found.start : found.end] == marked
    assert help in found.help


def test_every_word_that_wants_a_dot() -> None:
    assert {".reg", ".maxntid"} - set(directives()) == {".maxntid"}  # the grammar takes any word there
    assert {"u32", "pred", "shared", "entry", "visible"} <= plain_words()
    assert "add" not in plain_words()
