"""The folder of machine code on disk: one that only this user can write to, or a temporary one.

numba keeps machine code as pickles, and reading a pickle runs what it says. A folder that belongs to another user, or
that others can write to, is not read: it is removed where that is possible. Where no folder can be made or written (no
home, a read-only or full disk), this process and its children have a temporary one; a line on standard error says why.
"""

import atexit
import contextlib
import os
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

from ptxtool.base.diag import error

TEMPORARY = "PTXTOOL_TEMPORARY_CACHE"
"""Environment variable for the processes of this one: its temporary folder."""
_PRIVATE = 0o700
_OF_OTHERS = 0o022


@cache
def cache_root() -> Path:
    """The folder of all versions' machine code, which exists and can be written."""
    inherited = os.environ.get(TEMPORARY)
    if inherited and not _problem(Path(inherited)):
        return Path(inherited)
    path = Path(platformdirs.user_cache_dir("ptxtool")) / "compiled"
    reason = _prepared(path)
    return _temporary(path, reason) if reason else path


def _prepared(path: Path) -> str:
    """Make a folder, or replace one that is not private; why it cannot be used, "" if it can."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if reason := _problem(path.parent, of_system=True):
            return reason
        if os.path.lexists(path) and _problem(path):
            untrusted = path.with_name(f"{path.name}.untrusted.{os.getpid()}")
            path.rename(untrusted)
            shutil.rmtree(untrusted, ignore_errors=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(_PRIVATE)
        with tempfile.TemporaryFile(dir=path) as probe:  # a full disk has names left, but no bytes
            probe.write(bytes(4096))
    except (OSError, RuntimeError) as problem:
        return getattr(problem, "strerror", None) or str(problem)
    return _problem(path)


def _problem(path: Path, of_system: bool = False) -> str:
    """Why a folder is not private; "" if it is. With `of_system` it may be the system's, or one as /tmp is.

    Systems without owners of files have private home folders.
    """
    if not hasattr(os, "geteuid"):
        return ""
    try:
        found = path.lstat()
    except OSError as problem:
        return problem.strerror or str(problem)
    if not stat.S_ISDIR(found.st_mode) and not of_system:
        return "it is no folder"
    if found.st_uid != os.geteuid() and not (of_system and found.st_uid == 0):
        return "it belongs to another user"
    is_sticky = of_system and found.st_mode & stat.S_ISVTX
    return "others can write to it" if found.st_mode & _OF_OTHERS and not is_sticky else ""


def _temporary(path: Path, reason: str) -> Path:
    """A folder for this process and its children, removed at its end. Raises E503."""
    try:
        made = tempfile.mkdtemp(prefix="ptxtool-")
    except OSError:
        what = f"cannot keep machine code in '{path}' ({reason}), nor in a temporary folder"
        raise error(
            "E503", what, help="set XDG_CACHE_HOME or TMPDIR to a folder that can be written"
        ) from None
    os.environ[TEMPORARY] = made
    atexit.register(_remove, made, os.getpid())
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(
            f"ptxtool: cannot keep machine code in '{path}' ({reason}): compiling for this run only\n"
        )
    return Path(made)


def _remove(folder: str, process: int) -> None:
    """Remove a temporary folder, in the process that has made it and in no fork of it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
