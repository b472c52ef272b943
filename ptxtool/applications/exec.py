"""Run an application with the simulator for its GPU: a process of its own, whose CUDA calls come over a socket.

The application finds our libcudart before NVIDIA's (LD_LIBRARY_PATH), and the simulator by the name of an abstract
socket (PTXTOOL_EXEC); so does every process that it starts, each with a session, a device and memory of its own.
Triton finds its backend (`triton_backend/`) on Python's path.
Sockets and memory are files without a name: nothing stays behind, however either side ends. One request is answered
after the other.
"""

import contextlib
import ctypes
import importlib
import os
import secrets
import select
import selectors
import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxtool.applications.executable import check_executable, find_executable
from ptxtool.applications.library import BACKEND, PYTHON, library_folder
from ptxtool.applications.protocol import Gone, answer, is_gone, receive
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.session import Session
from ptxtool.applications.settings import Settings
from ptxtool.base.diag import error
from ptxtool.results.applications import ApplicationRun

_PATIENCE = 5.0
"""Seconds that an interrupted application has to end by itself."""
_SET_PARENT_DEATH_SIGNAL = 1


def run_application(command: Sequence[str], settings: Settings, reporter: Reporter) -> ApplicationRun:
    """Run a command to its end; its CUDA calls go to the simulator.

    Its files, standard streams, working folder and environment are this process's. Ctrl-C ends
    it; its status is then 130. Raises E501 for a command that is not there or cannot use the library, E502 without a C
    compiler, E503 where the cache cannot be written.
    """
    program = find_executable(command[0])
    check_executable(program)
    libraries = library_folder()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        name = f"ptxtool-exec-{os.getpid()}-{secrets.token_hex(8)}"
        listener.bind("\0" + name)
        listener.listen()
        process = _started(program, command, name, libraries)
        server = _Server(listener, settings, reporter)
        try:
            _load_simulator(listener, settings.timed)
            server.serve(process)
        except KeyboardInterrupt:
            _end(process)
            process.returncode = -signal.SIGINT
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            server.close()
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return ApplicationRun(
        command=tuple(command),
        status=status,
        gpu=settings.gpu.name,
        timed=settings.timed,
        processes=server.n_sessions,
        launches=reporter.all_launches(),
        missing=tuple(reporter.missing),
        problems=tuple(reporter.problems),
        recording=reporter.recorder.recording if reporter.recorder else None,
        passes=settings.passes,
        rewritten=tuple(reporter.rewritten),
        sim_launches=reporter.sampling.text if reporter.sampling else None,
        longest=tuple(reporter.longest.values()),
    )


def _started(program: Path, command: Sequence[str], name: str, libraries: Path) -> "subprocess.Popen[bytes]":
    """Start the application. Raises E501."""
    paths = {"LD_LIBRARY_PATH": str(libraries), "PYTHONPATH": str(libraries / PYTHON)}
    before = {variable: os.environ.get(variable) for variable in paths}
    environment = {
        **os.environ,
        **{name: f"{path}:{before[name]}" if before[name] else path for name, path in paths.items()},
        "PTXTOOL_EXEC": name,
        "TRITON_DEFAULT_BACKEND": BACKEND,
    }
    libc, parent = ctypes.CDLL(None), os.getpid()

    def die_with_parent() -> None:
        libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    try:
        return subprocess.Popen(
            command, executable=program, env=environment, preexec_fn=die_with_parent, close_fds=True
        )
    except (OSError, subprocess.SubprocessError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        help = "give the path of an executable for this machine"
        raise error("E501", f"cannot run '{program}': {reason.lower()}", help=help) from None


def _load_simulator(listener: socket.socket, timed: bool) -> None:
    """Import what the first request needs, and what the first launch does while no request waits: in that second the
    application starts and reads its input."""
    importlib.import_module("ptxsim.machine")
    waits, _, _ = select.select([listener], [], [], 0)
    if not waits:
        importlib.import_module("ptxsim.launcher" if timed else "ptxsim.functional_run")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End an application that was interrupted, by force where it does not end by itself."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


@dataclass
class _Client:
    """A process that is connected, and its device, from its first request on."""

    connection: socket.socket
    session: Session | None = None


class _Server:
    """Answers the requests of all processes of an application until the first one has ended."""

    def __init__(self, listener: socket.socket, settings: Settings, reporter: Reporter):
        self.listener, self.settings, self.reporter = listener, settings, reporter
        self.n_sessions = 0
        self._selector = selectors.DefaultSelector()
        self._clients: list[_Client] = []

    def serve(self, process: "subprocess.Popen[bytes]") -> None:
        """Answer until the process has ended; its status is then in `returncode`."""
        ended = os.pidfd_open(process.pid)
        try:
            self._selector.register(ended, selectors.EVENT_READ, None)
            self._selector.register(self.listener, selectors.EVENT_READ, self._accept)
            while True:
                ready = [key for key, _ in self._selector.select()]
                for key in ready:
                    if isinstance(key.data, _Client):
                        self._answer(key.data)
                    elif key.data is not None:
                        key.data()
                if any(key.fd == ended for key in ready):
                    process.wait()
                    return
        finally:
            os.close(ended)

    def close(self) -> None:
        """Close every connection."""
        for client in list(self._clients):
            self._forget(client)
        self._selector.close()

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] != os.getuid():
            connection.close()  # abstract names are open to all users of the machine
            return
        client = _Client(connection)
        self._clients.append(client)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _answer(self, client: _Client) -> None:
        try:
            request = receive(client.connection)
            if client.session is None:
                client.session = Session(self.settings, self.reporter, lambda: is_gone(client.connection))
                self.n_sessions += 1
            answer(client.connection, *client.session.answer(request))
        except Gone:
            self._forget(client)

    def _forget(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        self._clients.remove(client)
        client.connection.close()
        if client.session is not None:
            client.session.close()
