"""Storage that a scheme adds to an SM, in bits, and that of the two sharing schemes.

With T CTA slots and W warp slots per SM:

    registers     1 + T*ceil(log2(T+1)) + 2W + floor(W/2)*ceil(log2 W)      273 for T = 8, W = 48
    scratchpad    1 + T*ceil(log2(T+1)) +  W + floor(T/2)*ceil(log2 T)       93

Not counted: the two comparators of either scheme, and dynamic warp execution.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016, section V.
"""

from dataclasses import asdict, dataclass

from ptxtool.analysis.occupancy.occupancy import HasSm

LETTERS = {
    "T": "CTA slots",
    "W": "warp slots",
    "C": "resident CTAs",
    "R": "resident warps",
    "P": "PCRF entries",
    "V": "cached live vectors",
    "F": "registers of 32 lanes",
}
"""What the letters of the formulas count, per SM."""


@dataclass(frozen=True)
class StorageItem:
    """One piece of storage: `formula` in the letters of the scheme, `bits` per SM, `note`: what its paper prints."""

    name: str
    formula: str
    bits: int
    note: str = ""


@dataclass(frozen=True)
class Storage:
    """The storage that one scheme adds to every SM of a GPU."""

    scheme: str
    gpu: str
    sms: int
    items: tuple[StorageItem, ...]
    notes: tuple[str, ...] = ()
    """What it takes beside the bits of the SM."""

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
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.scheme}: {self.bits_per_sm} bits per SM, {self.bits} bits for {self.sms} SMs of {self.gpu}"
        ]
        lines += [f"  {item.bits:5d}  {item.name:42}{item.formula}" for item in self.items]
        return "\n".join(lines)


def sharing_storage(gpu: HasSm, scheme: str) -> Storage:
    """The storage of "register-sharing" or "scratchpad-sharing": a lock per pair of warps, or of CTAs, names the one
    that holds it."""
    t, w = gpu.sm.ctas, gpu.sm.warps
    items = [
        StorageItem("SM is in sharing mode", "1", 1),
        StorageItem("partner of each CTA, or none", "T * ceil(log2(T+1))", t * log2_up(t + 1)),
        StorageItem("warp is an owner", "W", w),
    ]
    if scheme == "register-sharing":
        items += [
            StorageItem("warp is in a shared pair", "W", w),
            StorageItem("lock of each pair of warps", "floor(W/2) * ceil(log2 W)", w // 2 * log2_up(w)),
        ]
    else:
        items.append(
            StorageItem("lock of each pair of CTAs", "floor(T/2) * ceil(log2 T)", t // 2 * log2_up(t))
        )
    return Storage(scheme, gpu.name, gpu.sm.count, tuple(items))


def log2_up(n: int) -> int:
    """ceil(log2(n)) for n >= 1."""
    return (n - 1).bit_length()
