"""Every PTXPlus form in a timed run: what the reference computes, with every cycle stepped or skipped.

The scoreboard, the SIMT stack and the LDST unit see each form here; `test_compiled.py` sees the values alone.
"""

import numpy as np
import pytest
from form_kernels import LANES, batches, build, inputs
from instruction_forms import GROUPS, ON_PTXPLUS
from reference.interpreter import run_reference

import ptxsim

DIVERGENT = [
    # calls by some lanes, one call in another, returns by some lanes
    "@$p3 callp l1; add.u32 $r13, $r13, 0x00000007; bra l2; l1: add.u32 $r0, $r1, $r2;"
    " set.gt.u32.u32 $p1/$o127, $r2, $r1; @$p1.ne retp; add.u32 $r0, $r0, 0x00000005; callp l3;"
    " add.u32 $r0, $r0, 0x00000003; retp; l3: add.u32 $r13, $r13, 0x00000001; @$p3 retp;"
    " add.u32 $r13, $r13, 0x00000002; retp; l2: nop;",
    # a branch to the place where its lanes meet; a loop that lanes leave one after the other
    "set.gt.u32.u32 $p1/$o127, $r10, 0x00000005; @$p1.ne bra l1; @$p3 bra l1; mov.u32 $r0, 0x00000009;"
    " l1: add.u32 $r13, $r13, 0x00000001; and.b32 $r5, $r10, 0x00000007;"
    " set.lt.u32.u32 $p1/$o127, $r13, $r5; @$p1.ne bra l1;",
    # post-increments in a guarded store and a guarded load
    "add.u32 $ofs1, $ofs1, 0x40; @$p3 mov.u32 s[$ofs1+=0x0004], $r1; mov.u32 $r0, $ofs1;"
    " @!$p3 mov.u32 $r13, s[$ofs1+=0x0004]; add.u32 $r0, $r0, $ofs1; mov.u32 $r13, $r124;",
]


@pytest.mark.parametrize("body", ON_PTXPLUS + DIVERGENT)
def test_one_form(body: str) -> None:
    check([body], "b")


@pytest.mark.parametrize("name", [name for name, group in GROUPS.items() if group[0] and name != "ptxplus"])
def test_forms_together(name: str) -> None:
    _, bodies, kind, _, _ = GROUPS[name]
    for part in batches(bodies):
        check(part, kind)


def check(bodies: list[str], kind: str) -> None:
    kernel = build(True, bodies)
    expected = np.zeros((len(bodies), LANES), np.uint64)
    run_reference(kernel, 1, LANES, [inputs(kind), expected], dynamic_shared=2048)
    counters = []
    for event_skip in (True, False):
        found = np.zeros((len(bodies), LANES), np.uint64)
        result = ptxsim.launch(
            kernel, 1, LANES, [inputs(kind), found], dynamic_shared=2048, event_skip=event_skip
        )
        if kind == "b":
            assert np.array_equal(found, expected)
        counters.append(result.to_dict())
    assert counters[0] == counters[1]
