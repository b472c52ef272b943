"""The difference of kernels: renamings, changes, moves, heads and figures, each worked out by hand."""

from pathlib import Path

import pytest
from conftest import corpus_files

from ptxtool.analysis.compare.difference import MEASURES, Difference, difference, text_of
from ptxtool.analysis.compare.figures import Figures
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;"


def kernel(body: str, head: str = ".entry k()", registers: str = REGISTERS) -> Function:
    return parse(f"{HEAD}{head}\n{{ {registers}\n{body}\n}}\n").functions["k"]


def compare(before: str, after: str, exact: bool = False) -> Difference:
    return difference(kernel(before), kernel(after), exact)


def changes(found: Difference) -> list[tuple[str, str, str]]:
    """Every step that is not the same: its kind, the text before, the text after."""
    sides = (found.before.kernel, found.after.kernel)
    return [
        (
            s.kind,
            *("" if c is None else text_of(k, c) for k, c in zip(sides, (s.before, s.after), strict=True)),
        )
        for s in found.steps
        if s.kind != "same"
    ]


CODE = """
mov.u32 %r1, %tid.x;
add.s32 %r2, %r1, 1;
setp.lt.s32 %p1, %r2, %r1;
@%p1 bra DONE;
mul.lo.s32 %r3, %r2, %r1;
DONE:
st.global.u32 [%rd1], %r3;
ret;
"""


def test_a_kernel_is_the_same_as_itself() -> None:
    found = compare(CODE, CODE)
    assert found.is_same
    assert found.counts == {"same": 7, "changed": 0, "removed": 0, "added": 0}
    assert not any(map(found.is_worse, MEASURES))


def test_a_one_to_one_renaming_is_no_change() -> None:
    renamed = CODE.replace("%r1", "%rX").replace("%r2", "%r1").replace("%rX", "%r2").replace("DONE", "OUT")
    found = compare(CODE, renamed)
    assert changes(found) == []
    assert found.renamed == (("%r1", "%r2"), ("%r2", "%r1"))
    assert (found.removed, found.added) == ((), ())
    # the sequence numbers of both changed, the order of first use did too: r1 of the one is r2 of the other
    assert (found.renumbered, found.reordered) == (2, 0)
    assert not found.is_same
    assert len(changes(compare(CODE, renamed, exact=True))) == 6


def test_registers_that_became_one_are_a_change() -> None:
    found = compare(
        "add.s32 %r1, %r2, %r3;\nadd.s32 %r4, %r2, %r2;", "add.s32 %r1, %r2, %r2;\nadd.s32 %r4, %r2, %r2;"
    )
    assert changes(found) == [("changed", "add.s32 %r1, %r2, %r3;", "add.s32 %r1, %r2, %r2;")]
    assert found.removed == ("%r3",)


def test_one_other_operand_is_one_change() -> None:
    found = compare(CODE, CODE.replace("mul.lo.s32 %r3, %r2, %r1", "mul.lo.s32 %r3, %r1, %r1"))
    assert changes(found) == [("changed", "mul.lo.s32 %r3, %r2, %r1;", "mul.lo.s32 %r3, %r1, %r1;")]
    assert found.renamed == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add.s32 %r2, %r1, 1", "add.s32 %r2, %r1, 2"),
        ("add.s32 %r2, %r1, 1", "add.u32 %r2, %r1, 1"),
        ("@%p1 bra", "@!%p1 bra"),
        ("[%rd1]", "[%rd1+4]"),
        ("%tid.x", "%tid.y"),
    ],
)
def test_what_is_a_change(old: str, new: str) -> None:
    found = compare(CODE, CODE.replace(old, new))
    assert [kind for kind, *_ in changes(found)] == ["changed"]
    assert found.counts["changed"] == 1
    assert not found.is_same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r1, 1", "%r1,0x1"),
        ("add.s32 ", "add .s32\t"),
        ("DONE:", "DONE:\n.loc 1 2 3\n"),
        ("ret;", "UNUSED: ret;"),
    ],
)
def test_what_is_none(old: str, new: str) -> None:
    assert compare(CODE, CODE.replace(old, new)).is_same


def test_a_branch_to_another_place_is_a_change() -> None:
    two = "A: add.s32 %r1, %r1, 1;\nB: mul.lo.s32 %r1, %r1, 3;\n@%p1 bra A;\n@%p2 bra B;\n@%p3 bra A;\n"
    found = compare(two, two.replace("@%p3 bra A", "@%p3 bra B"))
    assert changes(found) == [("changed", "@%p3 bra A;", "@%p3 bra B;")]


def test_moved_instructions() -> None:
    lines = [f"add.s32 %r{k}, %r{k}, {k};" for k in range(1, 7)]
    moved = [*lines[1:], lines[0]]
    found = compare("\n".join(lines), "\n".join(moved))
    assert changes(found) == [("removed", lines[0], ""), ("added", "", lines[0])]
    assert found.moved == 1
    assert found.reordered == 6


def test_classes() -> None:
    found = compare(
        CODE, CODE.replace("mul.lo.s32 %r3, %r2, %r1;", "bar.sync 0;").replace("%r1, 1", "%r1, 2")
    )
    table = {c.name: (c.before, c.after, c.removed, c.added, c.changed) for c in found.classes}
    assert table["arithmetic"] == (2, 1, 1, 0, 1)
    assert sum(added for _, _, _, added, _ in table.values()) == 1


def test_heads() -> None:
    old = kernel("ret;", ".entry k(.param .u64 k_0, .param .align 4 .b8 k_1[8]) .maxntid 32")
    new = kernel("ret;", ".entry k(.param .u64 out, .param .align 4 .b8 k_1[12]) .minnctapersm 2")
    found = difference(old, new)
    assert found.head == (
        ("parameter 1: .param .align 4 .b8[8]", ".maxntid 32"),
        ("parameter 1: .param .align 4 .b8[12]", ".minnctapersm 2"),
    )
    assert not found.is_same


def test_parameters_are_known_by_their_place() -> None:
    old = kernel("ld.param.u64 %rd1, [k_0];", ".entry k(.param .u64 k_0, .param .u64 k_1)")
    new = kernel("ld.param.u64 %rd1, [out];", ".entry k(.param .u64 out, .param .u64 k_0)")
    assert difference(old, new).is_same
    other = kernel("ld.param.u64 %rd1, [k_0];", ".entry k(.param .u64 out, .param .u64 k_0)")
    assert difference(old, other).counts["changed"] == 1


def test_figures() -> None:
    text = f"""{HEAD}.shared .align 8 .b64 outer; .shared .b32 not_named; .extern .shared .b8 dynamic[];
    .entry k(.param .u32 n, .param .u64 at)
    {{
        .reg .pred %p<2>; .reg .b32 %r<4>; .reg .f64 %d<2>;
        .shared .align 16 .b8 tile[20]; .local .b32 spill[2][3];
        ld.param.u32 %r1, [n]; ld.shared.b64 %d1, [outer];
        setp.eq.s32 %p1, %r1, 0; @%p1 bra L; bar.sync 0; st.shared.f64 [tile], %d1;
        L: atom.shared.add.u32 %r2, [dynamic], %r1; ret;
    }}"""
    found = difference(*[parse(text).kernels["k"]] * 2).figures[0]
    assert found == Figures(
        instructions=8,
        loads=3,  # an atomic loads and stores too
        stores=2,
        atomics=1,
        branches=1,
        barriers=1,
        registers_declared=8,
        registers_used=4,
        live_registers=3,
        predicates_used=1,
        live_predicates=1,
        shared_bytes=36,  # outer 8, tile at 16
        local_bytes=24,
        param_bytes=16,  # n, padding, at
    )


def test_worse() -> None:
    found = compare(CODE, CODE.replace("ret;", "bar.sync 0;\nadd.s32 %r4, %r1, %r5;\nret;"))
    worse = [measure for measure in MEASURES if found.is_worse(measure)]
    assert worse == ["any", "instructions", "registers", "pressure", "barriers"]
    back = difference(found.after.kernel, found.before.kernel)
    assert [measure for measure in MEASURES if back.is_worse(measure)] == ["any"]
    assert found.values("instructions") == (7, 9)
    assert found.values("occupancy") is None


def test_plain_data_says_the_same() -> None:
    data = compare(CODE, CODE.replace("%r1, 1", "%r1, 2")).to_dict()
    assert data["changes"] == [
        {
            "kind": "changed",
            "before": {"line": 8, "text": "add.s32 %r2, %r1, 1;"},
            "after": {"line": 8, "text": "add.s32 %r2, %r1, 2;"},
        }
    ]
    assert data["instructions"] == {"same": 6, "changed": 1, "removed": 0, "added": 0, "moved": 0}


@pytest.mark.parametrize("path", corpus_files()[::3], ids=lambda p: p.name)
def test_renumbered_declarations_of_real_files(path: Path) -> None:
    """A pass that only renumbers registers leaves every statement the same, and the counts are its own."""
    module = parse(path.read_bytes(), path.name)
    after = rewrite(module, "unroll-decls,reorder-decls{order=text}").module
    for name, function in module.kernels.items():
        found = difference(function, after.kernels[name])
        assert found.counts == {"same": len(function.instructions), "changed": 0, "removed": 0, "added": 0}
        assert (found.renamed, found.removed, found.added, found.reordered) == ((), (), (), 0)
        assert found.figures[0] == found.figures[1]
