"""What a run says when an access stops it: the buffer or space, how far from it, and what to do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse

HEAD = """.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 x, .param .u32 n)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<8>;
	.reg .pred %p<2>;
	.shared .align 8 .b8 tile[64];
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	cvt.u64.u32 %rd2, %r2;
	mov.u32 %r1, %tid.x;
"""


def reported(body: str, n: int = 0, run: Callable[..., Any] = ptxsim.run, **options: Any) -> Diagnostic:
    """The diagnostic of two threads that run a body; `x` is a buffer of 32 bytes."""
    kernel = parse(f"{HEAD}{body}\nret;\n}}\n", "k.ptx").kernels["k"]
    with pytest.raises(PtxError) as problem:
        run(kernel, 1, 2, [np.zeros(8, np.uint32), n], **options)
    (found,) = problem.value.diagnostics
    return found


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
def test_behind_a_buffer(run: Callable[..., Any]) -> None:
    body = "add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];"
    found = reported(body, 40, run)
    assert found.code == "E404"
    assert "at address 0x10000028, 8 bytes after buffer 'x' (32 bytes), in 'ld.global.u32" in found.message
    assert "right after buffer 'mine' (32 bytes)" in reported(body, 32, run, names=["mine", "length"]).message
    assert found.help == "check the buffer sizes of the launch and the index"


def test_misaligned() -> None:
    found = reported("add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];", 6)
    assert found.code == "E405"
    assert "at address 0x10000006, byte 6 of buffer 'x' (32 bytes), in" in found.message


def test_no_buffer_at_all() -> None:
    assert "at address 0x8, where no buffer is, in 'ld.global" in reported("ld.global.u32 %r3, [8];").message


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
def test_shared_memory(run: Callable[..., Any]) -> None:
    found = reported("mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;", 64, run)
    assert "at address 0x40 in shared memory, which has 64 bytes, in 'st.shared.u32" in found.message
    assert "--dynamic-shared" in found.help


def test_shared_memory_under_checks() -> None:
    body = "mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;"
    kernel = parse(f"{HEAD}{body}\nret;\n}}\n", "k.ptx").kernels["k"]
    (found,) = ptxsim.run(kernel, 1, 1, [np.zeros(8, np.uint32), 64], check=("memory",)).problems
    assert found.message.endswith("writes 4 bytes at address 0x40 in shared memory, which has 64 bytes")
    assert "--dynamic-shared" in found.help


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        # which lane is in which space, and the bad one is the second
        ("%rd4", "%rd3", "8 bytes after buffer 'x' (32 bytes)"),
        ("%rd1", "%rd5", "address 0x48 in shared memory, which has 64 bytes"),
    ],
)
def test_generic_addresses_in_two_spaces(first: str, second: str, place: str) -> None:
    """%rd3: 40 bytes after the start of x; %rd4, %rd5: bytes 0 and 72 of shared memory."""
    body = f"""
	add.s64 %rd3, %rd1, 40;
	mov.u64 %rd4, tile;
	cvta.shared.u64 %rd4, %rd4;
	add.s64 %rd5, %rd4, 72;
	setp.eq.u32 %p1, %r1, 0;
	selp.b64 %rd6, {first}, {second}, %p1;
	ld.u32 %r3, [%rd6];"""
    found = reported(body)
    assert place in found.message
    assert found.message.endswith("thread (1,0,0)")


def test_one_name_for_each_argument() -> None:
    with pytest.raises(PtxError, match="1 names for 2 arguments"):
        ptxsim.run(parse(f"{HEAD}ret;\n}}\n").kernels["k"], 1, 1, [np.zeros(1), 0], names=["x"])


def test_a_result_shown_has_no_texts() -> None:
    kernel = parse(f"{HEAD}ld.global.u32 %r3, [%rd1+32];\nret;\n}}\n", "k.ptx").kernels["k"]
    result = ptxsim.run(kernel, 1, 1, [np.zeros(8, np.uint32), 0], check=("memory",))
    assert "right after buffer 'x'" in repr(result)
    assert ".reg" not in repr(result)


@pytest.mark.parametrize(
    ("check", "found"),
    [("all", 1), ("memory", 1), ("races, memory", 1), (["all"], 1), ("races,barriers", 0), ("", 0), ((), 0)],
)
def test_checks_by_names_or_as_a_text(check: Any, found: int) -> None:
    """Without the check of memory the access ends the run."""
    kernel = parse(f"{HEAD}ld.global.u32 %r3, [%rd1+32];\nret;\n}}\n", "k.ptx").kernels["k"]
    if found:
        assert len(ptxsim.run(kernel, 1, 1, [np.zeros(8, np.uint32), 0], check=check).problems) == found
    else:
        with pytest.raises(PtxError, match="E404"):
            ptxsim.run(kernel, 1, 1, [np.zeros(8, np.uint32), 0], check=check)


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (parse(f"{HEAD}ret;\n}}\n", "k.ptx"), "kernel is a whole module"),
        ("k", "kernel is 'k'"),
        (7, "kernel is of type int"),
    ],
)
def test_what_is_no_kernel(kernel: Any, message: str, run: Callable[..., Any]) -> None:
    with pytest.raises(PtxError) as problem:
        run(kernel, 1, 1, [])
    (found,) = problem.value.diagnostics
    assert found.message == message
    assert "kernels" in found.help


BRANCH = """
	T: .branchtargets A, B;
	add.u32 %r3, %r1, %r2;
	brx.idx %r3, T;
A:	ret;
B:	st.global.u32 [%rd1], %r3;
"""


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
def test_a_branch_index_outside_its_targets(run: Callable[..., Any]) -> None:
    """Thread 0 has n as its index, thread 1 has n + 1."""
    found = reported(BRANCH, 1, run)
    assert found.code == "E418"
    assert found.message.startswith("branch index 2 outside its 2 targets in 'brx.idx %r3, T;': kernel 'k'")
    assert "thread (1,0,0)" in found.message
    assert "branch index 4294967295 outside its 2 targets" in reported(BRANCH, 0xFFFFFFFF, run).message
    kernel = parse(f"{HEAD}{BRANCH}\nret;\n}}\n").kernels["k"]
    x = np.zeros(8, np.uint32)
    run(kernel, 1, 2, [x, 0])
    assert x[0] == 1
