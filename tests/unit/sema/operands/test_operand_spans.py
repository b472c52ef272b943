"""Where the operands and the words of an opcode stand in the text."""

import pytest

from ptxtool.parse import parse
from ptxtool.sema.operands.operand_spans import operand_spans, word_span

HEAD = ".version 7.0\n.target sm_70\n.entry k() {\n"


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("add.u32 %r1,%r2 , 3;", ["%r1", "%r2", "3"]),
        ("@!%p1 ld.global .u32 %r1, [%rd1 + 4];", ["%r1", "[%rd1 + 4]"]),
        ("mov.b64 {%r1, %r2}, %rd1;", ["{%r1, %r2}", "%rd1"]),
        ("add.u32 %r1, /* , */ %r2, // , x\n 3;", ["%r1", "%r2", "3"]),
        ("tex.2d.v4.f32.f32 {%f1, _, _, _}, [t, {%f1, %f2}];", ["{%f1, _, _, _}", "[t, {%f1, %f2}]"]),
        ("call (%r1), f, (%r2, %r3);", ["(%r1)", "f", "(%r2, %r3)"]),
        ("ret;", []),
    ],
)
def test_operands_without_blanks_and_comments(text: str, operands: list[str]) -> None:
    module = parse(f"{HEAD}{text}\n}}\n")
    (node,) = module.kernels["k"].instructions
    found = [module.source.text[start:end] for start, end in operand_spans(node, module.source.text)]
    assert found == operands


@pytest.mark.parametrize(
    ("word", "marked"),
    [
        ("global", ".global"),
        ("u32", ".u32"),
        ("acquire", ".acquire"),
        ("", "ld.acquire .gpu.global.u32"),
        ("u3", "ld.acquire .gpu.global.u32"),
    ],
)
def test_a_word_of_the_opcode_or_all_of_it(word: str, marked: str) -> None:
    module = parse(f"{HEAD}@%u32 ld.acquire .gpu.global.u32 %r1, [%rd1];\n}}\n")
    start, end = word_span(module.kernels["k"].instructions[0], module.source.text, word)
    assert module.source.text[start:end] == marked
