"""Launches of an application as launch files, to be run again without it: `exec --record`.

A recorded launch is a folder with `kernel.ptx`, `launch.toml` and the contents of all blocks of device memory at their
addresses, before and after. So pointers are valid wherever they lie, in parameters, structures or memory, and the
buffers need no description. A block of zeros has no file; contents that were stored before are a hard link to that file
(a copy, where the file system has no links), so that every folder stands by itself.

Not recorded, with a note: kernels that use textures or surfaces, and those that allocate memory, whose heap is the
device's. Caches are not recorded: the replayed launch begins with empty ones.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxtool.applications.launch_choice import ALL, LaunchChoice
from ptxtool.applications.launch_text import Block, launch_text, needs_addresses
from ptxtool.base.demangle import demangle
from ptxtool.base.diag import PtxError, error
from ptxtool.base.mangled import shown_name
from ptxtool.formats.files import LAUNCH_NAME, reason_of
from ptxtool.formats.npy import COMPRESSED, compressed
from ptxtool.results.applications import Launch, Recording

if TYPE_CHECKING:
    from ptxsim.loaded_modules import LoadedKernel
    from ptxsim.memory_image.heap import Heap

_TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq"})


def not_recordable(kernel: "LoadedKernel") -> str:
    """Why launches of a kernel cannot be recorded; "" where they can."""
    from ptxsim.lowering.callgraph import CallGraph, calls_in

    for function in CallGraph(kernel.function).functions:
        if any(i.opcode.base in _TEXTURES for i in function.instructions):
            return "it uses textures or surfaces"
        if any(getattr(call.target, "text", "") in ("malloc", "free") for _, call in calls_in(function)):
            return "it allocates memory"
    return ""


@dataclass
class Recorder:
    """The recorded launches of one run of an application."""

    folder: Path
    command: Sequence[str]
    tell: Callable[[str], object]
    """Called with a note for every kernel whose launches cannot be recorded."""
    report: Callable[[PtxError], object]
    """Called with E503 where nothing more can be recorded; the application goes on."""
    choice: LaunchChoice = ALL
    _has_failed: bool = False
    _launches: int = 0
    _content_bytes: int = 0
    _file_bytes: int = 0
    _known: dict[bytes, Path] = field(default_factory=dict)
    """The file of every content that was stored, by its digest."""
    _kernels: dict["LoadedKernel", bool] = field(default_factory=dict)
    """Those that were launched, and whether they can be recorded."""

    def __post_init__(self) -> None:
        """Create the folder. Raises E503 where that is not possible, and for one that has contents."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise error("E503", f"'{self.folder}' is not empty", help="give a new folder to record in")
        except OSError as problem:
            raise _cannot_write(self.folder, problem) from None

    def begin(
        self,
        entry: Launch,
        kernel: "LoadedKernel",
        parameters: bytes,
        heap: "Heap",
        settings: dict[str, int],
    ) -> "PendingRecord | None":
        """Store what a launch begins with; None for one that was not chosen or cannot be recorded. `settings` are
        further numbers of the launch file."""
        if entry.number not in self.choice or self._has_failed:
            return None
        if not self._can_record(kernel):
            return None
        module, left_out = kernel.module, set[int]()
        if not needs_addresses(module):
            left_out = {module.origin.variables, module.constants_start}
        name = demangle(entry.kernel)
        short = re.sub(r"\W+", "_", name.name if name else entry.kernel)[:60].strip("_")
        folder = self.folder / f"{entry.number:04}-{short}"
        try:
            folder.mkdir()
            text = kernel.module.module.source.text.encode("utf-8", "surrogateescape")
            self._store(folder / "kernel.ptx", text, lambda: text)
            blocks = [
                self._block(folder, heap, *block) for block in heap.blocks() if block[0] not in left_out
            ]
        except OSError as problem:
            self._fail(folder, problem)
            return None
        return PendingRecord(self, folder, kernel, parameters, heap, settings, blocks)

    def _can_record(self, kernel: "LoadedKernel") -> bool:
        """Whether launches of a kernel can be recorded; a note, once, where they cannot."""
        if kernel not in self._kernels:
            why = not_recordable(kernel)
            self._kernels[kernel] = not why
            if why:
                self.tell(f"ptxtool exec: launches of {shown_name(kernel.name)} are not recorded, as {why}")
        return self._kernels[kernel]

    def _block(self, folder: Path, heap: "Heap", address: int, n_bytes: int) -> Block:
        data = contents(heap, address, n_bytes)
        self._content_bytes += n_bytes
        digest = _digest(data)
        return Block(address, n_bytes, self._stored(folder, f"{address:x}", data, digest), digest)

    def _stored(self, folder: Path, name: str, data: Any, digest: bytes) -> str:
        """Store contents; the name of their file, "" for zeros."""
        if not data.any():
            return ""
        file = folder / f"{name}{COMPRESSED}"
        self._store(file, digest, lambda: compressed(data))
        return file.name

    def _store(self, path: Path, content: bytes, written: Callable[[], bytes]) -> None:
        """Write a file, or link it to the one that has this content."""
        known = self._known.get(content)
        if known is not None:
            try:
                os.link(known, path)
                return
            except OSError:
                pass  # no links on this file system, or too many
        data = written()
        path.write_bytes(data)
        self._file_bytes += len(data)
        self._known[content] = path

    def end(self, pending: "PendingRecord", entry: Launch) -> None:
        """Store what a launch left, and its launch file."""
        folder, heap = pending.folder, pending.heap
        try:
            blocks = pending.blocks if entry.error else [self._after(folder, heap, b) for b in pending.blocks]
            title = f"launch {entry.number} of {' '.join(self.command)}"
            text = launch_text(title, entry, pending.kernel, pending.parameters, pending.settings, blocks)
            (folder / LAUNCH_NAME).write_text(text)
            self._file_bytes += len(text)
        except OSError as problem:
            self._fail(folder, problem)
            return
        self._launches += 1

    def _fail(self, folder: Path, problem: OSError) -> None:
        """Record nothing more; a folder that is not complete is removed."""
        self._has_failed = True
        shutil.rmtree(folder, ignore_errors=True)
        self.report(_cannot_write(folder, problem))

    def _after(self, folder: Path, heap: "Heap", block: Block) -> Block:
        data = contents(heap, block.address, block.n_bytes)
        digest = _digest(data)
        if digest == block.digest:
            return replace(block, after=block.file)
        after = self._stored(folder, f"{block.address:x}.after", data, digest)
        return replace(block, after=after, is_changed=True)

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        return Recording(str(self.folder), self._launches, self._content_bytes, self._file_bytes)


@dataclass
class PendingRecord:
    """A launch that is being recorded, and has not ended."""

    recorder: Recorder
    folder: Path
    kernel: "LoadedKernel"
    parameters: bytes
    heap: "Heap"
    settings: dict[str, int]
    blocks: list[Block]

    def end(self, entry: Launch) -> None:
        """Store the results; `entry` has ended. One that failed has none."""
        self.recorder.end(self, entry)

    def discard(self) -> None:
        """Remove the folder of a launch that did not end."""
        shutil.rmtree(self.folder, ignore_errors=True)


def contents(heap: "Heap", address: int, n_bytes: int) -> Any:
    """A block in place, as an array of uint32, or of uint8 where its size is no multiple of 4."""
    start = address + len(heap.memory) - heap.end
    data = heap.memory[start : start + n_bytes]
    return data if n_bytes % 4 else data.view(np.uint32)


def _digest(data: Any) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _cannot_write(folder: Path, problem: OSError) -> PtxError:
    return error("E503", f"cannot record in '{folder}': {reason_of(problem)}", help="give another folder")
