"""Physical registers for every function of a module, and what is said where they do not fit."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.regalloc.placement import CAN_SPILL, Bounds, place_registers

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def function(n: int, name: str, n_predicates: int = 0) -> str:
    """A function in which n registers and so many predicates live at once."""
    body = "".join(f"mov.u32 %r{k}, %clock;\n" for k in range(n))
    body += "".join(f"setp.eq.u32 %p{k}, %r0, {k};\n" for k in range(n_predicates))
    body += "".join(f"st.shared.u32 [{4 * k}], %r{k};\n" for k in range(n))
    body += "".join(f"@%p{k} bar.sync 0;\n" for k in range(n_predicates))
    return f".func {name}()\n{{\n.reg .b32 %r<9>; .reg .pred %p<9>;\n{body}ret;\n}}\n"


def refusals(text: str, bounds: Bounds) -> list[tuple[int | None, str, str]]:
    with pytest.raises(PtxError) as caught:
        place_registers(parse(text), "p", bounds, "first-use")
    assert {d.code for d in caught.value.diagnostics} == {"E301"}
    return [(d.line, d.message, d.help or "") for d in caught.value.diagnostics]


def test_every_function_with_a_body_has_a_remark() -> None:
    text = HEAD + ".func g();\n" + function(2, "f") + function(3, "h", 1)
    result = place_registers(parse(text), "p", Bounds(), "first-use")
    assert [str(remark) for remark in result.remarks] == [
        "p: f: 2 registers in 2 (line 5)",
        "p: h: 4 registers in 3 and 1 predicate (line 14)",
    ]


def test_functions_without_registers_stay_as_they_are() -> None:
    result = place_registers(parse(HEAD + ".func f() { ret; }\n"), "p", Bounds(), "first-use")
    assert ([str(remark) for remark in result.remarks], result.edits) == (
        ["p: f: 0 registers in 0 (line 4)"],
        (),
    )
    with pytest.raises(PtxError) as caught:
        place_registers(parse(HEAD + ".func f() { bra L; }\n"), "p", Bounds(), "first-use")
    assert [d.code for d in caught.value.diagnostics] == ["E202"]


def test_every_function_that_does_not_fit_says_what_it_needs() -> None:
    text = HEAD + function(5, "f") + function(2, "g") + function(4, "h", 3)
    found = refusals(text, Bounds(3, 2, most=4, advice=CAN_SPILL))
    assert [message for _, message, _ in found] == [
        "'f' does not fit into 3 registers without spilling: it needs 5",
        "'h' does not fit into 3 registers and 2 predicates without spilling: it needs 4 and 3",
    ]
    assert found[0][2] == f"no more than 4 can be given; {CAN_SPILL}"
    assert found[1][2] == "'spill=local' keeps predicates in registers where there are too few"


def test_with_spilling_it_is_the_operands_of_one_instruction() -> None:
    text = (
        HEAD
        + ".func f()\n{\n.reg .b32 %r<5>;\nmov.u32 %r1, %clock;\nmov.u32 %r2, %clock;\nmov.u32 %r3, %clock;\n"
    )
    text += "mad.lo.u32 %r4, %r1, %r2, %r3;\nst.shared.u32 [0], %r4;\nret;\n}\n"
    assert refusals(text, Bounds(2, spill=True)) == [
        (4, "'f' does not fit into 2 registers: it needs 3", "give 3 or more")
    ]


@pytest.mark.parametrize(
    ("most", "least", "advice"),
    [(None, 9, "give 9 or more"), (8, 8, "give 8 or more"), (8, 9, "no more than 8 can be given")],
)
def test_the_advice_stays_within_what_can_be_given(most: int | None, least: int, advice: str) -> None:
    assert Bounds(most=most).give(least) == advice
