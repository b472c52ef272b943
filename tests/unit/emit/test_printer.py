"""The printer's layout, and that parsing what it prints gives the node back."""

from pathlib import Path

import msgspec
import pytest

from ptxtool.emit import emit, printer
from ptxtool.ir.nodes import Binary, Immediate, Memory, Module, Name, Statement
from ptxtool.parse import parse


def body(text: str) -> tuple[Statement, ...]:
    found = parse(f".entry k() {{\n{text}\n}}\n").kernels["k"].body
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("add .s32 %r1 ,%r2,-3 ;", "\tadd.s32 %r1, %r2, -3;"),
        ("@ !p0 bra L1;", "\t@!p0 bra L1;"),
        ("@$p0.ne mov.u32 $r1,$r2.lo;", "\t@$p0.ne mov.u32 $r1, $r2.lo;"),
        ("ld.global.v2.u32 { %r1,%r2 },[ %rd1 + 8 ];", "\tld.global.v2.u32 {%r1, %r2}, [%rd1+8];"),
        ("ld.global.u32 %r1, [%rd1-8];", "\tld.global.u32 %r1, [%rd1+-8];"),
        ("mov.u32 $r1, s[$ofs1 += 4];", "\tmov.u32 $r1, s[$ofs1+=4];"),
        ("set.le.s32.s32 $p0 / $o127, s[0x18], $r124;", "\tset.le.s32.s32 $p0/$o127, s[0x18], $r124;"),
        ("tex.2d.v4.f32.f32 {a,b,c,d}, [t,{x,y}];", "\ttex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];"),
        ("mov.u32 x, (1<<4)|3;", "\tmov.u32 x, (1 << 4) | 3;"),
        ("call (r), f, (a,b);", "\tcall (r), f, (a, b);"),
        ("ret;", "\tret;"),
        ("L1 :", "L1:"),
        (".reg .u32 %r<4> , x;", "\t.reg .u32 %r<4>, x;"),
        (".shared  .align 16 .v4 .f32 a[2][3];", "\t.shared .align 16 .v4 .f32 a[2][3];"),
        ('.pragma  "nounroll" ;', '\t.pragma "nounroll";'),
    ],
)
def test_layout(written: str, printed: str) -> None:
    assert printer.statement(body(written)[0]) == printed


def test_a_parameter_prints_its_pointer_alignment_behind_the_pointer() -> None:
    kernel = parse(
        ".entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24]) { ret; }"
    ).kernels["k"]
    assert [printer.parameter(p) for p in kernel.params] == [
        ".param .u64 .ptr .global .align 16 a",
        ".param .align 8 .b8 s[24]",
    ]


def test_an_address_without_a_base_has_no_sign() -> None:
    assert printer.operand(Memory("s", None, Immediate("0x10"))) == "s[0x10]"
    assert printer.operand(Memory("", Binary("*", Name("a"), Immediate("4")), Name("b"))) == "[a * 4+b]"


def unplaced(node: Statement) -> Statement:
    return msgspec.structs.replace(node, start=0, end=0)


def printed_again(module: Module) -> None:
    """Every statement of the module printed and parsed once more, in one file."""
    for function in module.functions.values():
        statements = function.body or ()
        text = ".entry k() {\n" + "".join(printer.statement(s) + "\n" for s in statements) + "}\n"
        again = parse(text).kernels["k"].body
        assert again is not None
        assert [unplaced(s) for s in again] == [unplaced(s) for s in statements]
    for item in module.declarations():
        assert [unplaced(i) for i in parse(printer.statement(item)).declarations()] == [unplaced(item)]


def test_everything_printed_parses_to_the_same_nodes(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        printed_again(parse(path.read_bytes(), path.name))


def test_emit_gives_the_bytes_back(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        data = path.read_bytes()
        assert parse(data, path.name).source.to_bytes() == data
        assert emit(parse(data.decode())) == data.decode()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
def test_emit_keeps_line_ends_and_undecodable_comments(ending: bytes) -> None:
    data = (
        b".version 6.5"
        + (ending or b" ")
        + b"// caf\xe9 \xff"
        + (ending or b"\n")
        + b".target sm_50"
        + ending
    )
    module = parse(data)
    assert emit(module).encode("utf-8", "surrogateescape") == data
    assert module.source.to_bytes() == data
