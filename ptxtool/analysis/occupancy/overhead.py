"""Storage that a sharing scheme adds to an SM, in bits.

With T CTA slots and W warp slots per SM:

    registers     1 + T*ceil(log2(T+1)) + 2W + floor(W/2)*ceil(log2 W)      273 for T = 8, W = 48
    scratchpad    1 + T*ceil(log2(T+1)) +  W + floor(T/2)*ceil(log2 T)       93

Not counted: the two comparators of either scheme, and dynamic warp execution.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016, section V.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from ptxtool.analysis.occupancy.occupancy import HasSm


@dataclass(frozen=True)
class StorageItem:
    """One piece of storage: `formula` in T (CTA slots) and W (warp slots), `bits` per SM."""

    name: str
    formula: str
    bits: int


@dataclass(frozen=True)
class Storage:
    """The storage that one scheme adds to every SM of a GPU."""

    scheme: str
    gpu: str
    sms: int
    items: tuple[StorageItem, ...]

    @property
    def bits_per_sm(self) -> int:
        return sum(item.bits for item in self.items)

    @property
    def bits(self) -> int:
        """Bits of the whole GPU."""
        return self.bits_per_sm * self.sms

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            "scheme": self.scheme,
            "gpu": self.gpu,
            "bits_per_sm": self.bits_per_sm,
            "sms": self.sms,
            "bits": self.bits,
            "items": [asdict(item) for item in self.items],
        }

    def __str__(self) -> str:
        lines = [
            f"{self.scheme} sharing: {self.bits_per_sm} bits per SM, {self.bits} bits for {self.sms} SMs of {self.gpu}"
        ]
        lines += [f"  {item.bits:5d}  {item.name:42}{item.formula}" for item in self.items]
        return "\n".join(lines)


def register_sharing_storage(gpu: HasSm) -> Storage:
    """Storage of register sharing: one lock per pair of warps, naming the warp that holds it."""
    t, w = gpu.sm.ctas, gpu.sm.warps
    own = (
        StorageItem("warp is in a shared pair", "W", w),
        StorageItem("lock of each pair of warps", "floor(W/2) * ceil(log2 W)", w // 2 * _log2_up(w)),
    )
    return Storage("register", gpu.name, gpu.sm.count, _common(t, w) + own)


def scratchpad_sharing_storage(gpu: HasSm) -> Storage:
    """Storage of scratchpad sharing: one lock per pair of CTAs, naming the CTA that holds it."""
    t, w = gpu.sm.ctas, gpu.sm.warps
    own = (StorageItem("lock of each pair of CTAs", "floor(T/2) * ceil(log2 T)", t // 2 * _log2_up(t)),)
    return Storage("scratchpad", gpu.name, gpu.sm.count, _common(t, w) + own)


SCHEMES: dict[str, Callable[[HasSm], Storage]] = {
    "register": register_sharing_storage,
    "scratchpad": scratchpad_sharing_storage,
}
"""Every scheme by name, in the order of the reports."""


def overhead(gpu: HasSm) -> tuple[Storage, ...]:
    """The storage of every scheme on a GPU."""
    return tuple(storage(gpu) for storage in SCHEMES.values())


def _common(t: int, w: int) -> tuple[StorageItem, ...]:
    return (
        StorageItem("SM is in sharing mode", "1", 1),
        StorageItem("partner of each CTA, or none", "T * ceil(log2(T+1))", t * _log2_up(t + 1)),
        StorageItem("warp is an owner", "W", w),
    )


def _log2_up(n: int) -> int:
    """ceil(log2(n)) for n >= 1."""
    return (n - 1).bit_length()
