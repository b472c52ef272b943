"""What kernels print, from hand-made records of the print buffer: expected texts are those of C's printf."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest

from ptxsim.base.program import CONTEXT
from ptxsim.memory_image.printing import ASSERTED, PRINTED, Assertion, Printer, take_output


def text(value: bytes | None) -> bytes:
    """A string of a record: its length, and its bytes in whole words."""
    if value is None:
        return struct.pack("<q", -1)
    return struct.pack("<q", len(value)) + value.ljust(-(-len(value) // 8) * 8, b"\0")


def record(kind: int, *values: bytes) -> bytes:
    body = b"".join(values)
    return struct.pack("<qq", 2 + len(body) // 8, kind) + body


def printed(pattern: str, *values: int | float | bytes | None) -> str:
    words = [
        struct.pack("<d", v)
        if isinstance(v, float)
        else struct.pack("<q", v)
        if isinstance(v, int)
        else text(v)
        for v in values
    ]
    return take_output(image(record(PRINTED, text(pattern.encode()), *words)))[0]


def image(data: bytes) -> SimpleNamespace:
    context = np.zeros(1, CONTEXT)
    context[0]["host_used"] = len(data)
    return SimpleNamespace(context=context, host=np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("[%d]", -1, "[-1]"),
        ("[%d]", 0xFFFFFFFE, "[-2]"),  # 32 bits without a length
        ("[%lld]", 0xFFFFFFFE, "[4294967294]"),
        ("[%hhd]", 0x1FF, "[-1]"),
        ("[%hu]", -1, "[65535]"),
        ("[%+5d]", 7, "[   +7]"),
        ("[%-5d]", 7, "[7    ]"),
        ("[%05d]", -7, "[-0007]"),
        ("[%05.2d]", 7, "[   07]"),  # a precision cancels the zeros
        ("[%.0d]", 0, "[]"),
        ("[%#x]", 0, "[0]"),
        ("[%#06x]", 255, "[0x00ff]"),
        ("[%#o]", 8, "[010]"),
        ("[%p]", 0, "[(nil)]"),
        ("[%c]", 0x141, "[A]"),
        ("[%.2s]", b"abc", "[ab]"),
        ("[%5s]", None, "[(null)]"),
        ("[%f]", 1.5, "[1.500000]"),
        ("[%08.2f]", -1.5, "[-0001.50]"),
        ("[%05f]", float("inf"), "[  inf]"),  # no zeros before an infinity
        ("[%G]", float("nan"), "[NAN]"),
        ("[%a]", 1.0, "[0x1p+0]"),
        ("[%.1a]", 1.96875, "[0x2.0p+0]"),  # rounded to even, as glibc does
        ("[%A]", -0.5, "[-0X1P-1]"),
        ("[%y]", 5, "[%y]"),  # no conversion
    ],
)
def test_conversions(pattern: str, value: int | float | bytes | None, expected: str) -> None:
    assert printed(pattern, value) == expected


def test_a_width_and_a_precision_may_be_values() -> None:
    assert printed("%*d|%.*f|100%%", -4, 7, 1, 2.25) == "7   |2.2|100%"
    assert printed("%.*f", -1, 2.5) == "2.500000"  # below 0: as if it were not there


def test_an_assertion_ends_the_run_and_the_buffer_is_empty_afterwards() -> None:
    data = record(PRINTED, text(b"first\n")) + record(PRINTED, text(b"second\n"))
    data += record(ASSERTED, struct.pack("<q", 12), text(b"a < b"), text(b"k.cu"), text(b"k"))
    full = image(data)
    pieces: list[str] = []
    printer = Printer(pieces.append)
    printer.drain(full)
    assert printer.text == "first\nsecond\n"
    assert printer.assertion == Assertion("a < b", "k.cu", 12, "k")
    assert take_output(full) == ("", None)
    printer.drain(full)
    assert pieces == ["first\nsecond\n"]
    assert printer.assertion is not None
