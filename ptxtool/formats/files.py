"""Reading inputs and writing outputs: files, standard input, packaged samples; whole outputs or none.

For `api.py` and the commands. `-` is standard input. Where no file has the given name, a packaged sample may: `sgemm`
is `samples/sgemm/kernel.ptxplus`, or `kernel.ptx` for a sample without PTXPlus. An output is written beside its place
and then moved there, so that a run that fails leaves the old file as it was. Errors are E501 or
E503.

An input has at most 1 GiB, or the bytes that PTXTOOL_INPUT_LIMIT says.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ptxtool.base.diag import PtxError, error
from ptxtool.base.resources import resource_dir
from ptxtool.base.source import Source

STDIN = "-"
SUFFIXES = (".ptxplus", ".ptx")
LAUNCH_NAME = "launch.toml"
LIMIT_VARIABLE, INPUT_LIMIT = "PTXTOOL_INPUT_LIMIT", 1 << 30
_PIECE = 1 << 20


def sample_names() -> tuple[str, ...]:
    """The packaged samples: their folders, such as `sgemm` and `regdem/md`."""
    root = resource_dir("samples")
    return tuple(sorted(path.parent.relative_to(root).as_posix() for path in root.rglob(LAUNCH_NAME)))


def find_input(name: str | Path) -> Path:
    """The file that a name means: itself if it exists, else the kernel of the packaged sample of that name.

    A folder with a `launch.toml`, such as a recorded launch, means that file. A launch file stands for the kernel file
    it lies beside. The path need not be readable.
    """
    path = Path(name)
    if is_file(path) or str(name) not in sample_names() or path.exists():
        return path / LAUNCH_NAME if is_file(path / LAUNCH_NAME) else path
    return sample_file(str(name))


def is_file(path: Path) -> bool:
    """Whether there is such a file; False for a path that cannot be one: a NUL in it, a name that is too long."""
    try:
        return path.is_file()
    except (ValueError, OSError):
        return False


def sample_file(name: str) -> Path:
    """The kernel's file of a packaged sample."""
    candidates = [resource_dir("samples") / name / f"kernel{suffix}" for suffix in SUFFIXES]
    return next((path for path in candidates if path.exists()), candidates[0])


def launch_beside(path: Path) -> Path | None:
    """The launch file that belongs to a kernel file: `NAME.toml`, or else `launch.toml` in the same folder."""
    with contextlib.suppress(OSError, ValueError):  # a name that cannot be one; ValueError: no name at all
        candidates = (path.with_suffix(".toml"), path.parent / LAUNCH_NAME)
        return next((found for found in candidates if found != path and found.is_file()), None)
    return None


def read_input(name: str | Path) -> tuple[str, bytes]:
    """The display name and the bytes of a file, of standard input or of a sample. Raises E501."""
    if str(name) == STDIN:
        try:
            return "<stdin>", _whole(sys.stdin.buffer)
        except (OSError, AttributeError) as problem:
            message = f"cannot read standard input: {reason_of(problem)}"
            raise error("E501", message, help="pipe a file into the command") from None
    path = find_input(name)
    try:
        with path.open("rb") as stream:
            return str(path), _whole(stream)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        raise _unreadable(path, problem) from None


def read_bytes(path: str | Path, advice: str) -> bytes:
    """The bytes of a file. Raises E501, with advice on what to give instead."""
    try:
        with Path(path).open("rb") as stream:
            return _whole(stream)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        raise error("E501", f"cannot read '{path}': {reason_of(problem)}", help=advice) from None


class _TooLarge(OSError):
    """An input beyond the limit."""


def _whole(stream: BinaryIO) -> bytes:
    """All bytes of an input. A device or a pipe is read up to its first NUL, which no text has."""
    limit = _limit()
    try:
        status = os.fstat(stream.fileno())
    except (OSError, AttributeError):  # standard input that is no file
        return stream.read()
    is_file = stat.S_ISREG(status.st_mode)
    if is_file and status.st_size > limit:
        raise _too_large(limit)
    pieces: list[bytes] = []
    n = 0
    while piece := stream.read(status.st_size + 1 if is_file and status.st_size else _PIECE):
        pieces.append(piece)
        n += len(piece)
        if n > limit:
            raise _too_large(limit)
        if not is_file and b"\0" in piece:
            break
    return b"".join(pieces)


def _too_large(limit: int) -> _TooLarge:
    return _TooLarge(None, f"larger than {limit} bytes; set {LIMIT_VARIABLE} to read it")


def _limit() -> int:
    """The most bytes of an input. Raises E502 where the variable has no number."""
    given = os.environ.get(LIMIT_VARIABLE, "")
    if given and not (given.isdecimal() and len(given) < 19):
        raise error("E502", f"{LIMIT_VARIABLE} is '{given}'", help="set it to a number of bytes")
    return int(given) if given else INPUT_LIMIT


def read_source(path: str | Path, advice: str) -> Source:
    """The text of a file. Raises E501, with advice on what to give instead."""
    return Source.from_bytes(str(path), read_bytes(path, advice))


def write_output(path: str | Path, data: bytes) -> None:
    """Write a whole file: what is there stays until all of the new content is on the disk. Raises E503."""
    out = OutputFile(path)
    try:
        out.write(data)
        out.keep()
    except BaseException:
        out.drop()
        raise


def require_writable(path: str | Path) -> None:
    """Check that an output can be written, and leave it as it is. Raises E503."""
    with contextlib.suppress(OSError, ValueError):
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            return  # a device or a pipe: opening it would be writing
    OutputFile(path).drop()


def require_folder(path: Path) -> None:
    """Check that a folder exists or can be created, and can be written into. Raises E503."""
    with contextlib.suppress(OSError, ValueError):
        above = next(p for p in (path, *path.absolute().parents) if p.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            reason = "permission denied" if above.is_dir() else "it is a file"
            help = "nothing was run; give another one"
            raise error("E503", f"cannot write into folder '{path}': {reason}", help=help)


class OutputFile:
    """A file that is written piece by piece beside its place, until `keep` moves it there or `drop` removes it.

    A device or a pipe is written to at once. Raises E503.
    """

    def __init__(self, path: str | Path):
        self._path = path
        self._temporary: Path | None = None
        with self._explained():
            self._target = target = Path(os.path.realpath(path))
            if target.is_dir():
                raise IsADirectoryError(None, "is a directory")
            if target.exists() and not target.is_file():
                self._stream = target.open("wb")
                return
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(None, "permission denied")
            temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self._temporary, self._stream = temporary, os.fdopen(descriptor, "wb")

    def write(self, data: bytes) -> None:
        with self._explained():
            self._stream.write(data)

    def keep(self) -> None:
        """The content is whole: from now on it is the file."""
        with self._explained():
            self._stream.close()
            if self._temporary is not None:
                if self._target.exists():
                    os.chmod(self._temporary, self._target.stat().st_mode & 0o7777)
                os.replace(self._temporary, self._target)
                self._temporary = None

    def drop(self) -> None:
        """Keep the file as it was before."""
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
            help = "nothing was written; give a path in a folder that exists and can be written"
            raise error("E503", f"cannot write '{self._path}': {reason_of(problem)}", help=help) from None


def make_folder(path: Path) -> None:
    """Create a folder if there is none. Raises E503."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        raise error(
            "E503", f"cannot make folder '{path}': {reason_of(problem)}", help="give another one"
        ) from None


def _unreadable(path: Path, problem: Exception) -> PtxError:
    names = sample_names()
    advice = "give the path of a PTX or PTXPlus file, or - for standard input"
    could_be_a_sample = str(path) == path.stem  # a word, without folder and suffix
    if names and could_be_a_sample and isinstance(problem, FileNotFoundError):
        advice += f"; packaged samples are {', '.join(names)}"
    return error("E501", f"cannot read '{path}': {reason_of(problem)}", help=advice)


def reason_of(problem: Exception) -> str:
    """Why the system could not do it, in lower case."""
    reason = getattr(problem, "strerror", None) or str(problem)
    return reason[:1].lower() + reason[1:]
