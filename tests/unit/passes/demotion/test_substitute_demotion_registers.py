"""substitute-demotion-registers: which registers take whose place, by hand.

`%r6` is the address of the slots, `%r7` the value register; `WIDE` names `%r0` to `%r3` and makes room for them.
"""

from demoted_kernel import WIDE, after, kernel, plus_after, remark

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

NAME = "substitute-demotion-registers"
BUSY = WIDE.count("\n")
FIRST = ["ld.shared.b32 %r7, [%r6];", "st.shared.u32 [0], %r7;"]
SECOND = ["ld.shared.b32 %r7, [%r6+128];", "st.shared.u32 [4], %r7;"]


def changed(*body: str) -> list[str]:
    return after("\n".join([WIDE, *body]), NAME)[BUSY:]


def named(lines: list[str], name: str) -> list[str]:
    return [line.replace("%r7", name) for line in lines]


def test_the_slot_with_the_most_loads_is_first() -> None:
    """It gets the lowest register, also in its second piece; the other slot the next one."""
    assert changed(*SECOND, *FIRST, *SECOND) == [
        *named(SECOND, "%r0"),
        *named(FIRST, "%r1"),
        *named(SECOND, "%r0"),
    ]


def test_one_slot_has_nothing_to_gain() -> None:
    assert changed(*FIRST, *FIRST) == [*FIRST, *FIRST]


def test_registers_in_use_are_not_free() -> None:
    """%r0 and %r2 are in use somewhere between, %r1 at the end."""
    body = ["mov.u32 %r0, 1;", *FIRST, "add.u32 %r0, %r0, 1;", *SECOND, "mov.u32 %r1, 2;", *FIRST]
    lines = changed(*body, "st.shared.u32 [8], %r0;", "st.shared.u32 [12], %r1;")
    assert lines[1:3] == named(FIRST, "%r2")
    assert lines[4:6] == named(SECOND, "%r1")
    assert lines[7:9] == named(FIRST, "%r2")


def test_a_piece_that_lives_across_blocks_stays() -> None:
    lines = changed(*FIRST, *SECOND, FIRST[0], "@%p0 bra L;", FIRST[1], "L:", FIRST[1], "mov.u32 %r7, 0;")
    assert lines[4:] == [FIRST[0], "@%p0 bra L;", FIRST[1], FIRST[1], "mov.u32 %r7, 0;"]


def test_guarded_pieces() -> None:
    """The load, the instruction and the store under a guard have no earlier value."""
    run = ["@%p0 ld.shared.b32 %r7, [%r6];", "@%p0 add.u32 %r7, %r7, 1;", "@%p0 st.shared.b32 [%r6], %r7;"]
    assert changed(*run, *SECOND, *run) == [*named(run, "%r0"), *named(SECOND, "%r1"), *named(run, "%r0")]


def test_the_register_that_is_free_for_longest() -> None:
    """%r0 is free again at the second load, but %r1 is free since the block's start, so that this one can move."""
    assert changed("L:", *FIRST, *SECOND) == [*named(FIRST, "%r0"), *named(SECOND, "%r1")]


def test_narrow_names() -> None:
    half = ["ld.shared.b16 %rs7, [%r6+256];", "st.shared.u16 [8], %rs7;"]
    assert changed("L:", *FIRST, *half) == [
        *named(FIRST, "%r0"),
        *[line.replace("%rs7", "%rs1") for line in half],
    ]


def test_pairs_are_aligned() -> None:
    """A pair from units 4 and 5 to 2 and 3: unit 1 is in use, so 0 is alone. The other slot gets what the pair left."""
    pair = ["ld.shared.b32 %r4, [%r6];", "ld.shared.b32 %r5, [%r6+128];", "mov.b64 %rd2, {%r4, %r5};"]
    use = "st.shared.u64 [0], %rd2;"
    other = ["ld.shared.b32 %r4, [%r6+256];", "st.shared.u32 [8], %r4;"]
    lines = changed("mov.u32 %r1, 1;", *pair, use, *other, *pair, use, "st.shared.u32 [12], %r1;")
    new = [
        "ld.shared.b32 %r2, [%r6];",
        "ld.shared.b32 %r3, [%r6+128];",
        "mov.b64 %rd1, {%r2, %r3};",
        "st.shared.u64 [0], %rd1;",
    ]
    assert lines[1:5] == new
    assert lines[7:11] == new
    assert lines[5] == "ld.shared.b32 %r5, [%r6+256];"


def test_names_are_declared() -> None:
    text = "\n".join([WIDE, "L:", *FIRST, "ld.shared.b16 %rs7, [%r6+128];", "st.shared.u16 [4], %rs7;"])
    before = kernel(text).source.text.replace("%rs<8>", "%rs7")
    result = rewrite(parse(before), NAME).module.source.text
    assert "\t.reg .b16 %rs1;\n" in result


def test_remark() -> None:
    assert remark("\n".join([WIDE, *FIRST, *SECOND, *FIRST]), NAME) == (
        "3 of 3 accesses to slots with other registers (2 substitutions)"
    )
    assert remark("\n".join(FIRST), NAME) == "nothing to do: no register is free where it is needed"


def test_a_value_that_is_still_in_the_register_stays_with_it() -> None:
    """%r0 and %r1 are free at the store and at the load of the other slot, %r2 also between them."""
    mov, store = "mov.u32 %r7, 1;", "st.shared.b32 [%r6], %r7;"
    busy = ["mov.u32 %r0, 1;", "mov.u32 %r1, 1;", "st.shared.u32 [8], %r0;", "st.shared.u32 [8], %r1;"]
    assert changed("mov.u32 %r3, 1;", *SECOND, mov, store, *busy, *FIRST, "st.shared.u32 [8], %r3;")[
        1:-1
    ] == [
        *named(SECOND, "%r0"),
        *named([mov, store], "%r2"),
        *busy,
        *named(FIRST, "%r2"),
    ]


PLUS_WIDE = [f"mov.u32 $r{k}, 0x{k:02x};" for k in range(6)] + [
    f"st.global.u32 [$r0], $r{k};" for k in range(6)
]


def plus_changed(*body: str) -> list[str]:
    return plus_after("\n".join([*PLUS_WIDE, *body]), NAME)[len(PLUS_WIDE) :]


def plus_named(lines: list[str], name: str) -> list[str]:
    return [line.replace("$r7", name) for line in lines]


def test_ptxplus() -> None:
    """Halves, conditions; a slot of its own for each."""
    first = ["ld.shared.u32 $r7, [$r6];", "add.u16 $r7.hi, $r7.lo, $r7.hi;", "st.shared.u32 [$r6], $r7;"]
    second = ["@$p0.ne ld.shared.u32 $r7, [$r6+0x0080];", "@$p0.ne add.u32 $r0, $r7, s[0x0010];"]
    assert plus_changed("l0x00000100:", *first, *second) == [
        *plus_named(first, "$r0"),
        *plus_named(second, "$r1"),
    ]


def test_pairs_of_ptxplus_stay_side_by_side() -> None:
    """Units 2 and 3 for 8 and 9: 1 is in use. They are named by the first, or both in braces."""
    pair = ["ld.shared.u32 $r8, [$r6];", "ld.shared.u32 $r9, [$r6+0x0080];"]
    uses = ["st.global.bb64 [$r1], $r8;", "st.global.v2.u32 [$r1], {$r8,$r9};"]
    loads = ["ld.shared.u32 $r8, [$r6+0x0100];", "ld.shared.u32 $r9, [$r6+0x0180];"]
    lines = plus_changed("mov.u32 $r1, 0x01;", *pair, *uses, *loads, uses[0], *pair, *uses)
    new = [
        "ld.shared.u32 $r2, [$r6];",
        "ld.shared.u32 $r3, [$r6+0x0080];",
        "st.global.bb64 [$r1], $r2;",
        "st.global.v2.u32 [$r1], {$r2,$r3};",
    ]
    assert lines[1:5] == new
    assert lines[8:] == new
    assert lines[5:8] == [
        "ld.shared.u32 $r4, [$r6+0x0100];",
        "ld.shared.u32 $r5, [$r6+0x0180];",
        "st.global.bb64 [$r1], $r4;",
    ]
