"""The layout of files: what stands where, line ends, and that nothing is lost; golden examples are tests/cases/fmt."""

import pytest

from ptxtool.emit.layout import MAX_LEVELS, layout
from ptxtool.parse import parse

HEAD = ".version 7.0\n.target sm_70\n"


def body(text: str) -> list[str]:
    """The lines of a body after layout."""
    lines = layout(parse(f"{HEAD}.entry k()\n{{\n{text}\n}}\n")).split("\n")
    return lines[lines.index("{") + 1 : -2]


@pytest.mark.parametrize(
    ("written", "laid_out"),
    [
        ("add.s32\t%r1 ,%r2,-3 ;", "    add.s32         %r1, %r2, -3;"),
        ("@ %p1 bra   L;", "    @%p1 bra        L;"),
        ("@!%p1 ret ;", "    @!%p1 ret;"),
        ("bar .sync 0;", "    bar.sync        0;"),
        ("fifteen.letters a;", "    fifteen.letters a;"),
        ("sixteen.letters_ a;", "    sixteen.letters_        a;"),
        ("cvta.to.global.u64 %rd1,%rd2;", "    cvta.to.global.u64      %rd1, %rd2;"),
        ("ld.b32 a, [ %rd1 + -4 ];", "    ld.b32          a, [%rd1+-4];"),
        ("mov.u32 a, 1<<4;", "    mov.u32         a, 1 << 4;"),
        ("mov.u32 a, (7) % 3;", "    mov.u32         a, (7) % 3;"),
        ("mov.u32 a, 4?1:-3;", "    mov.u32         a, 4 ? 1 : -3;"),
        ("mov.u64 a, ( .s64 )7;", "    mov.u64         a, (.s64) 7;"),
        ("set .eq !~0*2;", "    set.eq          !~0 * 2;"),
        ("vote.b32 a | p, !q;", "    vote.b32        a|p, !q;"),
        ("mov.u32 a, v1.0 + 2;", "    mov.u32         a, v1.0+2;"),
        ("mov.u32 a, x | y;", "    mov.u32         a, x | y;"),
        ("call ( r ) , f,( a,b ) ;", "    call            (r), f, (a, b);"),
        ("call f, ();", "    call            f, ();"),
        ("tex.2d.v4 {a,b},[t,{ c , d }];", "    tex.2d.v4       {a, b}, [t, {c, d}];"),
        (".reg .v4 .f32 a , b;", "    .reg .v4 .f32   a, b;"),
        (".reg .b32 %r < 8 >;", "    .reg .b32       %r<8>;"),
        (".shared .align 16 .b8 x[ 2 ][3];", "    .shared .align 16 .b8   x[2][3];"),
        ('.pragma  "a b" , "c" ;', '    .pragma "a b", "c";'),
        (".loc\t1 2  3", "    .loc 1 2 3"),
        (
            ".loc 1 2 3,function_name $L+4 , inlined_at 1 2 3",
            "    .loc 1 2 3, function_name $L+4, inlined_at 1 2 3",
        ),
        ("p : .callprototype _(.param .b32 _);", "    p: .callprototype _ (.param .b32 _);"),
        ("add.u32 a /* c */ , b, /* d */ 1;", "    add.u32         a /* c */, b, /* d */ 1;"),
        ("L : ret;", "L:\n    ret;"),
        ("{ { ret; } }", "    {\n        {\n            ret;\n        }\n    }"),
        ("{ L: ret; }", "    {\n    L:\n        ret;\n    }"),
        ("ret; // why", "    ret;                                // why"),
        ("ret // why\n;", "    ret                                 // why\n        ;"),
    ],
)
def test_statements(written: str, laid_out: str) -> None:
    assert "\n".join(body(written)) == laid_out
    assert "\n".join(body(laid_out)) == laid_out


def test_a_line_that_reaches_the_comments_column_has_its_comment_at_the_next_stop() -> None:
    (line,) = body("mov.b32 a_long_name_of_a_register, another_one; // why")
    assert line == "    mov.b32         a_long_name_of_a_register, another_one;     // why"
    assert line.index("//") % 8 == 0


def test_deep_blocks_are_not_indented_for_ever() -> None:
    lines = body("{" * 500 + "ret;" + "}" * 500)
    assert len(lines) == 1001
    assert max(map(len, lines)) == 4 * MAX_LEVELS + len("ret;")


def test_blank_lines() -> None:
    assert body("\n\nret;\n\n\n \n\n// one\n\n\nret;\n\n") == ["    ret;", "", "    // one", "", "    ret;"]


def test_a_blank_line_around_every_function_with_a_body() -> None:
    text = ".func g();\n.func f() { ret; }\n// of k\n.entry k() { ret; }\n.global .u32 x;"
    lines = layout(parse(HEAD + text)).split("\n")
    assert lines[2:] == [
        *(
            ".func g();",
            "",
            ".func f()",
            "{",
            "    ret;",
            "}",
            "",
            "// of k",
            ".entry k()",
            "{",
            "    ret;",
            "}",
        ),
        *("", ".global .u32    x;", ""),
    ]


def test_line_ends_are_those_of_the_first_line() -> None:
    unix = layout(parse(HEAD + ".entry k() {\r\n/* a\r\n b */ ret; // c\r\n}"))
    assert "\r" not in unix
    dos = layout(parse((HEAD + ".entry k() {\n/* a\n b */ ret; // c\n}").replace("\n", "\r\n")))
    assert dos == unix.replace("\n", "\r\n")


def test_a_byte_order_mark_stays() -> None:
    assert layout(parse("\ufeff" + HEAD)) == "\ufeff" + HEAD


def test_bytes_that_are_no_text_stay() -> None:
    assert "// \udcff\n" in layout(parse((HEAD + "// \udcff").encode("utf-8", "surrogateescape")))


def test_old_debug_lines_begin_their_lines() -> None:
    assert layout(parse(HEAD + "  @@DWARF .byte 1  \n")) == HEAD + "@@DWARF .byte 1\n"


def test_debug_sections_are_indented_line_by_line() -> None:
    text = "\t.section\t.debug_str\n\t{\nL0:\n\n.b8 1   // one\n\t}\n"
    laid_out = ".section .debug_str\n{\nL0:\n    .b8 1   // one\n}\n"
    assert layout(parse(HEAD + text)) == HEAD + laid_out
    assert layout(parse(HEAD + laid_out)) == HEAD + laid_out


def test_a_debug_section_with_comments_of_several_lines_stays_as_it_is() -> None:
    text = ".section .debug_str {\n .b8 /* a\n b */ 1 }\n"
    assert layout(parse(HEAD + text)) == HEAD + text
