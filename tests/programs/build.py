"""Compile the CUDA programs of this folder to PTX: `python tests/programs/build.py [name ...]`.

Those that have a test beside them, `scan.cu` (`test_scan.py`) to `scan.sm75.ptx` and `scan.sm90.ptx`.
Needs nvcc; the tests do not, they read the committed PTX. Programs whose instructions need more than sm_75 are
compiled for sm_90 only. Lines without meaning (the compiler's banner, blank lines) are left out.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = (75, 90)
SM_80 = frozenset({"barriers", "clusters", "tensor", "tiles", "warpgroup"})
"""Programs of which sm_75 lacks instructions."""
OWN = frozenset({"tiles", "warpgroup"})
"""Programs with instructions of one architecture alone: compiled for `sm_90a`."""


def compile_to_ptx(source: Path, sm: int) -> str:
    own = "a" if source.stem in OWN else ""
    command = ["nvcc", "-ptx", f"-arch=sm_{sm}{own}", "-O3", "-std=c++17", "-o", "-", str(source)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (line.rstrip() for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def main(names: list[str]) -> None:
    for source in sorted(HERE.glob("*.cu")):
        has_test = (HERE / f"test_{source.stem}.py").exists()
        if not has_test or (names and source.stem not in names):
            continue
        for sm in TARGETS:
            if sm >= 80 or source.stem not in SM_80:
                source.with_suffix(f".sm{sm}.ptx").write_text(compile_to_ptx(source, sm), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
