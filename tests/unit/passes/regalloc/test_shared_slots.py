"""Spill slots in shared memory: their addresses, the words of wide values, what is refused."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import splice
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize, PassContext
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.regalloc.allocate import Allocate

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
WORDS = "".join(f"\tmov.u32 %r{k}, %clock;\n" for k in range(4)) + "".join(
    f"\tst.global.u32 [{4 * k}], %r{k};\n" for k in range(4)
)
PAIRS = "".join(f"\tmov.u64 %rd{k}, %clock64;\n" for k in range(3)) + "".join(
    f"\tst.global.u64 [{8 * k}], %rd{k};\n" for k in range(3)
)


def kernel(body: str, head: str = "", before: str = "") -> str:
    registers = "\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n\t.reg .pred %p<4>;\n"
    return f"{HEAD}{before}.visible .entry k()\n{head}{{\n{registers}{body}\tret;\n}}\n"


def allocated(text: str, options: str) -> list[str]:
    after = rewrite(parse(text, "k.ptx"), f"allocate:spill=shared:{options}").module
    return [line.strip() for line in after.source.text.splitlines()]


def refusal(text: str, options: str) -> str:
    with pytest.raises(PtxError) as caught:
        rewrite(parse(text, "k.ptx"), f"allocate:spill=shared:{options}")
    return str(caught.value)


def test_one_value_of_one_dimension() -> None:
    """Three registers for four values: one is the address, two values are in registers; CTAs of 96 threads."""
    lines = allocated(kernel(WORDS, ".reqntid 96\n"), "max-regs=3")
    assert ".shared .align 4 .b8 __ptxtool_demoted[768];" in lines  # two words of each thread
    at = lines.index("mov.u32 %r0, %tid.x;")
    assert lines[at + 1 : at + 4] == [
        "shl.b32 %r0, %r0, 2;",
        "mov.u32 %r2, __ptxtool_demoted;",
        "add.u32 %r2, %r2, %r0;",
    ]
    spilled = [line for line in lines if ".shared.b32" in line]
    assert sorted(line.split("[")[1].split("]")[0] for line in spilled) == [
        "%r2",
        "%r2",
        "%r2+384",
        "%r2+384",
    ]


def test_any_number_of_dimensions() -> None:
    lines = allocated(kernel(WORDS), "max-regs=3:threads=64")
    assert ".maxntid 64" in lines
    at = lines.index("mov.u32 %r0, %tid.z;")
    assert lines[at + 1 : at + 5] == [
        "mov.u32 %r2, %ntid.y;",
        "mul.lo.u32 %r0, %r0, %r2;",
        "mov.u32 %r2, %tid.y;",
        "add.u32 %r0, %r0, %r2;",
    ]
    assert lines[at + 5 : at + 8 : 2] == ["mov.u32 %r2, %ntid.x;", "mov.u32 %r2, %tid.x;"]
    two = allocated(kernel(WORDS, ".reqntid 16, 4\n"), "max-regs=3")
    assert "mul.lo.u32 %r0, %r0, 16;" in two
    assert not [line for line in two if "tid.z" in line]


def test_a_pair_is_moved_word_by_word() -> None:
    """Five registers: the address is %r4, one pair stays in %rd0."""
    lines = allocated(kernel(PAIRS, ".reqntid 32\n"), "max-regs=5")
    at = next(k for k, line in enumerate(lines) if line.startswith("mov.b64 {"))
    assert lines[at : at + 3] == [
        "mov.b64 {%r2, %r3}, %rd1;",
        "st.shared.b32 [%r4], %r2;",
        "st.shared.b32 [%r4+128], %r3;",
    ]
    back = lines[at + 3 :]
    at = next(k for k, line in enumerate(back) if line.startswith("ld.shared"))
    assert [line.split()[0] for line in back[at : at + 3]] == ["ld.shared.b32", "ld.shared.b32", "mov.b64"]


def test_what_fits_needs_no_slots() -> None:
    text = kernel(WORDS, ".reqntid 96\n")
    shared, local = (
        rewrite(parse(text, "k.ptx"), f"allocate:max-regs=4:spill={where}").module.source.text
        for where in ("shared", "local")
    )
    assert shared == local


def test_called_functions_spill_to_local_memory() -> None:
    function = f".func f()\n{{\n\t.reg .b32 %r<8>;\n{WORDS}\tret;\n}}\n"
    lines = allocated(kernel(WORDS, ".reqntid 32\n", function), "max-regs=3")
    assert [line.split("[")[0] for line in lines if ".b8" in line] == [
        ".local .align 16 .b8 __ptxtool_spill",
        ".shared .align 4 .b8 __ptxtool_demoted",
    ]


def test_the_remark_has_the_bytes() -> None:
    found = rewrite(
        parse(kernel(WORDS, ".reqntid 96\n"), "k.ptx"), "allocate:max-regs=3:spill=shared"
    ).remarks
    assert "4 registers in 3; 2 values spilled to 768 bytes of shared memory (96 threads)" in str(found[0])


def test_a_wrong_slot_is_found() -> None:
    """The proof takes the words of different registers apart."""
    module = parse(kernel(WORDS, ".reqntid 96\n"), "k.ptx")
    result = Allocate(max_regs=3, spill="shared").run(module)
    text = splice(module.source.text, result.edits)
    assert result.claim(module, parse(text)) == ()
    for right, wrong in (("+384]", "]"), ("shl.b32 %r0, %r0, 2", "shl.b32 %r0, %r0, 1"), ("+384]", "+388]")):
        problems = result.claim(module, parse(text.replace(right, wrong, 1)))
        assert problems, wrong
        assert problems[0].code == "E303"


def test_refusals() -> None:
    assert "the size of its CTAs is unknown" in refusal(kernel(WORDS), "max-regs=3")
    assert "threads=32, but '.reqntid' allows 96" in refusal(
        kernel(WORDS, ".reqntid 96\n"), "max-regs=3:threads=32"
    )
    own = ".shared .b8 own[49000];\n"
    text = kernel(WORDS + "\tmov.u32 %r0, own;\n\tst.global.u32 [0], %r0;\n", ".reqntid 96\n", own)
    assert "768 bytes of slots beside 49000 of its own exceed the 49152 of a CTA" in refusal(
        text, "max-regs=3"
    )
    with pytest.raises(PtxError, match="threads=32 with spill=local"):
        Allocate(threads=32)
    with pytest.raises(PtxError, match="threads=-1 with spill=shared"):
        Allocate(spill="shared", threads=-1)
    what = refusal(kernel(PAIRS, ".reqntid 32\n"), "max-regs=2")
    assert "does not fit into 2 registers: it needs 3" in what


def test_the_threads_of_the_launch() -> None:
    """Those of a launch at hand, unless the kernel's head or the option says so."""
    context = PassContext(None, {"k": CtaSize(96, 0)})

    def remark(head: str, options: str) -> str:
        module = parse(kernel(WORDS, head), "k.ptx")
        return str(rewrite(module, f"allocate:spill=shared:max-regs=3{options}", context=context).remarks[0])

    assert "768 bytes of shared memory (96 threads)" in remark("", "")
    assert "1024 bytes of shared memory (128 threads)" in remark("", ":threads=128")
    assert "256 bytes of shared memory (32 threads)" in remark(".reqntid 32\n", "")
