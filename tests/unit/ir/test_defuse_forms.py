"""What every form of the instruction table writes and reads, against the manual: destinations by opcode, by hand.

The rule of PTX: the first operand is the destination, all others are sources. What departs from it is listed here, by
the beginnings of opcodes, of which the longest counts. Instructions of every form, made from the table, must define
just the registers in their destinations and read every other one that they name: in vectors, after the bar of a pair,
in addresses.
"""

import re
from collections.abc import Iterable

import pytest
from form_text import instruction_texts, kernel, opcode_texts, split_operands

from ptxtool.ir.defuse import def_use
from ptxtool.isa.table import table
from ptxtool.parse import parse

NO_DESTINATION = """
st red multimem.st multimem.red multimem.cp sust sured wmma.store stmatrix prefetch prefetchu applypriority discard
stackrestore
bar.sync bar.cta.sync bar.arrive bar.cta.arrive bar.warp.sync membar fence
barrier.sync barrier.cta.sync barrier.arrive barrier.cta.arrive barrier.cluster
mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx cp tensormap
clusterlaunchcontrol.try_cancel wgmma.fence wgmma.commit_group wgmma.wait_group
tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.st tcgen05.cp tcgen05.shift tcgen05.mma
tcgen05.commit tcgen05.fence::before_thread_sync tcgen05.fence::after_thread_sync tcgen05.wait::ld tcgen05.wait::st
bra brx ret exit trap brkpt nanosleep pmevent setmaxnreg griddepcontrol callp retp break breakaddr ssy nop
"""
TWO_DESTINATIONS = ["tcgen05.ld.red"]
"""The values, and their minimum or maximum."""
REPORTS = ["mbarrier.test_wait", "mbarrier.try_wait"]
"""Whether the phase is complete and, in some forms of `.phase_type::primary`, a report: what is before the address."""
UPDATES = "wgmma.mma_async"
"""Its destination is the accumulator: read too, so that nothing is killed."""

# what instructions do beside writing their destinations, by the beginnings of opcodes; nothing where none fits
EFFECTS = {
    "load": """ld ldu multimem.ld_reduce tex tld4 suld wmma.load ldmatrix mbarrier.test_wait mbarrier.try_wait
        wgmma.mma_async tcgen05.ld cp.async.bulk.prefetch applypriority.async.bulk mbarrier.check_layout""",
    "store": "st multimem.st sust wmma.store stmatrix mbarrier.init mbarrier.inval tcgen05.st tcgen05.alloc",
    "load store": """cp.async cp.async.bulk multimem.cp.async.bulk tensormap clusterlaunchcontrol.try_cancel
        tcgen05.cp tcgen05.mma tcgen05.shift""",
    "load store atomic": """atom red multimem.red multimem.cp.reduce sured mbarrier cp.async.mbarrier cp.reduce
        tcgen05.commit""",
    "barrier": """bar barrier cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.bulk.commit_group
        cp.async.bulk.wait_group""",
    "barrier load store": "sst",
    "": "bar.warp.sync mbarrier.pending_count",
    "branch": "bra brx break",
    "call": "callp",
    "call load store": "call",
    "exit": "exit trap",
    "return": "ret retp",
}


def longest(opcode: str, known: Iterable[str]) -> str:
    """The longest of the known beginnings of an opcode, whole words of it; "" if there is none."""
    return max((k for k in known if f"{opcode}.".startswith(f"{k}.")), key=len, default="")


def destinations(opcode: str, before_address: int) -> tuple[int, ...]:
    if longest(opcode, NO_DESTINATION.split()):
        return ()
    if longest(opcode, REPORTS):
        return tuple(range(before_address))
    return (0, 1) if longest(opcode, TWO_DESTINATIONS) else (0,)


FORMS = [form for forms in table().forms.values() for form in forms]
BY_OPCODE = {opcode: effect for effect, opcodes in EFFECTS.items() for opcode in opcodes.split()}


def test_effects_and_roles_of_every_form() -> None:
    for form in FORMS:
        for opcode in opcode_texts(form, limit=4):
            assert form.effects == frozenset(BY_OPCODE.get(longest(opcode, BY_OPCODE), "").split()), opcode
            written = tuple(k for k, o in enumerate(form.operands) if o.role in ("w", "p", "rw"))
            before_address = next((k for k, o in enumerate(form.operands) if o.role == "m"), 0)
            assert written == destinations(opcode, before_address) or form.base == "call", opcode


def test_the_carry_flag_of_every_form() -> None:
    for form in FORMS:
        carries = [("r", "cc")] if form.base in ("addc", "subc", "madc") else []
        if any("cc" in group.alternatives for group in form.groups):
            carries.append(("w", "cc"))
        assert list(form.implicit) == carries, (form.base, form.index)


def registers(text: str) -> set[str]:
    return set(re.findall(r"%\w+", text))


@pytest.mark.parametrize("guard", ["", "@%predr129 "])
@pytest.mark.parametrize("family", sorted(table().titles))
def test_registers_of_every_form(family: str, guard: str) -> None:
    forms = [f for f in FORMS if f.family == family and f.dialect != "ptxplus"]
    texts = [text for form in forms for text, _ in instruction_texts(form, limit=4)]
    source, _ = kernel([guard + text for text in texts], "sm_100a")
    (function,) = parse(source).functions.values()
    table_of = function.registers
    assert len(texts) > 10
    for text, step in zip(texts, def_use(function), strict=False):
        opcode, _, rest = text.rstrip(";").partition(" ")
        operands = split_operands(rest)
        before_address = next((k for k, o in enumerate(operands) if o.startswith("[")), 0)
        written_places = destinations(opcode, before_address)
        written = {r for k in written_places if k < len(operands) for r in registers(operands[k])}
        read = {r for k, o in enumerate(operands) if k not in written_places for r in registers(o)}
        is_updated = opcode.startswith(UPDATES)
        defs, kills, uses = (
            {table_of[k].name for k in found} for found in (step.defs, step.kills, step.uses)
        )
        assert defs == written, text
        assert kills == (set() if guard or is_updated else written), text
        assert uses == read | (written if is_updated else set()) | registers(guard), text
