"""allocate: the text it gives, byte for byte where that is the point, and what it refuses."""

import re

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def kernel(body: str, params: str = ".param .u64 a") -> str:
    return f"{HEAD}.visible .entry k({params})\n{{\n{body}\tret;\n}}\n"


def allocated(text: str, options: str = "") -> str:
    return rewrite(parse(text, "k.ptx"), f"allocate{options}").module.source.text


def remarks(text: str, options: str = "") -> list[str]:
    return [str(r) for r in rewrite(parse(text, "k.ptx"), f"allocate{options}").remarks]


def refusal(text: str, options: str = "") -> str:
    with pytest.raises(PtxError) as caught:
        rewrite(parse(text, "k.ptx"), f"allocate{options}")
    return str(caught.value)


def test_names_say_places() -> None:
    """A pair, two words, a half: %rd0 is units 0 and 1, the words and the half live beside it."""
    before = kernel(
        "\t.reg .b64 %at;\n\t.reg .u32 x, y;\n\t.reg .u16 h;\n\t.reg .pred q;\n"
        "\tld.param.u64 %at, [a];\n\tmov.u32 x, %tid.x;\n\tadd.u32 y, x, 1;\n\tcvt.u16.u32 h, x;\n"
        "\tsetp.eq.u32 q, x, y;\n@q\tst.global.u16 [%at], h;\n"
    )
    after = kernel(
        "\t.reg .pred %p<1>;\n\t.reg .b16 %rs<5>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<1>;\n"
        "\tld.param.u64 %rd0, [a];\n\tmov.u32 %r2, %tid.x;\n\tadd.u32 %r3, %r2, 1;\n\tcvt.u16.u32 %rs4, %r2;\n"
        "\tsetp.eq.u32 %p0, %r2, %r3;\n@%p0\tst.global.u16 [%rd0], %rs4;\n"
    )
    assert allocated(before) == after


def test_a_name_inside_another_stays() -> None:
    """One instruction is renamed with its neighbours, one by itself: `$x` has two places."""
    before = kernel(
        "\t.reg .u32 $x, $y;\n\tmov.u32 $x, a$x;\n\tadd.u32 $y, $x, 1;\n\tmov.u32 $x, a$y;\n"
        "\tadd.u32 $y, $y, $x;\n\tst.shared.u32 [a$x+4], $y;\n"
    ).replace(".visible", ".shared .u32 a$x, a$y;\n.visible")
    after = allocated(before)
    assert [line.split(", ")[-1] for line in after.splitlines() if "mov" in line] == ["a$x;", "a$y;"]
    assert "[a$x+4]" in after


def test_everything_but_registers_stays() -> None:
    """Comments inside instructions, odd spacing, labels on the line, `.loc`, directives, an empty line."""
    before = kernel(
        "  .reg .u32 x, // the value\n\t  y;\n"
        "\t.loc 1 5 3\n"
        "\tmov.u32   x /* x */ , %tid.x;\t// not y\n"
        "\n"
        'L1: add.u32 y,x,x; L2:\t.pragma "nounroll";\n'
        "\tst.shared.u32 [x+4 /* y */], y;\n"
    )
    after = allocated(before)
    for kept in (
        "\t.loc 1 5 3\n",
        "\tmov.u32   %r0 /* x */ , %tid.x;\t// not y\n\nL1: add.u32 %r1,%r0,%r0; L2:\t.pragma",
        "\tst.shared.u32 [%r0+4 /* y */], %r1;\n",
    ):
        assert kept in after


def test_spills_stand_on_lines_of_their_own() -> None:
    """A label and the instruction after it share a line: what is inserted comes between them."""
    text = kernel(
        "\t.reg .b32 %r<6>;\n\tmov.u32 %r1, %clock;\n\tmov.u32 %r2, %clock;\n\tmov.u32 %r3, %clock;\n"
        "\tadd.u32 %r4, %r2, %r3;\nL:\tadd.u32 %r4, %r4, %r1;\n\tst.shared.u32 [0], %r4;\n"
    )
    after = allocated(text, "{max-regs=2}")
    assert re.search(
        r"^L:\tld\.local\.b32 (%r\d), \[__ptxtool_spill\];\n\s+add\.u32 %r\d, ", after, re.MULTILINE
    )
    assert re.search(
        r"^\tmov\.u32 (%r\d), %clock;\n\tst\.local\.b32 \[__ptxtool_spill\], \1;$", after, re.MULTILINE
    )
    assert "\t.local .align 16 .b8 __ptxtool_spill[4];\n" in after


CLOCKS = "".join(f"\tmov.u32 %r{k}, %clock;\n" for k in range(4)) + "".join(
    f"\tst.shared.u32 [{4 * k}], %r{k};\n" for k in range(4)
)


@pytest.mark.parametrize(
    "text",
    [
        kernel(f"\t.reg .b32 %r<4>;\n{CLOCKS}").replace(
            ".visible", ".global .u32 __ptxtool_spill[4];\n.visible"
        ),
        kernel(f"\t.reg .b32 %r<4>;\n\t.local .b32 __ptxtool_spill[4];\n{CLOCKS}"),
        kernel(f"\t.reg .b32 %r<4>;\n{CLOCKS}", ".param .u64 __ptxtool_spill"),
    ],
    ids=["module", "body", "parameter"],
)
def test_the_variable_of_spilled_values_has_a_name_of_its_own(text: str) -> None:
    assert "\t.local .align 16 .b8 __ptxtool_spill1[" in allocated(text, "{max-regs=3}")


def test_text_that_spills_may_be_allocated_again() -> None:
    once = allocated(kernel(f"\t.reg .b32 %r<4>;\n{CLOCKS}"), "{max-regs=3}")
    assert "st.local.b32 [__ptxtool_spill]" in once
    twice = allocated(once, "{max-regs=2}")
    assert "st.local.b32 [__ptxtool_spill]" in twice
    assert "st.local.b32 [__ptxtool_spill1]" in twice


def test_a_parameter_that_a_register_hides_in_a_block_keeps_its_name() -> None:
    """`a` is a register between the braces and the parameter outside of them."""
    before = kernel(
        "\t.reg .b64 at;\n\t.reg .b32 x;\n\tld.param.u64 at, [a];\n\t{\n\t\t.reg .b32 a;\n"
        "\t\tmov.u32 a, 7;\n\t\tadd.u32 x, a, a;\n\t}\n\tst.global.u32 [at], x;\n"
    )
    after = allocated(before)
    assert "\tld.param.u64 %rd0, [a];\n" in after
    assert "\t\tmov.u32 %r2, 7;\n\t\tadd.u32 %r2, %r2, %r2;\n" in after


def test_what_was_loaded_is_there_for_the_next_instruction() -> None:
    """The first value leaves for the three others, and is read three times in a row."""
    text = kernel(
        f"\t.reg .b32 %r<4>;\n{CLOCKS}\tst.shared.u32 [16], %r0;\n\tst.shared.u32 [20], %r0;\n".replace(
            "\tst.shared.u32 [0], %r0;\n", ""
        )
        + "\tst.shared.u32 [0], %r0;\n"
    )
    after = allocated(text, "{max-regs=3}")
    assert after.count("st.local") == after.count("ld.local") == 1


def test_scopes_lose_their_declarations() -> None:
    before = kernel(
        "\t.reg .b32 x;\n\tmov.u32 x, %tid.x;\n\t{\n\t\t.reg .b32 x, y;\n\t\tmov.u32 x, 7;\n"
        "\t\tadd.u32 y, x, x;\n\t\tst.shared.u32 [y], y;\n\t}\n\tst.shared.u32 [x], x;\n"
    )
    after = kernel(
        "\t.reg .b32 %r<2>;\n\tmov.u32 %r0, %tid.x;\n\t{\n\t\tmov.u32 %r1, 7;\n"
        "\t\tadd.u32 %r1, %r1, %r1;\n\t\tst.shared.u32 [%r1], %r1;\n\t}\n\tst.shared.u32 [%r0], %r0;\n"
    )
    assert allocated(before) == after


@pytest.mark.parametrize(
    ("outside", "inside", "prefix"),
    [
        (".shared .b32 %r1;\n", "", "%r_"),
        (".global .b32 %r0;\n", "", "%r_"),
        ("", "\t.local .b32 %r7;\n", "%r_"),
        ("", "\t.shared .b32 r1;\n", "%r"),
    ],
)
def test_names_of_variables_are_left_to_them(outside: str, inside: str, prefix: str) -> None:
    body = f"{inside}\t.reg .b32 x;\n\tmov.u32 x, %tid.x;\n\tst.shared.u32 [0], x;\n"
    after = allocated(kernel(body).replace(".visible", f"{outside}.visible"))
    assert f"\tmov.u32 {prefix}0, %tid.x;\n\tst.shared.u32 [0], {prefix}0;\n" in after


def test_parameters_keep_their_names() -> None:
    text = kernel("\t.reg .u32 x;\n\tld.param.u32 x, [%r0];\n\tst.shared.u32 [0], x;\n", ".param .u32 %r0")
    assert "\tld.param.u32 %r_0, [%r0];\n" in allocated(text)


FUNCTION = f"""{HEAD}
.func (.reg .b32 %r0) f (.reg .b32 %r1)
{{
	.reg .b32 x;
	add.u32 x, %r1, 1;
	mul.lo.u32 %r0, x, %r1;
	ret;
}}
"""


def test_registers_of_a_head_keep_their_names() -> None:
    after = allocated(FUNCTION)
    assert ".func (.reg .b32 %r0) f (.reg .b32 %r1)\n" in after
    assert "\tadd.u32 %r_0, %r1, 1;\n\tmul.lo.u32 %r0, %r_0, %r1;\n" in after
    assert remarks(FUNCTION) == ["allocate: f: 3 registers in 3 (line 5)"]


def test_superfluous_copies_go() -> None:
    text = kernel(
        "\t.reg .b32 %r<4>;\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %r1; // away\n\tst.shared.u32 [0], %r2;\n"
        "\tmov.u32 %r3, %r2;\n\tst.shared.u32 [4], %r3;\n"
    )
    after = allocated(text)
    assert "\tmov.u32 %r0, %tid.x;\n" in after
    assert "mov.u32 %r0, %r0" not in after
    assert remarks(text) == ["allocate: k: 3 registers in 1; 2 copies dropped (line 4)"]


def test_a_value_read_and_its_successor_written_under_one_name() -> None:
    """%r1 is two values in one instruction."""
    text = kernel(
        "\t.reg .b32 %r<4>;\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %tid.y;\n\tadd.u32 %r1, %r1, %r2;\n"
        "\tst.shared.v2.u32 [0], {%r1, %r2};\n"
    )
    after = allocated(text)
    assert "\tadd.u32 %r0, %r0, %r1;\n\tst.shared.v2.u32 [0], {%r0, %r1};\n" in after


def test_constants_are_computed_where_they_are_read() -> None:
    text = kernel(
        "\t.reg .b64 %d1;\n\t.reg .b32 %r<5>;\n\tld.param.u64 %d1, [a];\n\tld.global.v2.u32 {%r1, %r2}, [%d1];\n"
        "\tadd.u32 %r3, %r1, %r2;\n\tadd.u32 %r4, %r3, %r1;\n\tadd.u32 %r4, %r4, %r2;\n\tadd.u32 %r4, %r4, %r3;\n"
        "\tst.global.u32 [%d1], %r4;\n"
    )
    after = allocated(text, "{max-regs=4}")
    assert "local" not in after
    assert re.search(r"\n\tld\.param\.u64 %rd\d, \[a\];\n\tst\.global\.u32 \[%rd\d\], ", after)
    assert "1 constant computed where it is read" in remarks(text, "{max-regs=4}")[0]


@pytest.mark.parametrize(
    "text",
    [
        # the variable whose address it is cannot be seen where it would be computed anew
        kernel(
            "\t.reg .b64 %d<3>;\n\t.reg .b32 %r<6>;\n\t{\n\t\t.local .b32 cell;\n\t\tmov.u64 %d1, cell;\n"
            "\t\tst.local.u32 [%d1], 5;\n\t}\n"
            "\tmov.u32 %r1, %clock;\n\tmov.u32 %r2, %clock;\n\tmov.u32 %r3, %clock;\n\tmov.u32 %r4, %clock;\n"
            "\tadd.u32 %r5, %r1, %r2;\n\tadd.u32 %r5, %r5, %r3;\n\tadd.u32 %r5, %r5, %r4;\n"
            "\tst.local.u32 [%d1], %r5;\n"
        ),
        # another variable of that name hides it there
        kernel(
            "\t.reg .b64 %d<3>;\n\t.reg .b32 %r<6>;\n\t.local .b32 cell;\n\tmov.u64 %d1, cell;\n"
            "\tmov.u32 %r1, %clock;\n\tmov.u32 %r2, %clock;\n\tmov.u32 %r3, %clock;\n\tmov.u32 %r4, %clock;\n"
            "\tadd.u32 %r5, %r1, %r2;\n\tadd.u32 %r5, %r5, %r3;\n\tadd.u32 %r5, %r5, %r4;\n"
            "\t{\n\t\t.local .b32 cell;\n\t\tst.local.u32 [cell], %r5;\n\t\tst.local.u32 [%d1], %r5;\n\t}\n"
        ),
    ],
    ids=["out of sight", "hidden"],
)
def test_addresses_of_variables_mean_the_same_variable(text: str) -> None:
    """In four registers the address must leave them while the four values are live."""
    after = allocated(text, "{max-regs=4}")
    assert after.count("mov.u64") == 1
    assert "st.local.b64 [__ptxtool_spill" in after


def test_predicates_beyond_seven_become_words() -> None:
    n = 9
    body = f"\t.reg .pred q<{n}>;\n\t.reg .b32 x;\n\tmov.u32 x, %clock;\n"
    body += "".join(f"\tsetp.eq.u32 q{k}, x, {k};\n" for k in range(n))
    body += "".join(f"@q{k}\tadd.u32 x, x, {k};\n" for k in range(n)) + "\tst.shared.u32 [0], x;\n"
    after = allocated(kernel(body))
    assert "\t.reg .pred %p<7>;\n" in after
    words = re.findall(r"\n\tselp\.b32 (%r\d+), 1, 0, %p\d;", after)
    assert len(words) >= 2
    for word in words:
        assert re.search(rf"\n\t?setp\.ne\.b32 (%p\d), {word}, 0;\n\t?@\1\tadd", after)


# ---- what is refused


CROWD = kernel(
    "\t.reg .b32 %r<5>;\n\tmov.u32 %r1, %clock;\n\tmov.u32 %r2, %clock;\n\tmov.u32 %r3, %clock;\n"
    "\tadd.u32 %r4, %r1, %r2;\n\tadd.u32 %r4, %r4, %r3;\n\tst.shared.u32 [0], %r4;\n"
)


def test_refusals_name_the_least_that_works() -> None:
    what = refusal(CROWD, "{max-regs=1}")
    assert "k.ptx:4:1: error[E301]: 'k' does not fit into 1 register: it needs 2" in what
    assert "give 2 or more" in what
    allocated(CROWD, "{max-regs=2}")
    without = refusal(CROWD, "{max-regs=2,spill=none}")
    assert "'k' does not fit into 2 registers without spilling: it needs 3" in without
    allocated(CROWD, "{max-regs=3,spill=none}")


def crowded(n: int) -> str:
    """A kernel in which n registers are live at once, of which any may be spilled."""
    body = "".join(f"\tmov.u32 %r{i}, %clock;\n" for i in range(n))
    body += "".join(f"\tst.shared.u32 [0], %r{i};\n" for i in range(n))
    return kernel(f"\t.reg .b32 %r<{n}>;\n{body}")


def test_what_no_bound_holds_is_not_reported_to_give_more() -> None:
    what = refusal(crowded(300), "{spill=none}")
    assert "'k' does not fit into 255 registers without spilling: it needs 300" in what
    assert "no more than 255 can be given; 'spill=local' lets values spill" in what
    what = refusal(crowded(200), "{max-regs=9,spill=none}")
    assert "give 200 or more; 'spill=local' lets values spill" in what


def test_what_is_in_flight_at_once_may_be_more_than_can_be_given() -> None:
    body = ".reg .b32 %r<512>;\n"
    for first in (0, 128, 256):
        results = ",".join(f"%r{i}" for i in range(first, first + 128))
        body += f"tcgen05.ld.sync.aligned.32x32b.x128.b32 {{{results}}}, [0];\n"
    body += "tcgen05.wait::ld.sync.aligned;\n" + "".join(f"st.shared.u32 [0], %r{i};\n" for i in range(384))
    text = kernel(body).replace(HEAD, ".version 8.7\n.target sm_100a\n.address_size 64\n")
    for bound in ("{max-regs=9}", ""):
        what = refusal(text, bound)
        assert "registers: it needs 384" in what
        assert "no more than 255 can be given: split what needs so many at once" in what


WGMMA = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
	.reg .b32 %f<4>, %a<8>, %x<2>;
	.reg .b64 %d<4>;
	.reg .pred %p<2>;
	ld.shared.v4.b32 {%f0, %f1, %f2, %f3}, [0];
	ld.shared.v2.b64 {%d0, %d1}, [16];
	ld.shared.v2.b64 {%d2, %d3}, [32];
	LOAD
	setp.ne.b32 %p0, %f0, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, FIRST, %d1, %p0, 1, 1SCALES;
	wgmma.commit_group.sync.aligned;
	mov.u32 %x0, %clock;
	setp.ne.b32 %p1, %x0, 0;
	mov.u32 %x1, %clock;
	@%p1 st.shared.v2.b32 [64], {%x0, %x1};
	wgmma.wait_group.sync.aligned 0;
	st.shared.v4.b32 [0], {%f0, %f1, %f2, %f3};
	st.shared.v2.b64 [32], {%d2, %d3};
	ret;
}
"""


@pytest.mark.parametrize(
    ("first", "scales", "registers"),
    [
        ("%d0", ", 0, 0", 4 + 4 + 4),  # x0 and x1 in the place of a descriptor, which is read at once
        ("{%a0, %a1, %a2, %a3}", ", 0", 4 + 4 + 4 + 2),  # x0 and x1 in that of %d1, not of the matrix
    ],
)
def test_what_wgmma_holds_until_the_wait(first: str, scales: str, registers: int) -> None:
    load = "ld.shared.v4.b32 {%a0, %a1, %a2, %a3}, [48];" if "a" in first else ""
    text = WGMMA.replace("FIRST", first).replace("SCALES", scales).replace("LOAD", load)
    result = rewrite(parse(text, "k.ptx"), "compact")
    assert f"registers in {registers} and 1 predicate" in result.remarks[0].message


def test_every_function_that_does_not_fit_is_named() -> None:
    text = CROWD + CROWD.removeprefix(HEAD).replace("entry k(", "entry other(")
    what = refusal(text, "{max-regs=1}")
    assert "'k' does not fit" in what
    assert "'other' does not fit" in what


@pytest.mark.parametrize("number", [0, -3, 256])
def test_bounds_are_bounded(number: int) -> None:
    assert f"E301]: max-regs cannot be {number}" in refusal(CROWD, f"{{max-regs={number}}}")


def test_ptxplus_is_refused() -> None:
    text = ".version 1.4+\n.target sm_10\n.entry k ( .param .u32 n )\n{\n.reg .u32 $r<2>;\nexit;\n}\n"
    what = refusal(text)
    assert "E301]: allocate is for PTX" in what
    assert "compact renumbers them" in what


def test_registers_of_vector_type_are_refused() -> None:
    what = refusal(kernel("\t.reg .v4 .f32 %v;\n\tld.shared.v4.f32 %v, [0];\n"))
    assert "k.ptx:6:" in what
    assert "E301" in what


# ---- remarks


def test_a_remark_per_function() -> None:
    assert remarks(CROWD) == ["allocate: k: 4 registers in 3 (line 4)"]
    (remark,) = remarks(CROWD, "{max-regs=2}")
    assert re.fullmatch(
        r"allocate: k: 4 registers in 2; [12] values? spilled to [48] bytes of local memory \(line 4\)",
        remark,
    )


def test_debug_information_is_not_rewritten() -> None:
    text = CROWD + ".section .debug_info\n{\n.b8 0, 1\n}\n"
    assert "allocate: the debug information still names the registers as they were" in remarks(text)


def test_the_result_is_allocated_already() -> None:
    """Names that are places: a second run gives the same text."""
    once = allocated(CROWD)
    assert allocated(once) == once
