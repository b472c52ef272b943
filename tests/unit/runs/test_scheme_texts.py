"""The passes that register schemes need, by the kernels' texts."""

from pressured import pressured
from scalekernel import SCALE

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.ir.marks import ACQUIRE_EXTENDED, RELEASE_EXTENDED
from ptxtool.parse import parse
from ptxtool.runs.scheme_texts import scheme_passes

KERNEL = parse(pressured(), "pressured.ptx").kernels["pressured"]


def test_schemes_with_extended_registers_need_marks() -> None:
    for scheme in SCHEMES:
        needed = scheme_passes([KERNEL], scheme.name)
        assert needed == ("allocate,split-registers" if scheme.extended else "")
    assert scheme_passes([KERNEL], "mine.py:Mine") == ""


def test_a_text_with_marks_is_taken_as_it_is() -> None:
    load, add = "\tld.global.f32 %f30, [%rd4+30720];\n", "\tadd.f32 %f1, %f1, %f30;\n"
    text = pressured().replace(load, f'\t.pragma "{ACQUIRE_EXTENDED}";\n{load}')
    text = text.replace(add, f'{add}\t.pragma "{RELEASE_EXTENDED}";\n')
    assert text.count("extended-registers") == 2
    assert scheme_passes([parse(text, "split.ptx").kernels["pressured"]], "regmutex") == ""


def test_other_kernels_of_a_file_are_left_alone() -> None:
    """Those that are not launched: the size of their CTAs is unknown."""
    module = parse(pressured() + SCALE[SCALE.index(".visible") :], "two.ptx")
    kernels = module.kernels
    passes = scheme_passes([kernels["pressured"]], "regmutex")
    assert passes == "allocate,split-registers:kernel=pressured"
    both = scheme_passes([kernels["pressured"], kernels["scale"]], "regmutex")
    assert both == f"{passes},split-registers:kernel=scale"
