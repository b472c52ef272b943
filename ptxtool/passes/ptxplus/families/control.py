"""Control flow, barriers, fences and votes.

A kernel's `ret` is `exit`; an inlined callee's is a jump to the end of its body. A jump through a table is a chain of
comparisons. GPGPU-Sim and this simulator reconverge by the control flow graph: no `ssy` is needed. A warp's
own barrier has nothing to do where a warp runs in lock step.

Refused: barriers that count predicates, votes of some lanes only, shuffles.
"""

from ptxtool.ir.nodes import Name
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, rule


def _label(isel: InstructionSelection, target: int) -> str:
    return isel.label((isel.current.activation.number, target))


@rule("bra")
def _bra(isel: InstructionSelection) -> None:
    current, operand = isel.current, isel.operands[0]
    labels = current.activation.function.label_table
    target = labels.resolve(operand.text, current.index) if isinstance(operand, Name) else None
    if target is None:
        raise Refusal("a branch to no label")
    isel.emit("bra", _label(isel, target))


@rule("brx")
def _brx(isel: InstructionSelection) -> None:
    current, (index, name) = isel.current, isel.operands
    labels = current.activation.function.label_table
    targets = labels.resolve_list(name.text, current.index) if isinstance(name, Name) else None
    if not targets:
        raise Refusal("a branch through a table that is not here")
    source = isel.source(index, TYPES["u32"])
    if isel.guard:
        raise Refusal("a branch through a table under a guard")
    for k, target in enumerate(targets[:-1]):
        isel.guard = f"@{isel.test('eq', 'u32', source, word(k))}.ne"
        isel.emit("bra", _label(isel, target))
    isel.guard = ""
    isel.emit("bra", _label(isel, targets[-1]))


@rule("ret")
def _ret(isel: InstructionSelection) -> None:
    if isel.current.activation.number == 0:
        isel.emit("exit")
    else:
        isel.emit("bra", isel.label(isel.current.activation.end))


@rule("exit", "trap")
def _end(isel: InstructionSelection) -> None:
    isel.emit(isel.opcode.base)


@rule("nanosleep", "pmevent", "brkpt", "prefetch", "prefetchu", "discard", "applypriority")
def _nothing(isel: InstructionSelection) -> None:
    """What changes no value."""


@rule("bar", "barrier")
def _bar(isel: InstructionSelection) -> None:
    words = isel.opcode.modifiers
    if "warp" in words:
        return
    if "sync" not in words:
        raise Refusal(f"PTXPlus has no '{isel.opcode.text}'")
    if "aligned" not in words and isel.opcode.base == "barrier" and not isel.is_together():
        isel.note("'barrier.sync' waits for whole warps, which must not have diverged there")
    isel.emit("bar.sync", *(isel.source(o, TYPES["u32"]) for o in isel.operands))


@rule("membar", "fence")
def _membar(isel: InstructionSelection) -> None:
    words = isel.opcode.modifiers
    if "proxy" in words:
        raise Refusal("a fence between proxies")
    scope = {"cta": "cta", "sys": "sys"}.get(words[-1] if words else "", "gl")
    isel.emit(f"membar.{scope}")


@rule("vote")
def _vote(isel: InstructionSelection) -> None:
    operands = isel.operands
    if len(operands) > 2 and isel.known(operands[2]) != 0xFFFFFFFF:
        raise Refusal("a vote of some lanes: PTXPlus's are of all that are active")
    kind = isel.match.one_of("all", "any", "uni", "ballot")
    source = isel.plain_truth(operands[1])
    target = isel.target()
    if kind == "ballot":
        isel.emit("vote.ballot.b32", target, source)
    elif kind == "uni":
        all_, none = isel.predicate(), isel.predicate()
        isel.emit("vote.all.pred", all_, source)
        isel.emit("vote.all.pred", none, isel.inverted(source))
        isel.emit("or.pred", target, all_, none)
    else:
        isel.emit(f"vote.{kind}.pred", target, source)


@rule("activemask")
def _activemask(isel: InstructionSelection) -> None:
    always = isel.compute_predicate("mov.pred", word(1))
    isel.emit("vote.ballot.b32", isel.target(), always)
