"""What comes with ptxtool as tables: the machines, the keys of one, the samples."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptxtool.base.resources import resource_dir
from ptxtool.formats.files import SUFFIXES
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_keys import MachineKey
from ptxtool.formats.samples import Sample
from ptxtool.report.tables import Part, head, table

_GPUS = head("name:cyan | >SMs | >registers | >warps | >scratchpad | description")
_KEYS = head("key:cyan | value:bold | set in | meaning or source")
_IN_HEAD = ("name", "description")
_SAMPLES = head("name:cyan | files | what it computes")


def gpus_parts(machines: Sequence[Gpu]) -> list[Part]:
    """The packaged machines; registers, warps and bytes of scratchpad are of one SM."""
    rows = [
        (
            gpu.name,
            gpu.sm.count,
            gpu.sm.registers,
            gpu.sm.warps,
            gpu.sm.scratchpad_bytes,
            gpu.description,
        )
        for gpu in machines
    ]
    notes = [
        "",
        "registers, warps and bytes of scratchpad are of one SM",
        "ptxtool gpus NAME prints every key of a machine, and where it is set",
        f"the files are in {resource_dir('gpus')}",
    ]
    return [table(_GPUS, rows, notes=notes)]


def gpu_row(gpu: Gpu) -> dict[str, Any]:
    """A machine of the list for `--json`."""
    return {
        "name": gpu.name,
        "description": gpu.description,
        "scheduler": gpu.scheduler,
        "sms": gpu.sm.count,
        "registers_per_sm": gpu.sm.registers,
        "warps_per_sm": gpu.sm.warps,
        "ctas_per_sm": gpu.sm.ctas,
        "scratchpad_bytes_per_sm": gpu.sm.scratchpad_bytes,
        "files": _files(gpu),
    }


def gpu_parts(gpu: Gpu, keys: Sequence[MachineKey]) -> list[Part]:
    """One machine: its files, and its keys with the places where they are set."""
    rows = [(k.name, _shown(k.value), _place(k), k.comment) for k in keys if k.name not in _IN_HEAD]
    own, *inherited = _files(gpu)
    lines: list[Part] = [f"{gpu.name}: {gpu.description}", f"file: {own}"]
    lines += [f"inherits from: {path}" for path in inherited]
    return [*lines, "", table(_KEYS, rows)]


def gpu_data(gpu: Gpu, keys: Sequence[MachineKey]) -> dict[str, Any]:
    """The same for `--json`."""
    data = [
        {"key": k.name, "value": k.value, "file": k.file, "line": k.line or None, "comment": k.comment}
        for k in keys
    ]
    return {**gpu_row(gpu), "keys": data}


def samples_parts(found: Sequence[Sample]) -> list[Part]:
    """The samples, and how to use one."""
    rows = [
        (s.name, " ".join(p.suffix[1:] for p in s.files if p.suffix in (*SUFFIXES, ".cu")), s.summary)
        for s in found
    ]
    others = [path for sample in found for path in sample.other_launches]
    notes = [
        "",
        "a name stands for the sample's file, in PTXPlus where it has one; its launch file is used without an option:",
        "  ptxtool run saxpy        runs it and compares its results",
        "  ptxtool sim saxpy        simulates it",
        "  ptxtool pressure saxpy   reports on its kernel",
        f"other launches, to run by their path: {', '.join(f'{p.parent.name}/{p.name}' for p in others)}",
        f"the files are in {found[0].file.parent.parent}",
    ]
    return [table(_SAMPLES, rows, notes=notes)]


def samples_data(found: Sequence[Sample]) -> dict[str, Any]:
    """The same for `--json`."""
    data = [
        {
            "name": s.name,
            "summary": s.summary,
            "file": str(s.file),
            "files": list(map(str, s.files)),
            "run": f"ptxtool run {s.name}",
        }
        for s in found
    ]
    return {"samples": data}


def _files(gpu: Gpu) -> list[str]:
    """The file of a machine, and those it inherits from."""
    return [layer.source.name for layer in gpu.origin.layers] if gpu.origin else []


def _shown(value: object) -> str:
    """A value as GPU files have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items())
    if isinstance(value, tuple | list):
        return " ".join(map(_shown, value))
    return str(value)


def _place(key: MachineKey) -> str:
    if not key.line:
        return "default of GPGPU-Sim"
    return f"{Path(key.file).name}:{key.line}"
