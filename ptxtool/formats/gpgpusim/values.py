"""What the values of GPGPU-Sim's options mean: numbers, lists, caches, DRAM timing, address maps. For `machine.py`.

Every function takes a `Setting` and raises E502 at its value where GPGPU-Sim would refuse it, or read something else.
Reference: GPGPU-Sim 3.2.2 and 4.2, the readers of these values; GPGPU-Sim manual, "Configuration options".
"""

import re
from dataclasses import dataclass
from typing import Any

from ptxtool.formats.gpgpusim.text import Setting

_CACHE = re.compile(
    r"(?:(?P<kind>[NS]):)?(?P<sets>\d{1,18}):(?P<line_bytes>\d{1,18}):(?P<ways>\d{1,18})[,:]"
    r"(?P<replacement>[LF]):(?P<write>[RBTEL]):(?P<allocation>[mfs])(?::(?P<write_allocation>[NWFL]))?"
    r"(?::(?P<set_index>[HPCLX]))?,"
    r"[FTAS]:(?P<mshr_entries>\d{1,18}):(?P<mshr_waiters>\d{1,18}),(?P<miss_queue>\d{1,18})(?::(?P<results>\d{1,18}))?(?:,(?P<port>\d{1,18}))?"
)
_CACHE_SHAPE = (
    "a cache is SETS:LINE_BYTES:WAYS,L:L:m:N:L,A:ENTRIES:MERGES,QUEUE, with N: or S: (sectors) in front from 4.x on, "
    "such as 32:128:4,L:L:m:N:L,A:32:8,8"
)
TIMINGS = ("nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL", "RTPL")
_DEFAULT_TIMINGS = {"nbkgrp": 1, "CCDL": 0, "RTPL": 0}


def whole(setting: Setting, least: int = 0) -> int:
    """A whole number; its base follows from 0x or a leading 0, as in GPGPU-Sim."""
    text, advice = setting.value, f"give a whole number of {least} or more"
    base = 16 if text[:2] in ("0x", "0X") else 8 if re.fullmatch(r"0\d+", text) else 10
    try:
        number = int(text, base)
    except ValueError:
        raise setting.wrong(advice, f"is '{text}', no whole number") from None
    if number >> 63 > 0:
        raise setting.wrong(
            "GPGPU-Sim reads numbers of up to 64 bits, with a sign", "does not fit into 64 bits"
        )
    if number < least:
        raise setting.wrong(advice, f"is {number}")
    return number


_MAX_DIGITS = 18
"""Of a whole number in an option."""


def is_number(text: str) -> bool:
    """Whether a part of a value is a whole number, without a sign, of no more digits than any option has."""
    return text.isdecimal() and len(text) <= _MAX_DIGITS


def switch(setting: Setting) -> bool:
    """0 or 1."""
    if setting.value not in ("0", "1"):
        raise setting.wrong("give 0 or 1")
    return setting.value == "1"


def numbers(setting: Setting, separator: str, counts: tuple[int, ...]) -> list[int]:
    """Whole numbers with a separator between; `counts` is how many there may be."""
    parts = [part.strip() for part in setting.value.split(separator)]
    if len(parts) not in counts or not all(map(is_number, parts)):
        many = " or ".join(map(str, counts))
        raise setting.wrong(f"give {many} whole numbers with '{separator}' between")
    return [int(part) for part in parts]


def decimal(setting: Setting) -> float:
    """A number that may have a fraction."""
    try:
        return float(setting.value)
    except ValueError:
        raise setting.error(f"'{setting.name}' is '{setting.value}', no number", "give a number") from None


def megahertz(setting: Setting) -> list[int]:
    """The four clocks, each rounded to whole MHz."""
    try:
        clocks = [float(part) for part in setting.value.split(":")]
    except ValueError:
        clocks = []
    if len(clocks) != 4 or any(not 1 <= clock < 1e6 for clock in clocks):
        raise setting.wrong("give the MHz of core, network, L2 and DRAM, such as 700:700:700:924")
    return [round(clock) for clock in clocks]


@dataclass(frozen=True)
class Cache:
    """A cache: sizes, and the letters of its policies as GPGPU-Sim has them ("" where they are left out).

    Of a texture cache `mshr_entries`, `mshr_waiters`, `miss_queue` and `results` are the places of the fragment FIFO,
    the request FIFO, the reorder buffer and the result FIFO.
    """

    is_sectored: bool
    sets: int
    line_bytes: int
    ways: int
    replacement: str
    write: str
    allocation: str
    write_allocation: str
    set_index: str
    mshr_entries: int
    mshr_waiters: int
    miss_queue: int
    port_bytes: int
    results: int | None


def cache(setting: Setting) -> Cache:
    """A cache; "none" is refused, for every machine here has the caches it asks for."""
    found = _CACHE.fullmatch(setting.value.replace(" ", ""))
    if setting.value == "none":
        raise setting.wrong(f"give it a size: {_CACHE_SHAPE}", "is 'none': no such cache")
    if found is None:
        raise setting.wrong(_CACHE_SHAPE, f"is '{setting.value}', no cache")
    sizes = ("sets", "line_bytes", "ways", "mshr_entries", "mshr_waiters", "miss_queue")
    policies = ("replacement", "write", "allocation", "write_allocation", "set_index")
    fields: dict[str, Any] = {name: int(found[name]) for name in sizes}
    fields |= {name: found[name] or "" for name in policies}
    results = int(found["results"]) if found["results"] else None
    port_bytes = int(found["port"] or 0) or fields["line_bytes"]
    return Cache(is_sectored=found["kind"] == "S", port_bytes=port_bytes, results=results, **fields)


def dram_timing(setting: Setting) -> dict[str, int]:
    """The timing parameters by name: `nbk=16:CCD=2:...` in any order, or the values alone in the order of `TIMINGS`."""
    parts = [part.strip() for part in re.split(r"[:;]", setting.value) if part.strip()]
    if "=" in setting.value:
        pairs = [tuple(side.strip() for side in part.split("=", 1)) for part in parts]
    else:
        pairs = list(zip(TIMINGS, parts, strict=False))
        if len(parts) > len(TIMINGS):
            raise setting.wrong(f"they are {':'.join(TIMINGS)}", f"has {len(parts)} values")
    given = dict(_DEFAULT_TIMINGS)
    for pair in pairs:
        if len(pair) != 2 or pair[0] not in TIMINGS or not is_number(pair[1]):
            message = f"'-{setting.name}': '{'='.join(pair)}' is no timing parameter"
            raise setting.error(
                message, f"those are NAME=NUMBER with ':' between; names are {', '.join(TIMINGS)}"
            )
        given[pair[0]] = int(pair[1])
    missing = [name for name in TIMINGS if name not in given]
    if missing:
        advice = f"it needs {', '.join(n for n in TIMINGS if n not in _DEFAULT_TIMINGS)}"
        raise setting.wrong(advice, f"does not give {', '.join(missing)}")
    return given


@dataclass(frozen=True)
class AddressMap:
    """Chunks of `chunk_bytes` go round the channels; `bits` says what the other bits are, bit 0 first: B, C, R or 0."""

    chunk_bytes: int
    bits: str

    @property
    def row_bytes(self) -> int:
        return 1 << self.bits.count("C")

    @property
    def slice_bytes(self) -> int:
        """Bytes of a channel that are one slice's: up to the lowest bank bit, which may lie in a chunk."""
        return 1 << self._slice_bit

    @property
    def _slice_bit(self) -> int:
        chunk = self.chunk_bytes.bit_length() - 1
        return min(chunk, self.bits.find("B")) if "B" in self.bits else chunk

    def is_plain(self, banks: int) -> bool:
        """Whether it is columns, the lowest bank bit within or above a chunk, columns, the other bank bits, rows."""
        chunk = self.chunk_bytes.bit_length() - 1
        above = self.bits.count("C") - chunk
        rest = (
            "C" * self._slice_bit
            + "B"
            + "C" * (chunk - self._slice_bit + above)
            + "B" * (banks.bit_length() - 2)
        )
        return above >= 0 and self.bits.startswith(rest) and not self.bits[len(rest) :].strip("R0")


def address_map(setting: Setting) -> AddressMap:
    """`dramid@8;00000000. ... .BBBCCCCB.CCSSSSSS`: bit 63 first; S is a column bit, too."""
    head, _, bits = setting.value.partition(";")
    start = re.fullmatch(r"dramid@(\d+)", head.strip())
    letters = re.sub(r"[. |]", "", bits).upper().replace("S", "C")
    if start is None or not 4 <= int(start.group(1)) <= 20:
        raise setting.wrong(
            "begin with dramid@BIT; (4 to 20): only maps with a channel number of their own are known"
        )
    if len(letters) != 64 or set(letters) - set("BCR0"):
        message = f"'-{setting.name}': the map has {len(letters)} bits"
        raise setting.error(
            message, "give 64 of B (bank), R (row), C, S (column) and 0; '.' may stand between"
        )
    return AddressMap(1 << int(start.group(1)), letters[::-1])
