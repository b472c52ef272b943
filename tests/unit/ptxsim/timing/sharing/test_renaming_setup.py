"""Release by name on the host: sets of registers, and what is refused."""

import numpy as np
import pytest
from microkernels.measure import parsed

import ptxsim
from ptxsim.timing.sharing.renaming_setup import needs_of
from ptxtool.base.diag import PtxError

HEAD = """.version 4.0
.target sm_35
.address_size 64
"""
ENTRY = ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<80>;\n.reg .b64 %d<2>;\n"


def kernel(body: str, before: str = "") -> object:
    return parsed(f"{HEAD}{before}{ENTRY}{body}ret;\n}}\n")


def counts(sets: np.ndarray) -> list[int]:
    return [sum(int(word).bit_count() for word in row.view(np.uint64)) for row in sets]


def test_registers_count_by_their_width_and_predicates_not_at_all() -> None:
    found = needs_of(
        kernel(
            "ld.param.u64 %d0, [p];\nmov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%d0], %r1;\n"
        )
    )
    assert counts(found.written) == [2, 1, 0, 0, 0]
    assert counts(found.needed) == [0, 2, 3, 3, 0, 0]
    assert found.most == 3


def test_more_registers_than_a_word_has_bits() -> None:
    lines = [f"mov.u32 %r{k}, {k};\n" for k in range(70)] + [f"add.u32 %r70, %r{k}, 1;\n" for k in range(70)]
    found = needs_of(kernel("".join(lines)))
    assert found.needed.shape == (142, 2)
    assert counts(found.needed)[70] == 70
    assert found.most == 71


def test_a_register_that_a_guard_may_leave_as_it_was_is_needed_before() -> None:
    found = needs_of(kernel("mov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%d0], %r1;\n"))
    assert counts(found.needed)[1] == counts(found.needed)[2] == 3


def test_a_kernel_without_registers() -> None:
    assert needs_of(kernel("")).most == 0
    result = ptxsim.launch(kernel(""), 3, 32, [np.zeros(1)], scheme="release-by-name")  # type: ignore[arg-type]
    assert result.renaming is not None
    assert result.renaming.registers_most == 0


@pytest.mark.parametrize(
    ("body", "before", "options", "what"),
    [
        ("call f;\n", ".func f() { ret; }\n", {}, "functions that are called"),
        ("", "", {"share_registers": 50}, "sharing of registers or scratchpad"),
    ],
)
def test_what_is_excluded(body: str, before: str, options: dict[str, float], what: str) -> None:
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel(body, before), 1, 32, [np.zeros(1)], scheme="release-by-name", **options)  # type: ignore[arg-type]
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "E502",
        f"release by name (release-by-name) together with {what}: not simulated",
    )
