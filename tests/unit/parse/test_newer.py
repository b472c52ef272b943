"""Unknown directives: text of a newer PTX version than the table's keeps them, older text is refused."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Directive
from ptxtool.isa.targets import NEWEST
from ptxtool.parse import parse

NEWER = f".version {NEWEST[0]}.{NEWEST[1] + 1}"
TABLE = f".version {NEWEST[0]}.{NEWEST[1]}"
KERNEL = """\
// a comment before the version
{version}
.target sm_90
.frob "a;b", 3 // of the module
.entry k() .frobs 1, 2
{{
	.reg .frob32 %r<2>;
	.frob_here 1 2 /* not this */
	.frob_there %r1; ret;
}}
"""


def test_they_are_directives_with_their_text() -> None:
    module = parse(KERNEL.format(version=NEWER))
    (outside,) = [i for i in module.items if isinstance(i, Directive) and i.name == "frob"]
    assert (outside.text, module.source.text[outside.start : outside.end]) == ('"a;b", 3', '.frob "a;b", 3')
    kernel = module.functions["k"]
    assert [(d.name, d.text) for d in kernel.directives] == [("frobs", "1, 2")]
    inside = [s for s in kernel.body or () if isinstance(s, Directive)]
    assert [(d.name, d.text) for d in inside] == [("frob_here", "1 2"), ("frob_there", "%r1")]
    assert [i.opcode.text for i in kernel.instructions] == ["ret"]


def test_older_text_is_refused_at_each() -> None:
    with pytest.raises(PtxError) as caught:
        parse(KERNEL.format(version=TABLE))
    assert [d.line for d in caught.value.diagnostics if d.line] == [4, 7, 8, 9]
    assert {d.code for d in caught.value.diagnostics} == {"E101"}


@pytest.mark.parametrize("text", [".maxntid 32;", ".u32 x;", ".visible x;", ".frob { 1 }"])
def test_a_known_word_out_of_place_is_refused_still(text: str) -> None:
    with pytest.raises(PtxError):
        parse(f"{NEWER}\n.target sm_90\n.entry k() {{ ret; }}\n{text}\n")
