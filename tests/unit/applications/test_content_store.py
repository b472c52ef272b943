"""Contents of many launches: each folder has all of them, and what was stored before is not stored again."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxtool.applications.content_store import ContentStore, Folder
from ptxtool.formats.changed_pages import PAGE_BYTES
from ptxtool.formats.launch.launch_values import npy_file

ADDRESS, N_PAGES = 0x1001_0000, 64


class Recorded:
    """A store with a folder for every contents of one block."""

    def __init__(self, root: Path):
        self.root, self.store, self.folders = root, ContentStore(), list[Folder]()
        self.memory = root / "launch.toml"

    def put(self, data: Any, address: int = ADDRESS) -> tuple[str, ...]:
        folder = Folder(self.root / str(len(self.folders)))
        folder.path.mkdir()
        self.folders.append(folder)
        files = self.store.put(folder, (self.memory, address, data.nbytes), data).files
        assert not files or npy_file(files[0], folder.path, files[1:]).tobytes() == data.tobytes()
        assert sorted(files) == sorted(os.listdir(folder.path))
        return files


def random_pages(n: int = N_PAGES) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 1 << 32, n * PAGE_BYTES // 4, np.uint32)


def test_a_changed_page_is_stored_by_itself(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), random_pages()
    assert recorded.put(data) == ("10010000.npy.zst",)
    whole = recorded.store.file_bytes
    assert whole > data.nbytes
    data[5] += 1
    assert recorded.put(data) == ("10010000.npy.zst", "10010000.changes.npy.zst")
    assert PAGE_BYTES < recorded.store.file_bytes - whole < PAGE_BYTES + 300
    assert (tmp_path / "0" / "10010000.npy.zst").samefile(tmp_path / "1" / "10010000.npy.zst")


def test_a_chain_of_changes_stays_short(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), random_pages()
    lengths = []
    for k in range(
        40
    ):  # another page each: at k = 17 and 33 compared with the whole array, of which 17 and 33 differ
        data[k % N_PAGES * PAGE_BYTES // 4] += 1
        lengths.append(len(recorded.put(data)))
    assert lengths == [*range(1, 18), *range(2, 18), *range(1, 8)]
    assert recorded.store.file_bytes < 2 * data.nbytes + (16 + 17 + 15 + 6) * (PAGE_BYTES + 300)


def test_what_has_mostly_changed_is_stored_whole(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), random_pages()
    recorded.put(data)
    data[: data.size // 2 + 1] += 1
    assert recorded.put(data) == ("10010000.npy.zst",)
    assert not (tmp_path / "0" / "10010000.npy.zst").samefile(tmp_path / "1" / "10010000.npy.zst")


def test_known_contents_are_links_wherever_they_are(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), random_pages()
    other = data.copy()
    other[0] += 1
    recorded.put(data)
    recorded.put(other)
    bytes_before = recorded.store.file_bytes
    assert recorded.put(data, ADDRESS + 0x10_0000) == ("10010000.npy.zst",)
    assert recorded.put(data) == ("10010000.npy.zst",)
    assert len(recorded.put(other)) == 2
    assert recorded.store.file_bytes == bytes_before


def test_zeros_have_no_file_and_are_no_base(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), np.zeros(N_PAGES * PAGE_BYTES, np.uint8)
    assert recorded.put(data) == ()
    data[0] = 1
    assert recorded.put(data) == ("10010000.npy.zst",)


def test_before_and_after_share_a_folder(tmp_path: Path) -> None:
    store, folder, data = ContentStore(), Folder(tmp_path / "1"), random_pages()
    folder.path.mkdir()
    place = tmp_path / "launch.toml", ADDRESS, data.nbytes
    before = store.put(folder, place, data)
    data[0] += 1
    after = store.put(folder, place, data)
    assert after.files == (*before.files, "10010000.changes.npy.zst")
    assert after.digest != before.digest
    assert store.put(folder, place, data) == after
    assert len(os.listdir(folder.path)) == 2


def test_without_links_every_folder_has_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    recorded, data = Recorded(tmp_path), random_pages()
    recorded.put(data)
    data[5] += 1
    recorded.put(data)
    assert 2 * data.nbytes < recorded.store.file_bytes < 2 * data.nbytes + 2 * PAGE_BYTES
    recorded.store.put_text(tmp_path / "a", b"text")
    recorded.store.put_text(tmp_path / "b", b"text")
    assert (tmp_path / "b").read_bytes() == b"text"


def test_what_was_in_a_folder_can_be_forgotten(tmp_path: Path) -> None:
    recorded, data = Recorded(tmp_path), random_pages()
    recorded.put(data)
    folder = recorded.folders[0]
    recorded.store.forget(folder)
    for file in folder.path.iterdir():
        file.unlink()
    assert recorded.put(data) == ("10010000.npy.zst",)
