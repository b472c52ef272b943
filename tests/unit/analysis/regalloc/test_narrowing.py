"""narrowing: which 64-bit values need both words; the cases are worked by hand."""

from ptxtool.analysis.regalloc.narrowing import Demand, Narrowing, demand, narrowing
from ptxtool.isa.table import table
from ptxtool.parse import parse


def wide(body: str) -> set[str]:
    """The names of the registers that need 64 bits in a kernel of one register per name."""
    text = (
        f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n"
    )
    kernel = parse(text).kernels["k"]

    def long_register(name: str) -> str | None:
        register = kernel.registers.resolve(name, 0)
        return name if register is not None and register.bits == 64 else None

    demands = []
    for instruction in kernel.instructions:
        match = table().match(instruction.opcode.text, len(instruction.operands), False)
        assert match is not None
        demands.append(demand(instruction, match, long_register))
    return {str(value) for value in narrowing(demands).wide}


DECLARED = ".reg .b64 %a, %b, %c, %d; .reg .b32 %r, %s; .reg .f64 %x; .reg .pred %p;\n"


def test_addresses_need_their_low_word() -> None:
    body = "ld.param.u64 %a, [p]; mul.wide.s32 %b, %r, 4; add.s64 %c, %a, %b; ld.global.u32 %s, [%c+8];"
    assert wide(DECLARED + body) == set()


def test_what_is_stored_needs_both_and_so_does_what_it_is_made_of() -> None:
    body = "ld.param.u64 %a, [p]; add.s64 %b, %c, %d; shl.b64 %b, %b, 3; st.global.u64 [%a], %b;"
    assert wide(DECLARED + body) == {"%b", "%c", "%d"}


def test_a_comparison_a_division_and_a_shift_to_the_right_read_high_words() -> None:
    assert wide(DECLARED + "setp.lt.s64 %p, %a, %b;") == {"%a", "%b"}
    assert wide(DECLARED + "div.u64 %a, %b, %c;") == {"%b", "%c"}
    assert wide(DECLARED + "shr.u64 %a, %b, 3; cvt.u32.u64 %r, %a;") == {"%b"}
    assert wide(DECLARED + "mul.hi.u64 %a, %b, %c;") == {"%b", "%c"}


def test_products_sums_of_products_and_moves_pass_it_on() -> None:
    assert wide(DECLARED + "mad.lo.s64 %a, %b, %c, %d; st.global.u64 [%r], %a;") == {"%a", "%b", "%c", "%d"}
    assert wide(DECLARED + "mad.wide.u32 %a, %r, %s, %d; st.global.u64 [%r], %a;") == {"%a", "%d"}
    assert wide(DECLARED + "selp.b64 %a, %b, %c, %p; mov.u64 %d, %a; ld.global.u32 %r, [%d];") == set()


def test_a_conversion_to_32_bits_cuts_the_high_word_off() -> None:
    assert wide(DECLARED + "cvt.u32.u64 %r, %a;") == set()
    assert wide(DECLARED + "cvt.sat.u32.u64 %r, %a;") == {"%a"}
    assert wide(DECLARED + "cvt.rn.f64.s64 %x, %a;") == {"%a"}


def test_taking_a_value_apart_reads_all_of_it() -> None:
    assert wide(DECLARED + "mov.b64 {%r, %s}, %a;") == {"%a"}
    assert wide(DECLARED + "mov.b64 %a, {%r, %s}; st.global.u64 [%r], %a;") == {"%a"}


def test_floating_point_values_are_whole() -> None:
    assert wide(DECLARED + "add.f64 %x, %x, %x;") == {"%x"}


def test_the_first_that_asks_is_remembered() -> None:
    found = narrowing([Demand((), (("sum", "a"),)), Demand(("sum",)), Demand(("a",))])
    assert found == Narrowing({"sum": 1, "a": 2})
    found = narrowing([Demand((), (("sum", "a"),)), Demand(("sum",))])
    assert found.is_wide("a")
    assert found.wide["a"] == 1
