"""Programs for the rows of asynchronous copies and mbarriers.

Every lane has an mbarrier of its own, so that the order of lanes decides nothing. The state that an arrival returns is
the machine's own affair: what `test_wait` and `pending_count` say of it is compared.
"""

from collections.abc import Iterator

from form_text import instruction_texts, split_operands
from gpu.parts import bits, item, load, opcodes, shared_address, show_shared, small_numbers, words
from walk_kernels import REGISTER, Item, items

from ptxtool.isa.forms import Form
from ptxtool.isa.table import Match


def asynchronous_items(form: Form, limit: int) -> list[Item]:
    """Programs of a row of the family "asynchronous"."""
    make = {
        "cp_async": _copies, "cp_async_commit": _groups, "cp_async_wait": _groups, "mbarrier_copies": _arriving,
        "st_async": _stores, "red_async": _stores,
    }  # fmt: skip
    if form.sem not in make and not form.sem.startswith("mbarrier"):
        return items(form, limit)
    return list(make.get(form.sem, _phases)(form))[:limit]


_TO = (
    f"bar.sync 0; {shared_address('%u64r60', 16)} mov.u64 %y0, -1; st.shared.v2.u64 [%u64r60], {{%y0, %y0}};"
)
_FROM = (
    "add.s64 %y0, %data, IN+0; mul.wide.u32 %y1, %lane, 8; add.s64 %u64r61, %y0, %y1;"  # sixteen bytes a lane
)


def _copies(form: Form) -> Iterator[Item]:
    """Sixteen bytes a lane: the size, the part that is read, and what the rest becomes."""
    for n, (text, match) in enumerate(instruction_texts(form)):
        opcode, _, rest = text.rstrip(";").partition(" ")
        operands = split_operands(rest)
        lines = [_TO, _FROM, load("%b32r62", 2), "setp.ne.u32 %predr1, %b32r62, 0;"]
        for k, spec in enumerate(match.operands[: len(operands)]):
            if spec.name in ("dst", "src"):
                operands[k] = "[%u64r60]" if spec.name == "dst" else "[%u64r61]"
            elif spec.name == "size":
                operands[k] = "16" if "cg" in match.modifiers else ("4", "8", "16")[n % 3]
                lines.append(f"min.u32 %b32r62, %b32r62, {operands[k]};")
            elif spec.name == "read" and operands[k].startswith("%"):
                operands[k] = "%b32r62"
            elif spec.name == "skip":
                operands[k] = "%predr1"
            elif spec.name == "policy":
                lines.append("createpolicy.fractional.L2::evict_first.b64 %u64r63, 1.0;")
                operands[k] = "%u64r63"
        whole = f"{opcode} {', '.join(operands)};"
        lines += [whole, "cp.async.wait_all;", "bar.sync 0;", show_shared(0, 0), "bar.sync 0;"]
        data = bits(text, 3)
        data[2] = small_numbers(text, 1, 0, 17)[0]
        data[2, ::4] = 0
        yield Item(whole, match, "\n".join(lines), ("b",), data=data)


def _groups(form: Form) -> Iterator[Item]:
    """Two groups of copies; what has been waited for is there, at the end all."""
    for n in {form.min_operands, form.max_operands}:
        for text, match in opcodes(form, n):
            wait = (
                "cp.async.wait_group 0;" if form.sem == "cp_async_commit" else f"{text}{' 1' if n else ''};"
            )
            whole = "cp.async.commit_group;" if form.sem == "cp_async_commit" else wait
            lines = [
                _TO, _FROM, "cp.async.ca.shared.global [%u64r60], [%u64r61], 8;", "cp.async.commit_group;",
                "cp.async.ca.shared.global [%u64r60+8], [%u64r61+8], 8;", "cp.async.commit_group;", wait,
                "ld.shared.u64 %b64r1, [%u64r60];", "cp.async.wait_group 0;", "bar.sync 0;", show_shared(0, 1),
                "bar.sync 0;", "st.global.u64 [%to+OUT+0], %b64r1;",
            ]  # fmt: skip
            yield Item(whole, match, "\n".join(lines), ("b", "b"), data=bits(text, 2))


_INIT = f"bar.sync 0; {shared_address('%u64r60', 8)} mbarrier.init.shared.b64 [%u64r60], "


def _stores(form: Form) -> Iterator[Item]:
    """A store or reduction tells the lane's mbarrier how many bytes came; after it they are there."""
    for text, match in instruction_texts(form):
        opcode, _, rest = text.rstrip(";").partition(" ")
        value = split_operands(rest)[1]
        names = [f"%{declared}r{number}" for declared, number in REGISTER.findall(value)]
        width = int("".join(c for c in match.type if c.isdigit()))
        there, barrier = ("%u64r63", "%u64r60") if "shared" in opcode else ("%u64r64", "%u64r62")
        whole = f"{opcode} [{there}], {value}, [{barrier}];"
        lines = [
            f"{_INIT} 1;", "cvta.shared.u64 %u64r62, %u64r60;", shared_address("%u64r63", 32),
            "add.s64 %u64r63, %u64r63, 2048;", "cvta.shared.u64 %u64r64, %u64r63;", load("%b64r71", 4, 64),
            "st.shared.v2.b64 [%u64r63], {%b64r71, %b64r71};", "st.shared.v2.b64 [%u64r63+16], {%b64r71, %b64r71};",
            *(load(name, k, width) for k, name in enumerate(names)),
            f"mbarrier.arrive.expect_tx.shared.b64 %b64r70, [%u64r60], {len(names) * width // 8};", whole,
            "AGAINNUMBER: mbarrier.test_wait.shared.b64 %predr1, [%u64r60], %b64r70; @!%predr1 bra AGAINNUMBER;",
            show_shared(2048, 0, 32), show_shared(2064, 1, 32), "mbarrier.inval.shared.b64 [%u64r60]; bar.sync 0;",
        ]  # fmt: skip
        yield Item(whole, match, "\n".join(lines), ("b", "b"), data=bits(text, 5))


def _arriving(form: Form) -> Iterator[Item]:
    """A lane's copy arrives at its mbarrier: as one of the arrivals it counts, or as one more (without `.noinc`)."""
    for text, match in opcodes(form):
        where = "[%u64r62]" if "shared" not in text else "[%u64r60]"
        whole = f"{text} {where};"
        lines = [
            f"{_INIT} 2;", "cvta.shared.u64 %u64r62, %u64r60;", _FROM, shared_address("%u64r63", 16),
            "add.s64 %u64r63, %u64r63, 2048;", "cp.async.ca.shared.global [%u64r63], [%u64r61], 16;", whole,
            "mbarrier.arrive.shared.b64 %b64r1, [%u64r60];",
            *(["mbarrier.arrive.shared.b64 %b64r2, [%u64r60];"] if "noinc" not in text else []),
            "AGAINNUMBER: mbarrier.test_wait.shared.b64 %predr1, [%u64r60], %b64r1; @!%predr1 bra AGAINNUMBER;",
            "ld.shared.v2.u64 {%b64r3, %b64r4}, [%u64r63];", "mbarrier.inval.shared.b64 [%u64r60]; bar.sync 0;",
        ]  # fmt: skip
        yield item(whole, match, lines, words("%b64r3", "%b64r4"), bits(text, 2))


_FIRST = "mbarrier.arrive.shared.b64 %b64r1, [%u64r60];"
_SECOND = "mbarrier.arrive.noComplete.shared.b64 %b64r2, [%u64r60], 1;"
_THIRD = "mbarrier.arrive.shared.b64 %b64r3, [%u64r60];"
_EXPECT = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%u64r60], %b32r20;"
_COME = "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%u64r60], %b32r20;"
_INVAL = "mbarrier.inval.shared.b64 [%u64r60];"
_ASK = "?"


def _phases(form: Form) -> Iterator[Item]:
    """An mbarrier of three arrivals, by one lane; the row's instruction in its place, questions after every step."""
    for n in {form.min_operands, form.max_operands}:
        for text, match in opcodes(form, n):
            yield _phase(text, match, n)


def _phase(text: str, match: Match, n: int) -> Item:
    kind = match.form.sem
    counts = {"mbarrier_init": "3", "mbarrier_pending": "%b32r19"}
    operands = {
        "mbar": "[%u64r60]" if "shared" in text else "[%u64r62]", "count": counts.get(kind, "1"), "bytes": "%b32r20",
        "state": "%b64r4" if kind == "mbarrier_arrive" else "%b64r1", "parity": "%b32r21", "time": "%b32r22",
        "done": "%predr19", "ctas": "1",
    }  # fmt: skip
    whole = f"{text} {', '.join(operands[o.name] for o in match.operands[:n])};"
    steps: list[str] = [_FIRST, _ASK, _SECOND, _ASK, _THIRD, _ASK]
    more: list[str] = []  # results beside those of the questions
    match kind:
        case "mbarrier_init":
            steps = [_INVAL, whole, *steps]
        case "mbarrier_bytes":  # the phase is not complete before the bytes are there
            expect, come = (whole, _COME) if "expect_tx" in text else (_EXPECT, whole)
            steps = [_FIRST, expect, _ASK, _SECOND, _THIRD, _ASK, come, _ASK]
        case (
            "mbarrier_arrive"
        ):  # the second of three; then a phase of three arrivals, or of fewer after a drop
            bytes_come = [_COME] if "expect_tx" in text else []
            steps = [_FIRST, _ASK, whole, *bytes_come, _ASK, _THIRD, _ASK, _FIRST, _THIRD, _ASK]
        case "mbarrier_test":
            steps, more = [*steps, whole], ["%predr19"]
        case "mbarrier_pending":
            steps, more = [_FIRST, whole, *steps[1:]], ["%b32r19"]
    lines = [
        _INIT + "3;", "cvta.shared.u64 %u64r62, %u64r60;", "mov.b32 %b32r20, 16;",
        "mov.b32 %b32r21, 0; mov.b32 %b32r22, 20;",
    ]  # fmt: skip
    results = list(more)
    for step in steps:
        if step != _ASK:
            lines.append(step)
            continue
        k = len(results)
        lines.append(f"mbarrier.test_wait.shared.b64 %predr{k}, [%u64r60], %b64r1;")
        lines.append(f"mbarrier.test_wait.parity.shared.b64 %predr{k + 1}, [%u64r60], 0;")
        results += [f"%predr{k}", f"%predr{k + 1}"]
    end = whole if kind == "mbarrier_inval" else _INVAL
    lines += [end, "st.shared.u64 [%u64r60], 77; ld.shared.u64 %b64r5, [%u64r60];", "bar.sync 0;"]
    return item(whole, match, lines, words(*results, "%b64r5"))
