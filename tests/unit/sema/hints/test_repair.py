"""Lists of words in messages."""

from ptxtool.sema.hints.repair import listed


def test_lists_of_words() -> None:
    assert listed(["u32"]) == "'.u32'"
    assert listed(["u32", "s32", "f32"]) == "'.u32', '.s32' and '.f32'"
    assert listed(["u32", "s32"], "or") == "'.u32' or '.s32'"
