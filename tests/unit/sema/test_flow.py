"""Code that is never reached, functions without an end, registers that some path reads before any write."""

import pytest
from diagnosed import in_kernel


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ret;", []),
        ("bra L;\nL: ret;", []),
        # two dead blocks one after the other are one warning, at the first instruction of the first
        ("bra L;\nmov.u32 %r1, 1;\nM: mov.u32 %r2, 1;\nL: ret;", [(2, "W203", "mov.u32 %r1, 1;")]),
        ("ret;\nmov.u32 %r1, 1;\nret;", [(2, "W203", "mov.u32 %r1, 1;")]),
        ("setp.eq.u32 %p1, 1, 2;\n@%p1 ret;\nmov.u32 %r1, 1;", [(3, "W207", "mov.u32 %r1, 1;")]),
        ("L: bra L;", []),  # the last instruction leads on, but not off the end
    ],
)
def test_ends_and_dead_code(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert in_kernel(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.u32 %r1, %r2, 1;\nret;", [(1, "W204", "%r2")]),
        ("mov.u32 %r2, 1;\nadd.u32 %r1, %r2, 1;\nret;", []),
        ("add.u32 %r1, %r2, %r3;\nret;", [(1, "W204", "%r2")]),  # one warning for both
        # written on one of two paths
        (
            "setp.eq.u32 %p1, 1, 2;\n@%p1 bra L;\nmov.u32 %r2, 1;\nL: mov.u32 %r1, %r2;\nret;",
            [(4, "W204", "%r2")],
        ),
        # written on both
        (
            "setp.eq.u32 %p1, 1, 2;\n@%p1 bra L;\nmov.u32 %r2, 1;\nbra M;\nL: mov.u32 %r2, 2;\n"
            "M: mov.u32 %r1, %r2;\nret;",
            [],
        ),
        # only the loop's own write reaches the read, and not in the first iteration
        (
            "L: mov.u32 %r1, %r2;\nmov.u32 %r2, 1;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 bra L;\nret;",
            [(1, "W204", "%r2")],
        ),
        ("ret;\nmov.u32 %r1, %r2;\nret;", [(2, "W203", "mov.u32 %r1, %r2;")]),  # never reached: never read
    ],
)
def test_reads_before_writes(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert in_kernel(body) == expected
