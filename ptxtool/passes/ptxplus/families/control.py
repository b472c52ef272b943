"""Control flow, barriers, fences and votes.

A kernel's `ret` is `exit`; a callee's, which stands in its caller's place, jumps behind it. A jump through a table is
a chain of comparisons. GPGPU-Sim and this simulator reconverge by the control flow graph: no `ssy` is needed. A warp's
own barrier has nothing to do where a warp runs in lock step.

Refused: barriers that count predicates, votes of some lanes only, shuffles.
"""

from ptxtool.ir.nodes import Name
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import word
from ptxtool.passes.ptxplus.families.compare import inverted
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, rule


def _label(s: Selection, step: Step, target: int) -> str:
    return s.label((step.frame.number, target))


@rule("bra")
def _bra(s: Selection, step: Step) -> None:
    operand = step.instruction.operands[0]
    target = (
        step.frame.function.label_table.resolve(operand.text, step.index)
        if isinstance(operand, Name)
        else None
    )
    if target is None:
        raise Refusal("a branch to no label")
    s.emit("bra", _label(s, step, target))


@rule("brx")
def _brx(s: Selection, step: Step) -> None:
    index, name = step.instruction.operands
    targets = (
        step.frame.function.label_table.resolve_list(name.text, step.index)
        if isinstance(name, Name)
        else None
    )
    if not targets:
        raise Refusal("a branch through a table that is not here")
    source = s.source(step, index, TYPES["u32"])
    if s.guard:
        raise Refusal("a branch through a table under a guard")
    for k, target in enumerate(targets[:-1]):
        s.guard = f"@{s.test('eq', 'u32', source, word(k))}.ne"
        s.emit("bra", _label(s, step, target))
    s.guard = ""
    s.emit("bra", _label(s, step, targets[-1]))


@rule("ret")
def _ret(s: Selection, step: Step) -> None:
    if step.frame.number == 0:
        s.emit("exit")
    else:
        s.emit("bra", s.label(step.frame.end))


@rule("exit")
def _exit(s: Selection, _: Step) -> None:
    s.emit("exit")


@rule("trap")
def _trap(s: Selection, _: Step) -> None:
    s.emit("trap")


@rule("nanosleep", "pmevent", "brkpt", "prefetch", "prefetchu", "discard", "applypriority")
def _nothing(s: Selection, step: Step) -> None:
    """What changes no value."""


@rule("bar", "barrier")
def _bar(s: Selection, step: Step) -> None:
    words = step.instruction.opcode.modifiers
    if "warp" in words:
        return
    if "sync" not in words:
        raise Refusal(f"PTXPlus has no '{step.instruction.opcode.text}'")
    if "aligned" not in words and step.instruction.opcode.base == "barrier":
        s.note(step, "'barrier.sync' waits for whole warps, which must not have diverged there")
    s.emit("bar.sync", *(s.source(step, o, TYPES["u32"]) for o in step.instruction.operands))


@rule("membar", "fence")
def _membar(s: Selection, step: Step) -> None:
    words = step.instruction.opcode.modifiers
    if "proxy" in words:
        raise Refusal("a fence between proxies")
    scope = {"cta": "cta", "sys": "sys"}.get(words[-1] if words else "", "gl")
    s.emit(f"membar.{scope}")


@rule("vote")
def _vote(s: Selection, step: Step) -> None:
    match = step.match
    assert match is not None
    operands = step.instruction.operands
    if len(operands) > 2 and s.known(step, operands[2]) != 0xFFFFFFFF:
        raise Refusal("a vote of some lanes: PTXPlus's are of all that are active")
    kind = match.one_of("all", "any", "uni", "ballot")
    source = s.plain_truth(step, operands[1])
    target = s.register(s.destination(step, operands[0]))
    if kind == "ballot":
        s.emit("vote.ballot.b32", target, source)
    elif kind == "uni":
        all_, none = s.predicate(), s.predicate()
        s.emit("vote.all.pred", all_, source)
        s.emit("vote.all.pred", none, inverted(s, source))
        s.emit("or.pred", target, all_, none)
    else:
        s.emit(f"vote.{kind}.pred", target, source)


@rule("activemask")
def _activemask(s: Selection, step: Step) -> None:
    always = s.predicate()
    s.always("mov.pred", always, word(1))
    s.emit("vote.ballot.b32", s.register(s.destination(step, step.instruction.operands[0])), always)
