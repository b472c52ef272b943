"""Which layouts are known: what a kernel calls may put variables between its own."""

from fractions import Fraction

import pytest

from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.parse import parse

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.shared .b8 common[40];\n"
KERNEL = """.entry k()
{{
    .reg .b64 %d;
    .shared .b8 tile[100];
    st.shared.b32 [tile], 1;
    {call}
    ret;
}}
"""
PLAIN = ".func f() { ret; }\n"
OWN = ".func f() { .shared .b32 own; st.shared.b32 [own], 1; ret; }\n"
UNUSED = ".func f() { .shared .b32 own; ret; }\n"
COMMON = ".func f() { st.shared.b32 [common], 1; ret; }\n"


@pytest.mark.parametrize(
    ("functions", "call", "exact"),
    [
        ("", "", True),
        (PLAIN, "call f;", True),
        (UNUSED, "call f;", True),
        (OWN, "", True),  # nothing calls it
        (OWN, "call f;", False),
        (COMMON, "call f;", False),
        (".extern .func f();\n", "call f;", False),
        (PLAIN, "list: .calltargets f;\n    call %d, list;", False),
        (PLAIN + ".func g() { call f; ret; }\n", "call g;", True),
        (OWN + ".func g() { call f; ret; }\n", "call g;", False),
        (".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }\n", "call g;", True),
    ],
)
def test_layouts_of_kernels_that_call(functions: str, call: str, exact: bool) -> None:
    kernel = parse(HEAD + functions + KERNEL.format(call=call)).kernels["k"]
    layout = shared_layout(kernel)
    assert layout.exact == exact
    assert layout.boundary(Fraction(90)) == (10 if exact else 0)
