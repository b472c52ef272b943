"""Live-register vectors as files: JSON, npz, a C header, and the binary form that FineReg assumes.

For simulators and CTA-switching studies outside this project: which registers a warp's context consists of at
each program counter. A vector has one bit per register (bit k: index k, sequence number k + 1) in 64-bit
words, the first word with registers 0 to 63. A program counter is a byte address from the start of the
kernel: 8 bytes per instruction, 4 for PTXPlus's `.half`.

The binary form is a header, the names, then one entry per static instruction: a 4-byte program counter and
the vector, 12 bytes for up to 64 registers. Everything is little-endian; a checksum covers the whole file.
The layout is spelled out, byte by byte, in docs/live-vectors.md. Readers exist for all forms but the C
header.

Reference: Y. Oh et al., "FineReg: fine-grained register file management for augmenting GPU throughput", 2018,
section V.A (one 4-byte address and one 64-bit vector per static instruction, kept in global memory).
"""

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.base.bits import from_words, indices, to_words, word_count
from ptxtool.base.diag import error
from ptxtool.formats.files import read_bytes
from ptxtool.ir.nodes import Function

MAGIC = b"LIVEREGS"
VERSION = 1
FORMATS = ("json", "npz", "c", "binary")
_HEADER = struct.Struct("<8sHHIIIII")
"""Magic, version, words per vector, entries, registers, flags, bytes of names, CRC-32 of all but this field."""
_PER_WARP = 1
_U32 = 1 << 32


@dataclass(frozen=True)
class LiveVectors:
    """The vectors of one kernel. `vectors[i]` belongs to `pcs[i]`; `registers` are names in sequence order."""

    kernel: str
    per: str
    registers: tuple[str, ...]
    pcs: tuple[int, ...]
    vectors: tuple[int, ...]

    @property
    def n_words(self) -> int:
        """64-bit words per vector, at least 1."""
        return word_count(len(self.registers))

    def live(self, pc: int) -> tuple[str, ...]:
        """The names of the registers live before the instruction at a program counter."""
        return tuple(self.registers[k] for k in indices(self.vectors[self.pcs.index(pc)]))


def program_counters(kernel: Function) -> tuple[int, ...]:
    """The byte address of every instruction from the kernel's start, and the kernel's size after the last."""
    ptxplus = kernel.registers.is_ptxplus
    pcs = [0]
    for instruction in kernel.instructions:
        short = ptxplus and "half" in instruction.opcode.modifiers
        pcs.append(pcs[-1] + (4 if short else 8))
    return tuple(pcs)


def live_vectors(liveness: Liveness) -> LiveVectors:
    """The vectors before every instruction."""
    kernel = liveness.kernel
    return LiveVectors(
        kernel.name,
        liveness.per,
        kernel.registers.names,
        program_counters(kernel)[:-1],
        tuple(liveness.before_bits),
    )


# ---- writing


def encode(vectors: LiveVectors, form: str) -> bytes:
    """The file's bytes in one of `FORMATS`. The same vectors give the same bytes."""
    if form not in FORMATS:
        raise error("E502", f"no live-vector format '{form}'", help=f"the formats are {', '.join(FORMATS)}")
    if form == "npz":
        return _to_npz(vectors)
    if form == "binary":
        return _to_binary(vectors)
    return (_to_json if form == "json" else _to_c_header)(vectors).encode("utf-8")


def _to_json(vectors: LiveVectors) -> str:
    """JSON text: one entry per line, with the vector in hexadecimal and the names it stands for."""
    head = {
        "format": "live-register vectors",
        "version": VERSION,
        "kernel": vectors.kernel,
        "per": vectors.per,
        "registers": list(vectors.registers),
    }
    entries = [
        json.dumps({"pc": pc, "bits": f"{bits:#x}", "live": [vectors.registers[k] for k in indices(bits)]})
        for pc, bits in zip(vectors.pcs, vectors.vectors, strict=True)
    ]
    body = ",\n    ".join(entries)
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = f"[\n    {body}\n  ]" if entries else "[]"
    return "\n".join(["{", *lines, f'  "entries": {rows}', "}", ""])


def _to_npz(vectors: LiveVectors) -> bytes:
    """A numpy archive: `pc` (u32), `live` (u64, entries x words), `registers`, `kernel`, `per`, `version`."""
    words = [to_words(bits, vectors.n_words) for bits in vectors.vectors]
    file = io.BytesIO()
    np.savez_compressed(
        file,
        version=np.array(VERSION, dtype=np.int64),
        kernel=np.array(vectors.kernel),
        per=np.array(vectors.per),
        registers=np.array(vectors.registers, dtype=np.str_),
        pc=np.array(vectors.pcs, dtype=np.uint32),
        live=np.array(words, dtype=np.uint64).reshape(len(words), vectors.n_words),
    )
    return file.getvalue()


def _to_binary(vectors: LiveVectors) -> bytes:
    """The binary form."""
    text = "\n".join((vectors.kernel, *vectors.registers)).encode("utf-8")
    text += bytes(-(_HEADER.size + len(text)) % 8)
    n_words = vectors.n_words
    entry = struct.Struct(f"<I{n_words}Q")
    body = b"".join(
        entry.pack(pc, *to_words(bits, n_words))
        for pc, bits in zip(vectors.pcs, vectors.vectors, strict=True)
    )
    flags = _PER_WARP if vectors.per == "warp" else 0
    counts = (n_words, len(vectors.pcs), len(vectors.registers), flags, len(text))
    unsigned = _HEADER.pack(MAGIC, VERSION, *counts, 0)[:-4]
    return unsigned + struct.pack("<I", zlib.crc32(unsigned + text + body)) + text + body


def _to_c_header(vectors: LiveVectors) -> str:
    """A C header with the vectors as a constant array, for C99 and C++."""
    name = re.sub(r"\W", "_", vectors.kernel, flags=re.ASCII)
    guard = f"LIVE_{name.upper()}_H"
    n_words = vectors.n_words
    rows = [
        f"  {{ {pc}u, {{ {', '.join(f'0x{word:016x}ull' for word in to_words(bits, n_words))} }} }},"
        for pc, bits in zip(vectors.pcs, vectors.vectors, strict=True)
    ]
    names = [f'  "{_c_string(register)}",' for register in vectors.registers]
    return "\n".join(
        [
            f"/* Live registers of {vectors.kernel.replace('*/', '* /')} before each instruction, per {vectors.per}.",
            "   Bit k of word w is register 64 * w + k of the names below; pc is a byte address. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            f"#define live_{name}_words {n_words}",
            f"#define live_{name}_entries {len(vectors.pcs)}",
            f"#define live_{name}_registers {len(vectors.registers)}",
            "",
            f"static const struct {{ uint32_t pc; uint64_t live[{n_words}]; }}",
            f"    live_{name}[{max(1, len(rows))}] = {{",
            *(rows or ["  { 0u, { 0 } },"]),
            "};",
            "",
            f"static const char *const live_{name}_names[{max(1, len(names))}] = {{",
            *(names or ["  0,"]),
            "};",
            "",
            "#endif",
            "",
        ]
    )


def _c_string(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# ---- reading


def read_vectors(path: str | Path) -> LiveVectors:
    """Read a JSON, npz or binary file. Raises `PtxError` (E501) where it cannot be read or is damaged."""
    return decode(read_bytes(path, "check the path"), str(path))


def decode(data: bytes, name: str = "<bytes>") -> LiveVectors:
    """Vectors from the bytes of a JSON, npz or binary file. Raises `PtxError` (E501); `name` is for its message."""
    try:
        return _checked(_read(data))
    except _Damaged as problem:
        why = str(problem)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        RuntimeError,  # NotImplementedError and RecursionError too
        OverflowError,
        zlib.error,
        zipfile.BadZipFile,
    ) as problem:
        why = f"its content does not fit the format ({problem!r})"
    message = f"cannot read live-register vectors from '{name}': {why}"
    raise error("E501", message, help="write the file again with 'ptxtool live'")


class _Damaged(Exception):
    """Why a file is no live-register vectors."""


def _read(data: bytes) -> LiveVectors:
    if data.startswith(MAGIC):
        return _from_binary(data)
    if data.startswith(b"PK"):
        return _from_npz(data)
    if data.lstrip().startswith(b"{"):
        return _from_json(data)
    raise _Damaged("it is none of the live-vector formats")


def _from_json(text: bytes) -> LiveVectors:
    """The bits count; the names beside them are for readers of the file."""
    data = cast("dict[str, Any]", json.loads(text))
    if data["format"] != "live-register vectors":
        raise _Damaged("it holds something else")
    _require_version(data["version"])
    entries: list[dict[str, Any]] = data["entries"]
    return LiveVectors(
        str(data["kernel"]),
        str(data["per"]),
        tuple(str(register) for register in data["registers"]),
        tuple(int(entry["pc"]) for entry in entries),
        tuple(int(entry["bits"], 16) for entry in entries),
    )


def _from_npz(data: bytes) -> LiveVectors:
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        arrays: Mapping[str, Any] = {key: found[key] for key in found.files}
    _require_version(int(arrays["version"]))
    live = np.asarray(arrays["live"], dtype=np.uint64)
    return LiveVectors(
        str(arrays["kernel"]),
        str(arrays["per"]),
        tuple(str(register) for register in arrays["registers"]),
        tuple(int(pc) for pc in arrays["pc"]),
        tuple(from_words(int(word) for word in row) for row in live),
    )


def _from_binary(data: bytes) -> LiveVectors:
    if len(data) < _HEADER.size:
        raise _Damaged(f"it is shorter than its {_HEADER.size}-byte header or has another magic number")
    _, version, n_words, n_entries, n_registers, flags, n_text, checksum = _HEADER.unpack_from(data)
    _require_version(version)
    entry = struct.Struct(f"<I{n_words}Q")
    expected = _HEADER.size + n_text + n_entries * entry.size
    if len(data) != expected:
        raise _Damaged(f"it has {len(data)} bytes where its header promises {expected}")
    if zlib.crc32(data[: _HEADER.size - 4] + data[_HEADER.size :]) != checksum:
        raise _Damaged("its checksum does not fit")
    try:
        text = data[_HEADER.size : _HEADER.size + n_text].rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError:
        raise _Damaged("its names are no UTF-8") from None
    kernel, *registers = text.split("\n")
    if len(registers) != n_registers or n_words != word_count(n_registers):
        raise _Damaged("its register count contradicts its names")
    rows = list(entry.iter_unpack(data[_HEADER.size + n_text :]))
    return LiveVectors(
        kernel,
        "warp" if flags & _PER_WARP else "thread",
        tuple(registers),
        tuple(row[0] for row in rows),
        tuple(from_words(row[1:]) for row in rows),
    )


def _require_version(version: object) -> None:
    if version != VERSION:
        raise _Damaged(f"it has version {version!r}, and this program reads version {VERSION}")


def _checked(vectors: LiveVectors) -> LiveVectors:
    """The vectors, if they can be."""
    if vectors.per not in ("warp", "thread"):
        raise _Damaged(f"'{vectors.per}' is neither 'warp' nor 'thread'")
    if len(vectors.pcs) != len(vectors.vectors):
        raise _Damaged("it has another number of vectors than of program counters")
    if any(not 0 <= pc < _U32 for pc in vectors.pcs):
        raise _Damaged("a program counter has more than 32 bits")
    if any(bits < 0 or bits >> len(vectors.registers) for bits in vectors.vectors):
        raise _Damaged("a vector has a bit for a register that does not exist")
    return vectors
