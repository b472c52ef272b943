"""Warp shuffles through shared memory.

The dialect has no `shfl`. A warp runs in lock step, so its lanes can exchange values without a barrier: each writes its
own to a word of shared memory and reads the word of the lane it asks for. The words are a variable that the lowered
kernel has beside its own, four bytes for every thread the block may have (`.maxntid`, `.reqntid`; 1024 without them).

The lane that is read: j = lane - b, lane + b, lane ^ b, or b within the segment; where j leaves the segment that `c`
and its mask give, the lane keeps its own value and the predicate is false (PTX ISA, shfl.sync). Lanes that do not take
part leave what they last wrote: PTX leaves that undefined.
"""

from ptxtool.ir.nodes import Dual, Name
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import Code, word
from ptxtool.passes.ptxplus.flatten import Step
from ptxtool.passes.ptxplus.selection import Selection, rule

_ALL = 31


@rule("shfl")
def _shfl(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    result, holds = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Dual) else (operands[0], None)
    )
    s.note(step, "warps shuffle through shared memory, a word for every thread")
    mode = match.one_of("up", "down", "bfly", "idx")
    lane, own = s.exchange()
    clamp = s.known(step, operands[3])
    if clamp is None:
        source = s.source(step, operands[3], TYPES["u32"])
        segment = s.compute("and.b32", s.compute("shr.u32", source, word(8)), word(_ALL))
        outside = s.compute("xor.b32", segment, word(_ALL))
        first = s.compute("and.b32", lane, segment)
        limit = s.compute("or.b32", first, s.compute("and.b32", source, outside))
    else:
        mask, last = clamp >> 8 & _ALL, clamp & _ALL
        outside = word(~mask & _ALL)
        first = s.compute("and.b32", lane, word(mask)) if mask else word(0)
        limit = s.compute("or.b32", first, word(last & ~mask)) if mask else word(last)
    value = s.source(step, operands[1], TYPES["b32"])
    amount = s.compute("and.b32", s.source(step, operands[2], TYPES["u32"]), word(_ALL))
    s.emit("mov.u32", own, value if value.startswith("$") else s.compute("mov.u32", value))
    if mode == "idx":
        inside = s.compute("and.b32", amount, outside)
        wanted = s.compute("or.b32", inside, first) if first != word(0) else inside
    else:
        operation = {"up": "sub.u32", "down": "add.u32", "bfly": "xor.b32"}[mode]
        wanted = s.compute(operation, lane, amount)
    is_inside = s.test("ge" if mode == "up" else "le", "s32", wanted, limit)
    chosen = s.compute("selp.u32", wanted, lane, is_inside)
    distance = s.compute("shl.u32", s.compute("sub.u32", chosen, lane), word(2))
    base, _, offset = own[2:-1].partition("+")
    there = s.compute("add.u32", base, distance)
    if not (isinstance(result, Name) and result.text == "_"):
        s.emit("mov.u32", s.register(s.destination(step, result)), f"s[{there}+{offset}]")
    if holds is not None and not (isinstance(holds, Name) and holds.text == "_"):
        s.emit("mov.pred", s.register(s.destination(step, holds)), is_inside)


def exchange_prologue(thread_ids: dict[str, str], lane: str, address: str) -> list[Code]:
    """The lane, and four times the thread's number in its block."""
    x, y, z = (thread_ids[part] for part in "xyz")
    return [
        Code("mov.u32", (address, "%ntid.y")),
        Code("mad.lo.u32", (address, z, address, y)),
        Code("mov.u32", (lane, "%ntid.x")),
        Code("mad.lo.u32", (address, address, lane, x)),
        Code("and.b32", (lane, address, word(_ALL))),
        Code("shl.u32", (address, address, word(2))),
    ]
