"""Why an opcode has no form: the likeliest mistake is named, with what would be right."""

import pytest

from ptxtool.ir.explain import explain


@pytest.mark.parametrize(
    ("opcode", "n", "message", "help", "word"),
    [
        ("ad.u32", 3, "unknown instruction 'ad'", "did you mean 'add'?", "ad"),
        (
            "setq.eq.u32",
            3,
            "unknown instruction 'setq'",
            "did you mean 'setp'?",
            "setq",
        ),  # 'set' has two types
        ("subr.u32", 3, "unknown instruction 'subr'", "it belongs to PTXPlus ('.version 1.4+')", "subr"),
        ("zzz.u32", 3, "unknown instruction 'zzz'", "'ptxtool isa' lists the instructions", "zzz"),
        ("mul.u32", 3, "'mul.u32' lacks a modifier", "add '.lo', '.hi' or '.wide'", ""),
        ("fma.rn.f32", 3, "'fma.rn.f32' takes 4 operands, not 3", "give it 4 operands", ""),
        ("mul.low.u32", 3, "'mul' has no modifier '.low'", "did you mean '.lo'?", "low"),
    ],
)
def test_explained(opcode: str, n: int, message: str, help: str, word: str) -> None:
    assert explain(opcode, n, False) == (message, help, word)


def test_what_belongs_to_ptx() -> None:
    assert explain("lop3.b32", 5, True).help == "it belongs to PTX"
