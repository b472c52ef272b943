"""The Pygments lexer: what each word of a line is, and that no character is lost."""

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT
from hypothesis import given
from hypothesis import strategies as st
from pygments import lexers
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from ptxtool.report.lexer import PtxLexer

SAMPLES = sorted((CHECKOUT / "samples").rglob("kernel.ptx*"))
HEAD = "// a module\n/* of\n ours */ .version 8.0\n.target sm_80\n"


def kinds(line: str) -> list[tuple[object, str]]:
    """The tokens of a line, but for blanks and punctuation."""
    found = [(kind, value) for _, kind, value in PtxLexer().get_tokens_unprocessed(line)]
    return [(kind, value) for kind, value in found if kind not in (Whitespace, Punctuation)]


def test_an_instruction() -> None:
    assert kinds("@!%p1 fma.rn.f32 %f1, %f2, 0f3F800000, -1.5e3; // c") == [
        (Operator, "@"),
        (Operator, "!"),
        (Name.Variable, "%p1"),
        (Keyword, "fma"),
        (Keyword.Pseudo, ".rn"),
        (Keyword.Type, ".f32"),
        (Name.Variable, "%f1"),
        (Name.Variable, "%f2"),
        (Number.Float, "0f3F800000"),
        (Operator, "-"),
        (Number.Float, "1.5e3"),
        (Comment.Single, "// c"),
    ]


def test_special_registers_and_constants() -> None:
    assert kinds("mad.lo.u32 %r1, %tid.x, WARP_SZ, 0x1F;")[3:] == [
        (Name.Variable, "%r1"),
        (Name.Variable.Magic, "%tid.x"),
        (Name.Constant, "WARP_SZ"),
        (Number.Hex, "0x1F"),
    ]


def test_labels_stand_before_a_colon_and_behind_a_branch() -> None:
    assert kinds("add: bra.uni $L__BB0_2; ret;") == [
        (Name.Label, "add"),
        (Keyword, "bra"),
        (Keyword.Pseudo, ".uni"),
        (Name.Label, "$L__BB0_2"),
        (Keyword, "ret"),
    ]


def test_declarations_and_directives() -> None:
    assert kinds(
        '.visible .entry add(.param .u64 min)\n.maxntid 256\n{ .reg .v2 .f32 %f<4>; .pragma "nounroll";'
    ) == [
        (Keyword.Reserved, ".visible"),
        (Keyword.Reserved, ".entry"),
        (Name.Function, "add"),
        (Keyword.Reserved, ".param"),
        (Keyword.Type, ".u64"),
        (Name, "min"),
        (Keyword.Reserved, ".maxntid"),
        (Number.Integer, "256"),
        (Keyword.Reserved, ".reg"),
        (Keyword.Type, ".v2"),
        (Keyword.Type, ".f32"),
        (Name.Variable, "%f"),
        (Operator, "<"),
        (Number.Integer, "4"),
        (Operator, ">"),
        (Keyword.Reserved, ".pragma"),
        (String.Double, '"nounroll"'),
    ]


def test_a_call_of_a_function_with_a_result() -> None:
    assert (Name.Function, "f") in kinds(".func (.param .b32 r) f (.param .b32 a);")
    assert kinds("call (r), f, (a);") == [(Keyword, "call"), (Name, "r"), (Name, "f"), (Name, "a")]


def test_ptxplus() -> None:
    assert kinds("@$p0.ne add.half.u32 $r1.lo, s[$ofs1+=0x4], $o127;") == [
        (Operator, "@"),
        (Name.Variable, "$p0"),
        (Keyword.Pseudo, ".ne"),
        (Keyword, "add"),
        (Keyword.Pseudo, ".half"),
        (Keyword.Type, ".u32"),
        (Name.Variable, "$r1"),
        (Keyword.Pseudo, ".lo"),
        (Name, "s"),
        (Name.Variable, "$ofs1"),
        (Operator, "+="),
        (Number.Hex, "0x4"),
        (Name.Variable, "$o127"),
    ]


def test_an_unknown_opcode_is_a_plain_name() -> None:
    assert kinds("frobnicate.u32 %r1;")[0] == (Name, "frobnicate")
    assert kinds("mul.u32 %r1;")[0] == (Keyword, "mul")


def test_an_opcode_is_one_only_where_a_statement_begins() -> None:
    assert kinds("mov.u32 min, max;")[2:] == [(Name, "min"), (Name, "max")]
    assert kinds(".reg .u32 add; .target sm_80, debug")[2] == (Name, "add")


@given(st.text(alphabet='ab.:;%$@!/*"\n\t 0xf1{}()[]+-<>,é\udc80', max_size=60))
def test_every_text_is_the_join_of_its_tokens(text: str) -> None:
    tokens = list(PtxLexer().get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in tokens) == text
    assert all(text.startswith(value, start) for start, _, value in tokens)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_samples_are_lexed_whole(path: Path) -> None:
    check_whole(path)


@pytest.mark.slow
def test_the_corpus_is_lexed_whole(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        if path.stat().st_size < 1_000_000:
            check_whole(path)


def check_whole(path: Path) -> None:
    """The tokens join to the file, and all of it is recognised: every character and the opcode of every statement."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    tokens = list(PtxLexer().get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in tokens) == text
    shown = [value for _, kind, value in tokens if str(kind) == "Token.Text"]
    assert shown == [], path


def test_pygments_finds_it() -> None:
    assert isinstance(lexers.get_lexer_by_name("ptxplus"), PtxLexer)
    assert isinstance(lexers.get_lexer_for_mimetype("text/x-ptxplus"), PtxLexer)
    for name in ("kernel.ptx", "kernel.ptxplus"):
        assert isinstance(lexers.get_lexer_for_filename(name), PtxLexer)
        assert isinstance(lexers.get_lexer_for_filename(name, HEAD), PtxLexer)
    assert isinstance(lexers.guess_lexer(HEAD), PtxLexer)


def test_it_guesses_by_the_first_statement() -> None:
    assert PtxLexer.analyse_text(HEAD) == 1.0
    assert PtxLexer.analyse_text("\ufeff.version 1.4+") == 1.0
    assert PtxLexer.analyse_text("int main() {} // .version 8.0") == 0.0


@pytest.mark.parametrize("alias", ["ptx", "ptxplus"])
def test_pygmentize(alias: str) -> None:
    program = Path(sys.executable).parent / "pygmentize"
    done = subprocess.run(
        [program, "-l", alias, "-f", "html"], input=HEAD, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "sm_80" in done.stdout
