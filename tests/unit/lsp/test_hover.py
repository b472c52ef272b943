"""What hovering shows."""

from lsp_texts import PTX, PTXPLUS, at

from ptxtool.lsp.document import Document
from ptxtool.lsp.hover import hover


def shown(text: str, words: str, inside: str = "") -> str:
    found = hover(Document("k.ptx", text), at(text, words, inside=inside or words))
    return found.text if found else ""


def test_an_opcode_shows_its_form_first_and_the_versions() -> None:
    text = shown(PTX, "setp.lt.u32")
    assert text.startswith("```ptx\nsetp")
    assert "Other forms of `setp`" in text
    assert "PTX 4.2" in shown(PTX.replace("mov.u32 %r2, 5;", "add.f16 %r2, %r2, %r2;"), "add.f16")


def test_a_register_with_live_range_and_pressure() -> None:
    text = shown(PTX, "ld.param.u64 %rd1", "%rd1")
    # declared in line 17; written in 20; read in 33; live before every instruction from line 21 to 33
    assert "`.u64`" in text
    assert "declared in line 17" in text
    assert "defined: line 20" in text
    assert "used: line 33" in text
    assert "live before: lines 21-33" in text
    assert "here not live; pressure here: 0 32-bit registers" in text


def test_the_pressure_at_a_use() -> None:
    # before 'st.global.u32 [%rd1], %r3': %rd1 takes two, %r3 one
    assert "here live; pressure here: 3 32-bit registers" in shown(PTX, "[%rd1], %r3", "%rd1")


def test_other_names() -> None:
    assert "special register" in shown(PTX, "%tid.x", "%tid")
    assert ".shared .u32 cache[32];" in shown(PTX, "[cache]", "cache")
    assert ".func (.reg .u32 %out) twice" in shown(PTX, "twice, (", "twice")
    assert "**label** `LOOP`, used 1 time; line 23" in shown(PTX, "bra LOOP", "LOOP")
    assert shown(PTX, "\n\n") == ""


def test_an_unknown_opcode_and_ptxplus() -> None:
    assert "not in the instruction table" in shown(PTX.replace("mov.u32 %r2, 5", "frob %r2, 5"), "frob")
    assert "class general" in shown(PTXPLUS, "add.u32 $r2", "$r2")
