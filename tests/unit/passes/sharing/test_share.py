"""What the passes for resource sharing have in common: their options, and the remark on virtual registers."""

from fractions import Fraction

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.base import Remark, WrongOption
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.sharing.share import check_options, required_share, transform_kernels

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r<4>;\n"


def test_the_percentage_as_a_fraction() -> None:
    assert required_share("p", "12.5") == Fraction(25, 2)


@pytest.mark.parametrize(
    ("share", "others", "code", "help"),
    [
        ("", "", "E301", "p:share=90"),
        ("", "order=late", "E301", "p:order=late:share=90"),
        ("-1", "", "E502", ""),
    ],
)
def test_a_wrong_percentage_names_its_option(share: str, others: str, code: str, help: str) -> None:
    with pytest.raises(WrongOption) as caught:
        required_share("p", share, others)
    (found,) = caught.value.diagnostics
    assert (caught.value.option, found.code) == ("share", code)
    assert (found.help or "").endswith(help)


def test_a_count_below_0_names_its_option() -> None:
    check_options("p", "50", registers=0)
    with pytest.raises(WrongOption, match="registers = -1 is less than 0") as caught:
        check_options("p", "50", scratchpad=4, registers=-1)
    assert caught.value.option == "registers"


def test_kernels_are_transformed_in_order_and_functions_are_not() -> None:
    text = ".version 7.0\n.target sm_70\n.entry b() { ret; }\n.func f() { ret; }\n.entry a() { ret; }\n"

    def transform(kernel: Function) -> tuple[list[TextEdit], list[Remark]]:
        return [TextEdit(kernel.start, kernel.start, "")], [Remark("p", kernel.name)]

    result = transform_kernels(parse(text), lambda before, after: (), transform)
    assert [remark.message for remark in result.remarks] == ["b", "a"]
    assert len(result.edits) == 2


@pytest.mark.parametrize(
    ("body", "registers", "is_reported"),
    [
        ("\tadd.u32 %r3, %r1, %r2;\n", 4, False),  # units 0 to 3: as physical as can be
        ("\tadd.u32 %r3, %r1, %r2;\n", 3, True),  # a thread of three has no unit 3
        ("\t.reg .b32 %f<4>;\n\tmov.u32 %r1, 1;\n\tmov.u32 %f1, %r1;\n\tmov.u32 %r2, %f1;\n", 4, False),
        ("\t.reg .b32 %f<4>;\n\tmov.u32 %r1, 1;\n\tmov.u32 %f1, 2;\n\tadd.u32 %r2, %f1, %r1;\n", 4, True),
    ],
)
@pytest.mark.parametrize("name", ["release-registers", "delay-first-use"])
def test_virtual_registers_are_reported(name: str, body: str, registers: int, is_reported: bool) -> None:
    """Of the last two kernels one has both values of unit 1 live at once."""
    text = f"{HEAD}{body}\tret;\n}}\n"
    result = rewrite(parse(text), f"{name}{{share=50,registers={registers}}}")
    said = [r.message for r in result.remarks if "not physical" in r.message]
    n = 8 if "%f" in body else 4
    expected = (
        f"its registers are not physical: {n} are declared, a thread takes {registers}, and {registers // 2} of these "
        "count as private; run allocate or compact before"
    )
    assert said == ([expected] if is_reported else [])


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("release-registers", "E301.*needs the sharing percentage"),
        ("release-scratchpad", "E301.*needs the sharing percentage"),
        ("release-registers{share=100}", "E502.*leaves a CTA no private part"),
        ("release-registers{share=x}", "E502.*is no number"),
        ("release-registers{share=50,registers=-1}", "E502.*less than 0"),
        ("release-scratchpad{share=50,scratchpad=-4}", "E502.*scratchpad = -4 is less than 0"),
    ],
)
def test_wrong_options(pipeline: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        rewrite(parse(f"{HEAD}\tret;\n}}\n"), pipeline)
