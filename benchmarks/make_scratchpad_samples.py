"""Make the PTX and PTXPlus of the papers' second and third set and of RegDem's samples again, from their CUDA text.

    python benchmarks/make_scratchpad_samples.py [--check] [NAME ...]

Needs nvcc (13.0 made what is there; another version writes other text). `kernel.ptx` is what it writes, line by line.
Set-3 is lowered to PTXPlus with the registers that the paper prints; Set-2 stays PTX, where shared variables keep
their names, and so do the benchmarks of RegDem. `--check` writes nothing and fails where a file is another.
docs/benchmarks-of-the-papers.md says what the kernels are.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from ptxtool.emit import emit
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
LOWERED = {"layerforward": 12, "nn": 24}
"""The registers per thread that PTXPlus may take: those of the papers."""
REGDEM = tuple(f"regdem/{name}" for name in ("cfd", "conv", "gauss", "md", "md5hash"))
NAMES = ("conv1", "conv2", "lavamd", "nw1", "nw2", "srad1", "srad2", *LOWERED, *REGDEM)


def compiled(source: Path) -> str:
    """The PTX that nvcc makes of a kernel."""
    command = ["nvcc", "-ptx", "-arch=compute_75", "-o", "-", str(source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def lowered(text: str, registers: int) -> str:
    """Its PTXPlus."""
    return emit(rewrite(parse(text), f"lower-ptxplus{{regs={registers}}}").module)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="the samples (all)")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no sample {', '.join(sorted(unknown))}: they are {', '.join(NAMES)}")
    differing = 0
    for name in options.names or NAMES:
        folder = SAMPLES / name
        texts = {"kernel.ptx": compiled(folder / "kernel.cu")}
        if name in LOWERED:
            texts["kernel.ptxplus"] = lowered(texts["kernel.ptx"], LOWERED[name])
        for file, text in texts.items():
            path = folder / file
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                print(f"{name}/{file}: as it was")
            elif options.check:
                differing += 1
                print(f"{name}/{file}: differs")
            else:
                path.write_text(text, encoding="utf-8")
                print(f"{name}/{file}: written")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
