"""Live-register vectors: layout by hand, round trips, damage."""

import json
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import ptxplus

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.base.diag import PtxError
from ptxtool.formats.vectors import (
    LiveVectors,
    decode,
    encode,
    live_vectors,
    program_counters,
    read_vectors,
)

BODY = "mov.half.u32 $r1, $r2; mov.half.u32 $r3, $r1; mov.u32 g[$r3], $r1; exit;"
SMALL = LiveVectors("k", "warp", ("$r0", "$r1", "$p0"), (0, 8, 16), (0b101, 0b010, 0))
WIDE = LiveVectors(
    "wide", "thread", tuple(f"%r{i}" for i in range(70)), (0, 8), (1 << 69 | 1 << 63 | 1, 1 << 64)
)
EMPTY = LiveVectors("empty", "warp", (), (), ())


def test_a_short_instruction_takes_four_bytes() -> None:
    assert program_counters(ptxplus(BODY)) == (0, 4, 8, 16, 24)


def test_vectors_of_a_kernel() -> None:
    vectors = live_vectors(liveness(ptxplus(BODY, ".reg .u32 $r<4>;")))
    assert vectors == LiveVectors(
        "k", "warp", ("$r0", "$r1", "$r2", "$r3"), (0, 4, 8, 16), (0b0100, 0b0010, 0b1010, 0)
    )
    assert vectors.live(8) == ("$r1", "$r3")


def test_binary_layout_byte_by_byte() -> None:
    data = encode(SMALL, "binary")
    names = b"k\n$r0\n$r1\n$p0"  # 13 bytes, padded so that header and names are a multiple of 8
    header_size = 32
    padded = names + bytes(-(header_size + len(names)) % 8)
    head = b"LIVEREGS" + struct.pack("<HHIIII", 1, 1, 3, 3, 1, len(padded))
    body = b"".join(struct.pack("<IQ", pc, bits) for pc, bits in ((0, 5), (8, 2), (16, 0)))
    assert data == head + struct.pack("<I", zlib.crc32(head + padded + body)) + padded + body
    assert (header_size + len(padded)) % 8 == 0


def test_an_entry_is_twelve_bytes_up_to_64_registers_and_says_so_beyond() -> None:
    one = LiveVectors("k", "warp", tuple(f"r{i}" for i in range(64)), (0,), (1 << 63,))
    two = LiveVectors("k", "warp", tuple(f"r{i}" for i in range(65)), (0,), (1 << 64,))
    assert struct.unpack_from("<H", encode(one, "binary"), 10) == (1,)
    assert struct.unpack_from("<H", encode(two, "binary"), 10) == (2,)
    assert encode(one, "binary")[-12:] == struct.pack("<IQ", 0, 1 << 63)
    assert encode(two, "binary")[-20:] == struct.pack("<IQQ", 0, 0, 1)


@pytest.mark.parametrize("form", ["json", "npz", "binary"])
@pytest.mark.parametrize("vectors", [SMALL, WIDE, EMPTY], ids=lambda v: v.kernel)
def test_round_trip(form: str, vectors: LiveVectors) -> None:
    data = encode(vectors, form)
    assert decode(data) == vectors
    assert encode(vectors, form) == data


@st.composite
def any_vectors(draw: st.DrawFn) -> LiveVectors:
    n = draw(st.integers(0, 140))
    bits = draw(st.lists(st.integers(0, (1 << n) - 1), max_size=5))
    return LiveVectors(
        draw(st.sampled_from(["k", "_Z3fooPf", "naïve"])),
        draw(st.sampled_from(["warp", "thread"])),
        tuple(f"$r{i}" for i in range(n)),
        tuple(range(0, 8 * len(bits), 8)),
        tuple(bits),
    )


@given(any_vectors(), st.sampled_from(["json", "npz", "binary"]))
def test_round_trip_of_anything(vectors: LiveVectors, form: str) -> None:
    assert decode(encode(vectors, form)) == vectors


def test_json_is_readable_without_this_program() -> None:
    data = json.loads(encode(SMALL, "json"))
    assert data["entries"][0] == {"pc": 0, "bits": "0x5", "live": ["$r0", "$p0"]}
    assert (data["kernel"], data["per"], data["version"]) == ("k", "warp", 1)


def test_npz_is_readable_without_this_program(tmp_path: Path) -> None:
    (tmp_path / "v.npz").write_bytes(encode(WIDE, "npz"))
    with np.load(tmp_path / "v.npz", allow_pickle=False) as arrays:
        assert arrays["live"].tolist() == [[1 << 63 | 1, 1 << 5], [0, 1]]
        assert arrays["pc"].tolist() == [0, 8]
        assert arrays["registers"][69] == "%r69"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
@pytest.mark.parametrize("vectors", [SMALL, WIDE, EMPTY], ids=lambda v: v.kernel)
def test_the_c_header_compiles_and_holds_the_same(tmp_path: Path, vectors: LiveVectors) -> None:
    name = vectors.kernel
    (tmp_path / "live.h").write_bytes(encode(vectors, "c"))
    (tmp_path / "main.c").write_text(f"""
        #include <stdio.h>
        #include "live.h"
        int main(void) {{
          for (unsigned i = 0; i < live_{name}_entries; i++) {{
            printf("%u", live_{name}[i].pc);
            for (unsigned w = 0; w < live_{name}_words; w++)
              printf(" %llu", (unsigned long long)live_{name}[i].live[w]);
            printf("\\n");
          }}
          for (unsigned i = 0; i < live_{name}_registers; i++) printf("%s\\n", live_{name}_names[i]);
          return 0;
        }}""")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wno-type-limits", "-Werror", "-pedantic"]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "a.out", tmp_path / "main.c"], check=True)
    printed = subprocess.run(
        [tmp_path / "a.out"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    rows = [
        " ".join(str(x) for x in (pc, *(bits >> 64 * w & (1 << 64) - 1 for w in range(vectors.n_words))))
        for pc, bits in zip(vectors.pcs, vectors.vectors, strict=True)
    ]
    assert printed == [*rows, *vectors.registers]


@pytest.mark.parametrize("form", ["json", "npz", "binary"])
def test_every_truncation_is_refused(form: str) -> None:
    data = encode(SMALL, form).rstrip()
    for length in range(len(data)):
        with pytest.raises(PtxError) as caught:
            decode(data[:length], "cut")
        assert caught.value.diagnostics[0].code == "E501"


def test_every_flipped_byte_of_a_binary_file_is_refused() -> None:
    data = encode(SMALL, "binary")
    for place in range(len(data)):
        with pytest.raises(PtxError):
            decode(data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :])


def outcome(data: bytes) -> str:
    """ "read", or the code of the diagnostic; any other exception fails the test."""
    try:
        decode(data)
    except PtxError as problem:
        return problem.diagnostics[0].code
    return "read"


@given(st.binary(max_size=200), st.sampled_from([b"", b"LIVEREGS", b"PK\x03\x04", b"{"]))
def test_any_bytes_give_vectors_or_a_diagnostic(data: bytes, head: bytes) -> None:
    assert outcome(head + data) in ("read", "E501")


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_archive_gives_vectors_or_a_diagnostic(place: int, value: int) -> None:
    data = bytearray(encode(SMALL, "npz"))
    data[place % len(data)] = value
    assert outcome(bytes(data)) in ("read", "E501")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"version": 2}, "version"),
        ({"per": "lane"}, "'lane'"),
        ({"entries": [{"pc": 0, "bits": "0x8"}]}, "does not exist"),
        ({"entries": [{"pc": -1, "bits": "0x1"}]}, "32 bits"),
        ({"entries": [{"pc": 0, "bits": 1}]}, "format"),
        ({"format": "something"}, "something else"),
    ],
)
def test_json_that_contradicts_itself_is_refused(change: dict[str, object], word: str) -> None:
    data = json.loads(encode(SMALL, "json")) | change
    with pytest.raises(PtxError) as caught:
        decode(json.dumps(data).encode(), "v.json")
    assert word in caught.value.diagnostics[0].message
    assert "'v.json'" in caught.value.diagnostics[0].message


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "k.live"
    with pytest.raises(PtxError) as caught:
        read_vectors(path)
    assert str(path) in caught.value.diagnostics[0].message
    path.write_bytes(encode(SMALL, "binary"))
    assert read_vectors(path) == SMALL


def test_an_unknown_format_names_those_that_are() -> None:
    with pytest.raises(PtxError) as caught:
        encode(SMALL, "xml")
    assert "json, npz, c, binary" in caught.value.diagnostics[0].help
