"""What `.reqntid` and `.maxntid` say of a kernel's CTAs."""

import pytest

from ptxtool.ir.blocks import block_bound, block_problem, threads_problem
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.sema.module import check_module


def kernel(directive: str) -> Function:
    head = ".version 8.0\n.target sm_75\n.address_size 64\n"
    return parse(f"{head}.entry k()\n{directive}\n{{ ret; }}\n", "k.ptx").kernels["k"]


@pytest.mark.parametrize(
    ("directive", "extent"),
    [
        (".maxntid 64", (64, 1, 1)),
        (".maxntid 0x20, 2", (32, 2, 1)),
        (".reqntid 010, 2,0b11", (8, 2, 3)),
        (".minnctapersm 2 .maxntid 64U", (64, 1, 1)),
    ],
)
def test_numbers_are_read_as_the_language_writes_them(directive: str, extent: tuple[int, int, int]) -> None:
    """As C does: `0x20` is 32, `010` is 8."""
    k = kernel(directive)
    assert not check_module(k.module)
    bound = block_bound(k)
    assert bound is not None
    assert bound.extent == extent
    assert bound.is_exact == ("reqntid" in directive)
    assert block_problem(k, extent) is None


def test_a_kernel_that_says_nothing_takes_any_block() -> None:
    k = kernel(".minnctapersm 2")
    assert block_bound(k) is None
    assert block_problem(k, (1024,)) is None
    assert threads_problem(k, 7) is None


def test_reqntid_is_exact() -> None:
    k = kernel(".reqntid 16, 4")
    for block in ((16,), (4, 16), (64,), (16, 4, 2)):
        problem = block_problem(k, block)
        assert problem is not None
        assert problem.code == "E402"
        assert problem.help == "it takes CTAs of 16 x 4 x 1 threads and no others"
    assert threads_problem(k, 64) is None
    assert threads_problem(k, 63) is not None


def test_maxntid_bounds_the_product() -> None:
    k = kernel(".maxntid 16, 4")
    assert block_problem(k, (4, 16)) is None
    problem = block_problem(k, (5, 13))
    assert problem is not None
    assert problem.message == "block (5, 13, 1) against '.maxntid 16, 4' of kernel 'k'"
    assert problem.help == "it takes CTAs of at most 64 threads"
    assert threads_problem(k, 63) is None
    reported = threads_problem(k, 65)
    assert reported is not None
    assert reported.message == "65 threads per CTA against '.maxntid 16, 4' of kernel 'k'"


def test_numbers_that_bound_nothing() -> None:
    (problem,) = check_module(kernel(".maxnreg 0").module)
    assert problem.code == "E213"
    assert problem.message == "'.maxnreg 0' leaves nothing"
