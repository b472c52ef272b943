"""The places in CUDA sources that a function's instructions come from, as its `.loc` directives say.

For reports beside PTX lines. `.loc FILE LINE COLUMN` holds for the instructions behind it up to the next one; FILE is
the number of a `.file` directive. What is inlined has the place it was written at; `inlined_at` is not followed.

PTX ISA, debugging directives: `.loc`, `.file`.
"""

import re
from pathlib import PurePosixPath

from ptxtool.ir.nodes import Directive, Function, Instruction

_FILE = re.compile(r'(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"(\d+)\s+(\d+)\b")


def cuda_lines(function: Function) -> tuple[str, ...]:
    """`FILE:LINE` per instruction, the file without its folders; "" where nothing is said."""
    files: dict[str, str] = {}
    for item in function.module.items:
        if isinstance(item, Directive) and item.name == "file" and (found := _FILE.match(item.text)):
            files[found[1]] = PurePosixPath(found[2].replace("\\", "/")).name
    places: list[str] = []
    place = ""
    for statement in function.body or ():
        if type(statement) is Instruction:
            places.append(place)
        elif isinstance(statement, Directive) and statement.name == "loc":
            found = _LOC.match(statement.text)
            # line 0 is code that the compiler made
            place = f"{files.get(found[1], found[1])}:{found[2]}" if found and found[2] != "0" else ""
    return tuple(places)
