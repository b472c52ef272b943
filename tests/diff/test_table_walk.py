"""The table walk: every row with a meaning, compiled semantics against the reference interpreter.

Instructions are made from the rows (form_text.py, walk_kernels.py): types, modifiers and optional operands in all or
many combinations, on edge values and random bits in 128 lanes. What such instructions do not show is shown by the
bodies of `test_compiled.py`: PTXPlus, generic addresses, which depend on where the windows are, instructions
across lanes. The last test counts, and prints what has no meaning (`pytest -s`).
"""

from functools import cache

import numpy as np
import pytest
from form_kernels import batches
from form_kernels import build as build_bodies
from instruction_forms import ATOMIC, GROUPS, MEMORY, WARP
from reference.interpreter import run_reference
from walk_kernels import LANES, Item, arguments, build, differences, items

from ptxsim import functional_run as functional
from ptxsim.lowering.builder import RULES
from ptxtool.base.diag import PtxError
from ptxtool.isa.forms import Form
from ptxtool.isa.table import table

WALKED = ("arithmetic", "logic", "conversion", "video", "memory")
PLACED = ("cvta", "isspacep", "mapa", "getctarank")
STACK = ("alloca", "stacksave", "stackrestore")  # of a function's frame: tests of their own
PER_FORM = 16
BATCH = 40
# the compiled code has other mathematical functions than numpy: last places, as docs/simulator.md says
APPROXIMATE = {"rsqrt": 1, "sin": 1, "cos": 1, "lg2": 1, "ex2": 1, "tanh": 1}
REFUSED = ("param::func",)
# families whose rows have tests of their own: flow, what a warp or block does together
ELSEWHERE = ("control", "warp", "tensor", "asynchronous", "texture")


def with_meaning(form: Form) -> bool:
    return form.sem in RULES


def is_walked(form: Form) -> bool:
    of_family = form.family in WALKED or form.sem in (
        "st",
        "red",
    )  # of asynchronous ones what is done at once
    return of_family and form.dialect != "ptxplus" and form.sem not in (*PLACED, *STACK)


def is_refused(item: Item) -> bool:
    """What is left to others: parameters of functions; and a vector without its elements."""
    if item.match.form.base == "st" and "param" in item.match.modifiers:
        return True
    if item.match.form.base == "mov" and item.match.n > 1 and item.text.count("{") < 2:
        return True
    return any(m in REFUSED for m in item.match.modifiers)


def rows() -> list[Form]:
    return [f for forms in table().forms.values() for f in forms]


def simulated(batch: list[Item]) -> tuple[list[Item], list[np.ndarray]]:
    """The items that can be simulated, and what a run of them leaves; only what `REFUSED` names may be refused."""
    left = [item for item in batch if not is_refused(item)]
    found = arguments(left)
    functional.run(build(left), (1,), (LANES,), found)
    return left, found


def compared(batch: list[Item], found: list[np.ndarray]) -> list[str]:
    """Run a batch as the reference does; a line per instruction whose results differ."""
    given = arguments(batch)
    run_reference(build(batch), (1,), (LANES,), given)
    lines = []
    for k, item in enumerate(batch):
        a, b = given[1][:, k], found[1][:, k]
        wrong = np.flatnonzero(differences(item, a, b, APPROXIMATE.get(item.match.form.sem, 0)))
        if wrong.size:
            lane = int(wrong[0])
            words = [[hex(int(v)) for v in r[lane, : len(item.results), 0]] for r in (a, b)]
            lines.append(
                f"{item.text} {wrong.size} lanes; lane {lane}: reference {words[0]}, compiled {words[1]}"
            )
    return lines


CASES = sorted({(f.family, f.base.split(".")[0]) for f in rows() if is_walked(f) and with_meaning(f)})


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_row_is_compared(family: str, name: str) -> None:
    walked = [f for f in rows() if f.family == family and f.base.split(".")[0] == name and is_walked(f)]
    walked = [f for f in walked if with_meaning(f)]
    batch = [item for form in walked for item in items(form, PER_FORM)]
    wrong: list[str] = []
    done: set[int] = set()
    for at in range(0, len(batch), BATCH):
        left, found = simulated(batch[at : at + BATCH])
        wrong += compared(left, found)
        done |= {id(item.match.form) for item in left}
    assert not wrong, "\n".join(wrong)
    assert [f"{f.base} {f.groups}" for f in walked if id(f) not in done] == []


@cache
def shown_by_bodies() -> frozenset[int]:
    """The rows of the instructions in the bodies that `test_compiled.py` runs."""
    found: set[int] = set()
    groups = [(group[0], group[1]) for group in GROUPS.values()]
    for is_ptxplus, bodies in [*groups, (False, MEMORY + ATOMIC + WARP)]:
        for part in batches(bodies):
            for instruction in build_bodies(is_ptxplus, part).instructions:
                match = table().match(instruction.opcode.text, len(instruction.operands), is_ptxplus)
                if match is not None:
                    found.add(id(match.form))
    return frozenset(found)


def test_no_row_is_left_out() -> None:
    """Rows with a meaning are compared, here or by bodies; the rest of the simulated families have none."""
    every = rows()
    meant = [f for f in every if with_meaning(f)]
    print(f"{len(meant)} of {len(every)} rows have a meaning; without one:")
    for name in sorted({f.base for f in every if not with_meaning(f)}):
        print(f"  {name}: {sum(f.base == name and not with_meaning(f) for f in every)}")
    left = [
        f
        for f in meant
        if not (is_walked(f) or f.family in ELSEWHERE or f.sem in STACK or id(f) in shown_by_bodies())
    ]
    assert sorted(f"{f.base} {f.dialect} {f.groups}" for f in left) == []


def test_what_is_refused_is_refused() -> None:
    """`REFUSED` hides nothing that could be simulated."""
    for word in REFUSED:
        named = [f for f in rows() if is_walked(f) and with_meaning(f)]
        item = next(i for f in named for i in items(f, 400) if word in i.match.modifiers)
        with pytest.raises(PtxError, match="E403"):
            functional.run(build([item]), (1,), (LANES,), arguments([item]))
