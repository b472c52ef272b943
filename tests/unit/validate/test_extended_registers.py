"""The proof of split registers finds what is planted: values that get lost, registers that are not held."""

import pytest

from ptxtool.parse import parse
from ptxtool.validate.extended_registers import check_extended

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
REGISTERS = ".reg .pred %p<2>;\n.reg .b32 %r<10>;\n"
ACQUIRE, RELEASE = '.pragma "acquire-extended-registers";', '.pragma "release-extended-registers";'
KEPT = range(20)


def check(before: str, after: str, origins: list[int] | None = None, base: int = 4) -> list[str]:
    """`after` has the instructions of `before`, unless `origins` says otherwise; a line for each statement."""
    old, new = (parse(f"{HEAD}{REGISTERS}{body}}}\n") for body in (before, after))
    kept = list(KEPT[: len(new.kernels["k"].instructions)]) if origins is None else origins
    return [d.message for d in check_extended(old, new, {"k": tuple(kept)}, {"k": base})]


def marked(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


PLAIN = marked("mov.u32 %r1, 1;", "add.u32 %r2, %r1, 1;", "st.global.u32 [0], %r2;", "ret;")


def test_a_right_split() -> None:
    after = marked(
        "mov.u32 %r1, 1;", ACQUIRE, "add.u32 %r5, %r1, 1;", "st.global.u32 [0], %r5;", RELEASE, "ret;"
    )
    assert check(PLAIN, after) == []


def test_a_right_split_with_a_move() -> None:
    after = marked(
        *("mov.u32 %r1, 1;", ACQUIRE, "add.u32 %r5, %r1, 1;", "mov.b32 %r2, %r5;", RELEASE),
        *("st.global.u32 [0], %r2;", "ret;"),
    )
    assert check(PLAIN, after, [0, 1, -1, 2, 3]) == []
    late = after.replace(f"mov.b32 %r2, %r5;\n{RELEASE}", f"{RELEASE}\nmov.b32 %r2, %r5;")
    assert check(PLAIN, late, [0, 1, -1, 2, 3]) == ["'%r5' is named while it is not held"]


def test_a_value_that_another_warp_overwrites() -> None:
    """Held wherever it is named, but not from its definition to its use."""
    after = marked(
        *("mov.u32 %r1, 1;", ACQUIRE, "add.u32 %r5, %r1, 1;", RELEASE),
        *(ACQUIRE, "st.global.u32 [0], %r5;", RELEASE, "ret;"),
    )
    assert check(PLAIN, after) == ["'%r5' does not hold '%r2' here on every path"]


def test_a_pair_with_one_extended_register() -> None:
    plain = marked("mov.u64 %rd1, 1;", "st.global.u64 [0], %rd1;", "ret;").replace("%rd1", "%rd2")
    body = f".reg .b64 %rd<5>;\n{plain}"
    assert check(body, body, base=6) == []
    assert check(body, body, base=5) == ["'%rd2' is named while it is not held"] * 2


@pytest.mark.parametrize("what", ["bar.sync 0;", "@%p1 exit;", "call f;"])
def test_held_where_it_must_not_be(what: str) -> None:
    before = marked("mov.u32 %r5, 1;", what, "ret;")
    after = marked(ACQUIRE, "mov.u32 %r5, 1;", what, RELEASE, "ret;")
    held = f"extended registers are held at '{what}'"
    found = check(before, after)
    assert found[0] == held
    assert check(before, after.replace(f"{what}\n{RELEASE}", f"{RELEASE}\n{what}")) == []


def test_held_at_the_end() -> None:
    before, after = "mov.u32 %r5, 1;\nret;\n", f"{ACQUIRE}\nmov.u32 %r5, 1;\nret;\n"
    assert check(before, after) == [
        "extended registers are held at 'ret;'",
        "extended registers are held at the end",
    ]


def test_marks_that_do_not_alternate() -> None:
    before = "mov.u32 %r5, 1;\nret;\n"
    after = marked(ACQUIRE, ACQUIRE, "mov.u32 %r5, 1;", RELEASE, RELEASE, "ret;")
    assert check(before, after) == [
        "extended registers are acquired while they are held",
        "extended registers are released while they are not held",
    ]


def test_a_path_around_the_acquire() -> None:
    before = marked("@%p1 bra L;", "mov.u32 %r1, 1;", "L: mov.u32 %r5, 1;", "ret;")
    after = marked("@%p1 bra L;", ACQUIRE, "mov.u32 %r1, 1;", "L: mov.u32 %r5, 1;", RELEASE, "ret;")
    assert check(before, after) == [
        "'%r5' is named while it is not held",
        "extended registers are released while they are not held",
    ]


def test_a_mark_before_a_label() -> None:
    before = marked("@%p1 bra L;", "mov.u32 %r5, 1;", "L: mov.u32 %r1, 1;", "ret;")
    after = marked("@%p1 bra L;", ACQUIRE, "mov.u32 %r5, 1;", RELEASE, "L: mov.u32 %r1, 1;", "ret;")
    assert check(before, after)[0] == "'release-extended-registers' stands before a label"


def test_lanes_that_wait_lose_their_registers() -> None:
    """The lanes that jump wait at L with %r5, while the others release."""
    before = marked(
        *("mov.u32 %r2, %tid.x;", "setp.eq.u32 %p1, %r2, 0;", "mov.u32 %r5, 1;", "@%p1 bra L;"),
        *("mov.u32 %r5, 2;", "bar.sync 0;", "mov.u32 %r5, 2;", "L: st.global.u32 [0], %r5;", "ret;"),
    )
    after = before.replace("mov.u32 %r5, 1;", f"{ACQUIRE}\nmov.u32 %r5, 1;")
    after = after.replace("bar.sync 0;", f"{RELEASE}\nbar.sync 0;\n{ACQUIRE}").replace(
        "ret;", f"{RELEASE}\nret;"
    )
    assert check(before, after) == ["released while other lanes may wait at '@%p1 bra L;' and hold"]
    uniform = [text.replace("%tid.x", "%ctaid.x") for text in (before, after)]
    assert check(*uniform) == []


def test_anything_else_that_changed() -> None:
    assert check("mov.u32 %r1, 1;\nret;\n", "mov.u32 %r1, 2;\nret;\n") != []
