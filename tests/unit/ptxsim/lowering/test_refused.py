"""What is refused before the first cycle: by name, by line, and with the reason of its row of the table."""

import numpy as np
import pytest
from three_ways import kernel_text

import ptxsim.lowering.lower  # noqa: F401 (it fills RULES)
from ptxsim import functional_run as functional
from ptxsim.lowering.builder import RULES
from ptxtool.base.diag import PtxError
from ptxtool.isa.table import table
from ptxtool.parse import parse


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("fence.proxy.generic::fabric.alias.acquire.sys;", "needs several GPUs"),
        (
            "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%r1}, [%r2];",
            "meaning unknown: where the elements of 4 bits lie",
        ),
    ],
)
def test_by_name(instruction: str, reason: str) -> None:
    kernel = parse(kernel_text(f"\n{instruction}\n"), "k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        functional.run(kernel, (1,), (32,), [np.zeros(32, np.uint32), np.zeros(32, np.uint32)])
    (problem,) = caught.value.diagnostics
    assert problem.code == "E403"
    assert problem.message.endswith(f"cannot be simulated: {reason}")
    assert f"'{instruction.split()[0].rstrip(';')}'" in problem.message
    assert "k.ptx:19:" in str(problem)


def test_a_row_has_a_rule_or_a_reason() -> None:
    forms = [form for forms in table().forms.values() for form in forms]
    wrong = [f"{f.base} {f.index}" for f in forms if (f.sem in RULES) == bool(f.refused)]
    assert not wrong, "\n".join(wrong)


def test_reasons_are_of_three_kinds() -> None:
    reasons = {form.refused for forms in table().forms.values() for form in forms} - {""}
    kinds = {reason.partition(":")[0] for reason in reasons}
    assert kinds == {"needs several GPUs", "meaning unknown", "not simulated"}
