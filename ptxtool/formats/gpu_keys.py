"""Every key of a machine with its value, the file that sets it, and the comment beside it there. For `ptxtool gpus`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from ptxtool.base.source import Source
from ptxtool.formats.gpu import Gpu


@dataclass(frozen=True)
class MachineKey:
    """One key, dotted as --set takes it; `line` is 0 where the value is the default of a GPGPU-Sim option."""

    name: str
    value: object
    file: str
    line: int
    comment: str


def machine_keys(gpu: Gpu) -> tuple[MachineKey, ...]:
    """The keys of a machine in the order of its tables."""
    values = msgspec.to_builtins(msgspec.structs.replace(gpu, origin=None))
    del values["origin"]
    return tuple(_key(gpu, path, value) for path, value in _leaves(values, ()))


def _leaves(values: Mapping[str, object], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Keys and values; a timing (`{ unit, latency, interval }`) is one value."""
    for name, value in values.items():
        if isinstance(value, dict) and "interval" not in value:
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _key(gpu: Gpu, path: tuple[str, ...], value: object) -> MachineKey:
    found = gpu.origin.find(path) if gpu.origin else None
    source, _, end = found or (Source("", ""), 0, 0)
    line = source.line(end) if end else 0
    return MachineKey(".".join(path), value, source.name, line, _comment(source, line) if line else "")


def _comment(source: Source, line: int) -> str:
    """What the line says after `#`; no value of a GPU file holds one."""
    return source.line_text(line).partition("#")[2].strip()
