"""The table walk: every row with a meaning, compiled semantics against the reference interpreter.

Instructions are made from the rows (form_text.py, walk_kernels.py): types, modifiers and optional operands in all or
many combinations, on edge values and random bits in 128 lanes. Rows of PTXPlus, control flow and instructions across lanes
are compared by `test_compiled.py`; here is checked that some body there is of the row.
"""

import numpy as np
import pytest
from form_kernels import PTX, PTXPLUS
from instruction_forms import ATOMIC, GROUPS, MEMORY, WARP
from walk_kernels import LANES, Item, arguments, build, differences, items

from ptxsim.lowering.builder import RULES
from ptxsim.semantics import functional
from ptxsim.semantics.reference import run_reference
from ptxtool.base.diag import PtxError
from ptxtool.isa.forms import Form
from ptxtool.isa.table import table
from ptxtool.parse import parse

WALKED = ("arithmetic", "logic", "conversion", "video", "memory")
PER_FORM = 8
BATCH = 40
# the compiled code has other mathematical functions than numpy: last places, as docs/simulator.md says
APPROXIMATE = {"rsqrt": 1, "sin": 1, "cos": 1, "lg2": 1, "ex2": 1, "tanh": 1}
REFUSED = ("shared::cluster", "param::func")


def with_meaning(form: Form) -> bool:
    return form.sem in RULES


def rows(family: str) -> list[Form]:
    return [f for forms in table().forms.values() for f in forms if f.family == family]


def simulated(batch: list[Item]) -> tuple[list[Item], list[np.ndarray]]:
    """The items that can be simulated, and what a run of them leaves; others must be refused for a reason named here."""
    found = arguments(batch)
    try:
        functional.run(build(batch), (1,), (LANES,), found)
    except PtxError as problem:
        lines = [d.source.text[d.start : d.end] for d in problem.diagnostics if d.code == "E403" and d.source]
        refused = [item for item in batch if any(line.startswith(item.text[:-1]) for line in lines)]
        assert refused, problem
        assert all(any(m in REFUSED for m in item.match.modifiers) for item in refused), problem
        left = [item for item in batch if item not in refused]
        return simulated(left) if left else ([], [])
    return batch, found


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
            lines.append(f"{item.text} {wrong.size} lanes; lane {lane}: reference {words[0]}, compiled {words[1]}")
    return lines


CASES = [(family, name) for family in WALKED for name in sorted({f.base.split(".")[0] for f in rows(family)})]


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_row_is_compared(family: str, name: str) -> None:
    forms = [f for f in rows(family) if f.base.split(".")[0] == name and f.dialect != "ptxplus" and f.until is None]
    walked = [form for form in forms if with_meaning(form)]
    batch = [item for form in walked for item in items(form, PER_FORM)]
    wrong: list[str] = []
    done: set[int] = set()
    for at in range(0, len(batch), BATCH):
        left, found = simulated(batch[at : at + BATCH])
        wrong += compared(left, found) if left else []
        done |= {id(item.match.form) for item in left}
    assert wrong == []
    assert [f"{f.base} {f.groups}" for f in walked if id(f) not in done] == []
