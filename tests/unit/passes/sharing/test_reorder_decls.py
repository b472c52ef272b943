"""reorder-decls: the order, its blocks, what it leaves alone and what it declines."""

from pathlib import Path

import pytest
from checkout import TESTS

from ptxtool.base.diag import PtxError
from ptxtool.formats.issue_counts import read_issue_counts
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

FIGURE_7 = TESTS / "cases" / "rewrite" / "figure_7.ptxplus"


def kernel(body: str) -> str:
    return f".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n{body}}}\n"


def reorder(body: str, order: str = "text") -> str:
    return rewrite(parse(kernel(body)), f"reorder-decls{{order={order}}}").module.source.text


def decline(body: str, order: str = "text") -> str:
    with pytest.raises(PtxError) as caught:
        reorder(body, order)
    assert [d.code for d in caught.value.diagnostics] == ["E301"]
    assert caught.value.diagnostics[0].help
    return str(caught.value)


def test_figure_7_of_the_paper() -> None:
    """Register sharing, section 5.2: the first instruction's registers have numbers 31, 35 and 36, then 1, 3 and 2."""
    before = parse(FIGURE_7.read_bytes())
    number = {r.name: r.sequence_number for r in before.kernels["mysgemmNT"].registers}
    assert (number["$p0"], number["$r124"], number["$o127"]) == (31, 35, 36)
    after = rewrite(before, "unroll-decls,reorder-decls{order=text}").module
    names = [r.name for r in after.kernels["mysgemmNT"].registers]
    assert names[:8] == ["$p0", "$o127", "$r124", "$r16", "$r17", "$r9", "$r18", "$r10"]
    number = {name: place for place, name in enumerate(names, 1)}
    assert (number["$p0"], number["$o127"], number["$r124"]) == (1, 2, 3)
    # the never-used ones keep their order after the used ones
    rest = [r.name for r in before.kernels["mysgemmNT"].registers if r.name not in names[:8]]
    assert names[8:] == rest


def test_used_registers_come_first_in_the_order_of_use() -> None:
    before = "\t.reg .b32 a;\n\t.reg .pred p;\n\t.reg .b32 b;\n\t.reg .b32 c;\n"
    code = "\tmov.u32 c, 1;\n\tsetp.eq.u32 p, c, b;\n\texit;\n"
    after = "\t.reg .b32 c;\n\t.reg .pred p;\n\t.reg .b32 b;\n\t.reg .b32 a;\n"
    assert reorder(before + code) == kernel(after + code)


def test_a_guard_is_used_before_the_operands() -> None:
    code = "\t@p mov.u32 b, a;\n\texit;\n"
    assert reorder("\t.reg .b32 a;\n\t.reg .b32 b;\n\t.reg .pred p;\n" + code) == kernel(
        "\t.reg .pred p;\n\t.reg .b32 b;\n\t.reg .b32 a;\n" + code
    )


def test_comments_between_declarations_stay_in_their_place() -> None:
    before = "\t// head\n\t.reg .b32 a; // first\n\t/* between */\n\t.reg .f32 b; // second\n"
    code = "\tmov.f32 b, 0f00000000;\n\tmov.u32 a, 1;\n\texit;\n"
    after = "\t// head\n\t.reg .f32 b; // first\n\t/* between */\n\t.reg .b32 a; // second\n"
    assert reorder(before + code) == kernel(after + code)


def test_order_cfg_follows_the_control_flow() -> None:
    # in the text, b is used in the block that is never entered first: a jump leads around it
    declarations = "\t.reg .b32 a;\n\t.reg .b32 b;\n\t.reg .b32 c;\n"
    code = "\tbra L2;\nL1:\n\tmov.u32 b, 1;\n\texit;\nL2:\n\tmov.u32 c, 1;\n\tbra L1;\n"
    text = "\t.reg .b32 b;\n\t.reg .b32 c;\n\t.reg .b32 a;\n"
    cfg = "\t.reg .b32 c;\n\t.reg .b32 b;\n\t.reg .b32 a;\n"
    assert reorder(declarations + code, "text") == kernel(text + code)
    assert reorder(declarations + code, "cfg") == kernel(cfg + code)


def test_every_block_is_sorted_by_itself() -> None:
    before = (
        "\t.reg .b32 a;\n\t.reg .b32 b;\n\tmov.u32 b, 1;\n"
        "\t{\n\t\t.reg .b32 x;\n\t\t.reg .b32 a;\n\t\tmov.u32 a, b;\n\t\tmov.u32 x, a;\n\t}\n"
        "\tmov.u32 a, 2;\n\texit;\n"
    )
    after = (
        "\t.reg .b32 b;\n\t.reg .b32 a;\n\tmov.u32 b, 1;\n"
        "\t{\n\t\t.reg .b32 a;\n\t\t.reg .b32 x;\n\t\tmov.u32 a, b;\n\t\tmov.u32 x, a;\n\t}\n"
        "\tmov.u32 a, 2;\n\texit;\n"
    )
    assert reorder(before) == kernel(after)


def test_variables_between_the_registers_stay() -> None:
    before = (
        "\t.reg .b32 a;\n\t.shared .b32 s[4];\n\t.reg .b32 b;\n\tmov.u32 b, 1;\n\tmov.u32 a, 1;\n\texit;\n"
    )
    after = (
        "\t.reg .b32 b;\n\t.shared .b32 s[4];\n\t.reg .b32 a;\n\tmov.u32 b, 1;\n\tmov.u32 a, 1;\n\texit;\n"
    )
    assert reorder(before) == kernel(after)


def test_a_declaration_of_nothing_stays() -> None:
    body = "\t.reg .b32 %a;\n\t.reg .u32;\n\t.reg .b32 %b;\n\tmov.b32 %b, 1;\n\tmov.b32 %a, %b;\n\tret;\n"
    assert [line.strip() for line in reorder(body).splitlines()[5:8]] == [
        ".reg .b32 %b;",
        ".reg .u32;",
        ".reg .b32 %a;",
    ]


def test_functions_are_left_alone() -> None:
    text = (
        kernel("\texit;\n") + ".func f()\n{\n\t.reg .b32 a, b;\n\tmov.u32 b, 1;\n\tmov.u32 a, b;\n\tret;\n}\n"
    )
    module = parse(text)
    assert rewrite(module, "reorder-decls").module is module


def test_packed_declarations_are_declined() -> None:
    reported = decline("\t.reg .b32 %r<4>;\n\tmov.u32 %r1, 1;\n\texit;\n")
    assert "'%r<4>' declares several" in reported
    assert "run unroll-decls first" in reported
    assert ":6:2:" in reported
    assert "'a, ...' declares several" in decline("\t.reg .b32 a, b;\n\texit;\n")


def test_declarations_between_instructions_move_where_nothing_changes() -> None:
    before = "\t.reg .b32 a;\n\t.reg .b32 b;\n\tmov.u32 b, 1;\n\t.reg .b32 c;\n\tmov.u32 c, b;\n\texit;\n"
    after = "\t.reg .b32 b;\n\t.reg .b32 c;\n\tmov.u32 b, 1;\n\t.reg .b32 a;\n\tmov.u32 c, b;\n\texit;\n"
    assert reorder(before) == kernel(after)


def test_a_declaration_that_would_move_behind_its_use_is_declined() -> None:
    # along the control flow d comes first, but b is declared, and used, before d in the text
    body = (
        "\t.reg .b32 b;\n\tbra L2;\nL1:\n\tmov.u32 b, 1;\n\texit;\n"
        "L2:\n\t.reg .b32 d;\n\tmov.u32 d, 1;\n\tbra L1;\n"
    )
    reported = decline(body, "cfg")
    assert "'b' is declared between instructions and cannot trade places with 'd'" in reported
    assert reorder(body, "text") == kernel(body)


def test_a_declaration_that_would_hide_an_outer_register_is_declined() -> None:
    inner = "\t\t.reg .b32 u;\n\t\tmov.u32 a, 1;\n\t\t.reg .b32 a;\n\t\tmov.u32 a, 2;\n"
    body = f"\t.reg .b32 a;\n\t{{\n{inner}\t}}\n\texit;\n"
    assert "'a' is declared between instructions" in decline(body)


def test_nothing_to_do_gives_the_same_module() -> None:
    module = parse(kernel("\t.reg .b32 a;\n\tmov.u32 a, 1;\n\texit;\n"))
    result = rewrite(module, "reorder-decls")
    assert result.module is module
    assert str(result) == "reorder-decls: nothing to do: every register stands in the order of first use"


def test_remarks_count_what_moved() -> None:
    body = "\t.reg .b32 a;\n\t.reg .b32 b;\n\t.reg .b32 c;\n\tmov.u32 b, 1;\n\tmov.u32 a, 1;\n\texit;\n"
    result = rewrite(parse(kernel(body)), "reorder-decls{order=text}")
    assert str(result) == "reorder-decls: k: 2 of 3 register declarations moved (line 6)"


LATE = (
    "\t.reg .pred %p;\n\t.reg .b32 %r1;\n\t.reg .b32 %r3;\n"
    "\t@%p bra B;\n\tmov.u32 %r1, 1;\n\tret;\nB:\n\tmov.u32 %r3, 1;\n\tmov.u32 %r3, 2;\n\tret;\n"
)


def late(body: str, options: str) -> tuple[str, str]:
    result = rewrite(parse(kernel(body)), f"reorder-decls{{order=late,{options}}}", read_issue_counts)
    return result.module.source.text, result.remarks[0].message


def test_late_serves_the_side_that_goes_further() -> None:
    """Two of four registers are private: %p, and %r3 rather than %r1."""
    after, remark = late(LATE, "share=50,registers=4")
    assert after == kernel(LATE.replace("%r1;", "%r;").replace("%r3;", "%r1;").replace("%r;", "%r3;"))
    assert remark == (
        "2 of 3 register declarations moved; with 2 private registers, 2.5 instructions expected before a shared one, "
        "the most there can be; 2 in the order of first use"
    )
    assert rewrite(parse(after), "reorder-decls{order=late,share=50,registers=4}").module.source.text == after


def test_late_by_the_counts_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"kernel": "k", "issues": [8, 8, 8, 0, 0, 0]}')
    assert late(LATE, f"share=50,registers=4,counts={path}")[0] == kernel(LATE)
    path.write_text('{"kernel": "other", "issues": []}')
    assert late(LATE, f"share=50,registers=4,counts={path}")[0] != kernel(LATE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "it is no JSON"),
        ("[]", "it has no 'issues'"),
        ('{"kernel": "k", "issues": [1]}', "it counts 1 instructions, and 'k' has 6"),
        ('{"kernel": "k", "issues": [1, 2, 3, 4, 5, 6, 7]}', "it counts 7 instructions, and 'k' has 6"),
        ('{"kernel": "k", "issues": [1, 2, 3, 4, 5, -6]}', "its 'issues' are no counts"),
    ],
)
def test_late_with_counts_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(PtxError, match="E502") as caught:
        late(LATE, f"share=50,registers=4,counts={path}")
    assert message in str(caught.value)
    with pytest.raises(PtxError, match="E501"):
        late(LATE, f"share=50,registers=4,counts={tmp_path / 'missing.json'}")


@pytest.mark.parametrize(
    "options", ["share=50", "registers=4", "counts=x", "order=cfg,share=50", "delay=true"]
)
def test_options_of_late_only(options: str) -> None:
    with pytest.raises(PtxError, match=r"E301.*has no use for"):
        rewrite(parse(kernel(LATE)), f"reorder-decls{{{options}}}")


def test_late_for_a_kernel_that_is_delayed_next() -> None:
    """One of two registers is private: %b, whose two instructions depend on nothing."""
    declared = "\t.reg .b32 %a;\n\t.reg .b32 %b;\n"
    code = "\tmov.u32 %a, 1;\n\tmov.u32 %b, 1;\n\tmov.u32 %b, 2;\n\tret;\n"
    assert late(declared + code, "share=50,registers=2")[0] == kernel(declared + code)
    swapped = "\t.reg .b32 %b;\n\t.reg .b32 %a;\n"
    assert late(declared + code, "share=50,registers=2,delay=true")[0] == kernel(swapped + code)


def test_late_needs_a_share() -> None:
    with pytest.raises(PtxError, match=r"E301.*needs the sharing percentage"):
        rewrite(parse(kernel(LATE)), "reorder-decls{order=late}")
