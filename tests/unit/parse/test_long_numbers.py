"""Numbers of a thousand digits are refused, those that are a little shorter are read, and comments do not count."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.parse import parse, parse_with_lark
from ptxtool.parse.long_numbers import refuse_long_numbers

TEXT = ".version 7.0\n.target sm_70\n.address_size 64\n"


@pytest.mark.parametrize("before", [0, 1, 250, 499, 500, 501, 999, 1234])
@pytest.mark.parametrize("digits", ["9" * 1100, "0x" + "f" * 1100, "9" * 100_000])
def test_a_long_number_is_found_wherever_it_stands(before: int, digits: str) -> None:
    source = Source("k.ptx", " " * before + digits + " " * 700)
    with pytest.raises(PtxError, match=r"E101.*a number of more than 1000 digits") as caught:
        refuse_long_numbers(source)
    assert caught.value.diagnostics[0].start in range(before, before + 501)


@pytest.mark.parametrize("text", ["", "9" * 1000, ("9" * 900 + " ") * 100, "f" * 5000, "1, " * 5000])
def test_other_texts_are_left_alone(text: str) -> None:
    refuse_long_numbers(Source("k.ptx", text))


@pytest.mark.parametrize(
    "statement",
    [
        ".global .b8 a[{}];",
        ".global .align {} .b8 a[4];",
        ".entry k() .maxntid {}, 1, 1 { ret; }",
        ".entry k() {{ .reg .b32 %r<{}>; ret; }}",
        ".entry k() {{ .loc {} 1 1\nret; }}",
    ],
)
def test_both_parsers_refuse_it(statement: str) -> None:
    text = TEXT + statement.replace("{}", "9" * 20_000).replace("{{", "{").replace("}}", "}")
    for read in (parse, parse_with_lark):
        with pytest.raises(PtxError, match=r"E101.*a number of more than 1000 digits"):
            read(text)


@pytest.mark.parametrize("after", ["", "9" * 5000])
@pytest.mark.parametrize("digits", ["// {}\n", '/* {}\n"{} */', '// " {}\n', '.file 1 "{}"\n'])
def test_digits_in_comments_and_strings_are_no_number(digits: str, after: str) -> None:
    text = TEXT + digits.replace("{}", "9" * 20_000) + f".global .b8 a[4{after}];\n"
    for read in (parse, parse_with_lark):
        if not after:
            assert [len(read(text).source.text), len(read(text).items)] == [
                len(text),
                5 - ("file" not in digits),
            ]
            continue
        with pytest.raises(PtxError) as caught:
            read(text)
        (found,) = caught.value.diagnostics
        assert (found.code, found.start) == ("E101", text.rindex("4" + after))
