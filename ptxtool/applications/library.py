"""The C library that stands for libcudart, built with the user's compiler once and kept in the cache.

One source (`runtime/`) gives a library for each major version of CUDA, which differ in name, in the version of their
symbols and in some structures. Every name of `runtime/calls.txt` is exported: those that no file implements report
themselves and return cudaErrorNotSupported, and NAME_ptsz and NAME_ptds (per-thread default streams) jump to NAME.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ptxtool.base.diag import error
from ptxtool.base.phrases import one_line

VERSIONS = ("11.0", "12", "13")
"""Of libcudart.so: the last part of its name."""
RUNTIME = Path(__file__).parent / "runtime"
_IMPLEMENTED = re.compile(r"^API [^(;]*?(\w+)\(", re.MULTILINE)
_PER_THREAD = re.compile(r"_pt[sd][zs]$")
_JUMP = {"x86_64": "jmp", "AMD64": "jmp", "aarch64": "b", "arm64": "b"}
_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wl,-Bsymbolic")


def library_folder() -> Path:
    """The folder with libcudart.so.11.0, .12 and .13. Compiles them at the first call, in a second or two.

    Raises E502 without a C compiler and where it fails, E503 where the cache cannot be written.
    """
    from ptxsim.base.cache_root import cache_root

    compiler = _compiler()
    folder = cache_root() / f"libcudart-{_digest(compiler)}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="libcudart-") as made:
            for version in VERSIONS:
                _build(compiler, version, Path(made))
            try:
                Path(made, "built").mkdir()
                for version in VERSIONS:
                    shutil.move(Path(made, f"libcudart.so.{version}"), Path(made, "built"))
                os.rename(Path(made, "built"), folder)
            except OSError as problem:
                if not folder.exists():  # otherwise another process was faster
                    what = f"cannot keep the runtime library in '{folder.parent}': {problem.strerror}"
                    raise error("E503", what, help="make room there, or set XDG_CACHE_HOME") from None
    return folder


def implemented() -> set[str]:
    """The calls that the library implements."""
    return {name for path in RUNTIME.rglob("*.c") for name in _IMPLEMENTED.findall(path.read_text("utf-8"))}


def calls() -> list[str]:
    """All calls of the three versions of the CUDA runtime, by name."""
    return (RUNTIME / "calls.txt").read_text("utf-8").split()


def generated_source(machine: str) -> str:
    """C for the calls that no file implements, and jumps for those that are another name of one (for x86-64 or ARM)."""
    own, lines = implemented(), ['#include "runtime.h"']
    for name in calls():
        plain = _PER_THREAD.sub("", name)
        if name in own:
            continue
        if plain in own:
            lines.append(
                f'__asm__(".globl {name}\\n.type {name},%function\\n{name}: {_JUMP[machine]} {plain}");'
            )
        else:
            lines.append(f'API int {name}(void) {{ static int named; return missing("{name}", &named); }}')
    return "\n".join(lines) + "\n"


def _build(compiler: str, version: str, folder: Path) -> None:
    machine = platform.machine()
    if machine not in _JUMP:
        raise error(
            "E502", f"no runtime library for {machine}", help="use a machine with x86-64 or ARM (64 bit)"
        )
    name = f"libcudart.so.{version}"
    symbols = Path(folder, "symbols.map")
    symbols.write_text(
        f"{name} {{ global: {' '.join(f'{call};' for call in calls())} local: *; }};\n", "utf-8"
    )
    source = Path(folder, "generated.c")
    source.write_text(generated_source(machine), "utf-8")
    runtime = f"-DRUNTIME={version.split('.')[0]}"
    command = [
        compiler,
        *_FLAGS,
        runtime,
        f"-I{RUNTIME}",
        f"-Wl,-soname,{name}",
        f"-Wl,--version-script,{symbols}",
    ]
    command += [*map(str, sorted(RUNTIME.rglob("*.c"))), str(source), "-o", str(folder / name)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        what = f"'{compiler}' cannot compile the runtime library: {one_line(done.stderr, 300)}"
        raise error("E502", what, help="name a working C compiler for this machine in CC")


def _compiler() -> str:
    """The C compiler of CC, or the system's. Raises E502."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    help = "install one, such as 'apt install gcc', or name it in CC: it compiles what stands for libcudart, once"
    raise error("E502", "no C compiler ('cc', 'gcc', 'clang')", help=help)


def _digest(compiler: str) -> str:
    """A name for what is built: of all sources, this file, and the compiler."""
    found = hashlib.sha256(f"{compiler} {platform.machine()}".encode())
    for path in [*sorted(RUNTIME.rglob("*")), Path(__file__)]:
        if path.is_file():
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
