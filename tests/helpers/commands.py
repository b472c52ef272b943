"""What tests of commands share: JSON results, changed files, processes that are interrupted or write to a terminal."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from smallkernel import Cli


def data(cli: Cli, *arguments: object) -> Any:
    """What a command that succeeds prints as JSON."""
    result = cli(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def clean_data(cli: Cli, *arguments: object) -> Any:
    """What a command that has nothing to say on standard error prints as JSON."""
    result = cli(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def change(path: Path, old: str, new: str) -> None:
    """Put another text in the place of the first `old` of a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def interrupted(command: str, file: Path, cpu_seconds: float) -> tuple[str, str]:
    """Press Ctrl-C in a command that has used so much processor time; its standard output and standard error."""
    program = [sys.executable, "-m", "ptxtool.cli.main", command, file]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        program, stdout=pipe, stderr=pipe, text=True, preexec_fn=_heed_interrupts
    ) as process:
        try:
            deadline = time.monotonic() + 300
            while _cpu_seconds(process.pid) < cpu_seconds:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, err
    return out, err


def _heed_interrupts() -> None:
    """Undo what a shell does to its background processes, in which tests may run: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shown_on(terminal: int) -> str:
    """All that is written to a pseudo-terminal, given its parent's end, until the other end is closed."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return shown.decode()
