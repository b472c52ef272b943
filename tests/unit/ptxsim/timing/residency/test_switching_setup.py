"""CTA switching on the host: what it cannot be combined with, and which registers an eviction keeps."""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.switching import waiting_kernel
from waiting_ctas import one_place

import ptxsim
import ptxtool
from ptxsim.lowering.lower import lower
from ptxsim.timing.residency.switching_setup import live_rows, row_words
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import pressure_of
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

SCHEMES = ("virtual-thread", "reg-dram", "finereg")


def refused(text: str = "", **options: Any) -> str:
    kernel = ptxtool.parse(text or waiting_kernel(3), name="k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel, 2, 32, [np.zeros(64, np.uint32)], **options)
    (reported,) = caught.value.diagnostics
    assert reported.help
    return f"{reported.code}: {reported.message}"


def test_unknown_scheme() -> None:
    assert refused(switching="fine-reg") == "E502: no register scheme named 'fine-reg'"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_others(scheme: str) -> None:
    head = f"E502: CTA switching ({scheme}) together with "
    shared = refused(switching=scheme, share_registers=90)
    assert shared == head + "sharing of registers or scratchpad: not simulated"
    copies = waiting_kernel(3).replace("sm_35", "sm_80").replace(".version 4.0", ".version 7.0")
    copies = copies.replace("\tret;", "\tcp.async.wait_all;\n\tret;")
    assert refused(copies, switching=scheme) == head + "asynchronous copies: not simulated"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["switching.ctas=129"], "switching.ctas is 129"),
        (["switching.warps=1024"], "switching.warps is 1024"),
        (["switching.vector_entries=300"], "switching.vector_entries is 300"),
        (["switching.pcrf_entries=1025"], "are 65568 registers, of 65536"),
    ],
)
def test_options_that_cannot_be(settings: list[str], message: str) -> None:
    gpu = with_settings(load_gpu("gtx980-finereg"), settings)
    assert message in refused(gpu=gpu, switching="finereg")


def test_a_cta_that_does_not_fit() -> None:
    gpu = load_gpu("gtx980-finereg")
    # 32 lanes x 1104 registers, a multiple of 8, are more than 32768, and fewer than 65536
    assert "it needs 35328 registers of 32768" in refused(gpu=gpu, switching="finereg", registers=1100)
    few = with_settings(gpu, ["switching.warps=1"])
    kernel = ptxtool.parse(waiting_kernel(3)).kernels["k"]
    with pytest.raises(PtxError, match=r"a CTA of 2 warps where 1 may be resident"):
        ptxsim.launch(kernel, 2, 64, [np.zeros(128, np.uint32)], gpu=few, switching="finereg")


def test_live_registers_are_counted_in_words() -> None:
    """A 64-bit register takes two entries, a predicate none."""
    text = waiting_kernel(3).replace(
        "\tld.global.cg", "\t.reg .pred %p;\n\tsetp.eq.u32 %p, %r1, 7;\n\tmov.u64 %l3, 5;\n\tld.global.cg"
    )
    text = text.replace("\tst.global.u32", "\t@%p mov.u64 %l3, 6;\n\tcvt.u32.u64 %r70, %l3;\n\tst.global.u32")
    kernel = ptxtool.parse(text).kernels["k"]
    found = ptxsim.launch(
        kernel, 3, 32, [np.zeros(256, np.uint32)], gpu=one_place(), switching="finereg", registers=32
    )
    assert found.switching.pcrf_most == 3 + 2


def test_an_eviction_keeps_the_rows_of_live_registers_alone() -> None:
    text = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %l<1>;
	ld.param.u64 %l0, [p];
	mov.u32 %r1, 5;
	mov.u32 %r2, 6;
	st.global.u32 [%l0], %r1;
	ret;
}
"""
    kernel = ptxtool.parse(text).kernels["k"]
    program = lower(kernel, load_gpu("gtx980-finereg"), (32, 1, 1))
    vectors = live_rows(program)
    words32, words64 = row_words(program)
    rows = [int.from_bytes(row.tobytes(), "little") for row in vectors]
    register = {name: program.register_rows[k] for k, name in enumerate(program.register_names)}

    def keeps(i: int, name: str) -> bool:
        file, first, _ = register[name].tolist()
        return bool(rows[i] >> (first + (64 * words32 if file == 1 else 0)) & 1)

    # before each instruction: nothing; %l0; that and %r1; the same, for %r2 is never read; nothing; then all that is no
    # register's, and space
    assert [[keeps(i, name) for name in ("%l0", "%r1", "%r2")] for i in range(7)] == [
        [False, False, False],
        [True, False, False],
        [True, True, False],
        [True, True, False],
        [False, False, False],
        [False, False, False],
        [False, False, False],
    ]
    assert rows[5].bit_count() == 64 * (words32 + words64) - 3


@pytest.mark.parametrize("name", ["btree", "stencil", "nw1", "sgemm", "lavamd"])
def test_the_rows_of_live_registers_are_as_many_words(name: str) -> None:
    """A row of 64 bits is two words: together what `pressure` counts."""
    kernel = sample(name)[1]
    program = lower(kernel, load_gpu("gtx980-finereg"), (32, 1, 1))
    words32, _ = row_words(program)
    vectors = live_rows(program).view(np.uint64)
    found = [
        sum(int(word).bit_count() * (1 if j < words32 else 2) for j, word in enumerate(vector))
        for vector in vectors[:-2]
    ]
    assert tuple(found) == pressure_of(liveness(kernel)).curve
