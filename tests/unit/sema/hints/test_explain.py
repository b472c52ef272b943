"""Why an opcode has no form: the likeliest mistake is named, with what would be right."""

import pytest

from ptxtool.sema.hints.explain import explain


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
        ("fma.rn.f32", 3, "'fma.rn.f32' takes 4 operands, not 3", "write 'fma.rn.f32 d, a, b, c'", ""),
        (
            "bar.sync",
            0,
            "'bar.sync' takes 1 or 2 operands, not 0",
            "write 'bar.sync a' or 'bar.sync a, b'",
            "",
        ),
        ("ret", 1, "'ret' takes no operands, not 1", "write 'ret' alone", ""),
        ("add.int", 3, "'add' has no type '.int'", "did you mean '.s32'?", "int"),
        ("st.const.u32", 2, "'st' has no modifier '.const'", "it has '.shared', ", "const"),
        ("ld.v3.u32", 2, "'ld' has no modifier '.v3'", "it has '.v2', '.v4' and '.v8'", "v3"),
        ("mov", 2, "'mov' lacks a type", "write '.u32', '.s32', '.f32', '.b32', '.u64', ", ""),
        (
            "ld.volatile.global.nc.b32",
            2,
            "'.volatile' and '.nc' exclude each other",
            "remove one of them",
            "nc",
        ),
        (
            "ld.acquire.b32",
            2,
            "'ld.acquire.b32' lacks a modifier",
            "add '.cta', '.cluster', '.gpu' or '.sys'",
            "",
        ),
        ("add.ftz.ftz.f32", 3, "'.ftz' stands twice", "remove one of them", "ftz"),
        ("sub.sat.u32", 3, "'.sat' does not go with '.u32'", "it goes with '.s32', '.u8x4', '.s8x4'", "sat"),
        ("cvt.rn.s32.f32", 2, "'cvt.s32.f32' has no form with '.rn'", "it has '.rni', '.rzi'", "rn"),
        ("mul.wide.u64", 3, "'mul.wide' has no form with type '.u64'", "it has '.u16', '.u32'", "u64"),
        (
            "wgmma.mma_async.m64n15k16",
            3,
            "'wgmma' has no modifier '.m64n15k16'",
            "did you mean '.m64n16k16'?",
            "m64n15k16",
        ),
        (
            "red.global.add.u32",
            3,
            "'red.global.add.u32' takes 2 operands, not 3",
            "write 'red.global.add.u32 [a], b'; 'atom",
            "",
        ),
        (
            "mma.sync.aligned.m16n8k16.f32.f16.f16.f32",
            4,
            "no form of 'mma' has these modifiers together",
            "the nearest one is 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'",
            "",
        ),
        ("bra.s32", 1, "'bra' has no type '.s32'", "remove it", "s32"),
        ("mul.low.u32", 3, "'mul' has no modifier '.low'", "did you mean '.lo'?", "low"),
    ],
)
def test_explained(opcode: str, n: int, message: str, help: str, word: str) -> None:
    found = explain(opcode, n, False)
    assert (found.message, found.word) == (message, word)
    assert found.help.startswith(help)


def test_what_belongs_to_ptx() -> None:
    assert explain("lop3.b32", 5, True).help == "it belongs to PTX"
