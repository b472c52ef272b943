"""Live registers beside the code: one column per register, as nvdisasm draws life ranges.

    ^ defined here    v used here    x both    : live through

A register that is live nowhere and never touched has no column. Where the columns would not fit beside the code, the
names of the live registers stand there instead, as many as fit.
"""

from typing import Any

from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.base.bits import indices
from ptxtool.base.render import CudaText, Line
from ptxtool.report.kernels.cuda import cuda_data, cuda_marks
from ptxtool.report.tables import WIDTH, Listing, clip, heading

_CODE_WIDTH = 56
_LEGEND = "^ defined  v used  x both  : live through"


def live_listing(live: Liveness, width: int = WIDTH, sources: CudaText | None = None) -> Listing:
    """The listing of one kernel; where the CUDA line changes, it stands above the instruction."""
    kernel = live.kernel
    n = len(live.def_uses)
    columns = _columns(live)
    titles = [live.registers[k].name for k in columns]
    code = [kernel.text(i) for i in range(n)]
    line_width = max([len(str(kernel.line(i))) for i in range(n)], default=1)
    code_width = min(_CODE_WIDTH, max([len(text) for text in code], default=0))
    left = line_width + 2 + code_width + 2 + 5 + 2
    title = f"live registers per {live.per}"
    above: list[str] = []
    gap = " " if left + 2 * len(columns) <= width else ""
    if left + len(columns) * (1 + len(gap)) <= width:
        above.append(heading(kernel.name, f"{title}   {_LEGEND}", width))
        height = max((len(t) for t in titles), default=0)
        for row in range(height):
            marks = gap.join(t.rjust(height)[row] for t in titles)
            head = "line".rjust(line_width) if row == height - 1 else ""
            above.append(f"{head:<{left - 7}}{'count' if row == height - 1 else '':>5}  {marks}".rstrip())
        beside = [gap.join(_mark(live, i, k) for k in columns).rstrip() for i in range(n)]
    else:
        above.append(heading(kernel.name, title, width))
        above.append(
            f"{'line':>{line_width}}{'':<{max(0, left - 7 - max(4, line_width))}}{'count':>5}  live before"
        )
        beside = [" ".join(live.before[i]) for i in range(n)]
    lines: list[Line] = [[(text, "message" if k == 0 else "")] for k, text in enumerate(above)]
    places = cuda_marks(kernel, sources)
    for i in range(n):
        if i in places:
            lines.append([(clip(f"{'':{line_width}}  // {places[i]}", width), "gutter")])
        number, text = f"{kernel.line(i):>{line_width}}  ", clip(code[i], code_width)
        right = f"{'':<{code_width - len(text)}}  {live.before_bits[i].bit_count():>5}  {beside[i]}".rstrip()
        room = width - len(number) - len(text)
        lines.append([(number, "gutter"), (text, "code"), (clip(right, room), "")])
    return Listing(tuple(lines))


def _columns(live: Liveness) -> list[int]:
    """The registers that are touched or live anywhere, in sequence order; never the zero register or a sink."""
    bits = 0
    for i, step in enumerate(live.def_uses):
        bits |= live.before_bits[i]
        for k in (*step.defs, *step.uses):
            bits |= 1 << k
    return [k for k in indices(bits) if not live.registers[k].role]


def _mark(live: Liveness, instruction: int, register: int) -> str:
    step = live.def_uses[instruction]
    defined, used = register in step.defs, register in step.uses
    if defined and used:
        return "x"
    if defined or used:
        return "^" if defined else "v"
    return ":" if live.before_bits[instruction] >> register & 1 else " "


def live_data(live: Liveness) -> dict[str, Any]:
    """The same for `--json`."""
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
            }
            for i in range(len(live.def_uses))
        ],
    }
