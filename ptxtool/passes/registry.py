"""The passes by name, and their options as the pipeline, the command line and sweeps see them."""

import dataclasses
import typing
from dataclasses import dataclass
from functools import cache

from ptxtool.passes.base import Pass, Shown
from ptxtool.passes.demotion.demote import Demote
from ptxtool.passes.demotion.drop_redundant_demotions import DropRedundantDemotions
from ptxtool.passes.demotion.hoist_demotion_loads import HoistDemotionLoads
from ptxtool.passes.demotion.substitute_demotion_registers import SubstituteDemotionRegisters
from ptxtool.passes.ptxplus.lower_ptxplus import LowerPtxplus
from ptxtool.passes.regalloc.allocate import Allocate
from ptxtool.passes.regalloc.compact import Compact
from ptxtool.passes.registers.split_registers import SplitRegisters
from ptxtool.passes.sharing.delay_first_use import DelayFirstUse
from ptxtool.passes.sharing.hoist_last_access import HoistLastAccess
from ptxtool.passes.sharing.hoist_loads import HoistLoads
from ptxtool.passes.sharing.layout_shared import LayoutShared
from ptxtool.passes.sharing.release_registers import ReleaseRegisters
from ptxtool.passes.sharing.release_scratchpad import ReleaseScratchpad
from ptxtool.passes.sharing.reorder_decls import ReorderDecls
from ptxtool.passes.sharing.split_tail_ranges import SplitTailRanges
from ptxtool.passes.sharing.unroll_decls import UnrollDecls

_ALL: tuple[type[Pass], ...] = (
    UnrollDecls,
    ReorderDecls,
    DelayFirstUse,
    LayoutShared,
    HoistLastAccess,
    HoistLoads,
    SplitTailRanges,
    ReleaseRegisters,
    ReleaseScratchpad,
    Allocate,
    Compact,
    Demote,
    SubstituteDemotionRegisters,
    DropRedundantDemotions,
    HoistDemotionLoads,
    SplitRegisters,
    LowerPtxplus,
)
PASSES: dict[str, type[Pass]] = {cls.name: cls for cls in _ALL}
"""Every pass by name, in the order of the reports."""
_FORMER_NAMES = {"hasten-last-access": HoistLastAccess.name, "settle-tail": SplitTailRanges.name}
"""Accepted for one release, listed nowhere."""


@dataclass(frozen=True)
class Option:
    """One option of a pass: `kind` is "text", "number", "switch" or "choice", and `choices` are a choice's values."""

    name: str
    kind: str
    choices: tuple[str, ...]
    default: object
    shown: Shown | None = None

    @property
    def shown_name(self) -> str:
        """The name as it is written."""
        return self.name.replace("_", "-")

    def __str__(self) -> str:
        if self.shown:
            return f"{self.shown_name}={self.shown.values} ({self.shown.default})"
        values = "|".join(self.choices) or {"number": "N", "switch": "true|false"}.get(self.kind, "TEXT")
        default = str(self.default).lower() if self.kind == "switch" else self.default
        return f"{self.shown_name}={values} (default {default})"


@dataclass(frozen=True)
class PassInfo:
    """A pass as its user sees it: its name, one line about it, its options."""

    name: str
    summary: str
    options: tuple[Option, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.name:19} {self.summary}", *(f"{'':22}{option}" for option in self.options)])


def find_pass(name: str) -> type[Pass] | None:
    """The pass of that name, present or former; None if there is none."""
    return PASSES.get(_FORMER_NAMES.get(name, name))


def pass_info(cls: type[Pass]) -> PassInfo:
    """Describe a pass class from its docstring and its fields."""
    return _known_info(cls.name) if PASSES.get(cls.name) is cls else _described(cls)


@cache
def _known_info(name: str) -> PassInfo:
    return _described(PASSES[name])


def _described(cls: type[Pass]) -> PassInfo:
    hints = typing.get_type_hints(cls, include_extras=True)
    options = tuple(_option(f.name, hints[f.name], f.default) for f in dataclasses.fields(cls))  # type: ignore[arg-type]
    return PassInfo(cls.name, (cls.__doc__ or "").strip().splitlines()[0], options)


def pass_infos() -> tuple[PassInfo, ...]:
    """Describe every pass."""
    return tuple(pass_info(cls) for cls in PASSES.values())


def _option(name: str, hint: object, default: object) -> Option:
    if typing.get_origin(hint) is typing.Annotated:
        inner, shown = typing.get_args(hint)
        return dataclasses.replace(_option(name, inner, default), shown=shown)
    if typing.get_origin(hint) is typing.Literal:
        return Option(name, "choice", typing.get_args(hint), default)
    kinds: dict[object, str] = {str: "text", int: "number", bool: "switch"}
    return Option(name, kinds[hint], (), default)
