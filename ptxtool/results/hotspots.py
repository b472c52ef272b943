"""Where the time of a simulated launch went, as plain data: slots by reason in total, per SM, and per instruction.

A slot is one scheduler in one cycle in which its SM had work. It issued, or it has one reason, which refines the kind
of slot that GPGPU-Sim counts. docs/hotspots.md says which warp a slot is blamed on, and which instruction.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

ISSUED = "issued"


@dataclass(frozen=True)
class Reason:
    """Why a slot issued nothing. `kind` is one of `idle`, `scoreboard` and `stall`."""

    kind: str
    label: str


REASONS: Mapping[str, Reason] = {
    name: Reason(kind, label)
    for kind, reasons in {
        "idle": {
            "no_warp": "no warp",
            "exited": "exited (stores)",
            "barrier": "barrier",
            "registers": "registers of the CTA",
            "fence": "fence",
            "copies": "asynchronous copies",
            "mbarrier": "mbarrier",
            "atomic": "atomic",
            "branch": "branch flush",
            "fetch": "fetch",
            "instruction_miss": "instruction miss",
            "window": "outside window",
        },
        "scoreboard": {
            "alu": "ALU result",
            "sfu": "SFU result",
            "shared": "shared load",
            "constant": "constant load",
            "texture": "texture fetch",
            "l1": "L1",
            "l1_miss": "L1 miss",
            "past_l1": "load past L1",
            "local_l1": "local, L1",
            "local_miss": "local, L1 miss",
            "lock": "register lock",
            "held": "held back",
        },
        "stall": {
            "sp_operands": "SP operands",
            "sp_units": "SP units",
            "sfu_operands": "SFU operands",
            "sfu_units": "SFU units",
            "l1_refuses": "L1 refuses",
            "l1c_refuses": "L1C refuses",
            "bank_conflict": "bank conflicts",
            "accesses": "many accesses",
            "ldst": "LDST full",
        },
    }.items()
    for name, label in reasons.items()
}
"""Every reason by name."""


@dataclass(frozen=True)
class Hotspot:
    """One instruction: how often it issued, for how many lanes, what it did to memory, and the slots lost at it.

    `lanes` executed it, of `active` ones before its guard; `divergent` times it split its warp. Of the issues `memory`
    made `transactions` (accesses of caches, cycles of shared memory's banks); those of loads at L1 or the constant
    cache were `hits`, `misses`, or `pending_hits` on a line on its way. `reasons` are the slots charged to it; `caused`
    those, charged to any instruction, in which a warp waited for its result or queued after it in the LDST unit. `cuda`
    is the place in the CUDA source that the text's `.loc` directives give, "" without them.
    """

    instruction: int
    function: str
    line: int
    text: str
    cuda: str
    issues: int
    lanes: int
    active: int
    divergent: int
    memory: int
    transactions: int
    hits: int
    misses: int
    pending_hits: int
    reasons: Mapping[str, int]
    caused: int

    @property
    def lost(self) -> int:
        """Slots charged to this instruction."""
        return sum(self.reasons.values())

    @property
    def transactions_per_access(self) -> float:
        return self.transactions / self.memory if self.memory else 0.0


@dataclass(frozen=True)
class RegisterUse:
    """The registers that the warps of an SM access within `window` warp instructions, in percent of those of its warps:
    the mean of all windows, the least and the most."""

    window: int
    windows: int
    mean: float
    least: float
    most: float


@dataclass(frozen=True)
class Hotspots:
    """All slots of a launch. Every table of reasons has `issued` too and sums to the slots it is about.

    `elsewhere` are slots that no instruction is to blame for: there was no warp. `lock_as_stall`: slots of locks count
    as stall, not as scoreboard. `register_use` is None where no SM issued a window, or where it is not known which
    registers the instructions access.
    """

    reasons: Mapping[str, int]
    per_sm: tuple[Mapping[str, int], ...]
    instructions: tuple[Hotspot, ...] = field(repr=False)
    elsewhere: Mapping[str, int]
    lock_as_stall: bool = False
    register_use: RegisterUse | None = None

    @property
    def slots(self) -> int:
        return sum(self.reasons.values())

    def kind(self, reason: str) -> str:
        """The kind of slot that a reason is part of."""
        if reason == ISSUED:
            return ISSUED
        return "stall" if reason in ("lock", "held") and self.lock_as_stall else REASONS[reason].kind

    def kinds(self, reasons: Mapping[str, int]) -> dict[str, int]:
        """A table of reasons summed by kind."""
        found = {ISSUED: 0, "stall": 0, "idle": 0, "scoreboard": 0}
        for reason, n in reasons.items():
            found[self.kind(reason)] += n
        return found

    def hottest(self) -> list[Hotspot]:
        """The instructions at which slots were lost, most first."""
        found = [spot for spot in self.instructions if spot.lost]
        return sorted(found, key=lambda spot: (-spot.lost, spot.instruction))

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per instruction: its place, its figures, lost slots by reason. Raises E502 without
        pandas."""
        from ptxtool.results.frames import frame

        reasons = {name: 0 for name in self.reasons if name != ISSUED}
        rows = [{**vars(spot), "lost": spot.lost, **reasons, **spot.reasons} for spot in self.instructions]
        return frame({k: v for k, v in row.items() if k != "reasons"} for row in rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; reasons by name, those of an instruction only where there are any."""
        return {
            "slots": self.slots,
            "reasons": dict(self.reasons),
            "kinds": self.kinds(self.reasons),
            "per_sm": [dict(reasons) for reasons in self.per_sm],
            "elsewhere": dict(self.elsewhere),
            "register_use": asdict(self.register_use) if self.register_use else None,
            "instructions": [
                {**vars(spot), "reasons": dict(spot.reasons), "lost": spot.lost} for spot in self.instructions
            ],
        }
