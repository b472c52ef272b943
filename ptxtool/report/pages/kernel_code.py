"""A function as columns for a page: instructions, registers with their live intervals, blocks, edges.

What `live`, `pressure` and `cfg` report, in a form that is small (5,000 instructions with as many registers are 400 KB)
and that a script draws from: a list per field, instructions and blocks by number.

An interval [first, last] of a register are instructions before which it is live, `first` being the definition where
that stands before it. `waiting` are the instructions before which it is live only because lanes wait that hold it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ptxtool.analysis.flow.liveness import Liveness, liveness
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.analysis.flow.pressure import pressure_of
from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.base.bits import indices
from ptxtool.base.mangled import shown_name
from ptxtool.cfg.dominance import dominators
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.nodes import Function


def code_data(function: Function) -> dict[str, Any]:
    """The columns of one function."""
    thread, warp = liveness(function, "thread"), liveness(function, "warp")
    of_thread, of_warp = pressure_of(thread), pressure_of(warp)
    n = len(function.instructions)
    places = [function.cuda_place(i) for i in range(n)]
    distinct = {place: k for k, place in enumerate(dict.fromkeys(filter(None, places)))}
    return {
        "name": function.name,
        "shown": shown_name(function.name),
        "lines": [function.line(i) for i in range(n)],
        "texts": [function.text(i) for i in range(n)],
        "cuda": [distinct[place] if place else -1 for place in places] if distinct else [],
        "places": [
            {
                "path": place.path,
                "line": place.line,
                "name": place.name,
                "calls": [c.name for c in place.calls],
            }
            for place in distinct
        ],
        "thread": list(of_thread.curve),
        "warp": list(of_warp.curve),
        "predicates": list(of_warp.predicates),
        "addresses": list(of_warp.addresses) if function.registers.is_ptxplus else [],
        "peak": {"thread": of_thread.at, "warp": of_warp.at},
        "registers": _registers(thread, warp),
        **_flow(warp),
    }


def _registers(thread: Liveness, warp: Liveness) -> list[dict[str, Any]]:
    """The registers that are touched or live anywhere, in sequence order, without zero registers and sinks."""
    defs: dict[int, list[int]] = {}
    uses: dict[int, list[int]] = {}
    for i, step in enumerate(warp.def_uses):
        for k in step.defs:
            defs.setdefault(k, []).append(i)
        for k in step.uses:
            uses.setdefault(k, []).append(i)
    live = _intervals(warp.before_bits)
    waiting = _intervals([w & ~t for w, t in zip(warp.before_bits, thread.before_bits, strict=True)])
    found: list[dict[str, Any]] = []
    for k in sorted({*defs, *uses, *live}):
        register = warp.registers[k]
        if register.role:
            continue
        defined = set(defs.get(k, ()))
        spans = [(first - 1 if first - 1 in defined else first, last) for first, last in live.get(k, ())]
        spans += [(i, i) for i in defined if not any(first <= i <= last for first, last in spans)]
        one: dict[str, Any] = {"name": register.name, "class": register.kind, "units": register.units}
        one |= {"defs": defs.get(k, []), "uses": uses.get(k, []), "live": _flat(sorted(spans))}
        if k in waiting:
            one["waiting"] = _flat(waiting[k])
        found.append(one)
    return found


def _flat(spans: Iterable[tuple[int, int]]) -> list[int]:
    return [bound for span in spans for bound in span]


def _intervals(before: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """By register, the runs of instructions before which it is in the set."""
    open_since: dict[int, int] = {}
    found: dict[int, list[tuple[int, int]]] = {}
    last = 0
    for i, bits in enumerate((*before, 0)):
        for k in indices(last ^ bits):
            if k in open_since:
                found.setdefault(k, []).append((open_since.pop(k), i - 1))
            else:
                open_since[k] = i
        last = bits
    return found


def _flow(live: Liveness) -> dict[str, Any]:
    """Blocks with their loops, edges, divergent branches with the instruction at which lanes rejoin."""
    cfg, kernel = live.cfg, live.kernel
    nest = loops_of(cfg)
    unreachable = set(cfg.unreachable)
    divergent = uniformity(kernel).divergent
    idom = dominators(cfg).idom
    return {
        "blocks": [
            {
                "start": block.start,
                "end": block.end,
                "labels": list(block.labels),
                "depth": nest.depth(block.index),
                "idom": idom[block.index],
                "reachable": block.index not in unreachable,
            }
            for block in cfg.blocks
        ],
        "edges": [[edge.source, edge.target, edge.kind] for edge in cfg.edges],
        "loops": [
            {"header": loop.header, "blocks": sorted(loop.blocks), "depth": loop.depth} for loop in nest.loops
        ],
        "divergent": {str(i): at for i, at in points_of(cfg).items() if i in divergent},
    }
