"""What is reported about names, labels, opcodes and operands, and that real files hold no errors."""

from pathlib import Path

import pytest

from ptxtool.base.diag import Diagnostic
from ptxtool.parse import parse
from ptxtool.sema.verify import verify

PTX = ".version 7.0\n.target sm_70\n.address_size 64\n"
PTXPLUS = ".version 1.4+\n.target sm_10\n"
REGISTERS = ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n"


def found(text: str) -> tuple[Diagnostic, ...]:
    return verify(parse(text))


def in_kernel(body: str, before: str = "") -> list[tuple[str, str]]:
    """Codes and marked words of a PTX kernel with the usual registers."""
    text = f"{PTX}{before}.entry k(.param .u32 n)\n{{\n{REGISTERS}{body}\n}}\n"
    return [(d.code, text[d.start : d.end]) for d in found(text)]


def in_ptxplus(body: str) -> list[tuple[str, str]]:
    text = f"{PTXPLUS}.entry k\n{{\n.reg .u32 $r<4>;\n.reg .pred $p<2>;\n{body}\n}}\n"
    return [(d.code, text[d.start : d.end]) for d in found(text)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.s32 %r1, %r2, %r3;", []),
        ("add.s32 %r9, %r2, %r3;", [("E201", "%r9")]),
        ("add.s32 %r9, %r9, %x; add.s32 %r9, %x, 1;", [("E201", "%r9"), ("E201", "%x")]),  # once per name
        ("@%p9 ret;", [("E201", "%p9")]),
        ("ld.param.u32 %r1, [n]; mov.u32 %r1, %tid.x; mov.u32 %r1, WARP_SZ; mov.b64 {%r1, _}, %rd1;", []),
        ("ld.param.u32 %r1, [m+4];", [("E201", "m")]),
        ("mov.u32 %r1, %tid.q;", [("E206", "%tid.q")]),
        ("mov.u32 %r1, %tid.q; mov.u32 %r1, %tid.q;", [("E206", "%tid.q")] * 2),  # wrong wherever it stands
        ("mov.u32 %r1, %nosuch;", [("E201", "%nosuch")]),
        ("{ .reg .b32 t; mov.u32 t, 1; }", []),
        ("{ .reg .b32 t; } mov.u32 t, 1;", [("E201", "t")]),
        (
            "{ .reg .b32 t; mov.u32 t, 1; } mov.u32 t, 1;",
            [("E201", "t")],
        ),  # the same statement after its block
        ("{ .reg .pred q; @q ret; } @q ret;", [("E201", "q")]),
        ("mov.u32 t, 1; .reg .b32 t;", [("E201", "t")]),  # before its declaration
        (
            ".shared .b32 s[4]; mov.u32 %r1, s; { .local .b32 l; mov.u32 %r1, l; } mov.u32 %r1, l;",
            [("E201", "l")],
        ),
        ("bra L; L: ret;", []),
        ("bra M; L: ret;", [("E202", "M")]),
        ("bra %r1;", [("E206", "%r1")]),
        ("{ L: ret; } bra L;", [("E202", "L")]),
        ("t: .branchtargets L, M; brx.idx %r1, t; L: ret;", [("E202", "M")]),
        ("call (%r1), f, (%r2);", [("E201", "f")]),
        ("L: ret; L: ret;", [("E204", "L")]),
        ("L: ret; { L: ret; }", []),
        (".reg .b32 %r3;", [("E204", "%r3")]),
        (".shared .b32 s; .local .b32 s;", [("E204", "s")]),
        ("@%r1 ret;", [("E206", "%r1")]),
        ("@%r1 ret; @%r1 ret;", [("E206", "%r1")] * 2),
        ("@%p1.ne ret;", [("E206", "%p1.ne")]),
        ("add.s32 3, %r1, %r2;", [("E206", "3")]),
        ("mov.u32 %tid.x, %r1;", [("E206", "%tid")]),
        ("ld.global.u32 %r1, %rd1;", [("E206", "%rd1")]),
        ("frobnicate.u32 %r1, %r2;", [("W201", "frobnicate.u32")]),
        ("add.s33 %r1, %r2, %r3;", [("W201", "add.s33")]),
        ("add.s32 %r1, %r2;", [("W201", "add.s32")]),
    ],
)
def test_ptx(body: str, expected: list[tuple[str, str]]) -> None:
    assert in_kernel(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("set.le.s32.s32 $p0/_, s[0x10], $r1; @$p0.ne bra L; mov.u32 $r1, g[$r2]; L: retp;", []),
        ("mov.u32 $r1, c0[0x10]; mov.u32 $r1, ce1c1[0x10]; mov.u32 $r1, l1[0x10];", []),
        ("mov.u32 $r1, table[0x10];", [("E201", "table")]),
        ("mov.u32 $r1, c0;", [("E201", "c0")]),  # a segment only where it is indexed
        ("mov.u32 $r9, 0x1;", [("E201", "$r9")]),
        ("mov.u32 $r1, s[$ofs1+=0x4]; mov.u32 $r1, $r124;", [("W202", "$ofs1"), ("W202", "$r124")]),
        ("@$p0.zz retp;", [("E206", "$p0.zz")]),
        ("callp L; L: retp;", []),
        ("callp M;", [("E202", "M")]),
    ],
)
def test_ptxplus(body: str, expected: list[tuple[str, str]]) -> None:
    assert in_ptxplus(body) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".global .b32 a;\n.global .b32 a;\n", [("E204", "a")]),
        (".extern .global .b32 a;\n.global .b32 a;\n", []),
        (".entry k() { ret; }\n.entry k() { ret; }\n", [("E204", "k")]),
        (".extern .func f();\n.func f() { ret; }\n", []),
        (".global .b64 p[2] = { q, generic(p) };\n", [("E201", "q")]),
        (".global .samplerref s = { filter_mode = nearest };\n", []),
    ],
)
def test_module_scope(text: str, expected: list[tuple[str, str]]) -> None:
    text = PTX + text
    assert [(d.code, text[d.start : d.end]) for d in found(text)] == expected


@pytest.mark.parametrize(
    ("body", "help"),
    [
        ("add.s32 %rl, %r2, %r3;", "did you mean '%r1'?"),
        ("bra LAB; LAB1: ret;", "did you mean 'LAB1'?"),
        ("ad.s32 %r1, %r2, %r3;", "did you mean 'add'?"),
        ("fma.rn.ftz.f23 %f1, %f1, %f1, %f1;", "did you mean '.f32'?"),
        ("{ L: ret; } bra L;", "it stands in a '{ }' block that this place is not in"),
        (
            "mov.u32 %r1, s[0x0010];",
            "memory is named 's[...]' in PTXPlus only: its files say '.version 1.4+'",
        ),
    ],
)
def test_hints(body: str, help: str) -> None:
    (diagnostic,) = found(f"{PTX}.entry k()\n{{\n{REGISTERS}{body}\n}}\n")
    assert diagnostic.help == help


def test_a_wrong_number_of_operands_says_the_right_one() -> None:
    (diagnostic,) = found(f"{PTX}.entry k()\n{{\n{REGISTERS}add.s32 %r1, %r2;\n}}\n")
    assert diagnostic.message == "'add.s32' takes 3 operands, not 2, passed through"


def test_everything_comes_in_textual_order() -> None:
    starts = [
        d.start for d in found(f"{PTX}.entry k()\n{{\nL: mov.u32 b, c;\nL: bra M;\nadd.u32 d, b, c;\n}}\n")
    ]
    assert starts == sorted(starts)
    assert len(starts) == 5


def test_no_corpus_file_has_an_error(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        errors = [d for d in verify(parse(path.read_bytes(), path.name)) if d.is_error]
        assert errors == [], str(errors[0])


def test_ptxplus_files_know_every_instruction(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        if path.suffix == ".ptxplus":
            assert [d for d in verify(parse(path.read_bytes(), path.name)) if d.code == "W201"] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("%r4", "'%r<4>' in line 5 ends at '%r3': raise it to '%r<5>'?"),
        ("%r40", "'%r<4>' in line 5 ends at '%r3': raise it to '%r<41>'?"),
        ("%rx", "did you mean '%r"),
    ],
)
def test_a_register_beyond_its_range(name: str, message: str) -> None:
    text = f".version 8.0\n.target sm_80\n.entry k()\n{{\n.reg .b32 %r<4>;\nmov.u32 %r1, {name};\nret;\n}}\n"
    (found,) = verify(parse(text))
    assert found.code == "E201"
    assert message in found.help


def test_a_repetition_says_where_the_name_was_declared_first() -> None:
    text = ".version 8.0\n.target sm_80\n.entry k()\n{\n.reg .b32 %r<4>;\n.reg .b64 %r2;\nret;\n}\n"
    (found,) = verify(parse(text))
    assert found.code == "E204"
    assert found.note is not None
    assert found.note.source.position(found.note.start) == (5, 11)


@pytest.mark.parametrize(
    "text", ["ld.param.u64 %rd1 [p];", "st.shared.u32 %r1[+4], %r2;", "add.u32 %r1, %r2 [%rd1];"]
)
def test_a_register_before_brackets_is_an_error_before_any_pass(text: str) -> None:
    body = f".reg .b32 %r<4>; .reg .b64 %rd<4>; {text} ret;"
    source = f".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {{ {body} }}\n"
    found = [d for d in verify(parse(source)) if d.is_error]
    assert [d.code for d in found] == ["E206"]
    assert "',' missing after" in found[0].help
