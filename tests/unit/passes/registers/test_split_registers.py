"""split-registers on text: sets, marks, remarks, refusals. What it computes: `tests/prop/test_split_registers.py`."""

import pytest
from ptxas import needs_ptxas, ptxas_errors

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize, PassContext
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.syntax import parse_pipeline

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def kernel(n: int, directives: str = "", after: str = "") -> str:
    """Two values that live throughout, and n - 2 that live between their loads and stores only."""
    loads = "".join(f"\tld.shared.u32 %r{k}, [s+{4 * k}];\n" for k in range(n))
    stores = "".join(f"\tst.shared.u32 [s+{4 * k}], %r{k};\n" for k in reversed(range(2, n)))
    last = "\tst.shared.u32 [s], %r0;\n\tst.shared.u32 [s+4], %r1;\n\tret;\n"
    declared = f"\t.reg .b32 %r<{n}>;\n\t.shared .b8 s[400];\n"
    return f"{HEAD}.entry k(){directives}\n{{\n{declared}{loads}{after}{stores}{last}}}\n"


def split(text: str, options: str, context: PassContext | None = None) -> tuple[str, str]:
    result = rewrite(parse(text, "k.ptx"), f"split-registers:{options}", context=context or PassContext())
    (remark,) = result.remarks
    return result.module.source.text, remark.message


def refusal(text: str, options: str = "base=4", context: PassContext | None = None) -> str:
    with pytest.raises(PtxError) as caught:
        split(text, options, context)
    return str(caught.value)


def test_the_marks_of_a_region() -> None:
    """Instruction 3 loads the fourth value, and only instruction 7 is left with three."""
    text, message = split(kernel(5), "base=3")
    assert (
        message
        == "3 registers in the base set, 2 extended, held at 4 of 11 instructions, acquired before line 11"
    )
    assert text == kernel(5).replace(
        "\tld.shared.u32 %r3", '\t.pragma "acquire-extended-registers";\n\tld.shared.u32 %r3'
    ).replace("\tst.shared.u32 [s+8]", '\t.pragma "release-extended-registers";\n\tst.shared.u32 [s+8]')


def test_nothing_to_do() -> None:
    for options in ("base=5", "base=200"):
        assert split(kernel(5), options) == (kernel(5), "nothing to do: a thread needs 5 registers")


def test_a_base_set_that_a_barrier_makes_larger() -> None:
    text = kernel(6, after="\tbar.sync 0;\n")
    message = (
        "nothing to do: all registers are needed where none may be held, such as 'bar.sync 0;' in line 14"
    )
    assert split(text, "base=3") == (text, message)
    later = text.replace("\tbar.sync 0;\n", "").replace(
        "\tst.shared.u32 [s+12]", "\tbar.sync 0;\n\tst.shared.u32 [s+12]"
    )
    assert split(later, "base=3")[1] == (
        "4 registers in the base set, 2 extended, held at 4 of 14 instructions, acquired before line 12; base=3 is too "
        "small at 'bar.sync 0;' in line 16, where none may be held"
    )


def test_the_base_set_with_the_most_ctas() -> None:
    """Of 65536 registers 18415 are the pool. CTAs of 256 threads with 64 registers are 4; with 42, 35% fewer, of which
    48 are allocated, 47121 / (256 * 48) are 3. With 84 (allocated 88) they are 2; with 54 (allocated 56) 3."""
    gpu = load_gpu("gtx980-finereg")
    context = PassContext(gpu, {"k": CtaSize(256)})
    text, message = split(kernel(64), "base=auto", context)
    assert (text, message) == (
        kernel(64),
        "nothing to do: no base set brings another CTA than the 4 on an SM of gtx980-finereg",
    )
    text, message = split(kernel(84), "threads=256", context)
    assert message.endswith("; 2 -> 3 CTAs on an SM of gtx980-finereg, 19 sections")
    assert message.startswith("54 registers in the base set, 30 extended")


def test_options() -> None:
    for options, what in (
        ("base=0", "base cannot be '0'"),
        ("base=many", "base cannot be 'many'"),
        ("gap=-1", "gap cannot be -1"),
        ("base=4:threads=3", "threads=3 with base=4"),
    ):
        with pytest.raises(PtxError) as caught:
            parse_pipeline(f"split-registers:{options}")
        assert what in str(caught.value)


def test_refusals() -> None:
    assert "its CTAs is unknown" in refusal(kernel(5), "base=auto", PassContext(load_gpu("gtx480")))
    assert "limits of an SM of '.target sm_1' are unknown" in refusal(
        kernel(5).replace("sm_70", "sm_1"), "base=auto"
    )
    again, _ = split(kernel(5), "base=3")
    assert "it has acquire or release marks" in refusal(again, "base=3")
    called = kernel(5, after="\tcall f;\n").replace(".entry", ".func f() { ret; }\n.entry")
    assert "it calls a function in line" in refusal(called)
    assert "it needs 300 registers, of 255" in refusal(kernel(300))
    plus = ".version 1.4+\n.target sm_10\n.entry k ( .param .u32 a )\n{\n.reg .u32 $r<3>;\nexit;\n}\n"
    assert "it is PTXPlus" in refusal(plus)


@needs_ptxas
def test_ptxas_reads_the_marks() -> None:
    text, _ = split(kernel(12), "base=5")
    assert not ptxas_errors(text, "sm_80")
