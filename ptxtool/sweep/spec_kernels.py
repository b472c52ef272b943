"""The kernels of a sweep file: a kernel with its launch file, a launch file alone, or a recording. For `spec.py`.

A list of recorded launches (docs/launch-file.md) is a kernel for each launch that is simulated, by its number and name:
`3-scale`. Each is a run of its own, which begins with the recorded memory and with empty caches.
"""

from pathlib import Path
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.mangled import source_name
from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.files import find_input, is_file, sample_names
from ptxtool.formats.launch.launch_recording import KernelOfLaunch, LaunchRecording, kernel_of, load_recording
from ptxtool.sweep.spec_values import shown, wrong

_KEYS = ("file", "launch", "kernel", "name")

KernelFields = dict[str, Any]
"""The fields of a configuration that a kernel gives: `kernel`, `launch`, `entry`, `name`."""


def kernels_of(given: Any, folder: Path, allow_outside: bool = False) -> tuple[KernelFields, ...]:
    """The kernels that a value of `kernels` means; paths are relative to `folder`. Raises E501, E502.

    With `allow_outside` a list may name launch files outside its folder.
    """
    row = {"file": given} if isinstance(given, str) else given
    if not isinstance(row, dict):
        raise wrong(f"{shown(given)} is no kernel", 'give "NAME" or { file = "NAME" }')
    for key, value in row.items():
        if key not in _KEYS:
            help = did_you_mean(key, _KEYS, f"keys are {', '.join(_KEYS)}")
            raise wrong(f"unknown key '{key}' of a kernel", help)
        if not isinstance(value, str) or not value:
            raise wrong(f"'{key}' of a kernel must be a text in quotes")
    if "file" not in row:
        raise wrong("a kernel without 'file'", 'write { file = "NAME" }')
    path = folder / row["file"]
    file = row["file"] if row["file"] in sample_names() and not is_file(path) else str(path)
    found = find_input(file)
    if not is_file(found):
        samples = ", ".join(sample_names())
        help = f"paths are relative to the sweep file; packaged samples are {samples}"
        raise error("E501", f"cannot read '{file}': no such file", help=help)
    name = row.get("name") or Path(row["file"]).stem
    launch = folder / row["launch"] if "launch" in row else None
    if found.suffix != ".toml":
        return ({"kernel": file, "launch": launch, "entry": row.get("kernel"), "name": name},)
    if launch is not None:
        raise wrong(f"'{row['file']}' is a launch file", 'write { file = "KERNEL", launch = "FILE" }')
    recording = load_recording(found, allow_outside=allow_outside)
    if recording is None:
        return (_launch_file(found, kernel_of(found, allow_outside=allow_outside), row.get("kernel"), name),)
    if "kernel" in row:
        raise wrong(
            f"'{row['file']}' is a list of recorded launches", "each has its kernel: leave 'kernel' out"
        )
    return _recorded(recording, row.get("name"))


def _launch_file(path: Path, about: KernelOfLaunch, entry: str | None, name: str) -> KernelFields:
    """The kernel of a launch file. Raises E502."""
    if about.file is None:
        raise wrong(
            f"'{path.name}' is a launch file that does not say which file its kernel is in",
            'write file = "NAME" in it, or { file = "KERNEL", launch = "FILE" } here',
        )
    return {"kernel": str(about.file), "launch": path, "entry": entry, "name": name}


def _recorded(recording: LaunchRecording, name: str | None) -> tuple[KernelFields, ...]:
    """A kernel for each launch with time; `name/` is before their names. Raises E501, E502."""
    before = f"{name}/" if name else ""
    found: list[KernelFields] = []
    for each in recording.launches:
        if each.timed:
            about = kernel_of(each.file, allow_outside=recording.allow_outside)
            called = source_name(about.name) if about.name else each.file.parent.name
            found.append(_launch_file(each.file, about, None, f"{before}{each.number}-{called}"))
    if not found:
        raise wrong(f"'{recording.source.name}' has no launch with time", "leave out 'time = false' of some")
    return tuple(found)
