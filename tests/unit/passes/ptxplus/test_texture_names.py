"""The textures that handles in registers surely are: those of variables and of the kernel's parameters."""

import pytest

from ptxtool.parse import parse
from ptxtool.passes.ptxplus.flatten import flatten
from ptxtool.passes.ptxplus.texture_names import texture_names

TEXT = """.version 7.0
.target sm_70
.address_size 64
.global .texref image;
.func f(.param .b64 f_t) { .reg .b64 %d<9>; ld.param.u64 %d8, [f_t]; ret; }
.entry k(.param .u64 t, .param .u64 u, .param .u64 out) {
.reg .b64 %d<9>; .reg .b32 %r<3>; .reg .pred %p<2>;
BODY
ret; }
"""
PARAMETERS = {"t": "k_t", "u": "k_u"}


def names(body: str) -> dict[str, str]:
    """The textures by the names of registers, those of `f` too."""
    module = parse(TEXT.replace("BODY", body))
    found = texture_names(flatten(module.kernels["k"])[0], {"image"}, PARAMETERS)
    registers = {0: module.functions["k"].registers, 1: module.functions["f"].registers}
    return {registers[key.owner][key.index].name: name for key, name in found.items() if key.owner >= 0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.param.u64 %d1, [t];", {"%d1": "k_t"}),
        ("ld.param.u64 %d1, [t+0]; mov.u64 %d2, %d1;", {"%d1": "k_t", "%d2": "k_t"}),
        ("mov.u64 %d1, image;", {"%d1": "image"}),
        ("ld.param.u64 %d1, [t]; ld.param.u64 %d2, [u];", {"%d1": "k_t", "%d2": "k_u"}),
        # the copy stands before what it copies: a loop
        ("L: mov.u64 %d2, %d1; ld.param.u64 %d1, [t]; @%p1 bra L;", {"%d1": "k_t", "%d2": "k_t"}),
        # any of two, a parameter that is no texture, an address of a parameter, a part of one, memory
        ("ld.param.u64 %d1, [t]; @%p1 ld.param.u64 %d1, [u];", {}),
        ("ld.param.u64 %d1, [out];", {}),
        ("mov.u64 %d1, t;", {}),
        ("ld.param.u64 %d1, [t+8];", {}),
        ("ld.global.u64 %d1, [%d2];", {}),
        ("selp.b64 %d1, %d2, %d3, %p1;", {}),
        # a register that only copies of itself write
        ("mov.u64 %d1, %d2; mov.u64 %d2, %d1;", {}),
    ],
)
def test_a_handle(body: str, expected: dict[str, str]) -> None:
    assert names(body) == expected


CALL = "{ .param .b64 a; st.param.b64 [a], %dN; call f, (a); }"


def test_an_argument_of_an_inlined_call() -> None:
    body = "ld.param.u64 %d1, [t]; " + CALL.replace("N", "1")
    assert names(body) == {"%d1": "k_t", "%d8": "k_t"}
