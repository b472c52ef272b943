"""layout-shared: the order, what it leaves alone and what it declines; its proof."""

import re

import pytest

from ptxtool.analysis.sharing.shared_span import SharedSpans
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
REGISTERS = "\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n"


def source(body: str, outside: str = "") -> str:
    return f"{HEAD}{outside}.visible .entry k()\n{{\n{body}}}\n"


def variables(*sizes: int) -> str:
    return "".join(f"\t.shared .align 4 .b8 v{k}[{size}];\n" for k, size in enumerate(sizes))


def store(*names: str) -> str:
    return "".join(f"\tst.shared.u32 [{name}], %r1;\n" for name in names)


def order(text: str) -> list[str]:
    return re.findall(r"\.shared [^;]*?(\w+)\[\d*\];", text)


def laid_out(text: str, options: str = "share=50") -> tuple[str, str]:
    result = rewrite(parse(text), f"layout-shared{{{options}}}")
    return result.module.source.text, result.remarks[0].message


def test_what_is_used_all_along_comes_first() -> None:
    text = source(variables(16, 16) + REGISTERS + store("v1", "v0", "v0", "v1") + "\tret;\n")
    after, remark = laid_out(text)
    assert order(after) == ["v1", "v0"]
    assert remark == "the shared part is needed for 2 instructions, not 4; it holds v0"
    assert rewrite(parse(after), "layout-shared{share=50}").module.source.text == after


def test_loops_count_ten_times() -> None:
    """v0 spans three instructions, v1 one in a loop of two."""
    loop = "L:\n" + store("v1") + "\t@%p1 bra L;\n"
    text = source(variables(16, 16) + REGISTERS + store("v0", "v0", "v0") + loop + "\tret;\n")
    spans = SharedSpans(parse(text).kernels["k"])
    assert [spans.span(["v0"]), spans.span(["v1"])] == pytest.approx([3, 20])
    assert order(laid_out(text)[0]) == ["v1", "v0"]


def test_what_lies_between_is_part_of_the_span() -> None:
    """Two variables together span from the first access of either to the last."""
    text = source(
        variables(16, 16)
        + REGISTERS
        + store("v0")
        + "\tadd.u32 %r1, %r1, 1;\n" * 5
        + store("v1")
        + "\tret;\n"
    )
    spans = SharedSpans(parse(text).kernels["k"])
    assert [spans.span(["v0"]), spans.span(["v1"]), spans.span(["v0", "v1"]), spans.span([])] == [1, 1, 7, 0]


def test_alignment_stays_and_no_byte_is_lost() -> None:
    """After v0 of 4 bytes v1 would begin at 16 in either order; 20 bytes must not become 32."""
    aligned = "\t.shared .align 16 .b8 v1[16];\n\t.shared .align 4 .b8 v0[4];\n"
    text = source(aligned + REGISTERS + store("v0", "v1", "v1", "v0") + "\tret;\n")
    after, remark = laid_out(text, "share=90")
    assert after == text
    assert remark.startswith("nothing to do: no order")


def test_a_larger_scratchpad_moves_the_boundary() -> None:
    """With 128 bytes per CTA 64 are private, and that is all there is."""
    text = source(variables(16, 16) + REGISTERS + store("v1", "v0", "v0", "v1") + "\tret;\n")
    assert laid_out(text, "share=50,scratchpad=128") == (
        text,
        "nothing to do: no variable reaches into the shared part",
    )


def test_dynamic_memory_stays_behind() -> None:
    outside = ".extern .shared .align 4 .b8 dyn[];\n"
    text = source(variables(16, 16) + REGISTERS + store("v1", "v0", "v0", "v1") + "\tret;\n", outside)
    assert order(laid_out(text)[0]) == ["dyn", "v1", "v0"]
    used = source(variables(16, 16) + REGISTERS + store("v1", "v0", "dyn", "v0", "v1") + "\tret;\n", outside)
    after, remark = laid_out(used)
    assert order(after) == ["dyn", "v1", "v0"]
    assert remark.endswith("it holds v0, dyn")


def test_many_variables() -> None:
    """Nine: those of one instruction each lie after, though the text has them in front."""
    code = store("v8", "v7", "v6") + store("v0", "v1", "v2", "v3", "v4", "v5") + store("v6", "v7", "v8")
    after, remark = laid_out(source(variables(*[8] * 9) + REGISTERS + code + "\tret;\n"), "share=60")
    assert set(order(after)[:3]) == {"v6", "v7", "v8"}
    assert remark.startswith("the shared part is needed for 6 instructions, not 12")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (source(variables(16) + REGISTERS + store("v0") + "\tret;\n"), "one variable with a size"),
        (source(REGISTERS + "\tret;\n"), "no variable with a size"),
        (
            source(
                variables(16, 16) + REGISTERS + store("v0", "v1") + "\tcall f;\n\tret;\n",
                ".func f() { .shared .b32 own; st.shared.b32 [own], 1; ret; }\n",
            ),
            "the kernel calls functions that have shared variables, or may have them",
        ),
        (
            source(REGISTERS + store("v1", "v0", "v1") + "\tret;\n", variables(16, 16))
            + source(REGISTERS + store("v0") + "\tret;\n").removeprefix(HEAD).replace("k()", "other()"),
            "'v0' of the module is used by 'other' too",
        ),
        (
            source(
                REGISTERS + "\tmov.u32 %r1, 1;\n" + variables(16, 16) + store("v1", "v0", "v1") + "\tret;\n"
            ),
            "a variable is declared between instructions or in an inner block",
        ),
    ],
)
def test_what_it_leaves_alone(text: str, reason: str) -> None:
    assert laid_out(text) == (text, f"nothing to do: {reason}")


def test_ptxplus_stays() -> None:
    text = ".version 1.4+\n.target sm_10\n.entry k ()\n{\n.shared .b32 a; .shared .b32 b;\nexit;\n}\n"
    after, remark = laid_out(text)
    assert after == text
    assert "names shared memory by number" in remark


def test_several_variables_in_one_declaration_are_declined() -> None:
    with pytest.raises(PtxError, match=r"E301.*one declares a, b"):
        laid_out(source("\t.shared .b32 a, b;\n" + REGISTERS + store("b", "a", "b") + "\tret;\n"))


def test_a_scratchpad_that_is_too_small() -> None:
    with pytest.raises(PtxError, match=r"E502.*less than the 32 bytes"):
        laid_out(
            source(variables(16, 16) + REGISTERS + store("v0", "v1") + "\tret;\n"), "share=50,scratchpad=8"
        )
