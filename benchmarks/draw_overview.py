"""Draw docs/images/overview.svg, README's picture: live registers of README's kernel, allocation, simulated schemes.

    python benchmarks/draw_overview.py [--write]

Prints the picture, or writes it. All of it is computed: live registers before and after `allocate`, and the runs of
`ptxtool compare`. tests/docs/test_overview.py holds the picture to this.
"""

import argparse
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ptxtool import api

CHECKOUT = Path(__file__).resolve().parent.parent
PICTURE = CHECKOUT / "docs" / "images" / "overview.svg"
KERNEL = CHECKOUT / "tests" / "docs" / "bilateral.ptx"
LAUNCH = """\
grid = 224
block = 256

[[args]]
name = "out"
type = "f32"
count = 57344
output = true

[[args]]
name = "in"
type = "f32"
count = 57360
random = { seed = 1 }
"""
TOP, HEIGHT, WIDTH = 82, 196, 268
LEFT = (28, 346, 664)
"""Where the drawings of the three panels begin."""
STYLE = """\
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; fill: #57606a }
.card { fill: #ffffff; stroke: #d0d7de }
.title { font-size: 14px; font-weight: 600; fill: #1f2328 }
.number { fill: #1f2328; font-weight: 600 }
.lane { stroke: #0969da; stroke-width: 2.6 }
.unit { fill: #0969da }
.curve { fill: #0969da; fill-opacity: 0.14 }
.axis { stroke: #d0d7de }
.plain { fill: #8c959f }
.gain { fill: #1a7f37 }
.end { text-anchor: end }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 }
  .card { fill: #0d1117; stroke: #3d444d }
  .title, .number { fill: #f0f6fc }
  .lane { stroke: #4493f8 }
  .unit { fill: #4493f8 }
  .curve { fill: #4493f8; fill-opacity: 0.22 }
  .axis { stroke: #3d444d }
  .plain { fill: #656c76 }
  .gain { fill: #3fb950 }
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="write docs/images/overview.svg")
    if parser.parse_args().write:
        PICTURE.write_text(picture(), encoding="utf-8")
    else:
        print(picture(), end="")


def picture() -> str:
    module = api.load(KERNEL)
    (kernel,) = module.kernels.values()
    allocated = api.rewrite(module, "allocate").module.kernels[kernel.name]
    with tempfile.TemporaryDirectory() as folder:
        launch = Path(folder, "launch.toml")
        launch.write_text(LAUNCH, encoding="utf-8")
        compared = api.compare(allocated, launch)
    before, after = api.liveness(kernel).before, api.liveness(allocated).before
    curve = [sum(units(name) for name in live) for live in before]
    runs = {rung.name: (rung.result.resident_ctas, rung.result.thread_ipc) for rung in compared.rungs}
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 330" width="960" height="330" role="img">',
        f"<style>\n{STYLE}\n</style>",
        '<rect class="card" x="0.5" y="0.5" width="959" height="329" rx="10"/>',
        *titles(kernel.name, len(set().union(*before)), max(curve), gain_of(runs)),
        *live_lanes(before, curve),
        *register_file(after),
        *bars(runs),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def titles(name: str, n_registers: int, most: int, gain: float) -> Iterator[str]:
    reported = (
        (
            "Inspect",
            f"a row for each of {n_registers} virtual registers,",
            f"and their sum: at most {most} are live at once",
        ),
        ("Rewrite", f"allocate: the same values in {most} physical", "registers, a row for each"),
        ("Simulate", "thread IPC with 90% of the registers", f"shared between two CTAs: up to +{gain:.1f}%"),
    )
    for x, (title, first, second) in zip(LEFT, reported, strict=True):
        yield text(x, 32, title, "title")
        yield text(x, 51, first)
        yield text(x, 67, second)
    yield text(LEFT[0], 312, f"{name}, instruction by instruction →")
    yield text(LEFT[1], 312, "instruction by instruction →")
    yield text(LEFT[2], 312, "scheme, resident CTAs per multiprocessor")


def live_lanes(before: Iterable[tuple[str, ...]], curve: list[int]) -> Iterator[str]:
    """A lane for each register in order of definition; below them the pressure curve."""
    live = list(before)
    order = list(dict.fromkeys(name for names in live for name in names))
    left, step = LEFT[0], WIDTH / len(live)
    bottom, scale = TOP + HEIGHT + 14, 0.45 * HEIGHT / max(curve)
    path = "".join(f"V{bottom - scale * count:.1f}h{step:.3f}" for count in curve)
    yield f'<path class="curve" d="M{left} {bottom}{path}V{bottom}Z"/>'
    yield f'<path class="axis" d="M{left} {bottom + 0.5}h{WIDTH}"/>'
    pitch = HEIGHT / len(order)
    for row, name in enumerate(order):
        y = TOP + 2 + pitch * row
        for first, last in spans(name in names for names in live):
            yield f'<path class="lane" d="M{left + step * first:.1f} {y:.1f}H{left + step * last:.1f}"/>'


def register_file(before: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A row for each 32-bit register of a thread, filled where it holds a value."""
    live = [set().union(*(places(name) for name in names)) for names in before]
    n_units = 1 + max(max(each, default=0) for each in live)
    left, step, pitch = LEFT[1], WIDTH / len(live), (HEIGHT + 14) / n_units
    for unit in range(n_units):
        y = TOP + pitch * unit
        for first, last in spans(unit in each for each in live):
            x, width = left + step * first, step * (last - first)
            yield f'<rect class="unit" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{pitch - 2:.1f}"/>'
    yield f'<path class="axis" d="M{left} {TOP + HEIGHT + 14.5}h{WIDTH}"/>'


def bars(runs: Mapping[str, tuple[int, float]]) -> Iterator[str]:
    left, pitch = LEFT[2], (HEIGHT + 14) / len(runs)
    most = max(ipc for _, ipc in runs.values())
    for row, (name, (ctas, ipc)) in enumerate(runs.items()):
        y, width = TOP + pitch * row, WIDTH * ipc / most
        style = "gain" if row else "plain"
        yield text(left, y + 11, f"{name}, {ctas} CTAs")
        yield text(left + WIDTH, y + 11, f"{ipc:.0f}", "number end")
        yield f'<rect class="{style}" x="{left}" y="{y + 17:.1f}" width="{width:.1f}" height="11" rx="2"/>'


def gain_of(runs: Mapping[str, tuple[int, float]]) -> float:
    first, *others = (ipc for _, ipc in runs.values())
    return 100 * (max(others) / first - 1)


def text(x: float, y: float, words: str, style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y:.1f}"{kind}>{words}</text>'


def units(name: str) -> int:
    """32-bit registers that a register of this name takes."""
    return 2 if name.startswith("%rd") else 0 if name.startswith("%p") else 1


def places(name: str) -> set[int]:
    """Where a physical register lies: `%r5` is unit 5, `%rd2` units 4 and 5."""
    number = int(re.sub(r"\D", "", name))
    return {units(name) * number + k for k in range(units(name))}


def spans(flags: Iterable[bool]) -> Iterator[tuple[int, int]]:
    """The stretches of true: first index, index after the last."""
    begin = None
    for index, flag in enumerate([*flags, False]):
        if flag and begin is None:
            begin = index
        elif not flag and begin is not None:
            yield begin, index
            begin = None


if __name__ == "__main__":
    main()
