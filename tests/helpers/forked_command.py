"""Commands run in processes of their own, forked from this one: with limits on memory and time, and nothing shared.

A fork has all modules and machine code of this process, so that a command takes milliseconds. Linux and macOS only.
"""

import os
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ptxtool.cli.main import COMMANDS, main, module_of

MIB = 1 << 20


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, negative for a signal, and what it printed and used.

    `peak_bytes` is the most memory that it had beyond that of the process it was forked from.
    """

    exit_code: int
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: str


def import_all() -> None:
    """Import what commands import when they are called."""
    for name in COMMANDS:
        import_module(module_of(name))
    import ptxsim

    assert ptxsim


def run_forked(
    arguments: Sequence[str],
    folder: Path | None = None,
    *,
    memory_bytes: int = 8192 * MIB,
    cpu_seconds: int = 60,
) -> Ended:
    """Run `ptxtool ARGUMENTS` in a folder, with empty standard input.

    `memory_bytes` limits address space; after `cpu_seconds` a signal ends the process.
    """
    return call_forked(
        lambda: main.main(list(arguments)), folder, memory_bytes=memory_bytes, cpu_seconds=cpu_seconds
    )


def call_forked(
    call: Callable[[], object], folder: Path | None = None, *, memory_bytes: int, cpu_seconds: int
) -> Ended:
    """`run_forked` for a function: its exit code is 0, or 70 after an exception."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        own = _resident_bytes()
        process = os.fork()
        if process == 0:
            _child(call, folder, out.fileno(), err.fileno(), memory_bytes, cpu_seconds)
        _, status, usage = os.wait4(process, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    per_unit = 1 if sys.platform == "darwin" else 1024
    code = os.waitstatus_to_exitcode(status)
    peak = max(0, usage.ru_maxrss * per_unit - own)
    return Ended(code, usage.ru_utime + usage.ru_stime, peak, *texts)


def _resident_bytes() -> int:
    """The memory of this process, which a fork has at first; 0 where there is no /proc."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * resource.getpagesize() if statm.exists() else 0


def _child(
    call: Callable[[], object], folder: Path | None, out: int, err: int, memory_bytes: int, cpu_seconds: int
) -> None:
    code = 70
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, (0, 1, 2), ("r", "w", "w"))
        if folder is not None:
            os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        call()
        code = 0
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
