"""Programs for the rows of what warps and CTAs do together: barriers, fences, votes, shuffles and their kin."""

from collections.abc import Iterator
from dataclasses import replace

from form_text import split_operands
from gpu.parts import item, load, opcodes, small_numbers, words
from walk_kernels import LANES, Item, items

from ptxtool.isa.forms import Form

_MINE = "mov.u64 %y2, tile; mad.wide.u32 %y2, %lane, 4, %y2;"
_THEIRS = "xor.b32 %x1, %lane, 97; mov.u64 %y3, tile; mad.wide.u32 %y3, %x1, 4, %y3;"


def warp_items(form: Form, limit: int) -> list[Item]:
    """Programs of a row of the family "warp"."""
    make = {
        "bar_sync": _syncs,
        "bar_arrive": _arrives,
        "bar_red": _reductions,
        "membar": _fences,
        "nop": _fences,
    }
    if form.sem in make:
        return list(make[form.sem](form))[:limit]
    made = items(form, limit)
    return [_with_equals(one) for one in made] if form.sem in ("match", "redux") else made


def _with_equals(made: Item) -> Item:
    """The lanes of the first warp have the same value, those of the second one of two, of a few bits."""
    operand = split_operands(made.text.rstrip(";").partition(" ")[2])[1]
    width = operand[1:].rpartition("r")[0][1:]
    change = (
        f"setp.lt.u32 %predr98, %lane, 32; @%predr98 mov.b{width} {operand}, 42;"
        f" shr.u32 %x1, %lane, 5; setp.eq.u32 %predr98, %x1, 1; @%predr98 and.b{width} {operand}, {operand}, 6;"
    )
    return replace(made, body=made.body.replace(made.text, f"{change}\n{made.text}"))


def _syncs(form: Form) -> Iterator[Item]:
    """What every thread wrote before the barrier, another one reads after it."""
    data = small_numbers(form.base, 1, 0, 1 << 32)
    for text, match in opcodes(form):
        for operands in ("1", f"2, {LANES}", "%u32r3", "%u32r3, %u32r4"):
            whole = f"{text} {operands};"
            lines = [
                "bar.sync 0;", _MINE, _THEIRS, load("%b32r1", 0), "st.shared.u32 [%y2], %b32r1;",
                f"mov.u32 %u32r3, 5; mov.u32 %u32r4, {LANES};", whole, "ld.shared.u32 %b32r2, [%y3];", "bar.sync 0;",
            ]  # fmt: skip
            yield item(whole, match, lines, words("%b32r2"), data)


def _arrives(form: Form) -> Iterator[Item]:
    """Half of the warps write and arrive, the others wait and read."""
    data = small_numbers(form.base, 1, 0, 1 << 32)
    for text, match in opcodes(form):
        for operands in (f"1, {LANES}", "%u32r3, %u32r4"):
            whole = f"{text} {operands};"
            aligned = ".aligned" if text.startswith("barrier") and "aligned" in text else ""
            wait = (text.partition(".")[0] + ".sync" + aligned) + f" {operands};"
            lines = [
                "bar.sync 0;", _MINE, load("%b32r1", 0), "mov.u32 %b32r2, 0;",
                f"mov.u32 %u32r3, 6; mov.u32 %u32r4, {LANES}; setp.lt.u32 %predr1, %lane, {LANES // 2};",
                "@!%predr1 bra WAITNUMBER;", "st.shared.u32 [%y2], %b32r1;", whole, "bra MEETNUMBER;",
                "WAITNUMBER:", wait, f"ld.shared.u32 %b32r2, [%y2+-{LANES // 2 * 4}];", "MEETNUMBER: bar.sync 0;",
            ]  # fmt: skip
            yield item(whole, match, lines, words("%b32r2"), data)


def _reductions(form: Form) -> Iterator[Item]:
    """Over predicates of which some, all or none hold."""
    data = small_numbers(form.base, 3, 0, 2)
    data[1], data[2] = 1, 0
    counted = form.max_operands == 4
    for text, match in opcodes(form):
        for n, negated in enumerate(("", "!", "")):
            result = "%predr1" if "pred" in text.split(".") else "%u32r1"
            operands = [result, str(n + 1), *([str(LANES)] if counted else []), f"{negated}%predr2"]
            whole = f"{text} {', '.join(operands)};"
            lines = ["bar.sync 0;", load("%b32r2", n), "setp.ne.u32 %predr2, %b32r2, 0;", whole]
            yield item(whole, match, lines, words(result), data)


def _fences(form: Form) -> Iterator[Item]:
    """A store, the instruction, a load of the same place: what was written is there."""
    data = small_numbers(form.base, 1, 0, 1 << 32)
    for text, match in opcodes(form):
        operands = " %b32r3" if form.base == "bar.warp.sync" else ""
        whole = f"{text}{operands};"
        lines = [
            load("%b32r1", 0), "mov.b32 %b32r3, -1;", "add.s64 %y0, %cells, %cell;",
            "st.global.u32 [%y0], %b32r1;", whole, "ld.global.u32 %b32r2, [%y0];",
        ]  # fmt: skip
        yield item(whole, match, lines, words("%b32r2"), data)
