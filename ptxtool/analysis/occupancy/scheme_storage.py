"""Storage of the register schemes, in bits per SM: what FineReg, Virtual Thread, RegMutex and their like add.

With C resident CTAs (`switching.ctas`), R resident warps (`switching.warps`), W warp slots, P entries of the PCRF, V
cached live vectors and F warp registers (of 32 lanes) in the register file:

    virtual-thread            2C + 2.4 KB
    finereg                   ... + 2C + 96V + C * (ceil(log2 P) + ceil(log2(P+1))) + P * (ceil(log2 P) + 13) + P
    reg-dram                  ... + 2C + C * ceil(log2(F+1))
    regmutex                  2W + W * ceil(log2 W)
    virtual-thread-regmutex   virtual-thread and 2R + R * ceil(log2 R)
    release-by-name           64W * ceil(log2 F) + F
    virtual-thread-unified    virtual-thread
    finereg-unified           finereg, with as many entries as unified memory can hold

Where the FineReg paper prints another figure, `StorageItem.note` has it; its printed parts sum to 5.24 KB, its printed
sum is 5.02 KB. No paper gives the storage of registers in DRAM: it is counted from the model of `reg-dram`. What
divides unified memory is not counted: no paper says what it takes, so `unified` by itself has no figure.
Reference: Y. Oh et al., FineReg, MICRO 2018, sections IV.A and V.F; F. Khorasani et al., RegMutex, ISCA 2018.
"""

from collections.abc import Callable

from ptxtool.analysis.occupancy.overhead import Storage, StorageItem, log2_up, sharing_storage
from ptxtool.analysis.occupancy.switching_plan import HasSwitching
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean

_SWITCHING_LOGIC = round(2.4 * 1024 * 8)
_VECTOR = 32 + 64
_TAG_FLAGS_WARP_REGISTER = 1 + 1 + 5 + 6
_NAMED_REGISTERS = 64
_WARP_LANES = 32
_ENTRY_BYTES = 4 * _WARP_LANES


def _virtual_thread(gpu: HasSwitching) -> list[StorageItem]:
    c = gpu.switching.ctas
    return [
        StorageItem("where the context of each CTA is", "2C", 2 * c),
        StorageItem("switching logic", "2.4 KB", _SWITCHING_LOGIC, "2.4 KB"),
    ]


def _finereg(gpu: HasSwitching, entries: int = 0) -> list[StorageItem]:
    """With those entries of the PCRF that the machine has, or so many."""
    options = gpu.switching
    c, p, v = options.ctas, entries or options.pcrf_entries, options.vector_entries
    pointer, count = log2_up(p), log2_up(p + 1)
    return [
        *_virtual_thread(gpu),
        StorageItem("where the registers of each CTA are", "2C", 2 * c),
        StorageItem("cache of live vectors", "V * (32 + 64)", v * _VECTOR, "384 B"),
        StorageItem(
            "first entry and live registers of each CTA",
            "C * (ceil(log2 P) + ceil(log2(P+1)))",
            c * (pointer + count),
            "16 bits, 256 B",
        ),
        StorageItem(
            "tag of each PCRF entry",
            "P * (1 + 1 + ceil(log2 P) + 5 + 6)",
            p * (pointer + _TAG_FLAGS_WARP_REGISTER),
            "21 bits, 2.15 KB",
        ),
        StorageItem("free entries", "P", p, "left out"),
    ]


def _finereg_unified(gpu: HasSwitching) -> list[StorageItem]:
    return _finereg(gpu, max(gpu.switching.pcrf_entries, gpu.switching.unified_bytes // _ENTRY_BYTES))


def _reg_dram(gpu: HasSwitching) -> list[StorageItem]:
    c, f = gpu.switching.ctas, gpu.sm.registers // _WARP_LANES
    return [
        *_virtual_thread(gpu),
        StorageItem("where the registers of each CTA are", "2C", 2 * c),
        StorageItem("lines of each CTA on their way", "C * ceil(log2(F+1))", c * log2_up(f + 1)),
    ]


def _pool(warps: int, letter: str) -> list[StorageItem]:
    """RegMutex: at most as many sections as warps."""
    return [
        StorageItem("warp holds a section", letter, warps),
        StorageItem("section is taken", letter, warps),
        StorageItem("section of each warp", f"{letter} * ceil(log2 {letter})", warps * log2_up(warps)),
    ]


def _regmutex(gpu: HasSwitching) -> list[StorageItem]:
    return _pool(gpu.sm.warps, "W")


def _virtual_thread_regmutex(gpu: HasSwitching) -> list[StorageItem]:
    return [*_virtual_thread(gpu), *_pool(gpu.switching.warps, "R")]


def _release_by_name(gpu: HasSwitching) -> list[StorageItem]:
    w, f = gpu.sm.warps, gpu.sm.registers // _WARP_LANES
    return [
        StorageItem(
            "place of each named register",
            "64W * ceil(log2 F)",
            _NAMED_REGISTERS * w * log2_up(f),
            "44 KB (512 warps)",
        ),
        StorageItem("free registers", "F", f),
    ]


_ITEMS: dict[str, Callable[[HasSwitching], list[StorageItem]]] = {
    "virtual-thread": _virtual_thread,
    "finereg": _finereg,
    "reg-dram": _reg_dram,
    "regmutex": _regmutex,
    "virtual-thread-regmutex": _virtual_thread_regmutex,
    "release-by-name": _release_by_name,
    "virtual-thread-unified": _virtual_thread,
    "finereg-unified": _finereg_unified,
}

SCHEMES = ("register-sharing", "scratchpad-sharing", *_ITEMS)
"""The schemes whose storage is known, in the order of the reports."""

_OFF_CHIP = "off chip: 12 bytes for every instruction of a kernel, 7200 for 600 (printed: 4.8 KB)"
_UNIFIED = "what divides unified memory is not counted"
_NOTES = {
    "finereg": ("the paper's printed parts sum to 5.24 KB, its printed sum is 5.02 KB", _OFF_CHIP),
    "virtual-thread-unified": (_UNIFIED,),
    "finereg-unified": (_OFF_CHIP, _UNIFIED),
}


def storage_of(gpu: HasSwitching, scheme: str) -> Storage:
    """The storage of one of `SCHEMES`. Raises E502 for another name."""
    if scheme in _ITEMS:
        items = tuple(_ITEMS[scheme](gpu))
        return Storage(scheme, gpu.name, gpu.sm.count, items, _NOTES.get(scheme, ()))
    if scheme not in SCHEMES:
        there = f"there are {', '.join(SCHEMES)}"
        raise error(
            "E502", f"no storage of a scheme '{scheme}'", help=did_you_mean(scheme, SCHEMES, then=there)
        )
    return sharing_storage(gpu, scheme)


def storage_bits(gpu: HasSwitching, scheme: str) -> int | None:
    """The bits that a register scheme adds to an SM; None where they are not known."""
    if scheme == "none":
        return 0
    return storage_of(gpu, scheme).bits_per_sm if scheme in _ITEMS else None
