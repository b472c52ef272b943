"""The difference of two texts line by line."""

from ptxtool.report.unified import coloured, unified_diff


def test_equal_texts_have_no_difference() -> None:
    assert unified_diff("a\nb\n", "a\nb\n", "x", "y") == ""


def test_a_changed_line() -> None:
    assert (
        unified_diff("a\nb\nc\n", "a\nB\nc\n", "x", "y") == "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )


def test_a_last_line_without_its_end() -> None:
    mark = "\\ No newline at end of file\n"
    assert unified_diff("a", "a\n", "x", "y").endswith(f"-a\n{mark}+a\n")


def test_only_line_feeds_end_lines() -> None:
    """A form feed and a carriage return are characters of their line."""
    assert unified_diff("a\fb\r\n", "a\fb\n", "x", "y").splitlines(keepends=False)[2] == "@@ -1 +1 @@"
    assert unified_diff("a\x0bb\x85c\n", "", "x", "y").count("\n") == 4


def test_colours_end_before_the_line_does() -> None:
    assert coloured("--- x\n+a\n b\n") == "\x1b[31m--- x\x1b[0m\n\x1b[32m+a\x1b[0m\n b\n"
