"""Make the papers' benchmarks in `samples/` again: nvcc's PTX, its PTXPlus, and the `.npy` files. Needs nvcc.

    python benchmarks/make_samples.py [SAMPLE ...] [--keep-ptx]

`kernel.cu` and `launch.toml` are written by hand. The PTXPlus fits into the registers that the launch file allocates,
or the sample is refused. `tests/sim/programs/test_paper_benchmarks.py` makes again what needs no nvcc.
"""

import argparse
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "helpers"))

import numpy as np  # noqa: E402
from paper_benchmarks import FILES, REFERENCES, arguments, lowered  # noqa: E402

TARGET = "sm_75"


def compile_sample(folder: Path) -> None:
    """`kernel.ptx` from `kernel.cu`."""
    command = ["nvcc", "-ptx", f"-arch={TARGET}", "-o", folder / "kernel.ptx", folder / "kernel.cu"]
    subprocess.run(command, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "samples", nargs="*", metavar="SAMPLE", help=f"of {', '.join(REFERENCES)} (default: all)"
    )
    parser.add_argument("--keep-ptx", action="store_true", help="lower the PTX that is there; needs no nvcc")
    given = parser.parse_args()
    for name in given.samples or REFERENCES:
        folder = CHECKOUT / "samples" / name
        if not given.keep_ptx:
            compile_sample(folder)
        (folder / "kernel.ptxplus").write_text(lowered(name))
        for file, make in FILES.get(name, {}).items():
            np.save(folder / file, make(arguments(name)))
        print(name)


if __name__ == "__main__":
    main()
