"""Warp shuffles through shared memory.

The dialect has no `shfl`. A warp runs in lock step, so its lanes can exchange values without a barrier: each writes its
own to a word of shared memory and reads the word of the lane it asks for. The words are a variable that the lowered
kernel has beside its own, four bytes for every thread the block may have (`.maxntid`, `.reqntid`; 1024 without them).

The lane that is read: j = lane - b, lane + b, lane ^ b, or b within the segment; where j leaves the segment that `c`
and its mask give, the lane keeps its own value and the predicate is false (PTX ISA, shfl.sync). Lanes that do not take
part leave what they last wrote: PTX leaves that undefined.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import Code, word
from ptxtool.passes.ptxplus.selection import InstructionSelection, results_of, rule

_ALL = 31


@rule("shfl")
def _shfl(isel: InstructionSelection) -> None:
    operands = isel.operands
    result, holds = results_of(operands[0])
    isel.note("warps shuffle through shared memory, a word for every thread")
    mode = isel.match.one_of("up", "down", "bfly", "idx")
    lane, own = isel.exchange()
    clamp = isel.known(operands[3])
    if clamp is None:
        source = isel.source(operands[3], TYPES["u32"])
        segment = isel.compute("and.b32", isel.compute("shr.u32", source, word(8)), word(_ALL))
        outside = isel.compute("xor.b32", segment, word(_ALL))
        first = isel.compute("and.b32", lane, segment)
        limit = isel.compute("or.b32", first, isel.compute("and.b32", source, outside))
    else:
        mask, last = clamp >> 8 & _ALL, clamp & _ALL
        outside = word(~mask & _ALL)
        first = isel.compute("and.b32", lane, word(mask)) if mask else word(0)
        limit = isel.compute("or.b32", first, word(last & ~mask)) if mask else word(last)
    value = isel.source(operands[1], TYPES["b32"])
    amount = isel.compute("and.b32", isel.source(operands[2], TYPES["u32"]), word(_ALL))
    isel.emit("mov.u32", own, value if value.startswith("$") else isel.compute("mov.u32", value))
    if mode == "idx":
        inside = isel.compute("and.b32", amount, outside)
        wanted = isel.compute("or.b32", inside, first) if first != word(0) else inside
    else:
        operation = {"up": "sub.u32", "down": "add.u32", "bfly": "xor.b32"}[mode]
        wanted = isel.compute(operation, lane, amount)
    is_inside = isel.test("ge" if mode == "up" else "le", "s32", wanted, limit)
    chosen = isel.compute("selp.u32", wanted, lane, is_inside)
    distance = isel.compute("shl.u32", isel.compute("sub.u32", chosen, lane), word(2))
    base, _, offset = own[2:-1].partition("+")
    there = isel.compute("add.u32", base, distance)
    if result is not None:
        isel.emit("mov.u32", isel.target(result), f"s[{there}+{offset}]")
    if holds is not None:
        isel.emit("mov.pred", isel.target(holds), is_inside)


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
