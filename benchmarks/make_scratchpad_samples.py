"""Make PTX and PTXPlus from CUDA text: the papers' Set-2 and Set-3, and the samples of `sharing`, RegDem and FineReg.

    python benchmarks/make_scratchpad_samples.py [--check] [NAME ...]

Needs nvcc (13.0 made what is there; another version writes other text). `kernel.ptx` is what it writes, line by line.
Set-3 and the samples in `sharing` and `unlimited` are lowered to PTXPlus with the registers that their launch files
allocate; Set-2 stays PTX, where shared variables keep their names, and so do the benchmarks of RegDem and FineReg.
`--check` writes nothing and fails where a file is another. docs/benchmarks-of-the-papers.md says what the kernels are.
"""

import argparse
import io
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "helpers"))

import numpy as np  # noqa: E402
from finereg_benchmarks import REFERENCES as FINEREG  # noqa: E402
from regdem_benchmarks import FILES, REFERENCES  # noqa: E402
from sharing_benchmarks import FILES as SHARING_FILES  # noqa: E402
from sharing_benchmarks import REFERENCES as SHARING  # noqa: E402
from unlimited_benchmarks import FILES as UNLIMITED_FILES  # noqa: E402
from unlimited_benchmarks import REFERENCES as UNLIMITED  # noqa: E402

from ptxtool.emit import emit  # noqa: E402
from ptxtool.formats.launch.launch_file import load_launch  # noqa: E402
from ptxtool.formats.npy import COMPRESSED, compressed  # noqa: E402
from ptxtool.parse import parse  # noqa: E402
from ptxtool.passes.pipeline import rewrite  # noqa: E402

SAMPLES = CHECKOUT / "samples"
LOWERED = (
    "layerforward",
    "nn",
    *(f"sharing/{name}" for name in SHARING),
    *(f"unlimited/{name}" for name in UNLIMITED),
)
"""The samples that have PTXPlus, too."""
REGDEM = tuple(f"regdem/{name}" for name in REFERENCES)
FINEREG_NAMES = tuple(f"finereg/{name}" for name in FINEREG)
NAMES = ("conv1", "conv2", "lavamd", "nw1", "nw2", "srad1", "srad2", *LOWERED, *REGDEM, *FINEREG_NAMES)


def compiled(source: Path) -> str:
    """The PTX that nvcc makes of a kernel."""
    command = ["nvcc", "-ptx", "-arch=compute_75", "-o", "-", str(source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def lowered(text: str, folder: Path) -> str:
    """Its PTXPlus, in the registers that the sample's launch file allocates."""
    registers = load_launch(folder / "launch.toml").registers
    return emit(rewrite(parse(text), f"lower-ptxplus{{regs={registers}}}").module)


def tables(folder: Path) -> dict[str, bytes]:
    """The `.npy` files of a benchmark: trees, boxes, results."""
    made: dict[str, np.ndarray] = {}
    if folder.parent.name == "sharing":
        made = {file: make() for file, make in SHARING_FILES.get(folder.name, {}).items()}
    elif folder.parent.name in ("regdem", "unlimited"):
        files = FILES if folder.parent.name == "regdem" else UNLIMITED_FILES
        for file, make in files.get(folder.name, {}).items():
            made[file] = make({i.name: i.value for i in load_launch(folder / "launch.toml").inputs})
    found: dict[str, bytes] = {}
    for file, values in made.items():
        stream = io.BytesIO()
        np.save(stream, values)
        found[file] = compressed(values) if file.endswith(COMPRESSED) else stream.getvalue()
    return found


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
        text = compiled(folder / "kernel.cu")
        files = {"kernel.ptx": text.encode(), **tables(folder)}
        if name in LOWERED:
            files["kernel.ptxplus"] = lowered(text, folder).encode()
        for file, content in files.items():
            path = folder / file
            if path.is_file() and path.read_bytes() == content:
                print(f"{name}/{file}: as it was")
            elif options.check:
                differing += 1
                print(f"{name}/{file}: differs")
            else:
                path.write_bytes(content)
                print(f"{name}/{file}: written")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
