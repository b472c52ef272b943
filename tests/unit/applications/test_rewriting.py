"""Passes over kernels of a loaded module: each by itself, with the module's variables."""

import struct
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.applications.rewriting import Rewriter
from ptxtool.base.diag import PtxError
from ptxtool.passes.context import CtaSize
from ptxtool.passes.syntax import read_stages
from ptxtool.results.applications import RewrittenKernel

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 calls = 0;
.const .align 4 .u32 step = 2;
.visible .entry add(.param .u64 .ptr .align 4 x)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	ld.const.u32 %r3, [step];
	add.u32 %r4, %r2, 5;
	mul.lo.u32 %r5, %r2, 7;
	mul.lo.u32 %r6, %r4, %r5;
	mad.lo.u32 %r7, %r6, %r3, %r5;
	add.u32 %r8, %r7, %r4;
	st.global.u32 [%rd3], %r8;
	atom.global.add.u32 %r1, [calls], 1;
	ret;
}
.visible .entry far(.param .u64 .ptr .align 4 x)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, 3;
	brx.idx %r1, table;
table: .branchtargets end;
end:
	ret;
}
"""


class Rewritten:
    """A machine with the module, and what its rewriter reports."""

    def __init__(self, pipeline: str):
        self.problems: list[tuple[str, str]] = []
        self.kernels: list[RewrittenKernel] = []
        self.machine = ptxsim.Machine(memory=1 << 20)
        self.module = self.machine.load(TEXT, "app.ptx")
        self.rewriter = Rewriter(read_stages(pipeline), self.machine, None, self._report, self.kernels.append)

    def _report(self, problem: PtxError, context: str) -> None:
        self.problems.append((problem.diagnostics[0].code, context))

    def of(self, name: str = "add", size: CtaSize | None = None) -> Any:
        return self.rewriter.kernel(self.module.kernels[name], size)

    def results(self, kernel: Any) -> list[int]:
        """What a kernel makes of 0 to 31."""
        x = self.machine.heap.malloc(128)
        self.machine.heap.write(x, np.arange(32, dtype=np.uint32))
        self.machine.run(kernel, 1, 32, parameters=struct.pack("<Q", x))
        return self.machine.heap.view(x, 128).view(np.uint32).tolist()


def test_a_kernel_is_rewritten_once_and_keeps_its_variables() -> None:
    it = Rewritten("allocate")
    original, kernel = it.module.kernels["add"], it.of()
    assert it.of(size=CtaSize(32)) is kernel is not original
    assert (
        it.results(original) == it.results(kernel) == [(k + 5) * 7 * k * 2 + 7 * k + k + 5 for k in range(32)]
    )
    it.module.write("step", np.uint32(0))
    assert it.results(kernel) == [7 * k + k + 5 for k in range(32)]
    assert it.module.read("calls") == struct.pack("<I", 96)
    assert "far" not in kernel.module.kernels
    (found,) = it.kernels
    assert (found.kernel, found.threads, found.refused) == ("add", 0, "")
    assert found.registers_after <= found.registers_before


def test_diagnostics_of_the_new_text_have_the_old_lines() -> None:
    kernel = Rewritten("reorder-decls").of("far")
    assert TEXT.splitlines()[kernel.function.source.line(kernel.function.start) - 1].startswith(
        ".visible .entry far"
    )


def test_a_pass_that_depends_on_the_size_of_ctas_runs_for_each() -> None:
    it = Rewritten("allocate,demote:count=1")
    original = it.module.kernels["add"]
    assert it.of() is original
    small, large = (it.of(size=CtaSize(threads)) for threads in (32, 64))
    assert it.of(size=CtaSize(32)) is small is not large
    assert it.results(small) == it.results(large) == it.results(original)
    assert [each.threads for each in it.kernels] == [32, 64]
    assert all(".shared" in each.function.source.text for each in (small, large))


def test_a_kernel_that_a_pass_refuses_runs_as_it_is() -> None:
    it = Rewritten("allocate:max-regs=2")
    assert it.of() is it.module.kernels["add"]
    assert it.of() is it.module.kernels["add"]
    assert it.problems == [("E301", "add runs as it is")]
    (found,) = it.kernels
    assert found.refused == "E301"
    assert found.registers_before == found.registers_after


def test_a_pass_with_nothing_to_do_loads_nothing() -> None:
    it = Rewritten("demote:registers=200")
    blocks = it.machine.heap.blocks()
    assert it.of(size=CtaSize(32)) is it.module.kernels["add"]
    assert it.machine.heap.blocks() == blocks
    assert [(each.registers_before == each.registers_after, each.refused) for each in it.kernels] == [
        (True, "")
    ]


def test_without_passes_kernels_stay() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    kernel = machine.load(TEXT).kernels["add"]
    rewriter = Rewriter((), machine, None, pytest.fail, pytest.fail)
    assert rewriter.kernel(kernel, CtaSize(32)) is kernel
