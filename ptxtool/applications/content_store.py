"""Contents of memory in files, for recorded launches: what was stored before is not stored again.

Contents of a block are a whole array (.npy.zst), or the one that the block had before with pages that have changed
since (formats/changed_pages.py): a chain of at most `_MOST_CHANGES` files, then one that is compared with the whole
array again. Every file that a folder names is a link in that folder to the one that was written (a copy, where the
file system has no links), so that each folder stands by itself. Zeros have no file.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.formats.changed_pages import PAGE_BYTES, n_pages, pages_of
from ptxtool.formats.npy import COMPRESSED, compressed

_MOST_CHANGES = 16
"""Files of changed pages on a whole array: links that a folder needs for a block. guess: few beside a launch file."""
_DIGEST_BYTES = 16

Place = tuple[Path, int, int]
"""A process's memory, an address in it, and the bytes of the block there."""


@dataclass(frozen=True)
class _Latest:
    """What was stored of a block last: digests of its pages, and the files."""

    pages: Any
    """uint8 (n, 16)."""
    files: tuple[Path, ...]


@dataclass
class ContentStore:
    """The contents and texts that were stored. `file_bytes` are those of all files, links not counted."""

    file_bytes: int = 0
    _known: dict[bytes, tuple[Path, ...]] = field(default_factory=dict)
    """The files of all contents by their digest: the whole array, then changes in order."""
    _latest: dict[Place, _Latest] = field(default_factory=dict)
    _whole: dict[Path, Any] = field(default_factory=dict)
    """The digests of the pages of whole arrays, by file."""

    def put_text(self, path: Path, text: bytes) -> None:
        """Store a text in a file of its own. Raises OSError."""
        digest = _digest(text)
        files = self._known.get(digest)
        if files is None:
            self._known[digest] = (path,)
            self._write(path, text)
        else:
            self._link(files[0], path)

    def put(self, folder: "Folder", place: Place, data: Any) -> "Stored":
        """Store contents of a block, an array of uint8 or uint32, for a folder. Raises OSError."""
        pages = _page_digests(data)
        digest = _digest(pages)
        if not data.any():
            files: tuple[Path, ...] = ()
        else:
            files = self._known.get(digest) or self._added(folder, place, data, pages)
            self._known[digest] = files
        self._latest[place] = _Latest(pages, files)
        return Stored(digest, tuple(folder.name_of(file, self._link) for file in files))

    def forget(self, folder: "Folder") -> None:
        """Forget what was stored in a folder that is to be removed."""

        def is_there(files: tuple[Path, ...]) -> bool:
            return any(file.parent == folder.path for file in files)

        self._known = {digest: files for digest, files in self._known.items() if not is_there(files)}
        self._latest = {place: each for place, each in self._latest.items() if not is_there(each.files)}

    def _added(self, folder: "Folder", place: Place, data: Any, pages: Any) -> tuple[Path, ...]:
        """Store new contents: the pages that have changed, or all where most have."""
        latest = self._latest.get(place)
        if latest is not None and latest.files:
            before, base = latest.files, latest.pages
            if len(before) > _MOST_CHANGES:
                before, base = before[:1], self._whole[before[0]]
            changed = np.flatnonzero((pages != base).any(axis=1))
            if 2 * len(changed) <= len(pages):
                file = folder.new_file(place[1], has_changes=True)
                self._write(file, compressed(pages_of(data, changed.tolist())))
                return (*before, file)
        file = folder.new_file(place[1])
        self._write(file, compressed(data))
        self._whole[file] = pages
        return (file,)

    def _write(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self.file_bytes += len(data)

    def _link(self, stored: Path, path: Path) -> None:
        try:
            os.link(stored, path)
        except OSError:  # no links on this file system, or too many
            self._write(path, stored.read_bytes())


@dataclass(frozen=True)
class Stored:
    """Contents that were stored: their digest, and the names of their files in the folder, () for zeros."""

    digest: bytes
    files: tuple[str, ...]


@dataclass
class Folder:
    """The folder of one launch: its files by the one that each is a link to."""

    path: Path
    _names: dict[Path, str] = field(default_factory=dict)

    def new_file(self, address: int, has_changes: bool = False) -> Path:
        """The path of a file that is not there yet, for contents of the block at an address."""
        taken = set(self._names.values())
        kind = ".changes" if has_changes else ""
        names = (
            f"{address:x}{kind}{'' if k == 1 else f'.{k}'}{COMPRESSED}" for k in range(1, len(taken) + 2)
        )
        name = next(name for name in names if name not in taken)
        path = self.path / name
        self._names[path] = name
        return path

    def name_of(self, file: Path, link: Callable[[Path, Path], None]) -> str:
        """The name in this folder of a file that was stored, linked where it is not there yet."""
        if file not in self._names:
            address, has_changes = file.name.partition(".")[0], ".changes" in file.name
            path = self.new_file(int(address, 16), has_changes)
            self._names[file] = self._names[path]
            link(file, path)
        return self._names[file]


def _page_digests(data: Any) -> Any:
    """A digest of every page: uint8 (n, 16)."""
    view = memoryview(data).cast("B")
    starts = range(0, len(view), PAGE_BYTES)
    joined = b"".join(_digest(view[start : start + PAGE_BYTES]) for start in starts)
    return np.frombuffer(joined, np.uint8).reshape(n_pages(len(view)), _DIGEST_BYTES)


def _digest(data: Any) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
