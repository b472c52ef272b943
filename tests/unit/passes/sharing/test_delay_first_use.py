"""delay-first-use: what moves, what does not, and that the proof finds what must not. `%r5` and above are shared."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Instruction, Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.validate.schedule import check_schedule

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
REGISTERS = "\t.reg .pred %p;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<2>;\n\t.shared .b32 tile;\n"
PASS = "delay-first-use{share=50,registers=12}"  # 6 private: %p and %r0 to %r4


def source(lines: list[str]) -> str:
    return HEAD + REGISTERS + "".join(f"\t{line}\n" for line in lines) + "}\n"


def delayed(*lines: str) -> list[str]:
    return code(rewrite(parse(source(list(lines))), PASS).module)


def code(module: Module) -> list[str]:
    kernel = module.kernels["k"]
    return [kernel.text(i) for i in range(len(kernel.instructions))]


SHARED = "mov.u32 %r5, 1;"


def test_independent_instructions_come_first() -> None:
    lines = [
        SHARED,
        "add.u32 %r6, %r5, 1;",
        "mov.u32 %r1, 2;",
        "add.u32 %r5, %r1, 1;",
        "mov.u32 %r2, 2;",
        "ret;",
    ]
    assert delayed(*lines) == [lines[2], lines[4], lines[0], lines[1], lines[3], "ret;"]


def test_nothing_moves_where_nothing_is_shared() -> None:
    module = parse(source([SHARED, "mov.u32 %r1, 2;", "ret;"]))
    result = rewrite(module, "delay-first-use{share=0,registers=4}")  # fewer than the text declares
    assert result.module is module
    assert "nothing is shared at 0%" in str(result)
    assert "nothing to do" not in str(result)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("add.u32 %r5, %r1, 1;", "mov.u32 %r1, 2;"),  # anti-dependence
        ("mov.b64 {%r5, %r1}, %rd0;", "add.u32 %r2, %r1, 1;"),  # true dependence
        ("mov.b64 {%r5, %r1}, %rd0;", "mov.u32 %r1, 1;"),  # output dependence
        ("setp.eq.u32 %p, %r5, 1;", "@%p mov.u32 %r1, 2;"),  # the guard
        ("@%p mov.u32 %r5, %r1;", "@!%p mov.u32 %r1, 2;"),
        ("add.cc.u32 %r5, %r1, %r2;", "addc.u32 %r3, %r1, %r2;"),  # the carry flag
        ("st.shared.u32 [tile], %r5;", "ld.shared.u32 %r1, [tile];"),
        ("ld.shared.u32 %r5, [tile];", "st.shared.u32 [tile], %r1;"),
        ("st.shared.u32 [tile], %r5;", "st.shared.u32 [tile], %r1;"),
        ("ld.volatile.shared.u32 %r5, [tile];", "ld.volatile.shared.u32 %r1, [tile];"),
        ("ld.shared.u32 %r5, [tile];", "ld.relaxed.gpu.global.u32 %r1, [%rd0];"),
        (SHARED, "bar.sync 0;"),
        (SHARED, "membar.cta;"),
        (SHARED, "mov.u32 %r1, %clock;"),
        (SHARED, "vote.sync.any.pred %p, %p, -1;"),
        (SHARED, "atom.shared.add.u32 %r1, [tile], 1;\n\tbar.sync 0;"),
        (SHARED, "@%p ret;"),
        (SHARED, '.pragma "here";\n\tmov.u32 %r1, 1;'),
        (SHARED, "L: mov.u32 %r1, 1;\n\t@%p bra L;"),
    ],
)
def test_what_must_keep_its_order(first: str, second: str) -> None:
    text = source([first, second, "ret;"])
    after = rewrite(parse(text), PASS)
    kept = [t for t in code(after.module) if t != "atom.shared.add.u32 %r1, [tile], 1;"]
    assert kept == [t for t in code(parse(text)) if t != "atom.shared.add.u32 %r1, [tile], 1;"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ld.shared.u32 %r5, [tile];", "ld.shared.u32 %r1, [tile];"),
        ("st.shared.u32 [tile], %r5;", "ld.param.u32 %r1, [n];"),
        ("add.cc.u32 %r5, %r1, %r2;", "add.u32 %r3, %r1, %r2;"),
        (SHARED, "st.shared.u32 [tile], %r1;"),
        (SHARED, "mov.u32 %r1, %tid.x;"),
    ],
)
def test_what_may_pass(first: str, second: str) -> None:
    assert delayed(first, second, "ret;") == [second, first, "ret;"]


def test_blocks_behind_the_first_touch_stay() -> None:
    lines = [SHARED, "bra L;", "L: mov.u32 %r5, 2;", "mov.u32 %r1, 1;", "ret;"]
    assert delayed(*lines) == [line.removeprefix("L: ") for line in lines]


def test_both_sides_of_a_branch() -> None:
    side = [SHARED, "mov.u32 %r1, 1;"]
    lines = ["@%p bra L;", *side, "ret;", f"L: {side[0]}", side[1], "ret;"]
    assert delayed(*lines) == ["@%p bra L;", *side[::-1], "ret;", *side[::-1], "ret;"]


def test_comments_and_remarks() -> None:
    text = source([f"{SHARED} // one", "mov.u32 %r1, 1; // two", "ret;"])
    result = rewrite(parse(text), PASS)
    assert result.module.source.text == source(["mov.u32 %r1, 1; // one", f"{SHARED} // two", "ret;"])
    assert result.remarks[0].message == (
        "1 instruction moved; with 6 private registers, 1 instruction expected before a shared one, not 0"
    )
    again = rewrite(result.module, PASS)
    assert again.module is result.module
    assert again.remarks[0].message.startswith("nothing to do")


def test_it_needs_a_share() -> None:
    with pytest.raises(PtxError, match=r"E301.*needs the sharing percentage"):
        rewrite(parse(source(["ret;"])), "delay-first-use")


REGISTER = st.sampled_from([f"%r{k}" for k in range(9)])
LINES = st.lists(
    st.one_of(
        st.builds("add.u32 {}, {}, {};".format, REGISTER, REGISTER, REGISTER),
        st.builds("@%p mov.u32 {}, {};".format, REGISTER, REGISTER),
        st.builds("setp.lt.u32 %p, {}, {};".format, REGISTER, REGISTER),
        st.builds("ld.shared.u32 {}, [tile];".format, REGISTER),
        st.builds("st.shared.u32 [tile], {};".format, REGISTER),
        st.just("bar.sync 0;"),
    ),
    max_size=12,
)


def meaning(lines: list[str]) -> tuple[object, ...]:
    """What straight code leaves, symbolically: registers, %p, memory, and what each barrier saw of memory."""
    state: dict[str, object] = {}
    seen: list[object] = []
    for line in lines:
        text = line.rstrip(";").replace(",", "").replace("[tile]", "tile")
        guard, *words = text.split() if text.startswith("@") else ("", *text.split())
        values = [state.get(w, w) for w in words[2:]]
        if words[0] == "bar.sync":
            seen.append(state.get("tile"))
        elif words[0] == "st.shared.u32":
            state["tile"] = values[0]
        elif words[0] != "ret":
            value: object = (words[0], *values)
            state[words[1]] = (state.get("%p"), value, state.get(words[1])) if guard else value
    return state, seen


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(LINES)
def test_straight_code_means_the_same_and_no_order_is_better(lines: list[str]) -> None:
    after = delayed(*lines, "ret;")
    assert meaning(after) == meaning([*lines, "ret;"])
    assert first_shared(after) >= max((first_shared(code_of) for code_of in some_orders(lines)), default=0)


def first_shared(lines: list[str]) -> int:
    return next((n for n, line in enumerate(lines) if any(f"%r{k}" in line for k in range(5, 9))), len(lines))


def some_orders(lines: list[str]) -> list[list[str]]:
    """Random exchanges of neighbours that the proof of schedules accepts."""
    before = parse(source([*lines, "ret;"]))
    chance, found, now = random.Random(len(lines)), [], list(lines)
    for _ in range(15 if len(lines) > 1 else 0):
        k = chance.randrange(len(lines) - 1)
        now[k : k + 2] = now[k + 1], now[k]
        if check_schedule(before, parse(source([*now, "ret;"]))):
            now[k : k + 2] = now[k + 1], now[k]
        else:
            found.append([*now, "ret;"])
    return found


def test_no_instruction_is_lost() -> None:
    module = parse(source([SHARED, "mov.u32 %r1, 1;", "ret;"]))
    after = rewrite(module, PASS).module.kernels["k"]
    assert sum(isinstance(s, Instruction) for s in after.body or ()) == 3
