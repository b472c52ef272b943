"""Runs of guarded items: which share a branch, and in which order the items of two texts are."""

from demoted_kernel import kernel, plus_text

from ptxtool.cfg.blocks import control_flow
from ptxtool.parse import parse
from ptxtool.validate.assignment.align import align
from ptxtool.validate.assignment.guarded_runs import BRANCH, GuardedRuns

STORE = "st.shared.b32 [%r6], %r7;"


def runs(old: str, new: str, kept: str) -> list[str]:
    """The items after the entry: `old`, `new` or `both` sides; a branch with the item it goes to."""
    before, after = kernel(old).kernels["k"], kernel(new).kernels["k"]
    others = [i for i in range(len(before.instructions)) if "[%r6" not in before.text(i)]
    in_order = iter(others)
    origins = [-1 if "[%r6" in after.text(j) else next(in_order) for j in range(len(after.instructions))]
    aligned = align(before, after, origins)
    found = GuardedRuns(before, after, aligned, frozenset(control_flow(before)))
    names = [
        f"to {found.branches[n]}"
        if item == BRANCH
        else "new"
        if item[0] < 0
        else "old"
        if item[1] < 0
        else kept
        for n, item in enumerate(found.items)
    ]
    return names[4:-1]


def test_the_accesses_of_both_texts_share_a_branch_with_their_instruction() -> None:
    body = f"@%p0 add.u32 %r7, %r7, 1;\n@%p0 {STORE}"
    assert runs(body, body, "both") == ["to 8", "both", "new", "old"]


def test_a_guard_that_changes_ends_a_run() -> None:
    body = "@%p0 setp.eq.u32 %p0, %r0, 1;\n@%p0 add.u32 %r0, %r0, 1;"
    assert runs(body, body, "both") == ["to 6", "both", "to 8", "both"]


def test_other_guards_and_labels_end_a_run() -> None:
    body = "@%p0 add.u32 %r0, %r0, 1;\n@!%p0 add.u32 %r0, %r0, 1;"
    assert runs(body, body, "both") == ["to 6", "both", "to 8", "both"]
    body = "@%p0 add.u32 %r0, %r0, 1;\nL:\n@%p0 add.u32 %r0, %r0, 1;"
    assert runs(body, body, "both") == ["to 6", "both", "to 8", "both"]


def test_control_flow_is_in_no_run() -> None:
    body = "@%p0 add.u32 %r0, %r0, 1;\n@%p0 bra L;\nL:"
    assert runs(body, body, "both") == ["to 6", "both", "both"]


def test_runs_of_one_guard_are_put_side_by_side() -> None:
    """Between two kept instructions: a load that was moved up is between the stores of the old text."""
    old = f"@%p0 {STORE}\n@%p1 {STORE}"
    new = f"@%p0 {STORE}\nld.shared.b32 %r7, [%r6+128];\n@%p1 {STORE}"
    assert runs(old, new, "both") == ["to 7", "new", "old", "new", "to 11", "new", "old"]


def test_a_run_that_was_dropped() -> None:
    old = f"@%p0 {STORE}\n@%p1 {STORE}"
    assert runs(old, f"@%p1 {STORE}", "both") == ["to 6", "old", "to 9", "new", "old"]


def test_conditions_of_ptxplus_are_other_guards() -> None:
    add = "@$p0.{} add.u32 $r0, $r0, 0x01;\n"
    for first, second, n in (("ne", "ne", 1), ("ne", "eq", 2)):
        one = parse(plus_text(add.format(first) + add.format(second))).kernels["k"]
        aligned = align(one, one, range(len(one.instructions)))
        assert len(GuardedRuns(one, one, aligned, frozenset(control_flow(one))).branches) == n
