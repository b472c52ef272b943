"""The per-statement parser: how it goes on after an error, and where it stops."""

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse
from ptxtool.parse.driver import MAX_ERRORS


def errors(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(PtxError) as caught:
        parse(text)
    return caught.value.diagnostics


def test_errors_of_both_kinds_are_found_in_one_run() -> None:
    text = ".entry k()\n{\nmov.u32 a b;\n}\n.golbal .u32 x;\n.entry j() { mov.u32 c d; }\n"
    assert [d.line for d in errors(text)] == [3, 5, 6]


def test_after_so_many_errors_it_stops() -> None:
    text = ".entry k() {\n" + "mov.u32 a b;\n" * (2 * MAX_ERRORS) + "}\n"
    assert len(errors(text)) == MAX_ERRORS


@pytest.mark.parametrize("text", ["", " \n// nothing\n", "/* nothing */"])
def test_a_file_without_statements(text: str) -> None:
    (found,) = errors(text)
    assert found.code == "E104"


def test_the_body_after_a_broken_head_is_read_as_a_body() -> None:
    (found,) = errors(".entry k(.param u32 n)\n{\nL: bra L;\nret;\n}\n")
    assert found.line == 1


def test_a_semicolon_before_a_body_is_one_error() -> None:
    (found,) = errors(".entry k();\n{\nret;\n}\n.entry j() { ret; }\n")
    assert (found.code, found.line) == ("E101", 2)
    (found,) = errors(".entry k() .maxntid 1;\n{\nret;\n}\n.entry j() { ret; }\n")
    assert (found.code, found.line) == ("E101", 1)  # no head without a body has directives


def test_a_declared_function_has_no_body() -> None:
    module = parse(".func f();\n.func g() { ret; }\n")
    assert [f.body is None for f in module.functions.values()] == [True, False]


def test_a_file_is_ptx_by_its_first_statement() -> None:
    """A minus before a vector is PTXPlus alone; without a version a file may be either."""
    kernel = ".entry k() { mov.u32 a, -{b, c}; }"
    assert parse(f"/* .version 8.0 */ .version 1.4+\n{kernel}").is_ptxplus
    assert parse(kernel).kernels
    assert errors(f"// c\n.version 8.0\n{kernel}")[0].code == "E101"
