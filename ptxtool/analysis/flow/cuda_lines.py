"""The places in CUDA sources that a function's instructions come from, by its `.loc` directives.

In `.loc FILE LINE COLUMN` (`ptxtool.ir.locations`) FILE is the number of a `.file` directive. Inlined code has the
place where it was written; `inlined_at` is not followed.

Reference: PTX ISA, debugging directives (`.loc`, `.file`).
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from ptxtool.ir.locations import locations
from ptxtool.ir.nodes import Directive, Function

_FILE = re.compile(r'(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"(\d+)\s+(\d+)\b")


def cuda_lines(function: Function) -> tuple[str, ...]:
    """`FILE:LINE` per instruction, the file without its folders; "" where there is no `.loc`."""
    files: dict[str, str] = {}
    for item in function.module.items:
        if isinstance(item, Directive) and item.name == "file" and (found := _FILE.match(item.text)):
            files[found[1]] = PurePosixPath(found[2].replace("\\", "/")).name
    return tuple(_place(location, files) for location in locations(function))


def _place(location: Directive | None, files: Mapping[str, str]) -> str:
    found = _LOC.match(location.text) if location else None
    # line 0 is code that the compiler generated
    return f"{files.get(found[1], found[1])}:{found[2]}" if found and found[2] != "0" else ""
