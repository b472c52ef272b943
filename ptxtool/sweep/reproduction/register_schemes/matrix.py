"""What is compared: kernels, machines and columns, each of which can be restricted to some.

Kernels are all those of the papers on resource sharing, FineReg and RegDem, in PTX where there is one, as a compiler
leaves it: after `allocate`. Which, on which machines, and variants of schemes with other settings, are data beside this
file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.files import sample_file

BASELINE = "none"


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A packaged machine, with other settings of some keys."""

    name: str
    settings: tuple[str, ...]


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scheme as it is run, and what tables call it."""

    name: str
    scheme: str
    settings: tuple[str, ...] = ()


class _Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kernels: tuple[str, ...]
    machine: tuple[Machine, ...]
    variant: tuple[Column, ...]


@dataclass(frozen=True)
class Restriction:
    """Only these kernels, schemes (by the names of columns) and GPUs; () for all."""

    kernels: Sequence[str] = ()
    schemes: Sequence[str] = ()
    gpus: Sequence[str] = ()


@dataclass(frozen=True)
class Matrix:
    """The runs are all combinations. The first column is that without a scheme."""

    kernels: tuple[str, ...]
    columns: tuple[Column, ...]
    machines: tuple[Machine, ...]

    @property
    def compared(self) -> tuple[str, ...]:
        """The names of the columns that have a scheme."""
        return tuple(column.name for column in self.columns if column.name != BASELINE)


def matrix(only: Restriction) -> Matrix:
    """What is compared. Raises E502 for a name in the restriction that there is not."""
    data = _data()
    variants = {column.scheme: column for column in data.variant}
    columns = [variants.get(scheme.name, Column(scheme.name, scheme.name)) for scheme in SCHEMES]
    chosen = _chosen("scheme", only.schemes, [column.name for column in columns])
    machines = _chosen("machine", only.gpus, [machine.name for machine in data.machine])
    return Matrix(
        _chosen("kernel", only.kernels, kernels()),
        tuple(column for column in columns if column.name in (BASELINE, *chosen)),
        tuple(machine for machine in data.machine if machine.name in machines),
    )


def kernels() -> tuple[str, ...]:
    """The samples of all papers, by their names."""
    return _data().kernels


def kernel_file(sample: str) -> Path:
    """The kernel of a sample, in PTX where there is one."""
    found = sample_file(sample)
    in_ptx = found.with_suffix(".ptx")
    return in_ptx if in_ptx.is_file() else found


def _chosen(what: str, asked: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The known names that are asked for, in their order, all for none."""
    for name in asked:
        if name not in known:
            help = did_you_mean(name, known, then=f"there are {', '.join(known)}")
            raise error("E502", f"no {what} '{name}' in this experiment", help=help)
    return tuple(name for name in known if not asked or name in asked)


@cache
def _data() -> _Data:
    found: _Data = msgspec.toml.decode(Path(__file__).with_name("matrix.toml").read_bytes(), type=_Data)
    return found
