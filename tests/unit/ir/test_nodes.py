"""What a module and its functions tell of themselves."""

import pytest
from kernels import ptx, sample

from ptxtool.cfg.blocks import build
from ptxtool.ir.defuse import def_use
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse, parse_with_lark

BODY = "{\n.param .u64 a, b;\nret;\n}\n"


def _module(version: str, head: str = ".entry k\n") -> Module:
    return parse(f".version {version}\n.target sm_13, debug\n{head}{BODY}")


@pytest.mark.parametrize(
    ("version", "head", "names"),
    [
        ("1.3", ".entry k\n", "ab"),
        ("1.4", ".entry k\n", ""),
        ("1.3", ".entry k(.param .u32 p)\n", "p"),
        ("1.3", ".func k\n", ""),
    ],
)
def test_parameters_stand_in_the_body_before_ptx_1_4(version: str, head: str, names: str) -> None:
    parameters = _module(version, head).functions["k"].parameters
    assert "".join(d.name for p in parameters for d in p.declarators) == names


def test_version_and_target() -> None:
    module = _module("1.3")
    assert (module.version, module.target) == ((1, 3), "sm_13")
    bare = parse(".entry k { ret; }")
    assert (bare.version, bare.target) == ((1, 0), "")


def test_instructions_by_the_first_words_of_their_opcodes() -> None:
    function = ptx("mov.b32 %r1, 1;\nadd.u32 %r1, %r1, 1;\n@%p1 mov.f32 %f1, %f2;\nret;")
    assert function.bases == ("mov", "add", "mov", "ret")
    assert function.at_bases("ret", "mov", "sub") == [0, 2, 3]
    assert function.at_bases("sub") == []


def test_other_statements_stand_between_instructions() -> None:
    body = parse(".entry k {\n.reg .b32 %r;\nL: M:\nmov.b32 %r, 1;\n{ N:\nret; }\n}").functions["k"]
    places = [(n, type(statement).__name__) for n, statement in body.other_statements]
    assert places == [
        *((0, "Declaration"), (0, "Label"), (0, "Label"), (1, "ScopeOpen"), (1, "Label"), (2, "ScopeClose")),
    ]


def test_a_function_keeps_its_definitions_and_uses() -> None:
    function = ptx("add.u32 %r1, %r1, 1;\nret;")
    assert function.def_uses == def_use(function)
    assert function.def_uses is function.def_uses


def test_an_external_variable_is_stored_once() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    outside, inside = ".extern .global .u32 a[], b;\n", ".visible .global .u32 a[2] = {1, 2};\n"
    for text in (outside + inside + outside, inside + outside):
        module = parse(head + text)
        stored = [
            (d.name, d.dimensions, "extern" in s.linkage) for s in module.storage() for d in s.declarators
        ]
        assert sorted(stored) == [("a", (2,), False), ("b", (), True)]
        assert module.variables["a"].declarators[0].value is not None


def test_an_instruction_knows_its_text_and_its_line() -> None:
    text = ".version 8.0\n.target sm_80\n.entry k()\n{\n.reg .b32 %r<3>;\n@%p add.u32 %r1, // one\n\t%r2, 1 ;  ret;}"
    for module in (parse(text), parse_with_lark(text), parse(text.encode())):
        add, done = module.kernels["k"].instructions
        assert (add.text, add.line) == ("@%p add.u32 %r1, // one\n\t%r2, 1 ;", 6)
        assert (done.text, done.line) == ("ret;", 7)
        assert text[add.start : add.end] == add.text


def test_every_object_prints_as_one_short_line() -> None:
    module = sample("sgemm")[1].module
    long = parse(
        f".global .u32 x[9] = {{{', '.join('1' * 1000)}}};\n.entry {'k' * 5000} (.param .b32 a)\n"
        f"{{\n.reg .b32 {', '.join(f'%r{n}' for n in range(3000))};\n{'l' * 3000}:\nmov.b32 %r1, %r{'0' * 4000};\n}}",
        "n" * 5000,
    )
    for one in (module, long):
        objects: list[object] = [one, *one.items]
        for function in one.functions.values():
            graph = build(function)
            objects += [*(function.body or ()), *function.params, graph, *graph.blocks, *graph.edges]
            objects += [operand for node in function.instructions for operand in node.operands]
        texts = list(map(repr, objects))
        assert max(map(len, texts)) < 200
        assert not any("\n" in text for text in texts)
    kernel = module.kernels["mysgemmNT"]
    assert repr(kernel) == "<Function .entry mysgemmNT, 9 parameters, 298 instructions>"
    assert repr(kernel.instructions[5]) == "<Instruction at line 50: mov.u32 $r10, $r124;>"
    assert repr(build(kernel).blocks[1]) == "<Block B1: instructions 40 to 191, 1 label>"
    assert repr(build(kernel)) == "<Cfg of mysgemmNT: 4 blocks, 6 edges>"
    assert repr(parse("ret;".join([".entry k {", "}"]), "k.ptx")) == (
        "<Module k.ptx, 1 kernel, 0 other functions, 15 characters>"
    )
