"""Both ends of the connection agree: the header of the C library beside the numbers and structures here."""

import re
import socket
import struct

import pytest

from ptxtool.applications import protocol
from ptxtool.applications.library import RUNTIME
from ptxtool.applications.protocol import Gone, Message, answer, is_gone, receive

HEADER = (RUNTIME / "protocol.h").read_text(encoding="utf-8")
SIZES = {"uint32_t": 4, "uint64_t": 8}


def test_the_messages_are_those_of_the_header() -> None:
    found = {name: int(number) for name, number in re.findall(r"MESSAGE_(\w+) = (\d+)", HEADER)}
    assert found == {message.name: message.value for message in Message}


@pytest.mark.parametrize("name", ["device", "needs", "parameter", "launch", "texture"])
def test_the_structures_have_the_sizes_of_the_header(name: str) -> None:
    (body,) = re.findall(rf"struct {name}_record {{(.*?)}};", HEADER, re.DOTALL)
    n_bytes = 0
    for kind, names in re.findall(r"(uint\d+_t) ([^;]*);", body):
        for each in names.split(","):
            count = re.search(r"\[(\d+)\]", each)
            n_bytes += SIZES[kind] * (int(count[1]) if count else 1)
    assert getattr(protocol, name.upper()).size == n_bytes


def test_a_request_and_its_answer() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack("<II", 2, 3) + b"abc")
        request = receive(ours)
        assert (request.kind, request.data) == (Message.MALLOC, b"abc")
        answer(ours, 700, b"text")
        assert theirs.recv(100) == struct.pack("<iI", 700, 4) + b"text"


def test_the_end_of_the_other_side() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        assert not is_gone(ours)
        theirs.sendall(struct.pack("<II", 2, 300) + b"abc")
        assert not is_gone(ours)
        theirs.close()
        with pytest.raises(Gone):
            receive(ours)
        assert is_gone(ours)
        with pytest.raises(Gone):
            answer(ours, 0, bytes(100))


def test_an_endless_request_is_none() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack("<II", 2, 0xFFFF_FFFF))
        with pytest.raises(Gone):
            receive(ours)
