"""Machine code that an installation brings (`make wheel`): made for a common level of processors, used where it fits.

The folder `prepared` of the package has a file per level: a line of JSON, then the object file of each function,
compressed. A function is found by the hash of its sources, its name and its records. What else must fit:

* the system (LLVM's triple) and the processor's features;
* the version of numba, whose functions in C it calls;
* no variable of numba's that asks for other machine code.

The versions of Python and numpy need not: machine code runs without them, and layouts of records are part of a name.

Reference: System V ABI, AMD64 supplement, section 3.1.1 (x86-64-v2 and -v3).
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ptxsim.base.code_cache import NUMBA_VERSION

FOLDER = Path(__file__).parents[1] / "prepared"
SUFFIX = ".code"

_V2 = "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3"
LEVELS = {
    "x86-64-v3": ("x86-64-v3", f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"),
    "x86-64-v2": ("x86-64-v2", _V2),
    "aarch64": ("generic", "fp-armv8 neon"),
}
"""LLVM's name of a level's processor, and the features that it has."""

_HARMLESS = ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")


def numba_variables() -> list[str]:
    """The environment's variables that change what numba compiles, with their values."""
    given = os.environ.items()
    return sorted(f"{k}={value}" for k, value in given if k.startswith("NUMBA_") and k not in _HARMLESS)


@dataclass(frozen=True)
class Prepared:
    """A file of prepared machine code."""

    level: str
    triple: str
    numba: str
    places: dict[str, tuple[int, int]]
    """Where the code of "SOURCES/NAME" starts in the file, and its size."""
    path: Path

    def misfit(self) -> str:
        """Why it cannot be used here; "" if it can."""
        from llvmlite import binding

        triple, features = binding.get_process_triple(), binding.get_host_cpu_features()
        missing = [name for name in LEVELS[self.level][1].split() if not features.get(name)]
        if triple != self.triple:
            return f"is for {self.triple}, not for {triple}"
        if missing:
            return f"needs a processor with {', '.join(missing)}"
        if self.numba != NUMBA_VERSION:
            return f"is for numba {self.numba}, not for {NUMBA_VERSION}"
        if variables := numba_variables():
            return f"is not for {' '.join(variables)}"
        return ""


def pack(level: str, functions: list[tuple[str, str, bytes]]) -> bytes:
    """A file of prepared machine code, from functions' sources, names and contents."""
    import zstandard
    from llvmlite import binding

    places, blocks, end = {}, [], 0
    for sources, name, content in functions:
        blocks.append(zstandard.compress(content, 19))
        places[f"{sources}/{name}"] = end, len(blocks[-1])
        end += len(blocks[-1])
    head = {
        "level": level,
        "triple": binding.get_process_triple(),
        "numba": NUMBA_VERSION,
        "places": places,
    }
    return b"".join([json.dumps(head).encode(), b"\n", *blocks])


def _opened(path: Path) -> Prepared:
    """A file's description. Raises OSError, or ValueError for a damaged file."""
    with path.open("rb") as file:
        line = file.readline()
    head: dict[str, Any] = json.loads(line)
    places = {name: (start + len(line), size) for name, (start, size) in head["places"].items()}
    return Prepared(head["level"], head["triple"], head["numba"], places, path)


@cache
def _files() -> list[Prepared]:
    """The prepared files, those for the best processors first."""
    files = []
    for path in FOLDER.glob(f"*{SUFFIX}"):
        try:
            files.append(_opened(path))
        except (OSError, ValueError, KeyError):  # damaged
            continue
    return sorted(files, key=lambda file: list(LEVELS).index(file.level))


@cache
def _fitting() -> Prepared | None:
    return next((file for file in _files() if not file.misfit()), None)


def find(sources: str, name: str) -> bytes | None:
    """A function's prepared machine code, or None. Raises ValueError if it is damaged."""
    file = _fitting()
    place = file.places.get(f"{sources}/{name}") if file else None
    if file is None or place is None:
        return None
    import zstandard

    with file.path.open("rb") as opened:
        opened.seek(place[0])
        block = opened.read(place[1])
    try:
        return zstandard.decompress(block)
    except zstandard.ZstdError as problem:
        raise ValueError(str(problem)) from None


def holds(sources: str, name: str) -> bool:
    """Whether there is prepared machine code that fits for a function; without a hash in its name, for any records."""
    file = _fitting()
    return file is not None and any(f"{key}-".startswith(f"{sources}/{name}-") for key in file.places)


def misfit() -> str:
    """Why there is no prepared machine code for a function where there is some for others; "" where there is none."""
    files = _files()
    if not files:
        return ""
    return "is of other sources" if _fitting() else files[0].misfit()
