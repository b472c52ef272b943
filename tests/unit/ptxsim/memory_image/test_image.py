"""The memory of a launch: arguments as bytes, arguments that do not fit their parameters, values of variables."""

from typing import Any

import numpy as np
import pytest
from small_lowering import GPU
from small_lowering import kernel as parsed

from ptxsim.lowering.lower import lower
from ptxsim.memory_image.image import MemoryImage
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def built(parameters: str, args: list[Any], before: str = "", **options: Any) -> MemoryImage:
    kernel = parse(f"{HEAD}{before}.entry k({parameters}) {{ ret; }}\n").kernels["k"]
    return MemoryImage.build(lower(kernel, GPU), kernel, GPU, args, warp_slots=1, **options)


def refused(parameters: str, args: list[Any], before: str = "", **options: Any) -> tuple[Diagnostic, ...]:
    with pytest.raises(PtxError) as caught:
        built(parameters, args, before, **options)
    assert {d.code for d in caught.value.diagnostics} == {"E401"}
    return tuple(caught.value.diagnostics)


def test_arguments_lie_at_the_alignment_of_their_parameters() -> None:
    parameters = ".param .u8 a, .param .f32 b, .param .s64 c, .param .f16 d, .param .b32 e, .param .b8 f[3]"
    image = built(parameters, [-1, 1.0, -2, 1.0, 2.0, b"abc"])
    data = image.param.tobytes()
    assert data[0] == 0xFF
    assert data[4:8].hex() == "0000803f"
    assert data[8:16] == b"\xfe" + b"\xff" * 7
    assert data[16:18].hex() == "003c"
    assert data[20:24].hex() == "00000040"  # bits without a type take a float as one
    assert data[24:27] == b"abc"


@pytest.mark.parametrize(
    ("parameter", "value", "reason"),
    [
        (".param .u32 a", 1 << 32, "4294967296 does not fit 32 bits"),
        (".param .u32 a", 1.5, "1.5 is no whole number"),
        (".param .u32 a", "1", "str is neither a number nor a numpy array"),
        (".param .f32 a", np.zeros(1, np.float32), "an array for a number"),
        (".param .u32 a", np.zeros(1, np.float32), "an array for a number"),  # of 64 bits are addresses
        (".param .u64 a", np.zeros(2, ">u4"), "an array in big-endian byte order"),
        (".param .u64 a", np.zeros((4, 4), np.uint32)[:, 1], "an array that is not C-contiguous"),
        (".param .u64 a", np.array(["x"]), "an array of <U1"),
        (".param .b8 a[4]", b"abc", "3 bytes for 4"),
        (".param .b8 a[4]", 5, "int for 4 bytes"),
    ],
)
def test_arguments_that_are_refused(parameter: str, value: Any, reason: str) -> None:
    (found,) = refused(parameter, [value])
    assert found.message.endswith(f": {reason}")


def test_a_read_only_array_is_refused() -> None:
    array = np.zeros(4, np.uint32)
    array.flags.writeable = False
    (found,) = refused(".param .u64 a", [array])
    assert found.message == "argument 1 for '.u64 a': an array that is read-only"


def test_every_wrong_argument_is_reported_and_their_number() -> None:
    found = refused(".param .u32 a, .param .u32 b, .param .u32 c", [0.5, 1, 0.25])
    assert [d.message[:10] for d in found] == ["argument 1", "argument 3"]
    (one,) = refused(".param .u32 a, .param .u32 b", [1])
    assert (one.message, one.help) == ("kernel 'k' takes 2 arguments, not 1", "its parameters are a, b")


def test_values_of_variables() -> None:
    before = ".const .b32 table[4];\n.global .b16 word;\n"
    given = {"table": np.array([5, 6], np.uint32), "word": np.uint16(7)}
    image = built("", [], before, constants=given)
    assert image.constants[:16].view(np.uint32).tolist() == [5, 6, 0, 0]
    assert image.arena[:2].view(np.uint16)[0] == 7
    for name, value, message in [
        ("tabel", np.zeros(1), "no module variable named 'tabel'"),
        ("table", np.zeros(5, np.uint32), "20 bytes for variable 'table' of 16 bytes"),
        ("table", [1, 2], "list for variable 'table'"),
    ]:
        (found,) = refused("", [], before, constants={name: value})
        assert found.message == message


def test_dynamic_shared_memory_comes_in_whole_words() -> None:
    kernel = parsed("ret;")
    image = MemoryImage.build(
        lower(kernel, GPU), kernel, GPU, [np.zeros(1, np.uint8), 1], warp_slots=1, dynamic_shared=5
    )
    assert len(image.shared_image) == 8
