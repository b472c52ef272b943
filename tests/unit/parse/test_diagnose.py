"""What a person reads where a file is broken: code, line and column, expectation, hint; all errors in one run."""

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse
from ptxtool.sema.verify import verify


def errors(text: str | bytes) -> tuple[Diagnostic, ...]:
    with pytest.raises(PtxError) as caught:
        parse(text, "x.ptx")
    return caught.value.diagnostics


def place(diagnostic: Diagnostic) -> tuple[int, int]:
    assert diagnostic.source is not None
    return diagnostic.source.position(diagnostic.start)


def one(statement: str) -> Diagnostic:
    """The only error of a kernel whose third line is the statement."""
    (found,) = errors(f".entry k()\n{{\n{statement}\nret;\n}}\n.entry j() {{ ret; }}\n")
    return found


@pytest.mark.parametrize(
    ("statement", "column", "message", "help"),
    [
        ("mov.u32 a b;", 11, "missing ',' before 'b'", "separate operands"),
        ("mov.u32 a, b add.u32 c, a, b;", 14, "missing ';' before 'add.u32'", "end the statement"),
        ("add.u32 a,, b;", 11, "unexpected ',', expected an operand", "between the two ','"),
        ("ld.u32 a, [b;", 13, "missing ']' before ';'", "close the '['"),
        ("mov.u32 a, {b;", 14, "missing '}' before ';'", ""),
        ("mov.u32 a, 0x12G;", 12, "'0x12G' is no number", "hex"),
        ("ld.global u32 a, [b];", 11, "'u32' without its dot", "did you mean '.u32'?"),
        (".reg u32 a;", 6, "'u32' without its dot", "did you mean '.u32'?"),
        (".rge .u32 a;", 1, "unknown directive '.rge'", "did you mean '.reg'?"),
        (".version 1.0", 1, "'.version' inside a function", "the head of the file"),
        (".loc 1 2;", 9, "unexpected ';', expected a number", ""),
        ("@p;", 3, "unexpected ';', expected an instruction", "the guard is for"),
        (".reg .u32 %r<1.5>;", 14, "'1.5' is no integer", "whole number"),
        (".shared .u32 a[b];", 16, "unexpected 'b', expected a number or ']'", "a whole number"),
        (".reg .b3 %r;", 6, "'.b3' is no type of a variable", "did you mean '.b32'?"),
        (".reg .bf16 a;", 6, "'.bf16' is no type of a variable", "keep such values in '.b16'"),
        (".reg .u32 .b32 a;", 11, "unexpected '.b32' after the type '.u32'", "the order is"),
        (".shared .global .u32 a;", 9, "'.global' is a second state space", "remove '.shared' or '.global'"),
        (".align 8 .u32 a;", 1, "declaration without a state space", "'.reg'"),
        (".u32 a;", 1, "'.u32' without a state space", "'.reg .u32'"),
        (".reg a;", 6, "'.reg' declaration without a type", "'.u32'"),
        (".extern .shared .u32 a[];", 1, "'.extern' inside a function", "before the function"),
        (".branchtargets L;", 1, "'.branchtargets' needs a label", "name: .branchtargets"),
        (";", 1, "unexpected ';'", "no statement before it"),
        ("ret;;", 5, "unexpected ';'", "no statement before it"),
        ("add.u32 a, b, 08;", 15, "'08' is no number", "octal: write '8'"),
        ("# comment", 1, "unexpected '#'", "comments are"),
    ],
)
def test_one_mistake(statement: str, column: int, message: str, help: str) -> None:
    found = one(statement)
    assert found.code == "E101"
    assert place(found) == (3, column)
    assert message in found.message
    assert help in found.help


def test_a_missing_semicolon_stands_at_the_next_statement_and_says_where_it_belongs() -> None:
    found = one("add.u32 a, b, c // sum\n\n  mul.lo.u32 d, a, b;")
    assert found.message == "missing ';' before 'mul.lo.u32'"
    assert place(found) == (5, 3)
    assert found.help == "end 'add.u32 a, b, c' on line 3 with ';'"
    assert found.note is not None
    assert found.note.source.position(found.note.start) == (3, 16)


@pytest.mark.parametrize("text", [".entry k()\n{\n ret\n}\n", ".entry k() { ret }\n"])
def test_a_missing_semicolon_before_the_brace(text: str) -> None:
    (found,) = errors(text)
    assert found.message == "missing ';' before '}'"


def test_every_broken_statement_is_reported_once() -> None:
    text = (
        ".entry k(.param u32 n)\n{\nadd.u32 a, b\nmov.u32 a b;\nmov.u32 a, b;\nld.u32 a, [b;\n.rge .u32 a;\nret;\n}\n"
        ".entry j() { mov.u32 a, ; }\n"
    )
    assert [place(e)[0] for e in errors(text)] == [1, 4, 4, 6, 7, 10]


def test_a_missing_dot_in_a_parameter() -> None:
    (found,) = errors(".entry k(.param u32 n) { ret; }")
    assert found.help == "did you mean '.u32'?"


def test_a_block_that_is_never_closed() -> None:
    (found,) = errors(".entry k()\n{\nret;\n")
    assert (found.code, place(found)) == ("E102", (4, 1))
    assert found.message == "the file ends inside the '{' of line 2"
    assert found.note is not None
    assert found.note.source.position(found.note.start) == (2, 1)


def test_a_function_inside_another() -> None:
    (found,) = errors(".entry k()\n{\nret;\n.entry j() { ret; }\n")
    assert (found.code, place(found)) == ("E102", (4, 1))
    assert "line 2" in found.message


def test_a_brace_too_many() -> None:
    (found,) = errors(".entry k() { ret; }\n}\n")
    assert (found.code, found.message) == ("E101", "this '}' closes nothing")


def test_a_comment_that_is_never_closed() -> None:
    (found,) = errors(".entry k() { ret; /* oh\n}\n")
    assert (found.code, place(found)) == ("E102", (1, 19))


def test_a_string_that_is_never_closed() -> None:
    (found,) = errors('.pragma "oh;\n.entry k() { ret; }\n')
    assert (found.code, place(found)) == ("E102", (1, 9))


def test_a_truncated_file() -> None:
    (found,) = errors(".entry k()\n{ add.u32 %r1, %r")
    assert (found.code, place(found)[0]) == ("E102", 2)
    assert "not finished" in found.message


def test_an_instruction_outside_a_function() -> None:
    (found,) = errors(".version 6.5\nadd.u32 a, b, c;\n")
    assert found.message == "unexpected 'add.u32' outside a function"


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", "ret;".encode("utf-16")])
def test_a_binary_file(data: bytes) -> None:
    (found,) = errors(data)
    assert found.code == "E103"


@pytest.mark.parametrize("text", ["", " \n", "// only a comment\n", '# 1 "a.cu"\n'])
def test_a_file_without_statements(text: str) -> None:
    (found,) = errors(text)
    assert found.code == "E104"


@pytest.mark.parametrize(
    "text",
    ["(" * 3000 + "1" + ")" * 3000, "-" * 3000 + "1", "{" * 3000 + "a" + "}" * 3000, "[" * 3000 + "a" + "]" * 3000,
     "(.s64)" * 3000 + "a", "a ? b : " * 3000 + "c", "a" + "+a" * 3000],
)  # fmt: skip
def test_deep_nesting_is_refused_not_a_crash(text: str) -> None:
    assert "levels deep" in one(f"mov.u32 a, {text};").message


def test_a_hundred_errors_are_enough() -> None:
    assert len(errors(".entry k() {\n" + "mov.u32 a b;\n" * 1000 + "}\n")) == 100


def test_the_picture() -> None:
    with pytest.raises(PtxError) as caught:
        parse(".entry k()\n{\n\tadd.u32 a, b c;\n}\n", "x.ptx")
    assert str(caught.value).splitlines() == [
        "x.ptx:3:15: error[E101]: missing ',' before 'c'",
        "    3 | \tadd.u32 a, b c;",
        "      | \t             ^",
        "   help: separate operands by ','; a statement ends with ';'",
    ]


def test_every_message_has_a_next_step() -> None:
    text = (
        ".version 4.0\n.target sm_20\n.address_size 64\n.visible .entry k(\n\t.param .u64 x\n)\n{\n"
        "\t.reg .b32 %r<5>;\n\t.reg .pred %p;\n\tld.param.u32 %r1, [x];\n\tsetp.lt.u32 %p, %r1, 0x10;\n"
        "\t@%p bra DONE;\n\tmad.lo.s32 %r4, %r2, %r1, %r3;\nDONE:\n\tret;\n}\n"
    )
    broken = [text[:n] for n in range(len(text) - 3)]
    broken += [text[:n] + c + text[n:] for n in range(len(text)) for c in ",*"]
    for case in broken:
        try:
            found = verify(parse(case))
        except PtxError as problem:
            found = problem.diagnostics
        assert all(d.help for d in found), case
