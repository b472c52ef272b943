"""Instruction selection of one kernel: its steps in order, each by the rule of its opcode.

All that cannot be lowered is collected; a kernel without complaints gives a `KernelCode` over virtual registers. The
prologue takes apart the packed thread id, which `$r0` holds at entry.
"""

from collections.abc import Iterable, Iterator

from ptxtool.analysis.regalloc.narrowing import Demand, Narrowing, demand, narrowing
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Function, Name
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.code import Code, KernelCode, Mark, word
from ptxtool.passes.ptxplus.constants import constants
from ptxtool.passes.ptxplus.families import (  # noqa: F401  (each registers its rules)
    carry,
    compare,
    control,
    convert,
    exchange,
    floating,
    integer,
    memory,
    moves,
)
from ptxtool.passes.ptxplus.families.exchange import exchange_prologue
from ptxtool.passes.ptxplus.flatten import Copy, Item, Refusal, Skip, Step, flatten
from ptxtool.passes.ptxplus.fold import fold
from ptxtool.passes.ptxplus.places import KernelPlaces, ModulePlaces, alignment_of
from ptxtool.passes.ptxplus.pointers import pointer_spaces
from ptxtool.passes.ptxplus.selection import Selection
from ptxtool.passes.ptxplus.tidy import tidy


def select(kernel: Function, shared: ModulePlaces) -> tuple[KernelCode, list[Diagnostic]]:
    """The code of a kernel, and what stands in its way: E301, one for each instruction that cannot be lowered."""
    items, troubles = flatten(kernel)
    functions = {item.frame.function.name for item in items if isinstance(item, Step)} | {kernel.name}
    bases = {item.instruction.opcode.base for item in items if isinstance(item, Step)}
    places = KernelPlaces(kernel, functions, shared, _names(items), "shfl" in bases)
    code = KernelCode(kernel.name, tuple(_parameters(kernel)), tuple(_shared(places)))
    narrow = _narrowing(items)
    selection = Selection(
        code, places, narrow, pointer_spaces(items, places), constants(items), shared.segment
    )
    problems = [_problem(t.step, t.reason) for t in troubles]
    for item in items:
        if isinstance(item, Mark):
            code.lines.append(item)
            continue
        step = item if isinstance(item, Step) else item.step
        try:
            if isinstance(item, Copy):
                selection.copy(item)
            elif isinstance(item, Skip):
                selection.skip(item)
            else:
                selection.select(item)
        except Refusal as refusal:
            problems.append(_problem(step, str(refusal)))
    code.lines[:0] = _prologue(selection)
    code.local_bytes = places.local_bytes
    tidy(code)
    fold(code, places.parameter_end)
    return code, problems


def _problem(step: Step, reason: str) -> Diagnostic:
    instruction = step.instruction
    text = " ".join(step.frame.function.text(instruction).split())
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return Diagnostic(
        "E301",
        f"lower-ptxplus: '{short}': {reason}",
        step.frame.function.source,
        instruction.start,
        instruction.end,
        help="docs/lower-ptxplus.md lists what can be lowered, and why the rest cannot",
    )


def _narrowing(items: Iterable[Item]) -> Narrowing:
    demands: list[Demand] = []
    for item in items:
        if isinstance(item, Copy):
            key = item.step.wide_key(item.operand.text) if isinstance(item.operand, Name) else None
            if key is not None:
                pair = (item.piece, key) if item.is_store else (key, item.piece)
                demands.append(Demand((), (pair,)) if item.piece.bits == 64 else Demand())
        elif isinstance(item, Step) and item.match is not None:
            demands.append(demand(item.instruction, item.match, item.wide_key))
    return narrowing(demands)


def _names(items: Iterable[Item]) -> set[str]:
    """Every identifier in the operands of a kernel's steps."""
    found: set[str] = set()
    seen: set[int] = set()
    for item in items:
        if isinstance(item, Step):
            for operand in item.instruction.operands:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    found.update(name.text for name in names(operand))
        elif isinstance(item, Copy):
            found.update(name.text for name in names(item.operand))
    return found


def _parameters(kernel: Function) -> Iterator[str]:
    """The parameters as the converter declares them."""
    for declaration in kernel.parameters:
        for declarator in declaration.declarators:
            name = declarator.name
            own = name if name.startswith(kernel.name) else f"{kernel.name}_{name}"
            type_ = declaration.type if declaration.type in TYPES else "u64"
            type_ = (
                f"u{TYPES[type_].bits}" if TYPES[type_].kind == "b" and not declarator.dimensions else type_
            )
            sizes = "".join(f"[{d or 0}]" for d in declarator.dimensions)
            align = f".align {alignment_of(declaration)} " if sizes else ""
            yield f".param {align} .{type_} __cudaparm_{own}{sizes}".replace("  .", " ." if sizes else "  .")


def _shared(places: KernelPlaces) -> Iterator[str]:
    """The shared variables: their sizes; the code names their addresses."""
    for place, n_bytes, alignment in places.shared.values():
        yield f".shared .align {alignment} .b8 __shared_{place.name.lstrip('%')}[{n_bytes or ''}];"


def _prologue(selection: Selection) -> list[Code]:
    """The coordinates of the thread that something asks for, from `$r0`."""
    found: list[Code] = []
    for part, register in selection.thread_ids.items():
        if part == "x":
            found.append(Code("cvt.u32.u16", (register, "$r0.lo")))
        elif part == "y":
            found.append(Code("shr.u32", (register, "$r0", word(16))))
            found.append(Code("and.b32", (register, register, word(0x3FF))))
        else:
            found.append(Code("shr.u32", (register, "$r0", word(26))))
    if selection.exchange_registers is not None:
        found += exchange_prologue(selection.thread_ids, *selection.exchange_registers)
    return found
