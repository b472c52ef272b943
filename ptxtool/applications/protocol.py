"""The simulator's end of the connection to an application; `runtime/protocol.h` describes the messages.

Numbers are little-endian, structures have no padding.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from socket import SCM_RIGHTS, SOL_SOCKET, socket


class Message(IntEnum):
    """What an application asks for."""

    HELLO = 1
    MALLOC = 2
    FREE = 3
    MODULE = 4
    KERNEL = 5
    VARIABLE = 6
    LAUNCH = 7
    OCCUPANCY = 8
    MISSING = 9
    REFUSED = 10
    RANGE = 11
    LIMIT = 12
    NEEDS = 13
    TEXTURE = 14
    UNTEXTURE = 15
    BIND = 20
    UNBIND = 21
    KERNELS = 22


class Error(IntEnum):
    """Codes of the CUDA runtime API that the simulator answers."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_FUNCTION = 98
    NO_KERNEL_IMAGE = 209
    INVALID_PTX = 218
    ILLEGAL_ADDRESS = 700
    OUT_OF_RESOURCES = 701
    TIMEOUT = 702
    ASSERT = 710
    STACK = 714
    MISALIGNED = 716
    LAUNCH_FAILURE = 719
    NOT_SUPPORTED = 801
    INVALID_CLUSTER_SIZE = 912


HEAD = struct.Struct("<II")
"""Of a request: its kind, the bytes after it."""
ANSWER = struct.Struct("<iI")
"""Of an answer: the error, the bytes after it."""
DEVICE = struct.Struct("<5Q12I")
NEEDS = struct.Struct("<4I3Q")
PARAMETER = struct.Struct("<II")
LAUNCH = struct.Struct("<I3I3II3IQ")
TEXTURE = struct.Struct("<5Q11I")
MOST_BYTES = 1 << 31
"""Of a request: a fat binary may be large, an endless one is none."""


class Gone(Exception):
    """The application's process has ended or closed the connection."""


@dataclass(frozen=True)
class Request:
    """What a process asks for: `kind` of `Message`, and its bytes."""

    kind: int
    data: bytes


def receive(connection: socket) -> Request:
    """The next request. Raises `Gone`."""
    kind, n_bytes = HEAD.unpack(_exactly(connection, HEAD.size))
    if n_bytes > MOST_BYTES:
        raise Gone
    return Request(kind, _exactly(connection, n_bytes))


def answer(connection: socket, error: int, data: bytes = b"", files: Iterable[int] = ()) -> None:
    """Answer a request, with file descriptors of the application's own. Raises `Gone`."""
    rest = memoryview(ANSWER.pack(error, len(data)) + data)
    rights = [(SOL_SOCKET, SCM_RIGHTS, struct.pack("<i", file)) for file in files]
    try:
        sent = connection.sendmsg([rest], rights)
        if sent < len(rest):
            connection.sendall(rest[sent:])
    except OSError:
        raise Gone from None


def is_gone(connection: socket) -> bool:
    """Whether the process at the other end has closed the connection; takes nothing from it."""
    from socket import MSG_DONTWAIT, MSG_PEEK

    try:
        return connection.recv(1, MSG_PEEK | MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _exactly(connection: socket, n_bytes: int) -> bytes:
    data = bytearray(n_bytes)
    rest = memoryview(data)
    while rest:
        try:
            got = connection.recv_into(rest)
        except OSError:
            raise Gone from None
        if not got:
            raise Gone
        rest = rest[got:]
    return bytes(data)
