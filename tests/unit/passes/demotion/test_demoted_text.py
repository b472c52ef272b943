"""The text of demoted registers, byte for byte: slots, addresses, guards, parts, pairs."""

import pytest
from kernels import ptxplus

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


DECLARED = ".reg .b16 %rs<2>; .reg .b32 %r<2>; .reg .b64 %rd<1>; .reg .pred %p<2>;"
ENTRY = 4
"""Instructions that compute the address in %r3 for one dimension."""


def demoted(text: str, directives: str = ".reqntid 32") -> list[str]:
    """The instructions of a demoted kernel, with two registers at first."""
    module = parse(f"{HEAD}.entry k() {directives} {{\n{DECLARED}\n{text}\nret;\n}}\n")
    options = "count=2" if directives else "count=2,threads=32"
    after = rewrite(module, f"demote{{{options}}}").module.kernels["k"]
    return [" ".join(after.text(i).split()) for i in range(len(after.instructions))]


def test_slots_are_words_of_all_threads() -> None:
    """%r0 is slot 0, %r1 slot 1, of 32 threads: 128 bytes each."""
    assert demoted("mov.u32 %r0, 7;\nmov.u32 %r1, 8;\nst.shared.u32 [0], %r0;\nst.shared.u32 [4], %r1;")[
        ENTRY:-1
    ] == [
        "mov.u32 %r4, 7;",
        "st.shared.b32 [%r3], %r4;",
        "mov.u32 %r4, 8;",
        "st.shared.b32 [%r3+128], %r4;",
        "ld.shared.b32 %r4, [%r3];",
        "st.shared.u32 [0], %r4;",
        "ld.shared.b32 %r4, [%r3+128];",
        "st.shared.u32 [4], %r4;",
    ]


def test_guards() -> None:
    """A guarded write leaves the slots of other threads; one that writes its guard stores in all of them."""
    assert demoted("mov.u32 %r0, 7;\n@!%p0 add.u32 %r0, %r0, 1;")[ENTRY + 2 : -1] == [
        "@!%p0 ld.shared.b32 %r4, [%r3];",
        "@!%p0 add.u32 %r4, %r4, 1;",
        "@!%p0 st.shared.b32 [%r3], %r4;",
    ]
    assert demoted("mov.u32 %r0, 7;\n@%p0 shfl.sync.idx.b32 %r0|%p0, %r0, 0, 31, -1;")[ENTRY + 2 : -1] == [
        "ld.shared.b32 %r4, [%r3];",
        "@%p0 shfl.sync.idx.b32 %r4|%p0, %r4, 0, 31, -1;",
        "st.shared.b32 [%r3], %r4;",
    ]


def test_narrow_registers_and_other_names_of_a_unit() -> None:
    assert demoted("mov.u32 %r0, 7;\ncvt.u16.u32 %rs0, %r0;")[ENTRY + 2 : -1] == [
        "ld.shared.b32 %r4, [%r3];",
        "cvt.u16.u32 %rs4, %r4;",
        "st.shared.b16 [%r3], %rs4;",
    ]


def test_a_pair_has_a_slot_for_each_half() -> None:
    assert demoted("mov.u64 %rd0, 7;\nst.shared.u64 [0], %rd0;")[ENTRY:-1] == [
        "mov.u64 %rd2, 7;",
        "mov.b64 {%r4, %r5}, %rd2;",
        "st.shared.b32 [%r3], %r4;",
        "st.shared.b32 [%r3+128], %r5;",
        "ld.shared.b32 %r4, [%r3];",
        "ld.shared.b32 %r5, [%r3+128];",
        "mov.b64 %rd2, {%r4, %r5};",
        "st.shared.u64 [0], %rd2;",
    ]


@pytest.mark.parametrize(
    ("directives", "computed"),
    [
        (".reqntid 64", ["mov.u32 %r4, %tid.x;"]),
        (
            ".reqntid 8, 4",
            [
                "mov.u32 %r4, %tid.y;",
                "mul.lo.u32 %r4, %r4, 8;",
                "mov.u32 %r3, %tid.x;",
                "add.u32 %r4, %r4, %r3;",
            ],
        ),
        (
            "",
            [
                "mov.u32 %r4, %tid.z;",
                "mov.u32 %r3, %ntid.y;",
                "mul.lo.u32 %r4, %r4, %r3;",
                "mov.u32 %r3, %tid.y;",
                "add.u32 %r4, %r4, %r3;",
                "mov.u32 %r3, %ntid.x;",
                "mul.lo.u32 %r4, %r4, %r3;",
                "mov.u32 %r3, %tid.x;",
                "add.u32 %r4, %r4, %r3;",
            ],
        ),
    ],
)
def test_the_address_of_the_first_slot(directives: str, computed: list[str]) -> None:
    tail = ["shl.b32 %r4, %r4, 2;", "mov.u32 %r3, __ptxtool_demoted;", "add.u32 %r3, %r3, %r4;"]
    text = "mov.u32 %r0, 1;\nst.shared.u32 [0], %r0;"
    assert demoted(text, directives)[: len(computed) + 3] == [*computed, *tail]


def demoted_ptxplus(body: str, options: str = "count=2") -> list[str]:
    """The instructions after those that compute the address, $r11; the value register is $r12."""
    after = rewrite(ptxplus(f"{body} exit;").module, f"demote:{options}:threads=32").module.kernels["k"]
    texts = [" ".join(after.text(i).split()) for i in range(len(after.instructions))]
    assert texts[10] == "add.u32 $r11, $r12, 0x00000020;"
    return texts[11:-1]


def test_halves_of_ptxplus() -> None:
    """A half is written into the register that was loaded."""
    assert demoted_ptxplus(
        "mov.u32 $r1, 7; mov.u16 $r1.hi, $r0.lo; @$p0.ne mov.u32 $r1, $r0;", "count=1"
    ) == [
        "mov.u32 $r12, 7;",
        "st.shared.u32 [$r11], $r12;",
        "ld.shared.u32 $r12, [$r11];",
        "mov.u16 $r12.hi, $r0.lo;",
        "st.shared.u32 [$r11], $r12;",
        "@$p0.ne mov.u32 $r12, $r0;",
        "@$p0.ne st.shared.u32 [$r11], $r12;",
    ]


def test_pairs_of_ptxplus() -> None:
    """Each half has a slot, 128 bytes apart."""
    assert demoted_ptxplus("@!$p1 add.ff64 {$r4,$r5}, {$r4,$r5}, {$r4,$r5};") == [
        "@!$p1 ld.shared.u32 $r12, [$r11];",
        "@!$p1 ld.shared.u32 $r13, [$r11+0x0080];",
        "@!$p1 add.ff64 {$r12,$r13}, {$r12,$r13}, {$r12,$r13};",
        "@!$p1 st.shared.u32 [$r11], $r12;",
        "@!$p1 st.shared.u32 [$r11+0x0080], $r13;",
    ]
