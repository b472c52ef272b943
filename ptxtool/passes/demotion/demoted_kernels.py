"""What the passes after `demote` have in common: the loop over the kernels that have demoted registers."""

from collections.abc import Callable, Iterable

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.demotion.unit_liveness import unit_liveness
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark, chosen_kernels
from ptxtool.passes.parsed import parsed
from ptxtool.validate.assignment.private_slots import PrivateSlots, private_slots
from ptxtool.validate.slot_accesses import check_slot_accesses, is_provable

NO_REGISTERS = "nothing to do: it has no demoted registers; run demote before"
Transform = Callable[[Function, PrivateSlots, UnitBudget], tuple[Iterable[TextEdit], str]]
"""The edits of a kernel with demoted registers, and the remark about it. It may extend the budget as it goes."""


def transform_demoted(module: Module, pass_name: str, only: str, transform: Transform) -> PassResult:
    """The result of a pass on every kernel with demoted registers, or on the kernel `only`.

    Raises E301 for an unknown kernel, and where slots may not be their threads' own. Its claim raises E301 where the
    kernel cannot even be proved to compute what it computes.
    """
    edits: list[TextEdit] = []
    remarks: list[Remark] = []
    for kernel in chosen_kernels(module, only):
        slots, message = private_slots(kernel), NO_REGISTERS
        if isinstance(slots, str):
            raise _refusal(kernel, pass_name, slots)
        if isinstance(slots, PrivateSlots):
            changed, message = _within_need(kernel, slots, transform)
            edits += changed
        remarks.append(Remark(pass_name, message, kernel.name, kernel.source.line(kernel.start)))

    def claim(before: Module, after: Module) -> tuple[Diagnostic, ...]:
        problems = check_slot_accesses(before, after)
        lost = [
            k for k in chosen_kernels(before, only) if problems and private_slots(k) and not is_provable(k)
        ]
        if lost:
            raise _refusal(lost[0], pass_name, "its registers are not physical for certain")
        return problems

    return PassResult(tuple(edits), tuple(remarks), claim)


def _refusal(kernel: Function, pass_name: str, reason: str) -> PtxError:
    what = f"cannot change the demoted registers of '{kernel.name}': {reason}"
    help = f"run {pass_name} on what demote writes, before compact gives its registers other names"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)


def _within_need(kernel: Function, slots: PrivateSlots, transform: Transform) -> tuple[list[TextEdit], str]:
    """The result of a transformation after which a thread needs no more registers.

    Live units are less than the allocator's need where pairs leave gaps, so the limit becomes lower until it suffices.
    """
    from ptxtool.passes.demotion.kernel_demotion import needed_registers  # imports numpy

    need, live = needed_registers(kernel), unit_liveness(kernel)
    source = kernel.source
    for limit in range(need, -1, -1):
        changed, message = transform(kernel, slots, UnitBudget(live, limit))
        edits = [*changed]
        if not edits:
            return edits, message
        after = parsed(splice(source.text, edits), source.name).kernels[kernel.name]
        if needed_registers(after) <= need:
            return edits, message
    return [], f"nothing to do: a thread would need more than {counted(need, 'register')}"
