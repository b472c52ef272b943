"""The state space that a generic address points to, by how it was computed."""

import pytest
from ptxplus_selection import HEAD, kernel, lower, refusals

TILE = ".shared .align 4 .b8 tile[16]; .local .align 4 .b8 own[16];"
END = "ld.param.u64 %d5, [p]; st.global.u32 [%d5], %r2;"


@pytest.mark.parametrize(
    ("code", "space"),
    [
        ("ld.param.u64 %d1, [p]; ld.u32 %r2, [%d1];", "ld.global.u32"),
        ("ld.param.u64 %d1, [p]; add.s64 %d2, %d1, 8; mov.b64 %d3, %d2; ld.u32 %r2, [%d3];", "ld.global.u32"),
        ("cvta.local.u64 %d1, %d2; ld.u32 %r2, [%d1];", "ld.local.u32"),
        ("mov.u64 %d1, own; ld.u32 %r2, [%d1];", "ld.local.u32"),
        # what is added to an address may come from memory
        (
            "ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; add.s64 %d3, %d1, %d2; ld.u32 %r2, [%d3];",
            "ld.global.u32",
        ),
        ("ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; mov.b64 %d3, %d2; ld.u32 %r2, [%d3];", ""),
        (
            "ld.param.u64 %d1, [p]; cvta.shared.u64 %d2, %d4; selp.b64 %d3, %d1, %d2, %p1; ld.u32 %r2, [%d3];",
            "",
        ),
        ("ld.u32 %r2, [%d4];", ""),
    ],
)
def test_spaces_follow_sums_and_copies(code: str, space: str) -> None:
    if space:
        assert f"\t{space} $r" in lower(TILE + code + END)
    else:
        ((_, reason),) = refusals(HEAD + kernel(TILE + code + END))
        assert reason.startswith("a generic address whose state space is not known")


def test_a_pointer_whose_space_is_plain_needs_no_generic_access() -> None:
    body = ".shared .align 4 .b8 tile[16]; mov.u32 %r1, tile; cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d2, %d1;"
    assert "mov.u32 $r0, s[" in lower(
        body + "ld.u32 %r2, [%d2]; ld.param.u64 %d3, [p]; st.global.u32 [%d3], %r2;"
    )
