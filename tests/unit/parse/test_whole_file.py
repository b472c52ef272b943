"""The reference parser, Lark over a whole file: it reports the first error alone."""

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse_with_lark
from ptxtool.parse.operands import MAX_DEPTH


def error(text: str) -> Diagnostic:
    with pytest.raises(PtxError) as caught:
        parse_with_lark(text)
    (found,) = caught.value.diagnostics
    return found


def test_the_first_error_is_the_only_one() -> None:
    found = error(".entry k()\n{\nmov.u32 a b;\nmov.u32 c d;\n}\n")
    assert (found.code, found.line) == ("E101", 3)


def test_a_file_without_statements() -> None:
    assert error("// nothing\n").code == "E104"


def test_an_operand_that_nests_too_deeply() -> None:
    deep, deeper = ("(" * n + "1" + ")" * n for n in (MAX_DEPTH, MAX_DEPTH + 1))
    assert parse_with_lark(f".entry k() {{ mov.u32 a, {deep}; }}").kernels
    assert error(f".entry k() {{ mov.u32 a, {deeper}; }}").message == (
        f"an operand nests more than {MAX_DEPTH} levels deep"
    )


def test_the_version_says_which_dialect_is_read() -> None:
    kernel = ".entry k() { mov.u32 a, -{b, c}; }"
    assert parse_with_lark(f".version 1.4+\n{kernel}").is_ptxplus
    assert error(f".version 8.0\n{kernel}").code == "E101"
