"""Lists of words in messages."""

from ptxtool.sema.repair import either, listed


def test_lists_of_words() -> None:
    assert [either("a"), either("ab"), either("abc")] == ["a", "a or b", "a, b or c"]
    assert listed(["u32"]) == "'.u32'"
    assert listed(["u32", "s32", "f32"]) == "'.u32', '.s32' and '.f32'"
    assert listed(["u32", "s32"], "or") == "'.u32' or '.s32'"
