"""Lists of recorded launches: launch files to be run one after the other on one machine.

`exec --record` writes such a list beside the folders of the launches (docs/launch-file.md). Every launch file says
the whole memory before its launch, at fixed addresses: the list has only the order, and what ran between two launches
and is not there. Contents are read when a launch's turn comes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.files import is_file, read_source
from ptxtool.formats.launch.launch_paths import check_paths
from ptxtool.formats.launch.launch_tables import LaunchTable
from ptxtool.formats.toml import read_toml

_READ_MORE = "docs/launch-file.md has an example of a list of recorded launches"
_KEYS = ("memory_bytes", "launch")
_LAUNCH_KEYS = ("file", "number", "left_out", "time")
MEMORY_BYTES = 1 << 30
"""Of a machine, where the list has no other number."""


@dataclass(frozen=True)
class RecordedLaunch:
    """One launch of a list; `number` is that in the application."""

    number: int
    file: Path
    """Its launch file."""
    timed: bool
    """False: executed, but no part of what is simulated."""
    left_out: str
    """What the application ran before it that the list does not have, in words."""


@dataclass(frozen=True)
class LaunchRecording:
    """A list that has been read: its launches in order, and the bytes of the machine's memory."""

    source: Source = field(repr=False)
    memory_bytes: int
    launches: tuple[RecordedLaunch, ...]
    allow_outside: bool = False
    """Whether a launch file may name files outside of its folder."""


@dataclass(frozen=True)
class KernelOfLaunch:
    """Which kernel a launch file is about; None where it does not say so."""

    file: Path | None
    name: str | None


def kernel_of(path: str | Path, *, allow_outside: bool = False) -> KernelOfLaunch:
    """The kernel of a launch file, without the contents of its arguments. Raises E501 and E502.

    Files must lie in the folder of the launch file or below, unless `allow_outside`.
    """
    path = Path(path)
    source = read_source(path, "give the path of a launch file")
    head = LaunchTable(source, path.parent, read_toml(source, _READ_MORE))
    if not allow_outside:
        check_paths(head)
    file = head.text("file")
    return KernelOfLaunch(path.parent / file if file else None, head.text("kernel"))


def is_recording(values: Mapping[str, Any]) -> bool:
    """Whether a launch file is a list of recorded launches: an entry names a file."""
    rows = values.get("launch")
    return isinstance(rows, list) and any(isinstance(row, dict) and "file" in row for row in rows)


def load_recording(path: str | Path, *, allow_outside: bool = False) -> LaunchRecording | None:
    """Read a list of recorded launches; None for a launch file of another kind.

    Raises E501 and E502 with the file and, where possible, the line. Files must lie in the folder of the list or below,
    unless `allow_outside`.
    """
    path = Path(path)
    source = read_source(path, "give the path of a launch file")
    head = LaunchTable(source, path.parent, read_toml(source, _READ_MORE))
    if not is_recording(head.values):
        return None
    head.only(_KEYS)
    if not allow_outside:
        check_paths(head)
    launches = tuple(_launch(row) for row in head.rows("launch", _LAUNCH_KEYS))
    return LaunchRecording(source, head.whole("memory_bytes", 1 << 20, MEMORY_BYTES), launches, allow_outside)


def _launch(row: LaunchTable) -> RecordedLaunch:
    name = row.text("file")
    if name is None:
        raise row.fail("missing key 'file'", help='for example file = "0001-name/launch.toml"')
    if not is_file(row.folder / name):
        raise row.fail(f"no launch file '{name}'", "file", "copy the whole recording", code="E501")
    number = row.whole("number", 1, row.index + 1)
    return RecordedLaunch(number, row.folder / name, row.flag("time", True), row.text("left_out") or "")


def not_a_recording(head: LaunchTable) -> PtxError:
    """E502: a list of recorded launches, where it cannot be used."""
    n = len(head.values["launch"])
    return head.inner({}, "launch", ()).fail(
        f"a list of {n} recorded launch{'es' * (n != 1)}, where one launch is needed",
        help="'run', 'sim', 'compare' and 'sweep' take it; here give the folder of one launch",
    )
