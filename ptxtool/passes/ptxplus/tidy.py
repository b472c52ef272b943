"""Removal of what selection emits in excess: copies of results, results that nothing reads, jumps.

A selection rule computes results in new registers and copies them to their destinations last, so that an operand in the
same register is read before. Where no instruction between the two names the destination, the result is computed there
at once, and reads in between are renamed. Allocation could drop most of these copies, but not one into half of a pair.

Nothing reads the handle of a texture that code names, nor most components of a fetch.
"""

from collections import Counter
from collections.abc import Collection
from itertools import chain

from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode

_FAR = 40
"""The most instructions between the computation of a result and its copy."""
_COPIES = frozenset(["mov.u32", "mov.pred"])


def tidy(kernel: KernelCode, handles: Collection[str] = frozenset()) -> None:
    """Drop needless copies, results of fetches and jumps. `handles` are registers that may hold handles of textures."""
    _drop_unread(kernel, handles)
    _write_in_place(kernel)
    _drop_jumps(kernel)


def _drop_unread(kernel: KernelCode, handles: Collection[str]) -> None:
    """Moves of handles that nothing reads, as code names its textures; `_` for such results of a fetch."""
    codes = kernel.codes()
    if not handles and not any(code.opcode.startswith("tex.") for code in codes):
        return
    reads = Counter(chain.from_iterable([code.reads() for code in codes]))
    gone: list[Code] = []
    for code in reversed(codes):
        if code.base == "tex":
            results = (name if reads[name] else "_" for name in code.operands[0].strip("{}").split(","))
            code.operands = (f"{{{','.join(results)}}}", *code.operands[1:])
        elif code.base == "mov" and code.operands[0] in handles and not reads[code.operands[0]]:
            gone.append(code)
            reads.subtract(code.reads())
    kernel.drop(gone)


def _write_in_place(kernel: KernelCode) -> None:
    uses = Counter(chain.from_iterable([chain(*code.registers()) for code in kernel.codes()]))
    gone: list[Code] = []
    for block in kernel.blocks():
        before: list[Code] = []
        for code in block:
            is_copy = code.opcode in _COPIES and not code.guard
            if is_copy and _computed_in_place(before, uses, *code.operands):
                gone.append(code)
            else:
                before.append(code)
    kernel.drop(gone)


def _computed_in_place(block: list[Code], uses: Counter[str], target: str, source: str) -> bool:
    """Compute the source of a copy in its target, and rename the reads in between; False where that is impossible."""
    if target[:2] not in ("$v", "$p") or source[:2] != target[:2]:
        return False
    naming: list[Code] = []
    left = uses[source] - 1  # the copy itself
    for code in reversed(block[-_FAR:]):
        writes, reads = code.registers()
        if source in writes or source in reads:
            naming.append(code)
            left -= (*writes, *reads).count(source)
        if source in writes:
            if left or code.guard or not {source, "$o127"}.issuperset(writes):
                return False
            for one in naming:
                one.rename(source, target)
            uses[target] += uses.pop(source) - 2
            return True
        if target in writes or target in reads:
            return False
    return False


def _drop_jumps(kernel: KernelCode) -> None:
    """Jumps over nothing but labels."""
    kept: list[Code | BranchTarget] = []
    following: set[str] = set()
    for line in reversed(kernel.lines):
        if isinstance(line, BranchTarget):
            following.add(kernel.labels.get(line.label, ""))
        elif following and line.opcode == "bra" and line.operands[0] in following:
            continue
        elif following:
            following = set()
        kept.append(line)
    kernel.lines = kept[::-1]
