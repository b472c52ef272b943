"""Heads of functions: names, results, linkage, the space of parameters, declarations that do not agree, aliases."""

import pytest
from diagnosed import HEAD, reported

LINE = HEAD.count("\n")


def after_head(text: str) -> list[tuple[int, str, str]]:
    return [(line - LINE, code, marked) for line, code, marked in reported(f"{HEAD}{text}\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".extern .func f(.param .b32 a);\n.func f(.param .b32 a) { ret; }", []),
        (".func f(.param .b32 a);\n.func f(.param .b32 a, .param .b32 b) { ret; }", [(2, "E212", "f")]),
        (".func f(.param .b32 a);\n.func f(.param .f32 a) { ret; }", [(2, "E212", "f")]),
        (".func f(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a) { ret; }", [(2, "E212", "f")]),
        (".func f() { ret; }\n.func f();", [(2, "E212", "f")]),
        (".extern .func f() { ret; }", [(1, "E212", "f")]),
        (".func (.param .b32 r, .param .b32 s) f() { ret; }", [(1, "E212", "s")]),
    ],
)
def test_declarations_of_functions(text: str, expected: list[tuple[int, str, str]]) -> None:
    assert after_head(text) == expected


def test_parameters_of_a_kernel_have_4352_bytes_before_ptx_8_1() -> None:
    # 4352 bytes are 1088 words; a pair of 8 bytes is aligned to 8, so that after 1087 words it begins at 4352
    words = ".param .b32 a[1087]"
    assert after_head(f".entry k({words}, .param .b32 b) {{ ret; }}") == []
    assert after_head(f".entry k({words}, .param .b64 b) {{ ret; }}") == [(1, "E212", "b")]
    pointer = ".param .u64 .ptr .global .align 64 p"  # the alignment of what it points to: it lies at 4336
    assert after_head(f".entry k(.param .b32 a[1084], {pointer}) {{ ret; }}") == []


def test_an_alias_names_a_declared_and_a_defined_function() -> None:
    functions = ".func f();\n.func g() { ret; }\n"
    assert after_head(f"{functions}.alias f, g;") == []
    assert after_head(f"{functions}.alias h, g;") == [(3, "E201", "h")]
    assert after_head(f"{functions}.alias g, f;") == [(3, "E201", "f")]  # declared only
