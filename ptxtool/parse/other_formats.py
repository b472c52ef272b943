"""What a file holds that is neither PTX nor PTXPlus, and how PTX comes from it: CUDA C++, machine code, its listing.

Binaries are known by their first bytes. A text is looked at only after it was refused: one with the keywords of CUDA or
the directives of C++ is a source, one whose lines begin with addresses of instructions a listing of cuobjdump or
nvdisasm. A text with `.version` is PTX, whatever its comments and strings hold.
"""

import re
from pathlib import PurePath

from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source

_ELF, _FATBIN = "\x7fELF", "P\udcedU\udcba"
_CUDA_MACHINE = "\udcbe\0"  # EM_CUDA, 190, at byte 18 of an ELF header
_PTX = re.compile(r"^[ \t]*\.version\b", re.MULTILINE)
_CUDA = re.compile(
    r"__(?:global|device|host|shared|constant)__\b|^[ \t]*#[ \t]*(?:include|define|if|ifdef|ifndef|pragma)\b"
    r'|\b(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]\b|^[ \t]*(?:extern[ \t]+"C"|template[ \t]*<|namespace[ \t]+\w)',
    re.MULTILINE,
)
_SASS = re.compile(
    r"/\*[0-9a-f]{4,6}\*/[ \t]+(?:\{[ \t]*)?(?:@!?U?P\w+[ \t]+)?[A-Z][A-Z0-9_.]*\b|^[ \t]*\.headerflags\b",
    re.MULTILINE,
)
_COMPILE = "compile the CUDA source: nvcc -ptx k.cu -o k.ptx"


def other_binary(source: Source) -> Diagnostic | None:
    """E103 for a binary of the CUDA toolchain; None for anything else."""
    text = source.text
    if text.startswith(_ELF):
        if text[18:20] == _CUDA_MACHINE:
            what, help = "a cubin: machine code without PTX", f"{_COMPILE}; or {_extract()}"
        else:
            what, help = "a binary (ELF)", _extract(source.name)
    elif text.startswith(_FATBIN):
        what, help = "a fatbin", _extract(source.name)
    else:
        return None
    return Diagnostic("E103", f"'{source.name}' is {what}", source, 0, 4, help)


def other_text(source: Source) -> Diagnostic | None:
    """E103 for a source in CUDA C++ and for a listing of machine code (SASS); None for anything else."""
    text = source.text
    if _PTX.search(text):
        return None
    if found := _SASS.search(text):
        what, help = "a listing of machine code (SASS), not PTX", f"{_COMPILE}; or {_extract()}"
    elif found := _CUDA.search(text):
        what, help = "CUDA C++, not PTX", f"compile it: nvcc -ptx {_as_input(source)}"
    else:
        return None
    return Diagnostic("E103", f"'{source.name}' is {what}", source, found.start(), found.end(), help)


def _as_input(source: Source) -> str:
    """`DIR/k.cu -o DIR/k.ptx`."""
    path = PurePath(source.name)
    if path.suffix not in (".cu", ".cpp", ".cc", ".cxx"):
        return "k.cu -o k.ptx"
    return f"{path} -o {path.with_suffix('.ptx')}"


def _extract(program: str = "PROGRAM") -> str:
    return f"extract the PTX that the program was built with, if it has any: cuobjdump -ptx {program}"
