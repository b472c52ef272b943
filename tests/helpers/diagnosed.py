"""Small modules and what is reported about them: line, code and the marked text."""

from ptxtool.parse import parse
from ptxtool.sema.module import check_module

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>;"


def reported(text: str) -> list[tuple[int, str, str]]:
    """Line, code and marked text of every error and warning about a module."""
    return [
        (text.count("\n", 0, d.start) + 1, d.code, text[d.start : d.end]) for d in check_module(parse(text))
    ]


def in_kernel(body: str, before: str = "", head: str = HEAD) -> list[tuple[int, str, str]]:
    """The same of a kernel with the usual registers; line 1 is the first one of the body."""
    first = f"{head}{before}.entry k(.param .u32 n)\n{{\n{REGISTERS}\n"
    return [
        (line - first.count("\n"), code, marked) for line, code, marked in reported(f"{first}{body}\n}}\n")
    ]
