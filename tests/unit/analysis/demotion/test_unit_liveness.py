"""Units in use around instructions: by hand, for kernels whose names share units."""

from kernels import ptxplus

from ptxtool.analysis.demotion.unit_liveness import unit_liveness, unit_masks
from ptxtool.parse import parse

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
DECLARED = ".reg .b16 %rs<3>; .reg .b32 %r<4>, %x; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"


def live(body: str) -> tuple[list[str], list[str], list[str]]:
    """Before, after, and busy: per instruction the units as digits."""
    kernel = parse(f"{HEAD}.entry k() {{\n{DECLARED}{body}\nret;\n}}\n").kernels["k"]
    found = unit_liveness(kernel)

    def digits(sets: tuple[int, ...]) -> list[str]:
        return ["".join(str(u) for u in range(9) if units >> u & 1) for units in sets[:-1]]

    return digits(found.before), digits(found.after), digits(found.busy)


def test_units_of_names() -> None:
    kernel = parse(f"{HEAD}.entry k() {{\n{DECLARED}ret;\n}}\n").kernels["k"]
    masks = unit_masks(kernel)
    of = {r.name: masks[r.index] for r in kernel.registers}
    assert (of["%rs2"], of["%r2"], of["%rd1"], of["%p1"], of["%x"]) == (4, 4, 12, 0, 0)


def test_a_pair_and_its_halves() -> None:
    before, after, busy = live(
        "mov.u32 %r2, 1;\nmov.u32 %r3, 2;\nmov.b64 %rd1, {%r2, %r3};\nst.shared.u64 [0], %rd1;"
    )
    assert before == ["", "2", "23", "23"]
    assert after == ["2", "23", "23", ""]
    assert busy == ["2", "23", "23", "23"]


def test_a_value_is_in_use_between_its_instructions() -> None:
    before, after, busy = live("mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nst.shared.u32 [0], %r0;")
    assert (before, after, busy) == (["", "0", "0"], ["0", "0", ""], ["0", "01", "0"])


def test_two_live_names_of_one_unit() -> None:
    before, _, _ = live(
        "mov.u32 %r0, 1;\nmov.u16 %rs0, 2;\nst.shared.u16 [0], %rs0;\nst.shared.u32 [0], %r0;"
    )
    assert before == ["", "0", "0", "0"]


GUARDED = "mov.u32 %r1, 1;\n@%p0 ld.shared.u32 %r0, [0];\n{}@%p0 st.shared.u32 [4], %r0;"


def test_a_read_of_what_was_just_written_under_the_guard() -> None:
    before, after, _ = live(GUARDED.format(""))
    assert (before, after) == (["", "", "0"], ["", "0", ""])


def test_a_read_after_another_instruction_may_be_of_an_earlier_value() -> None:
    for between in ("mov.u32 %r2, 1;\n", "@!%p0 mov.u32 %r2, 1;\n", "@%p0 setp.eq.u32 %p0, %r1, 1;\n"):
        before, _, _ = live(GUARDED.format(between))
        assert before[0] == "0" + "1" * 0, between


def test_conditions_of_ptxplus_are_other_guards() -> None:
    body = "@$p0.{} mov.u32 $r2, 0x01; @$p0.ne st.global.u32 [$r1], $r2; exit;"
    for condition, expected in (("ne", 0b10), ("eq", 0b110)):
        assert unit_liveness(ptxplus(body.format(condition))).before[0] == expected, condition
