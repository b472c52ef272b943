"""What liveness calls dead around every instruction form is dead: overwriting it changes no result.

A wrong def, kill or use of a form would show: a register called dead that the form reads, or called overwritten that
it keeps. The forms are those of `instruction_forms.py`, and 64-bit values that name only the first register of two.
"""

import numpy as np
import pytest
from form_kernels import LANES, batches, build, inputs
from instruction_forms import ATOMIC, GROUPS, MEMORY, WARP
from reference.interpreter import run_reference

from ptxsim import functional_run as functional
from ptxtool.analysis.flow.liveness import liveness

OUT = " mov.u32 $r0, $r14; mov.u32 $r13, $r15;"
PLAIN_PAIRS = [
    "add.ff64 $r14, $r4, $r6;" + OUT,
    "mul.ff64 $r14, $r4, -$r6;" + OUT,
    "fma.rz.ff64 $r14, $r4, {$r6,$r7}, $r8;" + OUT,
    "cvt.ff64.f32 $r14, $r4;" + OUT,
    "cvt.rz.s32.ff64 $r0, $r4;",
    "mov.bb64 $r14, $r4;" + OUT,
    "mov.bb64 s[$ofs1+0x0040], $r4; mov.bb64 $r14, s[$ofs1+0x0040];" + OUT,
    "st.shared.bb64 [$ofs1+0x0040], $r6; ld.shared.bb64 $r14, [$ofs1+0x0040];" + OUT,
    "mov.bb64 $r14, $r4; @$p3 add.ff64 $r14, $r6, $r8;" + OUT,
    "mov.bb64 $r14, $r4; mov.u32 $r15, $r7;" + OUT,
    "shl.b64 $r14, $r4, $r2;" + OUT,
]


def run(is_ptxplus: bool, bodies: list[str], kind: str, poison: bool) -> np.ndarray:
    kernel = build(is_ptxplus, bodies)
    result = np.zeros((len(bodies), LANES), np.uint64)
    run_reference(
        kernel,
        (1,),
        (LANES,),
        [inputs(kind), result],
        dynamic_shared=2048 if is_ptxplus else 0,
        poison=liveness(kernel) if poison else None,
    )
    return result


def check(is_ptxplus: bool, bodies: list[str], kind: str) -> None:
    with np.errstate(all="ignore"):
        expected, found = (run(is_ptxplus, bodies, kind, poison) for poison in (False, True))
    wrong = [body for k, body in enumerate(bodies) if not np.array_equal(expected[k], found[k])]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "part"),
    [(name, part) for name, group in GROUPS.items() for part in range(len(batches(group[1])))],
)
def test_every_form(name: str, part: int) -> None:
    is_ptxplus, bodies, kind, _, _ = GROUPS[name]
    check(is_ptxplus, batches(bodies)[part], kind)


@pytest.mark.parametrize("body", MEMORY + ATOMIC + WARP)
def test_memory_and_warps(body: str) -> None:
    check(False, [body], "b")


@pytest.mark.parametrize("body", PLAIN_PAIRS)
def test_pairs_named_by_their_first_register(body: str) -> None:
    check(True, [body], "f64")


@pytest.mark.parametrize("body", PLAIN_PAIRS)
def test_pairs_mean_the_same_compiled(body: str) -> None:
    kernel = build(True, [body])
    results = []
    for runner in (run_reference, functional.run):
        result = np.zeros((1, LANES), np.uint64)
        runner(kernel, (1,), (LANES,), [inputs("f64"), result], dynamic_shared=2048)
        results.append(result)
    a, b = (r.view(np.float64) for r in results)
    assert ((results[0] == results[1]) | (np.isnan(a) & np.isnan(b))).all()
