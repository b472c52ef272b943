"""Fat binaries as nvcc stores them, made by hand."""

import struct


def entry(
    data: bytes, *, kind: int = 1, target: int = 75, flags: int = 0x11, text_bytes: int = 0, packed: int = 0
) -> bytes:
    """An entry of a container: PTX by default. `text_bytes` and `packed` are of compressed texts."""
    body = data + bytes(-len(data) % 8)
    head = struct.pack("<HHIQIIHHIQQQ", kind, 0x101, 64, len(body), packed, 0, 0, 9, target, 0, flags, 0)
    return head + struct.pack("<Q", text_bytes) + body


def fat_binary(*entries: bytes) -> bytes:
    """A container of entries."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
