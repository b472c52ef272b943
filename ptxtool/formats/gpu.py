"""GPU files: the description of a machine, for the occupancy arithmetic and the simulator.

A GPU file is TOML, one table per part of the machine; every key and its meaning is in `tesla-c2050.toml`, the first of
those that come with the package. `load_gpu` takes the name of a packaged file or the path of a user's own, which may
say `inherits = "NAME"` (or the path of another file, relative to its own) and give only the keys that differ. After
inheriting all keys are required, none but these are allowed, and a wrong one is reported with its file and place.
A `gpgpusim.config` of GPGPU-Sim is read as such a file that inherits from a packaged machine (`gpgpusim/machine.py`).
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ptxtool.analysis.energy.coefficients import Energy
from ptxtool.analysis.occupancy.occupancy import SmLimits
from ptxtool.analysis.occupancy.switching_plan import Switching
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan
from ptxtool.base.diag import Diagnostic, PtxError, by_place, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.resources import resource_dir
from ptxtool.formats import gpu_parts as parts
from ptxtool.formats.files import is_file, read_source
from ptxtool.formats.gpgpusim.machine import is_config, read_config
from ptxtool.formats.gpu_names import DEFAULT_GPU, gpu_names
from ptxtool.formats.layers import GpuFiles, Layer, locate
from ptxtool.formats.toml import read_toml
from ptxtool.isa.table import table
from ptxtool.isa.types import ArithmeticClass

Warn = Callable[[Diagnostic], object]
"""Called with each W501: an option of a GPGPU-Sim file that is not modelled."""


class Gpu(parts.GpuTable, frozen=True):
    """A machine. `latency[unit][kind]`: `unit` of the instruction table, kind "int", "fp32" or "fp64"."""

    name: str
    description: str
    scheduler: str
    clocks: parts.Clocks
    sm: SmLimits
    fetch: parts.Fetch
    pipeline: parts.Pipeline
    latency: dict[str, dict[ArithmeticClass, parts.Timing]]
    dispatch: parts.Dispatch
    sharing: parts.Sharing
    switching: Switching
    ldst: parts.Ldst
    l1c: parts.L1c
    l1t: parts.L1t
    l1d: parts.L1d
    icnt: parts.Icnt
    l2: parts.L2
    dram: parts.Dram
    energy: Energy
    tensor: parts.Tensor = parts.Tensor()
    wgmma: parts.Tensor = parts.Tensor()
    tcgen05: parts.Tcgen05 = parts.Tcgen05()
    tma: parts.Tma = parts.Tma()
    target: str = ""
    """The compute capability of the GPU that it describes ("sm_20"), "" where no one is meant."""
    origin: GpuFiles | None = None

    def placed(self, problem: PtxError) -> PtxError:
        """The same errors, those that name a key of this machine with its place in a file."""
        return self.origin.placed(problem, self.name) if self.origin else problem

    def with_sm(self, **changes: int) -> "Gpu":
        """The same machine with other SM limits, such as `scratchpad_bytes=16384`. Raises E502."""
        try:
            sm = msgspec.convert(msgspec.structs.asdict(self.sm) | changes, SmLimits)
        except msgspec.ValidationError as problem:
            raise error(
                "E502", f"SM of {self.name}: {_lower(str(problem))}", help="give a number of 1 or more"
            ) from None
        return msgspec.structs.replace(self, sm=sm)

    def divided(self, split: UnifiedPlan) -> "Gpu":
        """The machine that a kernel has when unified memory is split so: its registers, scratchpad, PCRF and L1."""
        change = msgspec.structs.replace
        sm = change(self.sm, registers=split.registers, scratchpad_bytes=split.scratchpad_bytes)
        switching = change(self.switching, pcrf_entries=split.pcrf_entries)
        return change(self, sm=sm, switching=switching, l1d=change(self.l1d, ways=split.l1_ways))

    def with_l1(self, l1d: parts.L1d) -> "Gpu":
        """The same machine with another L1."""
        return msgspec.structs.replace(self, l1d=l1d)


_Stamp = tuple[str, int, int]


_read_before: dict[tuple[str, str], tuple[tuple[_Stamp, ...], Gpu]] = {}
"""Machines by name and current folder, with the stamps of all files they were read from: reading one takes a few
milliseconds. Those of GPGPU-Sim files are not kept: they depend on files that may yet come."""


def load_gpu(name_or_path: str | Path, warn: Warn | None = None) -> Gpu:
    """Read a machine: a packaged name ("tesla-c2050"), the path of a GPU file or of GPGPU-Sim's. Raises E502, E501.

    Machines are not to be changed: while its files stay as they are, a machine is the same object every time. `warn` is
    called with each option of a GPGPU-Sim file that is not modelled.
    """
    name = str(name_or_path)
    key = name, os.getcwd()
    stamps, gpu = _read_before.get(key, ((), None))
    if gpu is None or any(_stamp(stamp[0]) != stamp for stamp in stamps):
        gpu, layers = _load(_find(name, Path()), warn)
        if not any(layer.settings is not None for layer in layers):
            files = (os.path.abspath(layer.source.name) for layer in layers)
            _read_before[key] = tuple(map(_stamp, files)), gpu
    return gpu


def gpus() -> tuple[Gpu, ...]:
    """The packaged machines, by name."""
    return tuple(map(load_gpu, gpu_names()))


def machine_of(gpu: str | Path | Gpu, warn: Warn | None = None) -> Gpu:
    """A machine that was read already, or that `load_gpu` reads."""
    return gpu if isinstance(gpu, Gpu) else load_gpu(gpu, warn)


def _stamp(path: str) -> _Stamp:
    """What changes when a file does."""
    try:
        status = os.stat(path)
    except OSError:
        return path, -1, -1
    return path, status.st_mtime_ns, status.st_size


def _load(path: Path, warn: Warn | None) -> tuple[Gpu, tuple[Layer, ...]]:
    data, layers = _read(path, (), warn)
    _check_latency(data.get("latency"), layers)
    if "origin" in data:
        raise _complain("Object contains unknown field `origin` - at `$`", layers)
    try:
        gpu = msgspec.convert(data, Gpu)
    except msgspec.ValidationError as problem:
        raise _complain(str(problem), layers) from None
    _check_units(gpu, layers)
    return msgspec.structs.replace(gpu, origin=GpuFiles(layers)), layers


def _find(name: str, folder: Path) -> Path:
    """The file that a name means: a path (with a separator, `.toml` or `.config`), or a packaged machine."""
    if name.endswith((".toml", ".config")) or "/" in name or "\\" in name:
        return folder / name
    if name not in gpu_names():
        then = "'ptxtool gpus' lists them; a file of your own is given by its path, such as ./my-gpu.toml"
        help = did_you_mean(name, gpu_names(), then=then)
        raise error("E502", f"no GPU named '{name}'", help=help)
    return resource_dir("gpus") / f"{name}.toml"


def _read(
    path: Path, inside: tuple[Path, ...], warn: Warn | None
) -> tuple[dict[str, object], tuple[Layer, ...]]:
    """The tables of a file laid over those it inherits, and the files, its own first."""
    if path.suffix != ".toml" and is_file(path) and is_config(path):
        config = read_config(path)
        for each in by_place(config.warnings):
            if warn is not None:
                warn(each)
        below, layers = _read(_find(config.base, Path()), (), warn)
        return _merge(below, config.tables), (Layer(config.source, config.places), *layers)
    source = read_source(path, "give a GPU name or a readable file")
    data = read_toml(source, "see https://toml.io for the format")
    parent = data.pop("inherits", None)
    if parent is None:
        return data, (Layer(source),)
    start, end = locate(source, ("inherits",))
    if not isinstance(parent, str):
        raise error(
            "E502", "'inherits' is no text", source, start, end, help=f'write inherits = "{DEFAULT_GPU}"'
        )
    chain = (*inside, path.resolve())
    try:
        found = _find(parent, path.parent)
    except PtxError as problem:
        first = problem.diagnostics[0]
        raise error(first.code, first.message, source, start, end, first.help) from None
    if found.resolve() in chain:
        raise error("E502", f"'{parent}' inherits from itself", source, start, end, help="break the circle")
    below, layers = _read(found, chain, warn)
    return _merge(below, data), (Layer(source), *layers)


def _merge(below: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


_Kinds = msgspec.defstruct(
    "_Kinds",
    [("int", parts.Timing), ("fp32", parts.Timing), ("fp64", parts.Timing)],
    forbid_unknown_fields=True,
    frozen=True,
)


def _check_latency(latency: object, layers: tuple[Layer, ...]) -> None:
    """Check the `[latency]` table by itself, so that messages name its keys: units of the instruction table."""
    if not isinstance(latency, dict):
        return
    units = table().units
    for unit, kinds in latency.items():
        if unit not in units:
            raise _complain(f"Object contains unknown field `{unit}` - at `$.latency`", layers)
        try:
            msgspec.convert(kinds, _Kinds)
        except msgspec.ValidationError as problem:
            text, separator, rest = str(problem).partition(" - at `$")
            where = f"$.latency.{unit}{rest}" if separator else f"$.latency.{unit}`"
            raise _complain(f"{text} - at `{where}", layers) from None


def _check_units(gpu: Gpu, layers: tuple[Layer, ...]) -> None:
    """Every unit of the instruction table must be timed: in `[latency]` or by the LDST unit."""
    units, timed = table().units, set(gpu.latency) | set(gpu.ldst.units)
    for unit in sorted(units - timed):
        raise _complain(f"Object missing required field `{unit}` - at `$.latency`", layers)
    for unit in sorted(timed - units):
        raise _complain(f"'{unit}' is no unit of the instruction table - at `$.ldst.units`", layers)


_PLACE = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_MISSING = re.compile(r"missing required field `([^`]*)`")


def _complain(message: str, layers: tuple[Layer, ...]) -> PtxError:
    """E502 with the key and its place, from a message such as "Expected `int`, got `str` - at `$.sm.count`"."""
    where = _PLACE.search(message)
    keys = tuple(k for k in re.split(r"[.\[\]]+", where.group(1)) if k) if where else ()
    text = _PLACE.sub("", message)
    unknown, missing = _UNKNOWN.search(text), _MISSING.search(text)
    if missing:
        key = ".".join((*keys, missing.group(1)))
        source = layers[0].source
        start, end = locate(source, keys)
        advice = f'add it, or put inherits = "{DEFAULT_GPU}" at the head of the file'
        return error("E502", f"missing key '{key}'", source, start, end, help=advice)
    if unknown:
        keys = (*keys, unknown.group(1))
        text, advice = f"unknown key '{'.'.join(keys)}'", f"{DEFAULT_GPU}.toml has every key with its meaning"
    else:
        text, advice = f"'{'.'.join(keys)}': {_lower(text)}", f"{DEFAULT_GPU}.toml shows what is meant"
    place = GpuFiles(layers).find(keys)
    return error("E502", text, *(place or (layers[0].source, 0, 0)), help=advice)


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).replace("`", "'")
