"""What selection leaves behind and a careful hand would not write: copies of results, jumps to the next instruction.

A rule of selection puts results together in new registers and copies them to their places last, so that an operand in
the same place is read before. Where nothing between the two touches the place, the result goes there at once, and what
reads it meanwhile reads it there. Allocation could drop most of these copies, but not one into half of a pair.
"""

import re
from collections import Counter

from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode

_FAR = 40
"""So many instructions back the origin of a copy is looked for."""
_COPIES = frozenset(["mov.u32", "mov.pred"])
_ENDS = frozenset(["bra", "exit", "trap"])


def tidy(kernel: KernelCode) -> None:
    """Drop needless copies and jumps."""
    _write_in_place(kernel)
    _drop_jumps(kernel)


def _write_in_place(kernel: KernelCode) -> None:
    uses: Counter[str] = Counter()
    for code in kernel.codes():
        uses.update(code.writes())
        uses.update(code.reads())
    block: list[Code] = []
    gone: set[int] = set()
    for line in kernel.lines:
        if isinstance(line, BranchTarget):
            if line.label in kernel.labels:
                block = []
            continue
        if line.opcode in _COPIES and not line.guard and _is_made_in(block, uses, *line.operands):
            gone.add(id(line))
            continue
        block.append(line)
        if line.base in _ENDS:
            block = []
    kernel.lines = [line for line in kernel.lines if id(line) not in gone]


def _is_made_in(block: list[Code], uses: Counter[str], target: str, source: str) -> bool:
    """Have the instruction that makes a value make it in its copy's place, if it can, and its readers read it there."""
    if target[:2] not in ("$v", "$p") or source[:2] != target[:2]:
        return False
    naming: list[Code] = []
    left = uses[source] - 1  # the copy itself
    for code in reversed(block[-_FAR:]):
        named = (*code.writes(), *code.reads())
        if source in named:
            naming.append(code)
            left -= named.count(source)
        if source in code.writes():
            if left or code.guard or not {source, "$o127"}.issuperset(code.writes()):
                return False
            for one in naming:
                _rename(one, source, target)
            uses[target] += uses.pop(source) - 2
            return True
        if target in named:
            return False
    return False


def _rename(code: Code, old: str, new: str) -> None:
    whole = re.compile(rf"{re.escape(old)}(?!\d)")
    code.operands = tuple(whole.sub(lambda _: new, operand) for operand in code.operands)
    code.guard = whole.sub(lambda _: new, code.guard)


def _drop_jumps(kernel: KernelCode) -> None:
    """Jumps over nothing but labels."""
    kept: list[Code | BranchTarget] = []
    following: set[str] = set()
    for line in reversed(kernel.lines):
        if isinstance(line, BranchTarget):
            following.add(kernel.labels.get(line.label, ""))
        elif line.opcode == "bra" and line.operands[0] in following:
            continue
        else:
            following = set()
        kept.append(line)
    kernel.lines = kept[::-1]
