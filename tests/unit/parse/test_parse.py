"""What each kind of statement and operand becomes, and that real files parse to the same nodes either way."""

from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Dual,
    Group,
    Guard,
    Immediate,
    Instruction,
    Label,
    Memory,
    Name,
    Opcode,
    Operand,
    ScopeClose,
    ScopeOpen,
    Statement,
    Unary,
    Vector,
)
from ptxtool.parse import parse, parse_with_lark

A, B = Name("a"), Name("b")


PTX, PTXPLUS = ".version 8.0\n", ".version 1.4+\n"


def body(text: str, version: str = "") -> tuple[Statement, ...]:
    whole = f"{version}.entry k()\n{{\n{text}\n}}\n"
    module = parse(whole)
    assert module == parse_with_lark(whole)
    found = module.kernels["k"].body
    assert found is not None
    return found


def instruction(text: str, version: str = "") -> Instruction:
    (node,) = body(text, version)
    assert isinstance(node, Instruction)
    return node


def operand(text: str, version: str) -> Operand:
    """The second operand of an instruction: any form but two destinations."""
    return instruction(f"op x, {text};", version).operands[1]


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("$r1.lo", Name("$r1", "lo")),
        ("%tid.x", Name("%tid", "x")),
        ("_", Name("_")),
        ("0x10", Immediate("0x10")),
        ("- 4", Immediate("-4")),
        ("8U", Immediate("8U")),
        ("0f3f800000", Immediate("0f3f800000")),
        ("-2.5e-3", Immediate("-2.5e-3")),
        (".5", Immediate(".5")),
        ("017", Immediate("017")),
        ("!a", Unary("!", A)),
        ("-a", Unary("-", A)),
        ("~15", Unary("~", Immediate("15"))),
        ("--4", Unary("-", Immediate("-4"))),
        ("a+4", Binary("+", A, Immediate("4"))),
        ("a + 1 * 2", Binary("+", A, Binary("*", Immediate("1"), Immediate("2")))),
        ("a|b", Binary("|", A, B)),
        ("1 - 3 - 2", Binary("-", Binary("-", Immediate("1"), Immediate("3")), Immediate("2"))),
        ("1 << 2 == 4", Binary("==", Binary("<<", Immediate("1"), Immediate("2")), Immediate("4"))),
        ("9 % 4", Binary("%", Immediate("9"), Immediate("4"))),
        ("(a)", Group((A,))),
        ("(a, 1)", Group((A, Immediate("1")))),
        ("(1, a)", Group((Immediate("1"), A))),
        ("()", Group(())),
        ("1 ? 2 : 3", Conditional(Immediate("1"), Immediate("2"), Immediate("3"))),
        ("(.s64) 7", Cast("s64", Immediate("7"))),
        ("WARP_SZ + 1", Binary("+", Name("WARP_SZ"), Immediate("1"))),
        ("{a, b,_}", Vector((A, B, Name("_")))),
        ("{a, 1}", Vector((A, Immediate("1")))),
        ("[a]", Memory("", A)),
        ("[a+4]", Memory("", A, Immediate("4"))),
        ("[a+-4]", Memory("", A, Immediate("-4"))),
        ("[0x10]", Memory("", None, Immediate("0x10"))),
        ("s[0x10]", Memory("s", None, Immediate("0x10"))),
        ("s [a]", Memory("s", A)),
        ("[a, {b, b}]", Memory("", A, None, False, (Vector((B, B)),))),
        ("[a, b, {b}]", Memory("", A, None, False, (B, Vector((B,))))),
    ],
)
def test_operands(text: str, node: Operand) -> None:
    assert operand(text, PTX) == node
    assert operand(text, PTXPLUS) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("~a", Unary("~", A)),
        ("-0f3f800000", Immediate("-0f3f800000")),
        ("a + b * 2", Binary("+", A, Binary("*", B, Immediate("2")))),
        ("a - 2", Binary("-", A, Immediate("2"))),
        ("a ? b : 1", Conditional(A, B, Immediate("1"))),
        ("(.s64) a", Cast("s64", A)),
        ("-{a,b}", Unary("-", Vector((A, B)))),
        ("{a, !b}", Vector((A, Unary("!", B)))),
        ("{{a}, b}", Vector((Vector((A,)), B))),
        ("[a-4]", Memory("", A, Immediate("-4"))),
        ("[+a]", Memory("", Unary("+", A))),
        ("[a+b]", Memory("", A, B)),
        ("[s[a]]", Memory("", Memory("s", A))),
        ("s[$ofs1+=0x4]", Memory("s", Name("$ofs1"), Immediate("0x4"), True)),
        ("s[$ofs1+=$r2.hi]", Memory("s", Name("$ofs1"), Name("$r2", "hi"), True)),
        ("-s[a]", Unary("-", Memory("s", A))),
    ],
)
def test_operands_of_ptxplus_alone(text: str, node: Operand) -> None:
    assert operand(text, PTXPLUS) == node
    for parser in (parse, parse_with_lark):
        with pytest.raises(PtxError):
            parser(f"{PTX}.entry k() {{ op x, {text}; }}")


@pytest.mark.parametrize("text", ["{}", '"a"', "{a,}", "[]", "a+", "{a=1}", "a(1)", "$", "%"])
@pytest.mark.parametrize("version", [PTX, PTXPLUS])
def test_no_operands(text: str, version: str) -> None:
    for parser in (parse, parse_with_lark):
        with pytest.raises(PtxError):
            parser(f"{version}.entry k() {{ op x, {text}; }}")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("-1", Immediate("-1")),
        ("(1+2)*3", Binary("*", Group((Binary("+", Immediate("1"), Immediate("2")),)), Immediate("3"))),
        ("0f3f800000", Immediate("0f3f800000")),
        ("x", Name("x")),
        ("x+4", Binary("+", Name("x"), Immediate("4"))),
        ("generic(x)", Apply("generic", (Group((Name("x"),)),))),
        ("generic(x)+-4", Binary("+", Apply("generic", (Group((Name("x"),)),)), Immediate("-4"))),
        ("0xff00(x)", Apply("0xff00", (Group((Name("x"),)),))),
        ("0xff(x + 4)", Apply("0xff", (Group((Binary("+", Name("x"), Immediate("4")),)),))),
        ("{}", Vector(())),
        ("{1, {2, x}, {}}", Vector((Immediate("1"), Vector((Immediate("2"), Name("x"))), Vector(())))),
        ("{width = 4, mode = nearest}", Vector((Binary("=", Name("width"), Immediate("4")),
                                               Binary("=", Name("mode"), Name("nearest"))))),
    ],
)  # fmt: skip
def test_initializers(text: str, node: Operand) -> None:
    whole = f".global .u32 x;\n.global .u64 v[2] = {text}, w;\n"
    module = parse(whole)
    assert module == parse_with_lark(whole)
    assert module.variables["v"].declarators[0].value == node


@pytest.mark.parametrize(
    "text", ["-x", "x-4", "x*2", "(x)", "x[1]", "[x]", "0xff(x)+1", '"a"', "{1,}", "{a=1, 2}"]
)
def test_no_initializers(text: str) -> None:
    for parser in (parse, parse_with_lark):
        with pytest.raises(PtxError):
            parser(f".global .u32 x;\n.global .u64 v[2] = {text};\n")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("p|q", Dual(Name("p"), Name("q"), "|")),
        ("$p0/$o127", Dual(Name("$p0"), Name("$o127"), "/")),
        ("$p0 | $r1.lo", Dual(Name("$p0"), Name("$r1", "lo"), "|")),
        ("{a, b}|p", Dual(Vector((A, B)), Name("p"), "|")),
    ],
)
def test_two_destinations(text: str, node: Operand) -> None:
    assert instruction(f"op {text}, a;").operands[0] == node


@pytest.mark.parametrize(
    ("text", "guard", "opcode"),
    [
        ("ret;", None, Opcode("ret", "ret", ())),
        ("@p ret;", Guard("p"), Opcode("ret", "ret", ())),
        ("@ !p ret.uni;", Guard("p", True), Opcode("ret.uni", "ret", ("uni",))),
        ("@$p0.ne retp;", Guard("$p0", False, "ne"), Opcode("retp", "retp", ())),
        ("@/* c */!p ret;", Guard("p", True), Opcode("ret", "ret", ())),
        ("ret .uni ;", None, Opcode("ret.uni", "ret", ("uni",))),
        ("ld.shared::cta.1d;", None, Opcode("ld.shared::cta.1d", "ld", ("shared::cta", "1d"))),
    ],
)
def test_guards_and_opcodes(text: str, guard: Guard | None, opcode: Opcode) -> None:
    node = instruction(text)
    assert (node.guard, node.opcode, node.operands) == (guard, opcode, ())


def test_offsets_cover_the_statement_alone() -> None:
    text = ".entry k()\n{ // c\n  @p add.u32 a, /* ; */ b, 1 ; L1 : ret;\n}\n"
    kernel = parse(text).kernels["k"]
    assert [text[s.start : s.end] for s in kernel.body or ()] == [
        "@p add.u32 a, /* ; */ b, 1 ;",
        "L1 :",
        "ret;",
    ]
    assert text[kernel.start : kernel.end] == text.rstrip()
    assert text[kernel.body_start] == "{"


def test_statements_of_a_body() -> None:
    nodes = body(
        '.reg .u32 %r<4>, x;\n{ L1: bra L1; }\nts: .branchtargets L1, L2;\n.pragma "nounroll";\n.loc 1 2 3\n'
    )
    kinds = [type(n) for n in nodes]
    assert kinds == [
        Declaration,
        ScopeOpen,
        Label,
        Instruction,
        ScopeClose,
        Label,
        Directive,
        Directive,
        Directive,
    ]
    assert isinstance(nodes[0], Declaration)
    assert nodes[0].declarators == (Declarator("%r", 4), Declarator("x"))
    assert [(n.name, n.text) for n in nodes if isinstance(n, Directive)] == [
        ("branchtargets", "L1, L2"),
        ("pragma", '"nounroll"'),
        ("loc", "1 2 3"),
    ]


def test_declarations() -> None:
    text = (
        ".visible .const .align 4 .f32 coef[][2] = { 1.0, -2 };\n.global .v4 .f32 v;\n.const[3] .b8 c;\n"
        ".global .attribute(.managed) .s32 g = 7;\n.global .b8 pad[010];\n.extern .shared .b8 dyn[];\n.tex .u64 t;\n"
    )
    module = parse(text)
    assert module == parse_with_lark(text)
    coef, v, c, g, pad, dyn, t = module.declarations()
    assert (coef.linkage, coef.space, coef.type, coef.align) == (("visible",), "const", "f32", 4)
    assert coef.declarators == (
        Declarator("coef", None, (None, 2), Vector((Immediate("1.0"), Immediate("-2")))),
    )
    assert (v.type, v.vector) == ("f32", 4)
    assert c.space == "const[3]"
    assert (g.qualifiers, g.type) == (("attribute(.managed)", "s32"), "s32")
    assert g.declarators[0].value == Immediate("7")
    assert pad.declarators[0].dimensions == (8,)
    assert (dyn.linkage, dyn.declarators[0].dimensions) == (("extern",), (None,))
    assert (t.space, t.type) == ("tex", "u64")


def test_functions() -> None:
    text = (
        ".extern .func (.param .b32 r) ext (.param .b64 a, .param .align 8 .b8 s[16]);\n"
        ".func (.reg .u32 rv) leaf (.reg .u32 x, .reg .u32 y) .noreturn { ret; }\n"
        ".visible .entry k (.param .u64 .ptr .global .align 16 out)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{ ret; }\n"
        ".entry plain { exit; }\n"
    )
    module = parse(text)
    assert module == parse_with_lark(text)
    ext, leaf, k = (module.functions[n] for n in ("ext", "leaf", "k"))
    assert (ext.kind, ext.linkage, ext.body) == ("func", ("extern",), None)
    assert [d.declarators[0] for d in ext.params] == [Declarator("a"), Declarator("s", None, (16,))]
    assert ext.returns[0].declarators[0].name == "r"
    assert [d.name for d in leaf.directives] == ["noreturn"]
    assert (k.params[0].qualifiers, k.params[0].align) == (("u64", "ptr", "global"), 16)
    assert [(d.name, d.text) for d in k.directives] == [("maxntid", "256, 1, 1"), ("minnctapersm", "2")]
    assert list(module.kernels) == ["k", "plain"]


def test_ptxplus_file() -> None:
    text = (
        "//HEADER\n.version 1.4+\n.target sm_10, map_f64_to_f32\n.const .u32 constant0[2] = {\n 0x1, \n0x2 \n};\n"
        ".constptr cvar, constant0, 8;\n.entry  k\n\t.tex  .u64 ref1\n{\n\t$L1: nop; //x\n\tl_exit: exit;\n}\n"
    )
    module = parse(text)
    assert module == parse_with_lark(text)
    assert module.is_ptxplus
    assert module.directive("constptr") == "cvar, constant0, 8"
    assert [(d.name, d.text) for d in module.kernels["k"].directives] == [("tex", ".u64 ref1")]
    assert dict(module.kernels["k"].labels) == {"$L1": 0, "l_exit": 1}


def test_debug_sections_stay_text() -> None:
    data = ".b32 .debug_abbrev // }\n.b8 1,-2 L: .b64 L+4 .b32 L-L\n"
    text = f".entry k() {{ ret; }}\n.section .debug_info\n{{\n{data}}}\n@@DWARF x {{ y\n"
    module = parse(text)
    assert module == parse_with_lark(text)
    section = module.items[-1]
    assert isinstance(section, Directive)
    assert section.text.startswith(".debug_info")
    assert section.text.endswith("}")


def test_a_byte_order_mark_is_no_statement() -> None:
    assert parse("\ufeff.version 6.5\n".encode()).directive("version") == "6.5"


def test_equal_operand_texts_share_a_node() -> None:
    first, second = body("add.u32 a, [b+4], 1;\nadd.u32 a, [b+4], 1;")
    assert isinstance(first, Instruction)
    assert isinstance(second, Instruction)
    assert all(x is y for x, y in zip(first.operands, second.operands, strict=True))


def test_every_corpus_file_parses_as_lark_does(corpus: tuple[Path, ...]) -> None:
    for path in corpus:
        data = path.read_bytes()
        assert parse(data, path.name) == parse_with_lark(data, path.name), path.name


def test_pieces_join_to_the_file(corpus: tuple[Path, ...]) -> None:
    """Between the statements of a body there is nothing but spacing, comments and stray semicolons."""
    import re

    between = re.compile(r"(?:\s|;|//[^\n]*|/\*[\s\S]*?\*/|@@DWARF[^\n]*)*")
    for path in corpus:
        module = parse(path.read_bytes(), path.name)
        text = module.source.text
        for function in module.functions.values():
            position = function.body_start + 1
            for statement in function.body or ():
                assert between.fullmatch(text, position, statement.start), text[position : statement.start]
                position = statement.end
            assert function.body is None or between.fullmatch(text, position, function.end - 1)


@pytest.mark.parametrize("parser", [parse, parse_with_lark])
def test_the_grammar_probe(parser: object, shared: Path) -> None:
    """What GPGPU-Sim's grammar accepts is accepted, and the guards it forgets."""
    assert callable(parser)
    lines = (shared / "corpus" / "ptxplus" / "grammar_probe_results.txt").read_text().splitlines()
    assert lines
    for line in lines:
        verdict, form = line.split(None, 1)
        if verdict == "OK" or form.startswith("@"):
            parser(f".version 1.4+\n.entry k()\n{{\n{form}\n}}\n")
        elif "|$r1|" in form:
            with pytest.raises(PtxError):
                parser(f".version 1.4+\n.entry k()\n{{\n{form}\n}}\n")
