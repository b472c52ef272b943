"""The C libraries that stand for libcuda and libcudart, built with the user's compiler once and kept in the cache.

Beside them is a folder for Python's path, with the backend that Triton finds there by its entry point.

One source (`runtime/`) gives libcuda.so.1, which has all functions of both APIs, so that a process has one device. A
libcudart for each major version of CUDA jumps there: they differ in name and in the version of their symbols. Every
name of `runtime/calls.txt` and `runtime/driver/calls.txt` is exported: those that no file implements report themselves
and return an error, and NAME_ptsz and NAME_ptds (per-thread default streams) jump to NAME.
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
TRITON_BACKEND = Path(__file__).parent / "triton_backend"
DRIVER = "libcuda.so.1"
PYTHON = "python"
"""The folder for Python's path."""
BACKEND = "cpu"
"""What Triton calls its backend there: Inductor asks for one of that name, for tensors on the CPU."""
_IMPLEMENTED = re.compile(r"^API [^(;]*?(\w+)\(", re.MULTILINE)
_PER_THREAD = re.compile(r"_pt[sd][zs]$")
_JUMP = {"x86_64": "jmp", "AMD64": "jmp", "aarch64": "b", "arm64": "b"}
_BY_TABLE = {"x86_64": "@PLT", "AMD64": "@PLT", "aarch64": "", "arm64": ""}
"""After the name of a function of another library."""
_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wl,-Bsymbolic")


def library_folder() -> Path:
    """The folder with libcuda.so.1 and libcudart.so.11.0, .12 and .13. Compiles them at the first call, in seconds.

    Raises E502 without a C compiler and where it fails, E503 where the cache cannot be written.
    """
    from ptxsim.base.cache_root import cache_root

    compiler = _compiler()
    folder = cache_root() / f"libcuda-{_digest(compiler)}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="libcuda-") as made:
            built = Path(made, "built")
            built.mkdir()
            _build(compiler, built)
            try:
                os.rename(built, folder)
            except OSError as problem:
                if not folder.exists():  # otherwise another process was faster
                    what = f"cannot keep the runtime library in '{folder.parent}': {problem.strerror}"
                    raise error("E503", what, help="make room there, or set XDG_CACHE_HOME") from None
    return folder


def implemented() -> set[str]:
    """The calls that the library implements, of both APIs."""
    return {name for path in RUNTIME.rglob("*.c") for name in _IMPLEMENTED.findall(path.read_text("utf-8"))}


def calls() -> list[str]:
    """All calls of the three versions of the CUDA runtime, by name."""
    return (RUNTIME / "calls.txt").read_text("utf-8").split()


def driver_calls() -> list[str]:
    """All calls of the CUDA driver API from CUDA 11 on, by name, older variants of each included."""
    return (RUNTIME / "driver" / "calls.txt").read_text("utf-8").split()


def generated_source(machine: str) -> str:
    """C for the calls that no file implements, jumps for those that are another name of one (for x86-64 or ARM), and
    the table that cuGetProcAddress searches."""
    own, lines = implemented(), ['#include "runtime.h"']
    for name in (*calls(), *driver_calls()):
        plain = _PER_THREAD.sub("", name)
        if name in own:
            continue
        if plain in own:
            lines.append(
                f'__asm__(".globl {name}\\n.type {name},%function\\n{name}: {_JUMP[machine]} {plain}");'
            )
        else:
            lines.append(f'API int {name}(void) {{ static int named; return missing("{name}", &named); }}')
    names = sorted(driver_calls())
    lines += [f'extern const char {name}_code[] __asm__("{name}");' for name in names]
    rows = ", ".join(f'{{"{name}", {name}_code}}' for name in names)
    lines.append(f"const struct entry_point entry_points[] = {{{rows}}};")
    lines.append(f"const size_t n_entry_points = {len(names)};")
    return "\n".join(lines) + "\n"


def runtime_source(machine: str, version: str) -> str:
    """C for a libcudart: a jump to libcuda's function of the same name for every call."""
    lines = [
        "extern void ptxtool_runtime(int);",
        f"__attribute__((constructor)) static void loaded(void) {{ ptxtool_runtime({version.split('.')[0]}); }}",
    ]
    for name in calls():
        lines.append(
            f'__asm__(".symver ptxtool_{name}, {name}@PTXTOOL\\n.globl {name}\\n.type {name},%function\\n'
            f'{name}: {_JUMP[machine]} ptxtool_{name}{_BY_TABLE[machine]}");'
        )
    return "\n".join(lines) + "\n"


def _build(compiler: str, folder: Path) -> None:
    machine = platform.machine()
    if machine not in _JUMP:
        raise error(
            "E502", f"no runtime library for {machine}", help="use a machine with x86-64 or ARM (64 bit)"
        )
    sources = [str(path) for path in sorted(RUNTIME.rglob("*.c"))]
    both = [*calls(), *driver_calls(), "ptxtool_runtime"]
    _link(compiler, folder / DRIVER, "PTXTOOL", both, generated_source(machine), *sources, f"-I{RUNTIME}")
    os.symlink(DRIVER, folder / "libcuda.so")
    for version in VERSIONS:
        name = f"libcudart.so.{version}"
        needs = (f"-L{folder}", f"-l:{DRIVER}", "-Wl,-rpath,$ORIGIN")
        _link(compiler, folder / name, name, calls(), runtime_source(machine, version), *needs)
    _install_backend(folder / PYTHON)


def _install_backend(folder: Path) -> None:
    """A package, and what Python looks for entry points in."""
    package, about = folder / "ptxtool_triton", folder / "ptxtool_triton-1.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    for path in sorted(TRITON_BACKEND.glob("*.py")):
        shutil.copyfile(path, package / path.name)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ptxtool-triton\nVersion: 1\n", "utf-8")
    points = {
        "triton": f"{BACKEND} = {package.name}",
        "torch": f"ptxtool = {package.name}.inductor:use_triton",
    }
    text = "".join(f"[{group}.backends]\n{point}\n" for group, point in points.items())
    (about / "entry_points.txt").write_text(text, "utf-8")


def _link(compiler: str, path: Path, symbol_version: str, names: list[str], source: str, *more: str) -> None:
    """Compile a library that exports some names. Raises E502."""
    with tempfile.TemporaryDirectory(prefix="ptxtool-") as folder:
        symbols, generated = Path(folder, "symbols.map"), Path(folder, "generated.c")
        exported = " ".join(f"{name};" for name in names)
        symbols.write_text(f"{symbol_version} {{ global: {exported} local: *; }};\n", "utf-8")
        generated.write_text(source, "utf-8")
        command = [compiler, *_FLAGS, f"-Wl,-soname,{path.name}", f"-Wl,--version-script,{symbols}"]
        done = subprocess.run(
            [*command, str(generated), *more, "-o", str(path)],
            capture_output=True,
            text=True,
            errors="replace",
        )
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
    for path in [*sorted(RUNTIME.rglob("*")), *sorted(TRITON_BACKEND.glob("*.py")), Path(__file__)]:
        if path.is_file():
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
