"""Arguments and results of calls against what the called function takes."""

import pytest
from diagnosed import in_kernel

CALLED = (
    ".func (.reg .b32 r) one(.reg .b32 a) { mov.b32 r, a; ret; }\n"
    ".func block(.param .align 8 .b8 s[16]) { ret; }\n"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("call (%r1), one, (5);", []),
        ("call (%r1), one, (5, 6);", [(1, "E211", "one")]),
        ("call one, (5);", [(1, "E211", "one")]),
        ("mov.u64 %rd1, 0;\ncall (%r1), one, (%rd1);", [(2, "E211", "%rd1")]),
        ("mov.f32 %f1, 0f00000000;\ncall (%r1), one, (%f1);", []),  # as wide: bits are bits
        (".param .align 8 .b8 s[16];\ncall block, (s);", []),
        (".param .align 8 .b8 s[12];\ncall block, (s);", [(2, "E211", "s")]),
        (".param .align 4 .b8 s[16];\ncall block, (s);", [(2, "E211", "s")]),
        (".local .align 8 .b8 s[16];\ncall block, (s);", [(2, "E211", "s")]),
    ],
)
def test_calls(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert in_kernel(f"{body}\nret;", CALLED) == expected
