"""Passes that write registers anew, and a whole short command. Prints JSON (medians of CPU seconds).

    python benchmarks/bench_text.py [--runs N] [--folder DIR]

Instructions of the text before the pass per second, parsing, verifying and proving included: `lower-ptxplus` on all
files of a folder (the packaged samples) of which it takes every kernel, and on the generated kernels of
`long_kernels.py`, `allocate` on these. Every text, and what a pass makes of it, is new to the process.
`allocate_bytes` is the memory per instruction that a run takes at most, `pressure_saxpy` the CPU seconds of a process,
ptxas included.
"""

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

from long_kernels import branching, straight

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

CHECKOUT = Path(__file__).resolve().parent.parent
PRESSURE = [sys.executable, "-m", "ptxtool", "pressure", str(CHECKOUT / "samples" / "saxpy" / "kernel.ptx")]
_SIZE = 20_000
_ENTRY = re.compile(r"\.entry\s+[\w$]+")


def size_of(text: str) -> int:
    return sum(len(function.instructions) for function in parse(text).functions.values())


def is_lowered(text: str) -> bool:
    """Whether the pass takes a text; that also reads the rows of its opcodes."""
    try:
        return not parse(text).is_ptxplus and bool(rewrite(parse(text), "lower-ptxplus"))
    except PtxError:
        return False


def rate(texts: Sequence[str], pipeline: str, runs: int) -> float:
    """Instructions per CPU second."""

    def once(run: int) -> float:
        fresh = [_ENTRY.sub(rf"\g<0>_{run}", text) for text in texts]  # results of a known text are kept
        started = time.process_time()
        for text in fresh:
            rewrite(parse(text), pipeline)
        return time.process_time() - started

    return round(sum(map(size_of, texts)) / statistics.median(map(once, range(runs))))


def peak_bytes(text: str) -> int:
    """Bytes per instruction that `allocate` has at once, the text and its module included."""
    tracemalloc.start()
    rewrite(parse(text), "allocate")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(peak / size_of(text))


def of_children(run: Callable[[], object]) -> float:
    """CPU seconds of the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=CHECKOUT / "samples")
    options = parser.parse_args()
    found = [path.read_text("utf-8", "surrogateescape") for path in sorted(options.folder.rglob("*.ptx"))]
    of_folder = [text for text in found if is_lowered(text)]
    figures: dict[str, float] = {"lower_folder": rate(of_folder, "lower-ptxplus", options.runs)}
    for generate in (straight, branching):
        name, text = generate.__name__, generate(_SIZE)
        figures[f"lower_{name}"] = rate([text], "lower-ptxplus", options.runs)
        figures[f"allocate_{name}"] = rate([text], "allocate", options.runs)
        figures[f"allocate_bytes_{name}"] = peak_bytes(text)
    command = [
        of_children(lambda: subprocess.run(PRESSURE, check=True, capture_output=True))
        for _ in range(options.runs + 1)
    ]
    figures["pressure_saxpy"] = round(statistics.median(command[1:]), 3)  # the first fills caches
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
