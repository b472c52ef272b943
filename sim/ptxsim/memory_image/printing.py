"""Kernel output: records of the print buffer (execute/host.py) as text, formatted as C's printf does.

All conversions of CUDA's printf: `%d %i %u %o %x %X %c %s %p %f %F %e %E %g %G %a %A %%`, flags `-+ #0`, width and
precision (also `*`), lengths `hh h l ll j z t`. An unknown conversion is printed verbatim.

Reference: ISO C 7.21.6.1 (fprintf); NVIDIA, "CUDA C++ Programming Guide", section on formatted output.
"""

import math
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?"
    rb"(?P<length>[hljzt]*)(?P<kind>[diouxXcspfFeEgGaA%])"
)
PRINTED, ASSERTED = range(2)


@dataclass(frozen=True)
class Assertion:
    """A failed assertion: its condition and its place in the source."""

    message: str
    file: str
    line: int
    function: str


class Printer:
    """Collects the output of a run, and passes it on to `output` piece by piece."""

    def __init__(self, output: Callable[[str], object] | None = None):
        self._output = output
        self._pieces: list[str] = []
        self.assertion: Assertion | None = None
        """The assertion that ended the run."""

    def drain(self, image: Any) -> None:
        """Empty the print buffer of a launch."""
        text, assertion = take_output(image)
        self.assertion = self.assertion or assertion
        if text:
            self._pieces.append(text)
            if self._output is not None:
                self._output(text)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


class _RecordReader:
    """Reads the words of one record of the print buffer."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def word(self) -> int:
        (value,) = struct.unpack_from("<q", self.data, self.at)
        self.at += 8
        return int(value)

    def text(self) -> bytes | None:
        """A string; None where the kernel passed a null pointer."""
        length = self.word()
        if length < 0:
            return None
        text = self.data[self.at : self.at + length]
        self.at += -(-length // 8) * 8
        return text


def take_output(image: Any) -> tuple[str, Assertion | None]:
    """Empty the print buffer; returns its text, and the assertion that ended the run."""
    x = image.context[0]
    used = int(x["host_used"])
    if not used:
        return "", None
    data = image.host[:used].tobytes()
    x["host_used"] = 0
    printed: list[bytes] = []
    assertion = None
    at = 0
    while at < used:
        n_words, kind = struct.unpack_from("<qq", data, at)
        record = _RecordReader(data[at + 16 : at + 8 * n_words])
        if kind == PRINTED:
            printed.append(_formatted(record))
        else:
            line = record.word()
            message, file, function = (_decoded(record.text() or b"") for _ in range(3))
            assertion = Assertion(message, file, line & 0xFFFFFFFF, function)
        at += 8 * n_words
    return _decoded(b"".join(printed)), assertion


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _formatted(record: _RecordReader) -> bytes:
    pattern = record.text() or b""
    pieces: list[bytes] = []
    end = 0
    for found in _CONVERSION.finditer(pattern):
        pieces.append(pattern[end : found.start()])
        pieces.append(b"".join(_converted(found, record)))
        end = found.end()
    pieces.append(pattern[end:])
    return b"".join(pieces)


def _converted(found: "re.Match[bytes]", record: _RecordReader) -> Iterator[bytes]:
    """One conversion, its values taken from the record."""
    flags, kind = found["flags"].decode(), found["kind"].decode()
    width = _signed(record.word(), 32) if found["width"] == b"*" else int(found["width"] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision: int | None = None
    if found["precision"] == b"*":
        precision = _signed(record.word(), 32)
    elif found["precision"] is not None:
        precision = int(found["precision"] or 0)
    if precision is not None and precision < 0:
        precision = None
    if kind == "%":
        yield b"%"
    elif kind == "s":
        text = record.text()
        shown = b"(null)" if text is None else text
        yield _padded(shown if precision is None else shown[:precision], flags, width)
    elif kind == "c":
        yield _padded(bytes([record.word() & 0xFF]), flags, width)
    elif kind == "p":
        value = record.word() & 0xFFFFFFFFFFFFFFFF
        yield _padded(f"{value:#x}".encode() if value else b"(nil)", flags, width)
    elif kind in "diouxX":
        yield _integer(record.word(), found["length"].decode(), kind, flags, width, precision)
    else:
        (value,) = struct.unpack("<d", struct.pack("<q", record.word()))
        yield _number(value, kind, flags, width, precision)


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _padded(text: bytes, flags: str, width: int) -> bytes:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _framed(sign: str, digits: str, flags: str, width: int, zeros: bool) -> bytes:
    """Sign and digits in a field, with padding zeros between them."""
    if zeros and "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return _padded((sign + digits).encode(), flags, width)


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, length: str, kind: str, flags: str, width: int, precision: int | None) -> bytes:
    bits = {"h": 16, "hh": 8}.get(length, 64 if set(length) & set("ljzt") else 32)
    sign = ""
    if kind in "di":
        value = _signed(value, bits)
        sign = _sign(value < 0, flags)
        digits = str(abs(value))
    else:
        value &= (1 << bits) - 1
        digits = format(value, {"u": "d"}.get(kind, kind))
    if precision == 0 and value == 0:
        digits = ""
    digits = digits.rjust(precision or 0, "0")
    if "#" in flags and kind == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in flags and kind in "xX" and value:
        sign = "0" + kind
    return _framed(sign, digits, flags, width, zeros=precision is None)


def _number(value: float, kind: str, flags: str, width: int, precision: int | None) -> bytes:
    negative = math.copysign(1.0, value) < 0
    sign = _sign(negative, flags)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        return _framed(sign, text.upper() if kind.isupper() else text, flags, width, zeros=False)
    value = abs(value)
    if kind in "aA":
        digits = _hexadecimal(value, precision, "#" in flags)
        sign += "0x"
        if kind == "A":
            sign, digits = sign.upper(), digits.upper()
    else:
        digits = f"%{'#' if '#' in flags else ''}.{6 if precision is None else precision}{kind}" % value
    return _framed(sign, digits, flags, width, zeros=True)


def _hexadecimal(value: float, precision: int | None, point: bool) -> str:
    """`%a` without sign and `0x`: one digit, the shortest exact fraction or one rounded to even, an exponent."""
    mantissa, exponent = math.frexp(value)
    scaled = int(math.ldexp(mantissa, 53))
    exponent = exponent - 1 if scaled else 0
    if scaled and exponent < -1022:  # as in glibc, subnormals keep the smallest exponent and begin with 0
        scaled >>= -1022 - exponent
        exponent = -1022
    n = 13
    if precision is not None and precision < 13:
        shift = 4 * (13 - precision)
        whole, rest = scaled >> shift, scaled & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        scaled = whole + (rest > half or (rest == half and bool(whole & 1)))
        n = precision
    fraction = f"{scaled & ((1 << 4 * n) - 1):0{n}x}" if n else ""
    if precision is None:
        fraction = fraction.rstrip("0")
    else:
        fraction = fraction.ljust(precision, "0")
    dot = "." if fraction or point else ""
    return f"{scaled >> 4 * n:x}{dot}{fraction}p{exponent:+d}"
