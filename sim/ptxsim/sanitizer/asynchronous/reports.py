"""The findings about asynchronous code in words.

Races are E410 and barriers E412, as in other code; E419 is for mbarriers, tensor memory and registers that are used
against their rules.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxsim.base.program import GLOBAL, SHARED, Program
from ptxsim.execute.codes import BYTES_BITS, BYTES_SHIFT, EXPECTED_SHIFT, PENDING_BITS
from ptxsim.memory_image.address_names import describe
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as codes
from ptxsim.sanitizer.asynchronous_state import ASYNCHRONOUS, MBARRIER_WORDS


class Finding(NamedTuple):
    """A report without its place; `note` is what is said at the other place, if there is one."""

    code: str
    message: str
    help: str
    note: str = ""


_SWIZZLES = {1: "no swizzle", 2: "a swizzle of 32 bytes", 3: "one of 64 bytes", 4: "one of 128 bytes"}
_WAITS = {
    state.STORES: ("'tcgen05.st'", "wait with 'tcgen05.wait::st' in the storing warp"),
    state.PRODUCTS: (
        "a product or a copy",
        "let 'tcgen05.commit' arrive at an mbarrier, and wait for its phase",
    ),
}
_FLIGHT = {
    state.RESULT: ("which 'wgmma' may still write", "write 'wgmma.wait_group' first"),
    state.FACTOR: ("which 'wgmma' may still read", "write 'wgmma.wait_group' first"),
    state.LOADED: ("which 'tcgen05.ld' may still write", "write 'tcgen05.wait::ld' first"),
}


class AsynchronousReports:
    """The words for a report of each kind. `actor` names its thread and CTA."""

    def __init__(self, program: Program, image: MemoryImage):
        self.program, self.image = program, image
        self.kinds: dict[int, Callable[[Any, str], Finding]] = {
            codes.WRITE_BEFORE_READ: self._write_before_read,
            codes.MISSING_FENCE: self._missing_fence,
            codes.MISSING_MAP_FENCE: self._missing_map_fence,
            codes.OTHER_SWIZZLE: self._other_swizzle,
            codes.ENDS_EARLY: self._ends_early,
            codes.EARLY_COLUMN: self._early_column,
            codes.NO_PERMIT: self._no_permit,
            codes.NOT_FREED: self._not_freed,
            codes.IN_FLIGHT: self._in_flight,
            codes.NO_REGISTER_FENCE: self._no_register_fence,
            codes.WRONG_MBARRIER: self._wrong_mbarrier,
            codes.WRONG_BYTES: self._wrong_bytes,
            codes.NOT_PUBLISHED: self._not_published,
            codes.WRONG_CLUSTER_BARRIER: self._wrong_cluster_barrier,
            codes.MISSED_CLUSTER_BARRIER: self._missed_cluster_barrier,
            codes.WRONG_REGISTERS: self._wrong_registers,
            codes.MISSED_REGISTERS: self._missed_registers,
        }

    def finding(self, report: Any, actor: str) -> Finding | None:
        """What a report says; None for one of another kind."""
        words = self.kinds.get(int(report["kind"]))
        return words(report, actor) if words else None

    def _address(self, report: Any) -> str:
        return describe(self.program, self.image, int(report["space"]), int(report["address"]))

    def mbarrier(self, offset: int) -> str:
        """An mbarrier by its place."""
        return f"the mbarrier at {describe(self.program, self.image, SHARED, offset)}"

    def _write_before_read(self, report: Any, actor: str) -> Finding:
        message = f"race: {actor} writes {self._address(report)}, which an asynchronous operation reads"
        help = f"wait first, with {wait_for(self.program.texts[int(report['other'])], reads=True)}"
        return Finding("E410", message, help, "it reads from here on, and nothing has waited for it")

    def _missing_fence(self, report: Any, actor: str) -> Finding:
        space = "global" if report["space"] == GLOBAL else "shared::cta"
        message = f"race: the asynchronous proxy reads {self._address(report)} for {actor}, which an ordinary store "
        message += "has written, with no proxy fence between the two"
        help = f"write 'fence.proxy.async.{space};' between the store and the barrier that comes before this"
        return Finding("E410", message, help, "it is written here")

    def _missing_map_fence(self, report: Any, actor: str) -> Finding:
        message = f"race: {actor} uses the tensor map at {self._address(report)}, which has been changed "
        message += "without a fence of its proxy"
        help = "write 'fence.proxy.tensormap::generic.release.gpu;' after the change, and '.acquire.gpu [map], 128;' "
        help += "before the use"
        return Finding("E410", message, help, "it is changed here")

    def _other_swizzle(self, report: Any, actor: str) -> Finding:
        written, read = int(report["other_thread"]) >> 8, int(report["other_thread"]) & 0xFF
        message = f"{actor} reads a matrix with {_SWIZZLES[read]} at {self._address(report)}, "
        message += f"which a copy has written with {_SWIZZLES[written]}"
        help = "give the descriptor (bits 62 and 63; of 'tcgen05' 61 to 63) the swizzle of the tensor map"
        return Finding("E419", message, help, "it is copied here")

    def _ends_early(self, report: Any, actor: str) -> Finding:
        message = f"{actor} ends, and its bulk copy may still read shared memory"
        return Finding("E410", message, "write 'cp.async.bulk.wait_group.read 0;' before the end")

    def _early_column(self, report: Any, actor: str) -> Finding:
        what, help = _WAITS[int(report["other_cta"])]
        message = f"race: {actor} uses column {int(report['address'])} of tensor memory, which {what} writes"
        return Finding("E410", message, help, "it writes from here on, and this warp has not waited for it")

    def _no_permit(self, report: Any, actor: str) -> Finding:
        message = f"{actor} allocates tensor memory after its CTA has given up the permit to"
        help = "allocate everything before 'tcgen05.relinquish_alloc_permit'"
        return Finding("E419", message, help, "the permit is given up here")

    def _not_freed(self, report: Any, actor: str) -> Finding:
        message = f"tensor memory is never freed: {report['count']} columns of CTA {actor.rpartition(' ')[2]}"
        help = "write 'tcgen05.dealloc' with its address and columns before the CTA ends"
        return Finding("E419", message, help)

    def _in_flight(self, report: Any, actor: str) -> Finding:
        why, help = _FLIGHT[int(report["other_thread"])]
        name = self.program.register_names[int(report["address"])]
        return Finding("E410", f"race: {actor} uses register '{name}', {why}", help)

    def _no_register_fence(self, report: Any, actor: str) -> Finding:
        name = self.program.register_names[int(report["address"])]
        message = f"race: 'wgmma' of {actor} uses register '{name}', "
        message += "and no 'wgmma.fence' comes after what has written it"
        help = "write 'wgmma.fence.sync.aligned;' before the first product, and after code that writes its registers"
        return Finding("E410", message, help)

    def _wrong_mbarrier(self, report: Any, actor: str) -> Finding:
        of, count = self.mbarrier(int(report["address"])), int(report["other_cta"])
        how = int(report["other_thread"])
        if how in (codes.NOT_INITIALISED, codes.INVALIDATED):
            state_ = "not been initialised" if how == codes.NOT_INITIALISED else "been invalidated"
            help = "let one thread write 'mbarrier.init', then a barrier, before any other use"
            return Finding("E419", f"{actor} uses {of}, which has {state_}", help)
        if how == codes.INITIALISED_TWICE:
            message = f"{actor} initialises {of}, which is in use"
            help = "initialise it once; its phases follow each other, or write 'mbarrier.inval' before"
            return Finding("E419", message, help, "it is initialised here")
        if how == codes.WRONG_COUNT:
            help = "give the arrivals of a phase, from 1 to 1,048,575"
            return Finding("E419", f"{actor} initialises {of} with the count {count}", help)
        message = f"{actor} arrives {count} times at {of}, more often than its phase still expects"
        help = "let 'mbarrier.init' count all arrivals of a phase, and every thread arrive once in each"
        return Finding("E419", message, help, "it is initialised here")

    def _wrong_bytes(self, report: Any, actor: str) -> Finding:
        of, missing = self.mbarrier(int(report["address"])), int(report["other_thread"])
        cta = actor.rpartition(" ")[2]
        if missing > 0:
            what = f"has expected {missing} bytes more than copies have brought"
        else:
            what = f"has got {-missing} bytes more than it expected: a phase may end before its copies do"
        message = f"wrong transaction count: {of} of CTA {cta} {what}"
        help = "expect the bytes of all copies of a phase: 'mbarrier.arrive.expect_tx' with their sum"
        return Finding("E419", message, help)

    def _not_published(self, report: Any, actor: str) -> Finding:
        message = f"{actor} uses {self.mbarrier(int(report['address']))} of another CTA, "
        message += "to which its initialisation has not been published"
        help = "write 'fence.mbarrier_init.release.cluster;' after the initialisation, and a barrier of the cluster"
        return Finding("E410", message, help, "it is initialised here")

    def _wrong_cluster_barrier(self, report: Any, actor: str) -> Finding:
        if int(report["other_thread"]) == codes.ARRIVES_TWICE:
            message = f"{actor} arrives twice at the cluster's barrier without waiting between"
            return Finding(
                "E412", message, "write 'barrier.cluster.wait' after each 'barrier.cluster.arrive'"
            )
        message = f"{actor} waits at the cluster's barrier without having arrived"
        return Finding("E412", message, "write 'barrier.cluster.arrive' before each 'barrier.cluster.wait'")

    def _missed_cluster_barrier(self, report: Any, actor: str) -> Finding:
        missing, cta = int(report["address"]), actor.rpartition(" ")[2]
        message = f"divergent barrier: warp {int(report['thread']) // 32} of CTA {cta} arrives "
        message += f"at the cluster's barrier more often than warp {missing}"
        return Finding("E412", message, "let every thread of the cluster reach the barrier before it ends")

    def _wrong_registers(self, report: Any, actor: str) -> Finding:
        goal, now = int(report["other_thread"]), int(report["address"])
        what = (
            f"raises its {now} registers to {goal}" if goal > 0 else f"lowers its {now} registers to {-goal}"
        )
        help = "'setmaxnreg.inc' takes a count that is not below the warp's, '.dec' one that is not above it"
        return Finding("E419", f"'setmaxnreg' of {actor} {what}", help)

    def _missed_registers(self, report: Any, actor: str) -> Finding:
        message = (
            f"{actor} changes its registers, and warp {int(report['address'])} of its warp group does not"
        )
        help = "let all four warps of a warp group execute the same 'setmaxnreg'"
        return Finding("E419", message, help)


def waiting_mbarriers(
    program: Program, image: MemoryImage, shared: Any, of_checks: Sequence[Any]
) -> Iterator[str]:
    """The mbarriers of a CTA that can go no further, with what their phases miss; `of_checks`: its checks' arrays."""
    kept = next((array[0] for array in of_checks if array.dtype == ASYNCHRONOUS), None)
    if kept is None:
        return
    for k in range(int(kept["n_mbarriers"])):
        entry = kept["mbarriers"][k * MBARRIER_WORDS : (k + 1) * MBARRIER_WORDS]
        place, how = entry[state.PLACE], entry[state.STATE]
        value = int(shared[place : place + 8].view(np.int64)[0])
        pending, expected, missing = parts_of(value)
        if how == state.VALID and (missing or pending != expected):
            arrivals = f"{pending} arrival{'s' * (pending != 1)}"
            where = describe(program, image, SHARED, int(place))
            yield f"the mbarrier at {where} waits for {arrivals} and {missing} bytes"


def wait_for(text: str, reads: bool) -> str:
    """How code waits for an asynchronous instruction: until its source is read, or (not `reads`) until all is done."""
    if "wgmma" in text:
        return "'wgmma.wait_group', and a barrier before another warp goes on"
    if "tcgen05" in text:
        return "the mbarrier of its 'tcgen05.commit'"
    if "bulk_group" in text:
        read = ".read" if reads else ""
        return f"'cp.async.bulk.wait_group{read}' in the copying thread, and a barrier before another one goes on"
    if "bulk" in text:
        return "its mbarrier, in every warp or before a barrier"
    return (
        "'cp.async.wait_group' or an mbarrier in the copying thread, and a barrier before another one goes on"
    )


def parts_of(value: int) -> tuple[int, int, int]:
    """Of the value of an mbarrier: arrivals that are missing, arrivals of a phase, bytes that are missing."""
    count, sign = (1 << PENDING_BITS) - 1, 1 << (BYTES_BITS - 1)
    missing = ((value >> BYTES_SHIFT & 2 * sign - 1) ^ sign) - sign
    return value & count, value >> EXPECTED_SHIFT & count, missing
