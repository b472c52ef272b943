"""The text of a lowered module: declarations, short instructions, labels that are addresses."""

import re

from ptxplus_selection import HEAD, kernel, lower

from ptxtool.parse import parse
from ptxtool.passes.ptxplus.layout import module_text
from ptxtool.passes.ptxplus.lower import selected


def test_registers_are_declared_up_to_the_highest_one() -> None:
    text = module_text(*selected(parse(HEAD + kernel("add.s32 %r1, %r2, %r3; setp.eq.u32 %p1, %r1, 3;"))))
    assert ".reg .u32 $v<3>;" in text
    assert ".reg .pred $p<4>;" in text  # the machine has four
    assert ".reg .u32 $o127;" in text
    assert ".reg .u32 $r<" not in text
    assert "$o127" not in module_text(*selected(parse(HEAD + kernel("add.s32 %r1, %r2, %r3;"))))


def test_bytes_of_a_global_variable_are_words_where_they_fill_them() -> None:
    variables = (
        ".global .u8 a[8] = {1, 2, 3, 4, 255}; .global .align 2 .u8 b[2] = {7, 8}; .global .u32 c[3];\n"
    )
    text = lower("ld.global.u8 %h1, [a]; st.global.u8 [b], %h1; st.global.u8 [c], %h1;", before=variables)
    assert ".global .align 4 .u32 a[2] = {0x04030201, 0x000000ff};" in text
    assert ".global .align 2 .b8 b[2] = {7, 8};" in text
    assert ".global .b8 c[12];" in text


def test_short_instructions_come_in_pairs_and_labels_are_addresses() -> None:
    body = "L: add.s32 %r1, %r1, %r2; add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, %r2; mov.u32 %r3, 1; bra L;"
    text = lower(body)
    assert re.findall(r"\t(?:(l\w+): )?(add\S*|mov\S*|bra) ", text) == [
        ("l0x00000000", "add.s32"),
        *(("", "add.half.u32"), ("", "add.half.u32")),
        *(("", "mov.u32"), ("", "bra")),
    ]
    assert "bra l0x00000000;" in text


def test_labels_of_one_address_stay_apart() -> None:
    """Between the two labels stands a copy that allocation drops: a jump to the second skips it."""
    body = """mov.u32 %r1, %laneid; mov.u32 %r3, %laneid; setp.eq.s32 %p1, %r1, 3;
@%p1 bra SECOND; setp.eq.s32 %p2, %r1, 4; @%p2 bra FIRST; mov.u32 %r4, 5;
FIRST: mov.u32 %r3, %r4;
SECOND: add.s32 %r1, %r3, %r1; setp.lt.s32 %p3, %r1, 9; @%p3 bra SECOND; ld.param.u64 %d1, [p];
st.global.u32 [%d1], %r1;"""
    text = lower(body)
    labels = re.findall(r"(l0x\w+):", text)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"bra (\w+);", text)) <= set(labels)
