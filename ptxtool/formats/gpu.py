"""GPU files: the description of a machine, for the occupancy arithmetic and the simulator.

A GPU file is TOML, one table per part of the machine; every key and its meaning is in `tesla-c2050.toml`, the first of
those that come with the package. `load_gpu` takes the name of a packaged file or the path of a user's own, which may
say `inherits = "NAME"` (or the path of another file, relative to its own) and give only the keys that differ. After
inheriting all keys are required, none but these are allowed, and a wrong one is reported with its file and place.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ptxtool.analysis.occupancy import Count, SmLimits
from ptxtool.base.diag import PtxError, error
from ptxtool.base.resources import resource_dir
from ptxtool.base.source import Source
from ptxtool.isa.table import table

Cycles = Annotated[int, msgspec.Meta(ge=0)]


CacheWord = Literal[
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "mmio",
    "global",
]
"""What a memory instruction may say of caches and ordering; "global": all of global memory, whatever it says."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of a GPU file; the file's comments say what its keys mean."""


class Clocks(_Part, frozen=True):
    core_mhz: Count
    icnt_mhz: Count
    l2_mhz: Count
    dram_mhz: Count


class Fetch(_Part, frozen=True):
    ibuffer_entries: Count
    per_cycle: Count
    perfect: bool
    line_bytes: Count
    sets: Count
    ways: Count
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count


class Pipeline(_Part, frozen=True):
    id_oc_sp: Count
    id_oc_sfu: Count
    id_oc_mem: Count
    oc_ex_sp: Count
    oc_ex_sfu: Count
    oc_ex_mem: Count
    ex_wb: Count
    sp_units: Count
    sfu_units: Count
    collectors_sp: Count
    collectors_sfu: Count
    collectors_mem: Count
    ports_sp: Count
    ports_sfu: Count
    ports_mem: Count
    register_banks: Count
    bank_conflicts: bool
    collector_step: Literal["ldst", "own"]
    collector_reads: Count
    collector_duplicates: bool
    scheduler_order: Literal["fixed", "rotating"]
    first_path: Literal["lower", "taken"]
    long_operation: Literal["until-loaded", "until-computed"]


class Dispatch(_Part, frozen=True):
    first_sm: Cycles
    idle_sms: Literal["counted", "asleep"]


class Timing(_Part, frozen=True):
    """How one class of instructions executes: the unit, its latency and its initiation interval."""

    unit: Literal["SP", "SFU", "EITHER"]
    latency: Count
    interval: Count


class Ldst(_Part, frozen=True):
    units: tuple[str, ...]
    shared_pipe_cycles: Count
    response_hops: Cycles
    uncached_segment_bytes: Literal[32, 128]
    atomic_warp_parts: Literal[1, 2]


class L1c(_Part, frozen=True):
    perfect: bool
    sets: Count
    ways: Count
    line_bytes: Count
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count


class L1d(_Part, frozen=True):
    latency_cycles: Cycles
    sets: Count
    set_hash: Literal["linear", "fermi"]
    ways: Count
    line_bytes: Count
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count
    miss_queue_read_max: Count
    merge_needs_queue: bool
    bypass: tuple[CacheWord, ...]
    flush_when_empty: bool


class Icnt(_Part, frozen=True):
    flit_bytes: Count
    injection_queue_flits: Count
    buffer_flits: Count
    header_bytes: Count
    unloaded_cycles: Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)]
    packet_gap_cycles: Cycles
    head_of_line: bool
    response_fifo: Count


class L2(_Part, frozen=True):
    slices: Count
    sets: Count
    ways: Count
    line_bytes: Count
    sector_bytes: Literal[32, 128]
    store_miss: Literal["fetch", "allocate"]
    upper_half_store_quirk: bool
    copies_fill: bool
    adjacent_buffers: bool
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count
    miss_queue_read_max: Count
    miss_queue_write_max: Count
    port_bytes: Count
    icnt_queue: Count
    icnt_queue_free: Count
    dram_queue: Count
    fill_queue: Count
    reply_queue: Count
    rop_cycles: Cycles


class Dram(_Part, frozen=True):
    """`t...`, `CL` and `WL` are in DRAM cycles, `fixed_cycles` in core cycles."""

    channels: Count
    slices_per_channel: Count
    interleave_bytes: Count
    scheduler_queue: Count
    return_queue: Count
    fixed_cycles: Cycles
    banks: Count
    bank_groups: Count
    bank_group_bits: Literal["high", "low"]
    row_bytes: Count
    atom_bytes: Count
    reorder_window: Count
    row_with_column: bool
    tCCD: Cycles
    tCCDL: Cycles
    tRRD: Cycles
    tRCD: Cycles
    tRCDWR: Cycles
    tRAS: Cycles
    tRP: Cycles
    tRC: Cycles
    CL: Cycles
    WL: Cycles
    tRTW: Cycles
    tWTR: Cycles
    tWTP: Cycles
    tRTPL: Cycles
    tBURST: Cycles


class Gpu(_Part, frozen=True):
    """A machine. `latency[unit][kind]`: `unit` of the instruction table, kind "int", "fp32" or "fp64"."""

    name: str
    description: str
    clocks: Clocks
    sm: SmLimits
    fetch: Fetch
    pipeline: Pipeline
    latency: dict[str, dict[Literal["int", "fp32", "fp64"], Timing]]
    dispatch: Dispatch
    ldst: Ldst
    l1c: L1c
    l1d: L1d
    icnt: Icnt
    l2: L2
    dram: Dram

    def with_sm(self, **changes: int) -> "Gpu":
        """The same machine with other SM limits, such as `scratchpad_bytes=16384`. Raises E502."""
        try:
            sm = msgspec.convert(msgspec.structs.asdict(self.sm) | changes, SmLimits)
        except msgspec.ValidationError as problem:
            raise error(
                "E502", f"SM of {self.name}: {_lower(str(problem))}", help="give a number of 1 or more"
            ) from None
        return msgspec.structs.replace(self, sm=sm)


_Stamp = tuple[str, int, int]


def gpu_names() -> tuple[str, ...]:
    """Names of the GPU files that come with the package."""
    return tuple(sorted(path.stem for path in resource_dir("gpus").glob("*.toml")))


_read_before: dict[tuple[str, str], tuple[tuple[_Stamp, ...], Gpu]] = {}
"""Machines by name and current folder, with the stamps of all files they were read from: reading one takes a few
milliseconds."""


def load_gpu(name_or_path: str | Path) -> Gpu:
    """Read a machine: a packaged name ("tesla-c2050") or the path of a GPU file. Raises E502, E501.

    Machines are not to be changed: while its files stay as they are, a machine is the same object every time.
    """
    name = str(name_or_path)
    key = name, os.getcwd()
    stamps, gpu = _read_before.get(key, ((), None))
    if gpu is None or any(_stamp(stamp[0]) != stamp for stamp in stamps):
        gpu, sources = _load(_find(name, Path()))
        _read_before[key] = tuple(_stamp(os.path.abspath(source.name)) for source in sources), gpu
    return gpu


def _stamp(path: str) -> _Stamp:
    """What changes when a file does."""
    try:
        status = os.stat(path)
    except OSError:
        return path, -1, -1
    return path, status.st_mtime_ns, status.st_size


def _load(path: Path) -> tuple[Gpu, tuple[Source, ...]]:
    data, sources = _read(path, ())
    _check_latency(data.get("latency"), sources)
    try:
        gpu = msgspec.convert(data, Gpu)
    except msgspec.ValidationError as problem:
        raise _complain(str(problem), sources) from None
    _check_units(gpu, sources)
    return gpu, sources


def _find(name: str, folder: Path) -> Path:
    """The file that a name means: a path (with a separator or `.toml`), or a packaged machine."""
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return folder / name
    if name not in gpu_names():
        raise error(
            "E502",
            f"no GPU named '{name}'",
            help=f"there are {', '.join(gpu_names())}; a file of your own is given by its path, such as ./my-gpu.toml",
        )
    return resource_dir("gpus") / f"{name}.toml"


def _read(path: Path, inside: tuple[Path, ...]) -> tuple[dict[str, object], tuple[Source, ...]]:
    """The tables of a file laid over those it inherits, and the sources, the file's own first."""
    try:
        source = Source.from_bytes(str(path), path.read_bytes())
    except OSError as problem:
        raise error(
            "E501", f"cannot read '{path}': {problem.strerror}", help="give a GPU name or a readable file"
        ) from None
    try:
        data: dict[str, object] = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as problem:
        raise _bad_toml(source, str(problem)) from None
    parent = data.pop("inherits", None)
    if parent is None:
        return data, (source,)
    start, end = _locate(source, ("inherits",))
    if not isinstance(parent, str):
        raise error(
            "E502", "'inherits' is no text", source, start, end, help='write inherits = "tesla-c2050"'
        )
    chain = (*inside, path.resolve())
    try:
        found = _find(parent, path.parent)
    except PtxError as problem:
        told = problem.diagnostics[0]
        raise error(told.code, told.message, source, start, end, told.help) from None
    if found.resolve() in chain:
        raise error("E502", f"'{parent}' inherits from itself", source, start, end, help="break the circle")
    below, sources = _read(found, chain)
    return _merge(below, data), (source, *sources)


def _merge(below: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


_Kinds = msgspec.defstruct(
    "_Kinds", [("int", Timing), ("fp32", Timing), ("fp64", Timing)], forbid_unknown_fields=True, frozen=True
)


def _check_latency(latency: object, sources: tuple[Source, ...]) -> None:
    """The `[latency]` table, whose keys are the instruction table's: checked by itself, so that messages name them."""
    if not isinstance(latency, dict):
        return
    units = _isa_units()
    for unit, kinds in latency.items():
        if unit not in units:
            raise _complain(f"Object contains unknown field `{unit}` - at `$.latency`", sources)
        try:
            msgspec.convert(kinds, _Kinds)
        except msgspec.ValidationError as problem:
            text, separator, rest = str(problem).partition(" - at `$")
            where = f"$.latency.{unit}{rest}" if separator else f"$.latency.{unit}`"
            raise _complain(f"{text} - at `{where}", sources) from None


def _check_units(gpu: Gpu, sources: tuple[Source, ...]) -> None:
    """Every unit of the instruction table must be timed: in `[latency]` or by the LDST unit."""
    units, timed = _isa_units(), set(gpu.latency) | set(gpu.ldst.units)
    for unit in sorted(units - timed):
        raise _complain(f"Object missing required field `{unit}` - at `$.latency`", sources)
    for unit in sorted(timed - units):
        raise _complain(f"'{unit}' is no unit of the instruction table - at `$.ldst.units`", sources)


def _isa_units() -> set[str]:
    return {form.unit for forms in table().forms.values() for form in forms}


_PLACE = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_MISSING = re.compile(r"missing required field `([^`]*)`")


def _complain(message: str, sources: tuple[Source, ...]) -> PtxError:
    """E502 with the key and its place, from a message such as "Expected `int`, got `str` - at `$.sm.count`"."""
    place = _PLACE.search(message)
    keys = tuple(k for k in re.split(r"[.\[\]]+", place.group(1)) if k) if place else ()
    text = _PLACE.sub("", message)
    unknown, missing = _UNKNOWN.search(text), _MISSING.search(text)
    if missing:
        key = ".".join((*keys, missing.group(1)))
        source = sources[0]
        start, end = _locate(source, keys)
        advice = 'add it, or put inherits = "tesla-c2050" at the head of the file'
        return error("E502", f"missing key '{key}'", source, start, end, help=advice)
    if unknown:
        keys = (*keys, unknown.group(1))
        text, advice = f"unknown key '{'.'.join(keys)}'", "tesla-c2050.toml has every key with its meaning"
    else:
        text, advice = f"'{'.'.join(keys)}': {_lower(text)}", "tesla-c2050.toml shows what is meant"
    for source in sources:
        start, end = _locate(source, keys)
        if end:
            return error("E502", text, source, start, end, help=advice)
    return error("E502", text, sources[0], help=advice)


def _locate(source: Source, keys: tuple[str, ...]) -> tuple[int, int]:
    """Offsets of the last word of a dotted key, (0, 0) if the text has none: under its header, or inline."""
    found, start, end, depth = (0, 0), 0, len(source.text), 0
    for n in range(len(keys), 0, -1):
        dotted = r"\s*\.\s*".join(map(re.escape, keys[:n]))
        header = re.compile(rf"^\s*\[\s*({dotted})\s*\]", re.M).search(source.text)
        if header:
            following = re.compile(r"^\s*\[", re.M).search(source.text, header.end())
            found, start, depth = header.span(1), header.end(), n
            end = following.start() if following else end
            break
    for key in keys[depth:]:
        if key.isdigit() or key == "...":  # an item of a list: its list is place enough
            break
        hit = re.compile(rf"(?:^\s*|[{{,.]\s*)({re.escape(key)})\s*[=.]", re.M).search(
            source.text, start, end
        )
        if hit is None:
            return 0, 0
        found, start = hit.span(1), hit.end()
    return found


def _bad_toml(source: Source, message: str) -> PtxError:
    """E502 at the line and column that the TOML reader tells."""
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    start = len(source.text)
    if place:
        start = source.line_starts[int(place.group(1)) - 1] + int(place.group(2)) - 1
        message = message[: place.start()].strip()
    return error(
        "E502",
        f"not TOML: {_lower(message)}",
        source,
        start,
        start + 1,
        help="see https://toml.io for the format",
    )


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).replace("`", "'")
