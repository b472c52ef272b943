"""Addresses in words: inside, after and before buffers and variables, and where nothing is near."""

import numpy as np
import pytest
from small_lowering import GPU, lowered
from small_lowering import kernel as parsed

from ptxsim.base.program import GLOBAL, SHARED
from ptxsim.lowering.lower import lower
from ptxsim.memory_image.address_names import describe, in_frame, variable_at
from ptxsim.memory_image.image import MemoryImage

VARIABLES = ".shared .align 16 .b8 one[20];\n.shared .align 16 .b8 two[4];\n"
BODY = "mov.u32 %r1, one; mov.u32 %r2, two; ret;"
KERNEL = parsed(BODY, before=VARIABLES)
PROGRAM = lower(KERNEL, GPU)
BUFFER = np.zeros(100, np.uint8)
IMAGE = MemoryImage.build(PROGRAM, KERNEL, GPU, [BUFFER, 5], warp_slots=1, dynamic_shared=16)
START = IMAGE.buffers[0][0]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (0, "byte 0 of buffer 'a' (100 bytes)"),
        (99, "byte 99 of buffer 'a' (100 bytes)"),
        (100, "right after buffer 'a' (100 bytes)"),
        (101, "1 byte after buffer 'a' (100 bytes)"),
        ((1 << 24) + 100, "16777216 bytes after buffer 'a' (100 bytes)"),
        ((1 << 24) + 101, f"address {START + (1 << 24) + 101:#x}, where no buffer is"),
    ],
)
def test_global_addresses(distance: int, expected: str) -> None:
    assert describe(PROGRAM, IMAGE, GLOBAL, START + distance) == expected


def test_an_address_below_global_memory_is_near_no_buffer() -> None:
    assert describe(PROGRAM, IMAGE, GLOBAL, 16) == "address 0x10, where no buffer is"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (19, "byte 19 of variable 'one' (20 bytes) in shared memory"),
        (24, "4 bytes after variable 'one' (20 bytes) in shared memory"),
        (32, "byte 0 of variable 'two' (4 bytes) in shared memory"),
        (40, "4 bytes after variable 'two' (4 bytes) in shared memory"),
        (64, "address 0x40 in shared memory, which has 52 bytes"),  # 36, and 16 of the launch
    ],
)
def test_shared_addresses(address: int, expected: str) -> None:
    assert describe(PROGRAM, IMAGE, SHARED, address) == expected


def test_the_variable_of_a_byte_of_shared_memory() -> None:
    assert [variable_at(PROGRAM, offset) for offset in (0, 19, 20, 32, 36)] == ["one", "one", "", "two", ""]


def test_local_addresses_are_those_of_the_executing_function() -> None:
    function = ".func f() { .local .b32 mine[2]; ret; }"
    program = lowered(".local .b32 own; call f; ret;", before=function)
    image = MemoryImage.build(program, program.positions[0][0], GPU, [BUFFER, 5], warp_slots=1)
    frame = program.layout.calls[0].caller_bytes
    assert in_frame(program, image, 0, 0, 2) == "byte 2 of variable 'own' (4 bytes) in local memory"
    at = program.texts.index("ret;", 2)
    assert in_frame(program, image, at, frame, frame + 5) == "byte 5 of variable 'mine' (8 bytes) of 'f'"
    above = in_frame(program, image, at, frame, frame + 20)
    assert above == f"byte {frame + 20} of the stack, 4 bytes above the variables of 'f'"
