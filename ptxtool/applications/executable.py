"""Whether an executable can be run with our libraries: found, and not linked with the static CUDA runtime.

Only ELF files with nvcc's sections are looked at; a script, or a program that loads others, is run as it is. nvcc links
the static runtime into programs of the driver API as well, which do not use it: what loads libcuda is run.
"""

import os
import shutil
import struct
from pathlib import Path

from ptxtool.base.diag import error

_SECTION = struct.Struct("<IIQQQQIIQQ")
_NEEDED = 1
_DEVICE_CODE = b".nv_fatbin"


def find_executable(name: str) -> Path:
    """The path of a program, looked for as a shell does. Raises E501."""
    found = shutil.which(name)
    if found is not None:
        return Path(found).absolute()
    what, help = f"no program '{name}'", "give the path of the application after --"
    if os.sep not in name:
        help = f"give its path: ./{name}" if os.path.exists(name) else help
    elif os.path.isdir(name):
        what = f"'{name}' is a folder"
    elif os.path.exists(name):
        what, help = f"'{name}' is not executable", f"make it executable: chmod +x {name}"
    raise error("E501", what, help=help)


def check_executable(path: Path) -> None:
    """Raise E501 for a program with device code that loads neither libcudart nor libcuda: its runtime is linked in."""
    try:
        data = path.read_bytes()
        sections = _sections(data)
    except (OSError, struct.error, IndexError):
        return  # the system says what is wrong with it
    if _DEVICE_CODE in sections and not any(
        name.startswith((b"libcudart.so", b"libcuda.so")) for name in _needed(data, sections)
    ):
        what = f"'{path.name}' is linked with the static CUDA runtime, which cannot be replaced"
        raise error("E501", what, help="link it with 'nvcc -cudart shared'")


def _sections(data: bytes) -> dict[bytes, tuple[int, int, int]]:
    """Type, offset and size of every section of a 64-bit ELF file, by name; none of anything else."""
    if data[:5] != b"\x7fELF\x02":
        return {}
    (table,) = struct.unpack_from("<Q", data, 40)
    size, n, names = struct.unpack_from("<HHH", data, 58)
    heads = [_SECTION.unpack_from(data, table + k * size) for k in range(n)]
    if not heads:
        return {}
    start = heads[names][4]
    return {_text(data, start + head[0]): (head[1], head[4], head[5]) for head in heads}


def _needed(data: bytes, sections: dict[bytes, tuple[int, int, int]]) -> list[bytes]:
    """The libraries that the loader looks for."""
    strings = sections.get(b".dynstr", (0, 0, 0))[1]
    _, at, size = sections.get(b".dynamic", (0, 0, 0))
    entries = struct.iter_unpack("<QQ", data[at : at + size - size % 16])
    return [_text(data, strings + value) for tag, value in entries if tag == _NEEDED]


def _text(data: bytes, at: int) -> bytes:
    return data[at : data.index(b"\0", at)]
