"""`python -m gpu` in the folder of the tests, or `make gpu-check`: hardware against the simulator.

Exit status 0: all agree or are listed; 1: differences; 2: wrong options; 3: there is no GPU to compare with.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

from gpu.check import PER_ROW, check
from gpu.device import NoGpu
from gpu.programs import rows
from gpu.report import is_good, report
from gpu.worker import GuardedDevice

from ptxtool.base.diag import PtxError
from ptxtool.passes.syntax import parse_pipeline

NO_GPU = 3


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gpu-check", description="compare an NVIDIA GPU with the simulator")
    parser.add_argument(
        "opcodes", nargs="*", help="beginnings of opcodes, such as 'cvt' or 'mma.sp' (default: all)"
    )
    parser.add_argument(
        "--per-row", type=int, default=PER_ROW, help="instructions of a row (default: %(default)s)"
    )
    parser.add_argument(
        "--passes",
        default="",
        help="the GPU gets what these passes make of a program, such as 'allocate{max-regs=32}'",
    )
    options = parser.parse_args(arguments)
    if options.per_row < 1:
        parser.error(f"--per-row {options.per_row}: at least 1")
    chosen = [f for f in rows() if not options.opcodes or any(_begins(f.base, o) for o in options.opcodes)]
    if options.passes:
        try:
            parse_pipeline(options.passes)
        except PtxError as problem:
            parser.error(problem.diagnostics[0].message)
    if not chosen:
        parser.error(
            f"no row begins with {' or '.join(map(repr, options.opcodes))}; `ptxtool isa` lists them"
        )
    try:
        device = GuardedDevice()
    except NoGpu as problem:
        print(f"gpu-check: nothing compared: {problem}", file=sys.stderr)
        return NO_GPU
    print(f"{device.name}, target {device.target}, PTX {device.version}", file=sys.stderr)
    reported = time.monotonic()

    def progress(message: str) -> None:
        nonlocal reported
        if time.monotonic() - reported > 5:
            reported = time.monotonic()
            print(f"  {message}", file=sys.stderr)

    try:
        found = check(device, chosen, options.per_row, progress=progress, passes=options.passes)
    finally:
        device.close()
    print(report(found, device.name))
    return 0 if is_good(found) else 1


def _begins(base: str, beginning: str) -> bool:
    return base == beginning or base.startswith((beginning + ".", beginning + "::"))


if __name__ == "__main__":
    sys.exit(main())
