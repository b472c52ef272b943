"""Renames, and the reasons for refusing one."""

import pytest
from lsp_texts import PTX, PTXPLUS, at

from ptxtool.ir.edit import splice
from ptxtool.lsp.document import Document
from ptxtool.lsp.rename import Refused, rename


def renamed(text: str, words: str, inside: str, new: str) -> str:
    return splice(text, rename(Document("k.ptx", text), at(text, words, inside=inside), new))


def test_a_label() -> None:
    assert renamed(PTX, "bra LOOP", "LOOP", "AGAIN") == PTX.replace("LOOP", "AGAIN")


def test_a_function_and_a_variable_of_the_module() -> None:
    assert renamed(PTX, "twice, (", "twice", "double") == PTX.replace("twice", "double")
    assert renamed(PTX, "[total]", "total", "sum") == PTX.replace("total", "sum")


def test_an_inner_register_alone() -> None:
    new = renamed(PTX, "mov.u32 %r2, 5", "%r2", "%five")
    inner = PTX[at(PTX, "\t{\n") : at(PTX, "\t}\n")]
    assert new == PTX.replace(inner, inner.replace("%r2", "%five"))


def test_a_register_of_a_range_renames_the_range() -> None:
    new = renamed(PTX, "st.global.u32 [%rd1]", "%rd1", "%ptr1")
    assert new == PTX.replace("%rd<2>", "%ptr<2>").replace("%rd1", "%ptr1")
    with pytest.raises(Refused, match=r"end the new name with 1"):
        renamed(PTX, "st.global.u32 [%rd1]", "%rd1", "%pointer")


def test_ptxplus() -> None:
    assert renamed(PTXPLUS, "l0x10:", "l0x10", "again") == PTXPLUS.replace("l0x10", "again")


@pytest.mark.parametrize(
    ("words", "inside", "new"),
    [
        ("[cache]", "cache", "data"),  # a parameter has it
        ("[data]", "data", "cache"),  # the variable would hide it
        ("[total]", "total", "twice"),  # a function has it
        ("[total]", "total", "data"),  # the parameter would hide it in the kernel
        ("[cache]", "cache", "%tid"),  # means something already
        ("mov.u32 %r2, 5", "%r2", "%r1x y"),  # no name
        ("mov.u32 %r2, 5", "%r2", "9"),
        ("mov.u32 %r2, %tid.x", "%tid", "%x"),  # a special register
    ],
)
def test_refused(words: str, inside: str, new: str) -> None:
    with pytest.raises(Refused):
        renamed(PTX, words, inside, new)


def test_refused_where_an_inner_block_would_capture_it() -> None:
    # `%r2` of the block would catch the use of what is called `%q` outside
    text = (
        PTX.replace("\t.shared", "\t.reg .u32 %q;\n\tmov.u32 %q, 1;\n\t.shared")
        .replace("st.shared.u32 [cache], %r2", "st.shared.u32 [cache], %q")
        .replace("\t\t.reg .u32 %r2;", "\t\t.reg .u32 %w;")
        .replace("mov.u32 %r2, 5", "mov.u32 %w, 5")
    )
    with pytest.raises(Refused, match="would mean something else"):
        renamed(text, "mov.u32 %q, 1", "%q", "%w")


def test_refused_with_syntax_errors() -> None:
    with pytest.raises(Refused, match="syntax errors"):
        renamed(PTX.replace("mov.u32 %r2, 5;", "mov.u32 %r2, ;"), "bra LOOP", "LOOP", "X")
