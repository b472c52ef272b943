"""The lines of CUDA sources that `.loc` directives name. For `--source`.

A source is looked for at the path that `.file` gives, which may be one of another machine, and then under its name
beside the PTX file.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from ptxtool.base.cuda_places import CudaPlace

_LARGEST = 16 << 20
"""Bytes of the largest file that is read."""


class CudaSources:
    """Lines of sources, each file read once. `tell` is called with a remark for a file that is not found."""

    def __init__(self, tell: Callable[[str], object]):
        self._tell = tell
        self._files: dict[tuple[str, str], tuple[str, ...]] = {}

    def __call__(self, ptx: str, place: CudaPlace) -> str:
        """The text of a place in a source of the PTX file `ptx`, without its indentation; "" if it is not there."""
        lines = self.lines(ptx, place.path)
        return lines[place.line - 1].strip() if place.line <= len(lines) else ""

    def lines(self, ptx: str, path: str) -> tuple[str, ...]:
        """All lines of a source of the PTX file `ptx`, by the path that `.file` gives; () if it is not there."""
        key = str(Path(ptx).parent), path
        if key not in self._files:
            self._files[key] = self._read(*key)
        return self._files[key]

    def _read(self, folder: str, path: str) -> tuple[str, ...]:
        beside = Path(folder) / PurePosixPath(path.replace("\\", "/")).name
        for candidate in (Path(folder) / path, beside):
            try:
                if candidate.is_file() and candidate.stat().st_size <= _LARGEST:
                    text = candidate.read_bytes().decode("utf-8", "surrogateescape")
                    return tuple(text.split("\n"))
            except (OSError, ValueError):  # ValueError: a NUL in the name
                continue
        self._tell(f"--source: '{path}' is not there, nor is '{beside}'")
        return ()
