"""Launch bounds that ptxas ignores or that no launch meets (W213), and `setmaxnreg` without those it needs (W212).

ptxas takes both, and says so in a line of information at most: `setmaxnreg` does nothing where the number of registers
at the kernel's entry is unknown, that is without `.maxnreg`, or a CTA's threads and `.minnctapersm`.

Reference: PTX ISA, sections 11.4 (performance-tuning directives) and 9.7.19.5 (setmaxnreg); the rest was asked of
ptxas 13.0.
"""

from collections.abc import Iterator
from math import prod

from ptxtool.analysis.occupancy.cuda_limits import MOST_REGISTERS
from ptxtool.analysis.occupancy.entry_registers import entry_registers, ignored_ctas
from ptxtool.base.diag import Diagnostic, Note
from ptxtool.ir.blocks import BlockBound, block_bound, numbers
from ptxtool.ir.names import diagnostic_at
from ptxtool.ir.nodes import Directive, Function, Instruction, Module
from ptxtool.sema.called import calls

_EXTENT = (1024, 1024, 64)
_THREADS_OF_A_CTA = 1024
_CTAS_OF_A_CLUSTER = 16
_REPEATABLE = ("maxntid", "reqntid", "minnctapersm", "maxnreg", "reqnctapercluster", "maxclusterrank")


def launch_bound_problems(module: Module) -> Iterator[Diagnostic]:
    """The warnings about the launch bounds of every kernel."""
    adjusting = _adjusting(module)
    for kernel in module.functions.values():
        if kernel.kind != "entry" or kernel.body is None:
            continue
        yield from _bound_problems(kernel)
        if kernel.name in adjusting and entry_registers(kernel) is None:
            yield _setmaxnreg_problem(kernel, adjusting[kernel.name])


def _bound_problems(kernel: Function) -> Iterator[Diagnostic]:
    first: dict[str, Directive] = {}
    for item in kernel.directives:
        before = first.setdefault(item.name, item)
        if item.name in _REPEATABLE and numbers(before) != numbers(item):
            message = f"'.{item.name} {item.text}' contradicts '.{before.name} {before.text}'"
            note = Note("the other one is here", kernel.source, before.start, before.end)
            yield _problem(kernel, item, message, "keep one of them", note)
    bound = block_bound(kernel)
    if bound is not None and bound.is_exact and _is_impossible(bound):
        message = f"no CTA has {' x '.join(map(str, bound.extent))} threads, so no launch fits"
        help = f"a CTA has at most {_THREADS_OF_A_CTA} threads, {_EXTENT[2]} of them in z"
        yield _problem(kernel, bound.directive, message, help)
    ctas = first.get("minnctapersm")
    if ctas is not None and (trouble := ignored_ctas(kernel, ctas, bound)):
        yield _problem(kernel, ctas, f"'.minnctapersm {ctas.text}' is ignored: {trouble[0]}", trouble[1])
    registers = first.get("maxnreg")
    if registers is not None and numbers(registers)[0] > MOST_REGISTERS:
        message = f"'.maxnreg {registers.text}' is ignored: a thread has at most {MOST_REGISTERS}"
        yield _problem(kernel, registers, message, "write a smaller number, or remove it")
    cluster = first.get("reqnctapercluster")
    if cluster is not None and prod(numbers(cluster)) > _CTAS_OF_A_CLUSTER:
        message = f"no cluster has {prod(numbers(cluster))} CTAs, so no launch fits"
        yield _problem(kernel, cluster, message, f"a cluster has at most {_CTAS_OF_A_CLUSTER} CTAs")


def _is_impossible(bound: BlockBound) -> bool:
    is_larger = any(n > most for n, most in zip(bound.extent, _EXTENT, strict=True))
    return bound.threads > _THREADS_OF_A_CTA or is_larger


def _adjusting(module: Module) -> dict[str, Instruction]:
    """The functions that execute `setmaxnreg`, themselves or in what they call, and the first of these instructions."""
    found: dict[str, Instruction] = {}
    for function in module.functions.values():
        for i in function.at_bases("setmaxnreg")[:1]:
            found[function.name] = function.instructions[i]
    if not found:
        return found
    callers: dict[str, list[str]] = {}
    for function in module.functions.values():
        for _, callee in calls(function):
            if callee is not None:
                callers.setdefault(callee.name, []).append(function.name)
    pending = [*found]
    while pending:
        name = pending.pop()
        for caller in callers.get(name, ()):
            if caller not in found:
                found[caller] = found[name]
                pending.append(caller)
    return found


def _setmaxnreg_problem(kernel: Function, node: Instruction) -> Diagnostic:
    opcode = node.opcode.text
    message = f"'{opcode}' is ignored: the registers at the entry of '{kernel.name}' are unknown"
    help = "write '.maxnreg', or '.maxntid' and '.minnctapersm', after the parameters of the kernel"
    return diagnostic_at("W212", message, kernel.source, node, opcode, help)


def _problem(
    kernel: Function, item: Directive, message: str, help: str, note: Note | None = None
) -> Diagnostic:
    return Diagnostic("W213", message, kernel.source, item.start, item.end, help, note)
