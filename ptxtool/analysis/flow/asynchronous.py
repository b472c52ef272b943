"""Asynchronous instructions with operands in registers: what they leave in flight, and which instructions wait for it.

For register assignment, and for the check of reads that come too early. `wgmma.mma_async` uses its registers until a
`wgmma.wait_group N` with at most N groups committed since; `tcgen05.ld` and `tcgen05.st` theirs until the
`tcgen05.wait` of their kind.

Reference: PTX ISA, sections 9.7.15 and 9.7.16 (asynchronous warpgroup-level matrix instructions, tcgen05).
"""

from ptxtool.ir.nodes import Immediate, Instruction

WGMMA, LOAD, STORE = "wgmma", "ld", "st"
WAITS = {WGMMA: "wgmma.wait_group", LOAD: "tcgen05.wait::ld", STORE: "tcgen05.wait::st"}
"""The instruction that waits for each kind of operation."""
_OLDEST = 16
"""Age at which the count of groups stops: no wait leaves so many pending."""


def launched(node: Instruction) -> str:
    """The kind of asynchronous operation that an instruction starts: `WGMMA`, `LOAD`, `STORE`, or ""."""
    first = node.opcode.modifiers[0] if node.opcode.modifiers else ""
    if node.opcode.base == "wgmma":
        return WGMMA if first == "mma_async" else ""
    return first if node.opcode.base == "tcgen05" and first in (LOAD, STORE) else ""


def passed(node: Instruction, kind: str, age: int) -> tuple[bool, int]:
    """Whether an instruction waits for an operation with `age` groups committed since, and the age after it."""
    words = (node.opcode.base, *node.opcode.modifiers[:1])
    if kind != WGMMA:
        return words == ("tcgen05", f"wait::{kind}"), age
    if words == (WGMMA, "commit_group"):
        return False, min(age + 1, _OLDEST)
    if words == (WGMMA, "wait_group") and node.operands:
        left = node.operands[0]
        return isinstance(left, Immediate) and age > int(left.text, 0), age
    return False, age
