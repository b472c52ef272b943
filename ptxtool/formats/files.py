"""Reading inputs and writing outputs: files, standard input, packaged samples; whole outputs or none.

For `api.py` and the commands. `-` is standard input. Where no file has the given name, a packaged sample may: `sgemm`
is `samples/sgemm/kernel.ptxplus`. An output is written beside its place and then moved there, so that a run that fails
leaves the old file as it was. Everything that goes wrong is E501 or E503.
"""

import contextlib
import os
import secrets
import sys
from pathlib import Path

from ptxtool.base.diag import PtxError, error
from ptxtool.base.resources import resource_dir

STDIN = "-"
SUFFIXES = (".ptxplus", ".ptx")
LAUNCH_NAME = "launch.toml"


def sample_names() -> tuple[str, ...]:
    """The packaged samples."""
    return tuple(sorted(path.parent.name for path in resource_dir("samples").glob(f"*/{LAUNCH_NAME}")))


def find_input(name: str | Path) -> Path:
    """The file that a name means: itself if it exists, else the kernel of the packaged sample of that name.

    A launch file stands for the kernel file it lies beside. The path need not be readable.
    """
    path = Path(name)
    if path.exists() or str(name) not in sample_names():
        return path
    return sample_kernel(resource_dir("samples") / str(name))


def sample_kernel(folder: Path) -> Path:
    """The kernel file in a sample's folder."""
    candidates = [folder / f"kernel{suffix}" for suffix in SUFFIXES]
    return next((path for path in candidates if path.exists()), candidates[0])


def launch_beside(path: Path) -> Path | None:
    """The launch file that belongs to a kernel file: `NAME.toml`, or else `launch.toml` in the same folder."""
    candidates = (path.with_suffix(".toml"), path.parent / LAUNCH_NAME)
    return next((found for found in candidates if found != path and found.is_file()), None)


def read_input(name: str | Path) -> tuple[str, bytes]:
    """The display name and the bytes of a file, of standard input or of a sample. Raises E501."""
    if str(name) == STDIN:
        try:
            return "<stdin>", sys.stdin.buffer.read()
        except (OSError, AttributeError) as problem:
            raise error(
                "E501", f"cannot read standard input: {_reason(problem)}", help="pipe a file into the command"
            ) from None
    path = find_input(name)
    try:
        return str(path), path.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        raise _unreadable(path, problem) from None


def write_output(path: str | Path, data: bytes) -> None:
    """Write a whole file: what is there stays until all of the new content is on the disk. Raises E503."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(None, "is a directory")
        if target.exists() and not target.is_file():  # a device or a pipe
            target.write_bytes(data)
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(None, "permission denied")
        _replace(target, data)
    except (OSError, ValueError) as problem:
        raise error(
            "E503",
            f"cannot write '{path}': {_reason(problem)}",
            help="nothing was written; give -o a path in a folder that exists and can be written",
        ) from None


def make_folder(path: Path) -> None:
    """Make a folder where there is none. Raises E503."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        raise error(
            "E503", f"cannot make folder '{path}': {_reason(problem)}", help="give another one"
        ) from None


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _unreadable(path: Path, problem: Exception) -> PtxError:
    names = sample_names()
    advice = "give the path of a PTX or PTXPlus file, or - for standard input"
    if names and isinstance(problem, FileNotFoundError):
        advice += f"; packaged samples are {', '.join(names)}"
    return error("E501", f"cannot read '{path}': {_reason(problem)}", help=advice)


def _reason(problem: Exception) -> str:
    reason = getattr(problem, "strerror", None) or str(problem)
    return reason[:1].lower() + reason[1:]
