"""Instruction selection of one kernel: its instructions in order, each by the rule of its opcode.

Every instruction that cannot be lowered is reported; a kernel without any becomes a `KernelCode` over virtual
registers. The prologue unpacks the thread id, which `$r0` holds at entry.
"""

from collections.abc import Iterable, Iterator

from ptxtool.analysis.regalloc.narrowing import Demand, Narrowing, demand, narrowing
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Function, Immediate, Name
from ptxtool.ir.variables import alignment_of
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode, word

# each registers its rules, as do the families that it imports
from ptxtool.passes.ptxplus.families import control, convert, exchange, integer, memory, moves, texture  # noqa: F401
from ptxtool.passes.ptxplus.flatten import FlatItem, InlinedInstruction, ParameterCopy, Refusal, flatten
from ptxtool.passes.ptxplus.fold import fold
from ptxtool.passes.ptxplus.places import KernelVariables, ModuleVariables, parameter_name
from ptxtool.passes.ptxplus.selection import InstructionSelection
from ptxtool.passes.ptxplus.texture_names import texture_names
from ptxtool.passes.ptxplus.tidy import tidy


def select(kernel: Function, shared: ModuleVariables) -> tuple[KernelCode, list[Diagnostic]]:
    """The code of a kernel, and an E301 for each instruction that cannot be lowered."""
    items, refused = flatten(kernel)
    inlined = [item for item in items if isinstance(item, InlinedInstruction)]
    functions = {each.activation.function.name for each in inlined} | {kernel.name}
    shuffles = any(each.instruction.opcode.base == "shfl" for each in inlined)
    variables = KernelVariables(kernel, functions, shared, lambda: _names(items), shuffles)
    code = KernelCode(kernel.name, tuple(_parameters(kernel)), tuple(_shared(variables)))
    isel = InstructionSelection(code, variables, items, _narrowing(items), shared.segment)
    if variables.has_locals:
        _ = isel.spaces  # which gives addresses to those in copies and sums, in the order of the text
    if any(each.instruction.opcode.base == "tex" for each in inlined):
        isel.textures = texture_names(items, variables.textures, variables.texture_parameters)
    problems = [_problem(*one) for one in refused]
    for item in items:
        if isinstance(item, BranchTarget):
            code.lines.append(item)
            continue
        try:
            if isinstance(item, InlinedInstruction):  # nearly all
                isel.select(item)
            else:
                isel.emit_item(item)
        except Refusal as refusal:
            problems.append(_problem(item if isinstance(item, InlinedInstruction) else item.at, str(refusal)))
    code.lines[:0] = _prologue(isel)
    code.local_bytes = variables.local_bytes
    tidy(code, _handles(isel))
    fold(code, variables.parameter_end)
    return code, problems


def _problem(inlined: InlinedInstruction, reason: str) -> Diagnostic:
    instruction = inlined.instruction
    text = " ".join(inlined.activation.function.text(instruction).split())
    short = text if len(text) <= 60 else f"{text[:57]}..."
    message = f"lower-ptxplus: '{short}': {reason}"
    help = "docs/lower-ptxplus.md lists what can be lowered, and why the rest cannot"
    source = inlined.activation.function.source
    return Diagnostic("E301", message, source, instruction.start, instruction.end, help)


def _narrowing(items: Iterable[FlatItem]) -> Narrowing:
    demands: list[Demand] = []
    for item in items:
        if type(item) is InlinedInstruction:  # nearly all
            if item.match is not None:
                demands.append(demand(item.instruction, item.match, item.wide_key))
        elif isinstance(item, ParameterCopy):
            key = item.at.wide_key(item.operand.text) if isinstance(item.operand, Name) else None
            if key is not None:
                pair = (item.piece, key) if item.is_store else (key, item.piece)
                demands.append(Demand((), (pair,)) if item.piece.bits == 64 else Demand())
    return narrowing(demands)


def _names(items: Iterable[FlatItem]) -> set[str]:
    """Every identifier in the operands of a kernel's instructions."""
    found: set[str] = set()
    seen: set[int] = set()
    for item in items:
        if isinstance(item, InlinedInstruction):
            for operand in item.instruction.operands:
                if type(operand) is Name:
                    found.add(operand.text)
                elif type(operand) is not Immediate and id(operand) not in seen:
                    seen.add(id(operand))
                    found.update([name.text for name in names(operand)])
        elif isinstance(item, ParameterCopy):
            found.update(name.text for name in names(item.operand))
    return found


def _handles(isel: InstructionSelection) -> set[str]:
    """The registers that may hold handles of textures."""
    values = ((isel.is_wide(key), key) for key in isel.textures)
    return {name for wide, key in values for name in (isel.words(key) if wide else (isel.register(key),))}


def _parameters(kernel: Function) -> Iterator[str]:
    """The parameters as the converter declares them."""
    for declaration in kernel.parameters:
        for declarator in declaration.declarators:
            name = parameter_name(kernel, declarator.name)
            type_ = declaration.type if declaration.type in TYPES else "u64"
            if TYPES[type_].kind == "b" and not declarator.dimensions:
                type_ = f"u{TYPES[type_].bits}"
            sizes = "".join(f"[{d or 0}]" for d in declarator.dimensions)
            align = f".align {alignment_of(declaration)} " if sizes else ""
            yield f".param {align} .{type_} {name}{sizes}".replace("  .", " ." if sizes else "  .")


def _shared(variables: KernelVariables) -> Iterator[str]:
    """The shared variables: their sizes; the code names their addresses."""
    for variable, n_bytes, alignment in variables.shared.values():
        yield f".shared .align {alignment} .b8 __shared_{variable.name.lstrip('%')}[{n_bytes or ''}];"


def _prologue(isel: InstructionSelection) -> list[Code]:
    """The thread's coordinates that are read, unpacked from `$r0`."""
    found: list[Code] = []
    for part, register in isel.thread_ids.items():
        if part == "x":
            found.append(Code("cvt.u32.u16", (register, "$r0.lo")))
        elif part == "y":
            found.append(Code("shr.u32", (register, "$r0", word(16))))
            found.append(Code("and.b32", (register, register, word(0x3FF))))
        else:
            found.append(Code("shr.u32", (register, "$r0", word(26))))
    if isel.exchange_registers is not None:
        found += exchange.exchange_prologue(isel.thread_ids, *isel.exchange_registers)
    return found
