"""Launches of an application as launch files, to be run again without it: `exec --record`.

A recorded launch is a folder with `kernel.ptx`, `launch.toml` and the contents of all blocks of device memory at their
addresses, before and after (content_store.py). So pointers are valid wherever they lie, in parameters, structures or
memory, and the buffers need no description. Beside the folders a list of all of them (formats/launch/
launch_recording.py), one for each process, says their order: run one after the other they find the caches that the
application's launches found.

Not recorded, with a note: kernels that use textures or surfaces, and those that allocate memory, whose heap is the
device's. Launches that failed are not in the list.
"""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ptxtool.applications.content_store import ContentStore, Folder
from ptxtool.applications.launch_choice import ALL, LaunchChoice
from ptxtool.applications.launch_text import Block, launch_text
from ptxtool.base.demangle import demangle
from ptxtool.base.diag import PtxError, error
from ptxtool.base.mangled import shown_name
from ptxtool.formats.files import LAUNCH_NAME, reason_of
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
    _list_bytes: int = 0
    _store: ContentStore = field(default_factory=ContentStore)
    _kernels: dict["LoadedKernel", bool] = field(default_factory=dict)
    """Those that were launched, and whether they can be recorded."""
    _processes: int = 0
    _lists: "WeakKeyDictionary[Heap, _List]" = field(default_factory=WeakKeyDictionary)
    """The list of every process's launches, by its memory, which ends with the process."""

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
        settings: dict[str, Any],
    ) -> "PendingRecord | None":
        """Store what a launch begins with; None for one that was not chosen or cannot be recorded. `settings` are
        further numbers of the launch file."""
        if self._has_failed:
            return None
        listed = self._list_of(heap)
        if entry.number not in self.choice or not self._can_record(kernel):
            listed.left_out.append(entry.number)
            return None
        name = demangle(entry.kernel)
        short = re.sub(r"\W+", "_", name.name if name else entry.kernel)[:60].strip("_")
        folder = Folder(self.folder / f"{entry.number:04}-{short}")
        try:
            folder.path.mkdir()
            text = kernel.module.module.source.text.encode("utf-8", "surrogateescape")
            self._store.put_text(folder.path / "kernel.ptx", text)
            blocks = [self._block(folder, heap, *block) for block in heap.blocks()]
        except OSError as problem:
            self._fail(folder.path, problem)
            return None
        self._content_bytes += sum(block.n_bytes for block in blocks)
        return PendingRecord(self, folder, kernel, parameters, heap, settings, blocks)

    def _list_of(self, heap: "Heap") -> "_List":
        """The list of the process that has this memory."""
        listed = self._lists.get(heap)
        if listed is None:
            self._processes += 1
            file = LAUNCH_NAME if self._processes == 1 else f"launch-{self._processes}.toml"
            listed = self._lists[heap] = _List(self.folder / file)
        return listed

    def _can_record(self, kernel: "LoadedKernel") -> bool:
        """Whether launches of a kernel can be recorded; a note, once, where they cannot."""
        if kernel not in self._kernels:
            why = not_recordable(kernel)
            self._kernels[kernel] = not why
            if why:
                self.tell(f"ptxtool exec: launches of {shown_name(kernel.name)} are not recorded, as {why}")
        return self._kernels[kernel]

    def _block(self, folder: Folder, heap: "Heap", address: int, n_bytes: int) -> Block:
        place = self._list_of(heap).path, address, n_bytes
        stored = self._store.put(folder, place, contents(heap, address, n_bytes))
        return Block(address, n_bytes, stored.files, stored.digest)

    def end(self, pending: "PendingRecord", entry: Launch) -> None:
        """Store what a launch left, and its launch file."""
        folder, heap = pending.folder, pending.heap
        try:
            blocks = pending.blocks if entry.error else [self._after(folder, heap, b) for b in pending.blocks]
            title = f"launch {entry.number} of {' '.join(self.command)}"
            text = launch_text(title, entry, pending.kernel, pending.parameters, pending.settings, blocks)
            (folder.path / LAUNCH_NAME).write_text(text)
            self._list_bytes += len(text) + self._listed(pending, entry)
        except OSError as problem:
            self._fail(folder.path, problem)
            return
        self._launches += 1

    def _listed(self, pending: "PendingRecord", entry: Launch) -> int:
        """Add a launch to its process's list; the bytes that this takes."""
        listed = self._list_of(pending.heap)
        if entry.error:
            listed.left_out.append(entry.number)
            return 0
        lines = [
            "",
            "[[launch]]",
            f'file = "{pending.folder.path.name}/{LAUNCH_NAME}"',
            f"number = {entry.number}",
        ]
        if listed.left_out:
            lines.append(f"left_out = {json.dumps(_numbers(listed.left_out))}")
        if not listed.is_begun:
            size = len(pending.heap.memory)
            lines = [f"# launches of {' '.join(self.command)}", f"memory_bytes = {size}", *lines]
        text = "\n".join(lines) + "\n"
        with open(listed.path, "a") as file:
            file.write(text)
        listed.is_begun = True
        listed.left_out.clear()
        return len(text)

    def discard(self, folder: Folder) -> None:
        """Remove the folder of a launch that did not end."""
        self._store.forget(folder)
        shutil.rmtree(folder.path, ignore_errors=True)

    def _fail(self, folder: Path, problem: OSError) -> None:
        """Record nothing more; a folder that is not complete is removed."""
        self._has_failed = True
        shutil.rmtree(folder, ignore_errors=True)
        self.report(_cannot_write(folder, problem))

    def _after(self, folder: Folder, heap: "Heap", block: Block) -> Block:
        after = self._block(folder, heap, block.address, block.n_bytes)
        return replace(block, after=after.files, is_changed=after.digest != block.digest)

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        return Recording(
            str(self.folder), self._launches, self._content_bytes, self._store.file_bytes + self._list_bytes
        )


@dataclass
class PendingRecord:
    """A launch that is being recorded, and has not ended."""

    recorder: Recorder
    folder: Folder
    kernel: "LoadedKernel"
    parameters: bytes
    heap: "Heap"
    settings: dict[str, Any]
    blocks: list[Block]

    def end(self, entry: Launch) -> None:
        """Store the results; `entry` has ended. One that failed has none."""
        self.recorder.end(self, entry)

    def discard(self) -> None:
        """Remove the folder of a launch that did not end."""
        self.recorder.discard(self.folder)


@dataclass
class _List:
    """The list of one process's launches, and the numbers of those since its last entry that are not in it."""

    path: Path
    left_out: list[int] = field(default_factory=list)
    is_begun: bool = False


def _numbers(ascending: Sequence[int]) -> str:
    """Launches by number, in words: "launches 2-9, 12"."""
    ranges: list[list[int]] = []
    for number in ascending:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
    return f"launch{'es' * (len(ascending) > 1)} {text}"


def contents(heap: "Heap", address: int, n_bytes: int) -> Any:
    """A block in place, as an array of uint32, or of uint8 where its size is no multiple of 4."""
    data = heap.view(address, n_bytes)
    return data if n_bytes % 4 else data.view(np.uint32)


def _cannot_write(folder: Path, problem: OSError) -> PtxError:
    return error("E503", f"cannot record in '{folder}': {reason_of(problem)}", help="give another folder")
