"""Re-prove a split into base and extended registers: the same results, and extended registers only while they are held.

The marks are blanked out, and the assignment of registers is proved (`ptxtool.validate.assignment`), where all extended
registers lose their values at every acquire mark: another warp may have had the section meanwhile. Then, in the text
with its marks, by a search of the paths from the entry that tells held from not held:

* no warp acquires what it holds, or releases what it does not hold;
* no instruction names an extended register outside;
* none is held at a barrier, a call or the end of the kernel;
* no mark stands before a label, where it would be for a part of the paths to it;
* where lanes wait at the other sides of a divergent branch, or where they rejoin, and hold, no path between releases.

The paths are those of threads. Which branches are divergent is `uniformity.py`'s word.
"""

from collections.abc import Iterator, Mapping, Sequence

from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.analysis.regalloc.held_regions import never_held
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.regalloc.register_sets import HeldStates, held_states
from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.marks import ACQUIRE_EXTENDED, EXTENDED, Mark, mark_words, marks
from ptxtool.ir.nodes import Directive, Function, Module
from ptxtool.parse import parse
from ptxtool.validate.assignment import check_assignment
from ptxtool.validate.functions import wrong


def check_extended(
    before: Module, after: Module, origins: Mapping[str, Sequence[int]], bases: Mapping[str, int]
) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for what does not hold.

    `bases` has the units of the base set of every kernel with marks, `origins` are as in `check_assignment`.
    """
    kernels = [after.kernels[name] for name in bases]
    losses = {
        kernel.name: {
            m.instruction: bases[kernel.name] for m in marks(kernel, EXTENDED) if m.word == ACQUIRE_EXTENDED
        }
        for kernel in kernels
    }
    found = check_assignment(before, _without_marks(after, kernels), origins, losses=losses)
    return (*found, *(d for kernel in kernels for d in unheld(kernel, bases[kernel.name])))


def _without_marks(module: Module, kernels: Sequence[Function]) -> Module:
    """The module with blanks in place of the marks of some kernels, so that other places stay."""
    statements = [
        s for k in kernels for s in k.body or () if isinstance(s, Directive) and mark_words(s, EXTENDED)
    ]
    edits = [TextEdit(s.start, s.end, " " * (s.end - s.start)) for s in statements]
    return parse(splice(module.source.text, edits), module.source.name)


def unheld(kernel: Function, base: int) -> Iterator[Diagnostic]:
    """A diagnostic for every place where extended registers, those from unit `base` on, are used without being held, or
    are held where they must not be."""
    for mark in marks(kernel, EXTENDED):
        if mark.before_label:
            yield wrong(f"'{mark.word}' stands before a label", kernel.source, mark.statement)
    states = held_states(kernel)
    yield from _on_paths(kernel, base, states)
    yield from _lost_by_waiting_lanes(kernel, states)


def _on_paths(kernel: Function, base: int, states: HeldStates) -> Iterator[Diagnostic]:
    """What is wrong on some path from the entry."""
    never = never_held(kernel)
    placed: dict[int, list[Mark]] = {}
    for mark in marks(kernel, EXTENDED):
        placed.setdefault(mark.instruction, []).append(mark)
    is_extended = [
        place is not None and place.file == "general" and place.first + place.units > base
        for place in map(units_of, kernel.registers)
    ]
    for block in states.cfg.blocks:
        held = states.entering[block.index]
        for i in block.instructions:
            for mark in placed.get(i, ()):
                acquires = mark.word == ACQUIRE_EXTENDED
                if acquires in held:
                    what = "acquired while they are held" if acquires else "released while they are not held"
                    yield wrong(f"extended registers are {what}", kernel.source, mark.statement)
                held = frozenset({acquires}) if held else held
            node = kernel.instructions[i]
            if True in held and i in never:
                yield wrong(f"extended registers are held at '{kernel.text(node)}'", kernel.source, node)
            named = [kernel.registers[k].name for k in kernel.def_uses[i].touched if is_extended[k]]
            if False in held and named:
                yield wrong(f"'{named[0]}' is named while it is not held", kernel.source, node)
    if True in states.entering[states.cfg.exit]:
        yield wrong("extended registers are held at the end", kernel.source, kernel)


def _lost_by_waiting_lanes(kernel: Function, states: HeldStates) -> Iterator[Diagnostic]:
    """Releases by which lanes that wait at a divergent branch or at its reconvergence point lose their values."""
    cfg, points = states.cfg, points_of(build(kernel))
    starts = {block.start: block.index for block in cfg.blocks} | {len(kernel.instructions): cfg.exit}
    releasing = {
        cfg.block_of[mark.instruction]: mark
        for mark in marks(kernel, EXTENDED)
        if mark.word != ACQUIRE_EXTENDED and mark.instruction < len(cfg.block_of)
    }
    divergent = uniformity(kernel).divergent
    for block in cfg.blocks:
        if block.last not in divergent or block.last not in points:
            continue
        rejoin = starts[points[block.last]]
        waiting = [*cfg.successors[block.index], rejoin]
        if not any(True in states.entering[b] for b in waiting):
            continue
        for inside in sorted(_between(cfg, block.index, rejoin) & releasing.keys()):
            what = f"released while other lanes may wait at '{kernel.text(block.last)}' and hold"
            yield wrong(what, kernel.source, releasing[inside].statement)


def _between(cfg: Cfg, branch: int, rejoin: int) -> set[int]:
    """The blocks on paths from a branch to where its lanes rejoin."""
    found: set[int] = set()
    work = [*cfg.successors[branch]]
    while work:
        block = work.pop()
        if block not in found and block not in (rejoin, cfg.exit):
            found.add(block)
            work += cfg.successors[block]
    return found
