"""The kernel that a name means, and what is said where it means none or several."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.kernel_names import kernel_named
from ptxtool.parse import parse

NAMES = ("_Z5nbodyIfLi4EEvP6float4", "_Z5nbodyIfLi8EEvP6float4", "_Z5scalePf", "plain")
MODULE = parse(
    ".version 7.0\n.target sm_70\n"
    + "\n".join(f".entry {name}() {{ ret; }}" for name in NAMES)
    + "\n.func f();"
)


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("nbody<float,4>", NAMES[0]),
        ("nbody<float, 8>(float4*)", NAMES[1]),
        ("scale", NAMES[2]),
        ("plain", NAMES[3]),
        (NAMES[1], NAMES[1]),
    ],
)
def test_a_kernel_by_its_name(name: str, symbol: str) -> None:
    assert kernel_named(MODULE, name).name == symbol


@pytest.mark.parametrize(
    ("name", "message", "help"),
    [
        ("nbody", "'nbody' means 2 kernels in '<string>'",
         "give more of the name: 'nbody<float, 4>(float4*)'; 'nbody<float, 8>(float4*)'"),
        ("nbdy", "kernel 'nbdy' is not in '<string>'",
         "did you mean 'nbody'? its kernels are nbody<float, 4>(float4*); nbody<float, 8>(float4*); scale(float*); "
         "plain"),
        (None, "several kernels in '<string>'",
         "its kernels are nbody<float, 4>(float4*); nbody<float, 8>(float4*); scale(float*); plain; "
         "name one (--kernel NAME)"),
        ("f", "kernel 'f' is without a body in '<string>'",
         "its kernels are nbody<float, 4>(float4*); nbody<float, 8>(float4*); scale(float*); plain"),
    ],
)  # fmt: skip
def test_what_is_said(name: str | None, message: str, help: str) -> None:
    with pytest.raises(PtxError) as caught:
        kernel_named(MODULE, name)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.help) == ("E205", message, help)
