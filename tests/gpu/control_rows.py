"""Programs for the rows of flow, of addresses and of the stack: each worked out by hand, since they need names."""

from collections.abc import Callable, Iterator

from gpu.parts import item, load, opcodes, small_numbers, words
from walk_kernels import LANES, Item, items

from ptxtool.isa.forms import Form

_FUNCTION = """.func (.param .b32 result) doubledNUMBER(.param .b32 value)
{
	.reg .b32 %a;
	ld.param.b32 %a, [value];
	add.u32 %a, %a, %a;
	st.param.b32 [result], %a;
	ret;
}
.func markedNUMBER(.param .b64 place, .param .b32 value)
{
	.reg .b32 %a;
	.reg .b64 %p;
	ld.param.b64 %p, [place];
	ld.param.b32 %a, [value];
	add.u32 %a, %a, 7;
	st.u32 [%p], %a;
	ret;
}
"""


def control_items(form: Form, limit: int) -> list[Item]:
    """Programs of a row of flow, addresses, or the stack."""
    make: dict[str, Callable[[Form], Iterator[Item]]] = {
        "bra": _branches, "brx_idx": _tables, "call": _calls, "ret": _ends, "exit": _ends, "trap": _traps,
        "cvta": _addresses, "isspacep": _spaces, "alloca": _stack, "stacksave": _stack, "stackrestore": _stack,
    }  # fmt: skip
    if form.base == "setmaxnreg":
        return list(_registers(form))
    if form.base in ("brkpt", "griddepcontrol"):
        return list(_nothing(form))
    if form.sem not in make:
        return [_with_result(made) for made in items(form, limit)]
    return list(make[form.sem](form))[:limit]


def _with_result(made: Item) -> Item:
    """An instruction without a result: what was in a register before it is there after it."""
    lines = [load("%b32r99", 0), made.body]
    return item(made.text, made.match, lines, words("%b32r99"), small_numbers(made.text, 1, 0, 1 << 32))


def _branches(form: Form) -> Iterator[Item]:
    """A loop, of as many turns as the lane's input says; with `.uni` five."""
    for text, match in opcodes(form):
        uniform = "uni" in match.modifiers
        whole = f"{text} AGAINNUMBER;"
        lines = [
            load("%b32r1", 0), f"mov.u32 %b32r2, 0; {'mov.u32 %b32r1, 4;' if uniform else ''}",
            "AGAINNUMBER: mad.lo.u32 %b32r2, %b32r2, 3, %lane; add.s32 %b32r1, %b32r1, -1;",
            f"setp.ge.s32 %predr1, %b32r1, 0; @%predr1 {whole}",
        ]  # fmt: skip
        yield item(whole, match, lines, words("%b32r1", "%b32r2"), small_numbers(text, 1, 0, 9))


def _tables(form: Form) -> Iterator[Item]:
    for text, match in opcodes(form, form.max_operands):
        whole = f"{text} %b32r1, WAYSNUMBER;"
        pick = "mov.u32 %b32r1, 2;" if "uni" in match.modifiers else ""
        lines = [
            "WAYSNUMBER: .branchtargets W0NUMBER, W1NUMBER, W2NUMBER, W0NUMBER;", load("%b32r1", 0), pick,
            "mov.u32 %b32r2, 1;", whole, "W0NUMBER: add.u32 %b32r2, %b32r2, 10; bra.uni W2NUMBER;",
            "W1NUMBER: add.u32 %b32r2, %b32r2, 200;", "W2NUMBER: add.u32 %b32r2, %b32r2, 3000;",
        ]  # fmt: skip
        yield item(whole, match, lines, words("%b32r2"), small_numbers(text, 1, 0, 4))


def _calls(form: Form) -> Iterator[Item]:
    """Calls by name, through a register with a prototype and with a list of functions; by some lanes."""
    has_result = form.operands[0].name == "result"
    data = small_numbers(form.base, 2, 0, 1 << 20)
    for text, match in opcodes(form, form.min_operands):
        for way in ("name", "prototype", "list"):
            if way != "name" and "uni" in match.modifiers:
                continue
            name = "doubledNUMBER" if has_result else "markedNUMBER"
            target, more = (name, "") if way == "name" else ("%u64r9", ", HOWNUMBER")
            parts = (
                f"(giveNUMBER), {target}, (takeNUMBER){more};"
                if has_result
                else f"{target}, (whereNUMBER, takeNUMBER){more};"
            )
            whole = f"{text} {parts}"
            shape = "(.param .b32 _) _ (.param .b32 _)" if has_result else "_ (.param .b64 _, .param .b32 _)"
            how = {
                "name": "",
                "prototype": f"HOWNUMBER: .callprototype {shape};",
                "list": f"HOWNUMBER: .calltargets {name};",
            }[way]
            lines = [
                load("%b32r1", 0), load("%b32r2", 1), "and.b32 %b32r2, %b32r2, 1; setp.eq.u32 %predr1, %b32r2, 0;",
                "mov.u32 %b32r3, 5; add.s64 %u64r8, %cells, %cell; st.global.u32 [%u64r8], %b32r3;",
                "" if "uni" in match.modifiers else "@%predr1 bra PASTNUMBER;",
                f"{{ .param .b32 takeNUMBER; .param .b32 giveNUMBER; .param .b64 whereNUMBER; {how}",
                "st.param.b32 [takeNUMBER], %b32r1; st.param.b64 [whereNUMBER], %u64r8;",
                f"mov.u64 %u64r9, {name};" if way != "name" else "", whole,
                "ld.param.b32 %b32r3, [giveNUMBER]; }" if has_result else "}", "PASTNUMBER:",
                "ld.global.u32 %b32r4, [%u64r8];",
            ]  # fmt: skip
            yield item(whole, match, lines, words("%b32r3", "%b32r4"), data, outside=_FUNCTION)


def _ends(form: Form) -> Iterator[Item]:
    """Some lanes of a warp, and a whole warp, end before their second result."""
    for text, match in opcodes(form):
        uniform = "uni" in match.modifiers
        bit = "and.b32 %b32r2, %lane, 32;" if uniform else "and.b32 %b32r2, %b32r1, 1;"
        lines = [
            load("%b32r1", 0), bit, "st.global.u32 [%to+OUT+0], %b32r1; setp.ne.u32 %predr1, %b32r2, 0;",
            f"@%predr1 {text};", "st.global.u32 [%to+OUT+16], %lane;",
        ]  # fmt: skip
        yield Item(
            f"{text};", match, "\n".join(lines), ("b", "b"), data=small_numbers(text, 1, 0, 99), alone=True
        )


def _traps(form: Form) -> Iterator[Item]:
    """The run ends with an error; where no lane comes to it, it does not."""
    for text, match in opcodes(form):
        guarded = [f"setp.gt.u32 %predr1, %lane, {LANES}; @%predr1 {text};", "mov.u32 %b32r1, 3;"]
        yield item(f"@%p {text};", match, guarded, words("%b32r1"), alone=True)
        yield Item(f"{text};", match, f"{text};", (), alone=True, fails=True)


def _nothing(form: Form) -> Iterator[Item]:
    for text, match in opcodes(form):
        lines = [load("%b32r1", 0), f"{text};", "add.u32 %b32r1, %b32r1, 1;"]
        yield item(f"{text};", match, lines, words("%b32r1"), small_numbers(text, 1, 0, 99), alone=True)


def _registers(form: Form) -> Iterator[Item]:
    """A warp group gives registers back, and takes them again."""
    for text, match in opcodes(form):
        down, up = (text.replace(f".{word}.", f".{kind}.") for word, kind in (("inc", "dec"), ("dec", "inc")))
        lines = [load("%b32r1", 0), f"{down} 56;", f"{up} 64;", "add.u32 %b32r1, %b32r1, 1;"]
        data = small_numbers(text, 1, 0, 99)
        yield item(f"{text} ...;", match, lines, words("%b32r1"), data, alone=True, directives=".maxnreg 64")


_PLACES = {"local": "own", "shared": "tile", "const": "bank", "param": "parameter", "global": "%cells"}


def _addresses(form: Form) -> Iterator[Item]:
    """To the generic address and back gives what it was; the generic address reads the same bytes."""
    for text, match in opcodes(form):
        if text.endswith("u32"):  # in files of 32-bit addresses alone
            continue
        space = next(w for w in text.split(".") if w.partition("::")[0] in _PLACES)
        name = _PLACES[space.partition("::")[0]]
        whole = f"{text} %u64r2, %u64r1;"
        is_back = "to" in text.split(".")
        there = f"cvta.{space}.u64 %u64r3, %u64r1;" if is_back else f"cvta.to.{space}.u64 %u64r3, %u64r2;"
        fill = "st.local.u32 [own+8], %lane; bar.sync 0; st.shared.u32 [tile+8], 5; bar.sync 0;"
        if is_back:
            whole = f"{text} %u64r2, %u64r3;"
            steps = [there, whole, "ld.u32 %b32r1, [%u64r3+8];", "sub.s64 %b64r4, %u64r2, %u64r1;"]
        else:
            steps = [whole, there, "ld.u32 %b32r1, [%u64r2+8];", "sub.s64 %b64r4, %u64r3, %u64r1;"]
        lines = [fill, f"mov.u64 %u64r1, {name};", *steps, "bar.sync 0;"]
        yield item(whole, match, lines, words("%b32r1", "%b64r4"))


def _spaces(form: Form) -> Iterator[Item]:
    """Generic pointers into every space, and whether they point into one."""
    for text, match in opcodes(form):
        lines = []
        for k, (space, name) in enumerate(_PLACES.items()):
            made = f"mov.u64 %u64r1, {name};"
            if space not in ("global", "param"):
                made += f" cvta.{space}.u64 %u64r1, %u64r1;"
            if space != "param":  # whose generic address needs a newer target
                lines += [made, f"{text} %predr{k}, %u64r1;"]
        results = words(*(f"%predr{k}" for k, space in enumerate(_PLACES) if space != "param"))
        yield item(f"{text} %predr0, %u64r1;", match, lines, results)


def _stack(form: Form) -> Iterator[Item]:
    """What is stored in two pieces of the stack is there; after a restore the place is given out again."""
    for text, match in opcodes(form):
        wide = text.endswith("u64")
        r, width = ("%b64r", "u64") if wide else ("%b32r", "u32")
        lines = [
            f"stacksave.{width} {r}1; alloca.{width} {r}2, 32, 16; alloca.{width} {r}3, 48, 16;",
            f"st.local.u32 [{r}2+28], %lane; st.local.u32 [{r}3], 9; ld.local.u32 %b32r10, [{r}2+28];",
            f"ld.local.u32 %b32r11, [{r}3]; stackrestore.{width} {r}1; alloca.{width} {r}4, 32, 16;",
            f"sub.{width} {r}5, {r}4, {r}2; and.b{width[1:]} {r}6, {r}3, 15; stackrestore.{width} {r}1;",
        ]  # fmt: skip
        results = words("%b32r10", "%b32r11", f"{r}5", f"{r}6")
        yield item(f"{text} ...;", match, lines, results, alone=True)
