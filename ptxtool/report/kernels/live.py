"""Live registers beside the code: one column per register, as nvdisasm draws life ranges.

    ^ defined here    v used here    x both    : live through    w live in lanes that wait only

A register that is live nowhere and never touched has no column. Where the columns would not fit beside the code, there
is one per allocated place (`live_places.py`); where there are no places, the names of the live registers stand there.
"""

import textwrap
from typing import Any

from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.base.bits import indices
from ptxtool.base.diag import PtxError
from ptxtool.base.render import CudaText, Line
from ptxtool.report.kernels.cuda import cuda_data, cuda_marks
from ptxtool.report.tables import WIDTH, Listing, clip, heading

_CODE_WIDTH = 56
_LEAST_CODE = 24
_LEGEND = "^ defined  v used  x both  : live through"
_COUNTS = "thread   warp"
_EXPLAINED = (
    "thread: what one thread may still read; "
    "warp: also what lanes hold that wait while others run a side of a branch"
)


def live_listing(
    thread: Liveness, warp: Liveness, live: Liveness, width: int = WIDTH, sources: CudaText | None = None
) -> Listing:
    """The listing of one kernel, of its liveness per thread and per warp; the marks are of `live`, one of the two.

    Where the CUDA line changes, it stands above the instruction.
    """
    kernel = live.kernel
    n = len(live.def_uses)
    code = [kernel.text(i) for i in range(n)]
    line_width = max([len(str(kernel.line(i))) for i in range(n)], default=1)
    line_width = max(line_width, len("line"))
    longest = max([len(text) for text in code], default=0)
    rest = line_width + 2 + 2 + len(_COUNTS) + 2
    code_width = min(_CODE_WIDTH, longest)
    columns = _columns(live)
    legend = _LEGEND + (
        "  w waiting lanes only" if live is warp and thread.before_bits != warp.before_bits else ""
    )
    gap = " " if rest + code_width + 2 * len(columns) <= width else ""
    notes = [_EXPLAINED]
    if rest + code_width + len(columns) * (1 + len(gap)) <= width:
        titles = [live.registers[k].name for k in columns]
        height = max((len(t) for t in titles), default=0)
        heads = [gap.join(t.rjust(height)[row] for t in titles) for row in range(height)] or [""]
        beside = [gap.join(_mark(live, thread, i, k) for k in columns).rstrip() for i in range(n)]
    else:
        legend, more, heads, beside, code_width = _narrow(live, width - rest, code_width)
        notes += more
    head = f"{'line':>{line_width}}  {'':<{code_width}}  {_COUNTS}  "
    above = [heading(kernel.name, f"live registers   {legend}".rstrip(), width)]
    above += [line for note in notes for line in textwrap.wrap(note, width)]
    above += [(" " * len(head) + text).rstrip() for text in heads[:-1]] + [(head + heads[-1]).rstrip()]
    lines: list[Line] = [[(text, "message" if k == 0 else "")] for k, text in enumerate(above)]
    places = cuda_marks(kernel, sources)
    for i in range(n):
        if i in places:
            lines.append([(clip(f"{'':{line_width}}  // {places[i]}", width), "gutter")])
        number, text = f"{kernel.line(i):>{line_width}}  ", clip(code[i], code_width)
        counts = f"{thread.before_bits[i].bit_count():>6} {warp.before_bits[i].bit_count():>6}"
        right = f"{'':<{code_width - len(text)}}  {counts}  {beside[i]}".rstrip()
        room = width - len(number) - len(text)
        lines.append([(number, "gutter"), (text, "code"), (clip(right, room), "")])
    return Listing(tuple(lines))


def _narrow(live: Liveness, room: int, code_width: int) -> tuple[str, list[str], list[str], list[str], int]:
    """Where a column per register is too wide for code and columns in `room`: the legend, notes, head and marks, and
    the width of the code. By allocated place, else by name."""
    from ptxtool.report.kernels.live_places import live_places  # imports numpy

    n = len(live.def_uses)
    try:
        places = live_places(live.kernel)
    except PtxError as problem:
        if any(d.code != "E301" for d in problem.diagnostics):
            raise
        return "", [], ["live before"], [" ".join(live.before[i]) for i in range(n)], code_width
    per_column = places.per_column(room - min(code_width, _LEAST_CODE))
    columns = places.columns(per_column)
    a_column = f"{per_column} neighbours to a column, '.' where some are live; " if per_column > 1 else ""
    a_pass, files = "allocate", "r: 32 bits, p: predicates"
    if live.registers.is_ptxplus:
        a_pass, files = "compact", "r: 32 bits, o: addresses, p: predicates"
    note = f"columns: the registers of a thread as '{a_pass}' assigns them ({files}); {a_column}"
    marks = [places.marks(i, columns) for i in range(n)]
    fitting = max(min(code_width, _LEAST_CODE), min(code_width, room - len(columns)))
    return _LEGEND, [note.removesuffix("; ")], [places.heads(per_column)], marks, fitting


def _columns(live: Liveness) -> list[int]:
    """The registers that are touched or live anywhere, in sequence order; never the zero register or a sink."""
    bits = 0
    for i, step in enumerate(live.def_uses):
        bits |= live.before_bits[i]
        for k in (*step.defs, *step.uses):
            bits |= 1 << k
    return [k for k in indices(bits) if not live.registers[k].role]


def _mark(live: Liveness, thread: Liveness, instruction: int, register: int) -> str:
    step = live.def_uses[instruction]
    defined, used = register in step.defs, register in step.uses
    if defined and used:
        return "x"
    if defined or used:
        return "^" if defined else "v"
    if thread.before_bits[instruction] >> register & 1:
        return ":"
    return "w" if live.before_bits[instruction] >> register & 1 else " "


def live_data(thread: Liveness, warp: Liveness, live: Liveness) -> dict[str, Any]:
    """The same for `--json`; the names are those of `live`."""
    kernel = live.kernel
    return {
        "kernel": kernel.name,
        "per": live.per,
        "registers": list(live.registers.names),
        "instructions": [
            {
                "instruction": i,
                "line": kernel.line(i),
                **cuda_data(kernel, i),
                "text": kernel.text(i),
                "before": list(live.before[i]),
                "after": list(live.after[i]),
                "count_thread": thread.before_bits[i].bit_count(),
                "count_warp": warp.before_bits[i].bit_count(),
            }
            for i in range(len(live.def_uses))
        ],
    }
