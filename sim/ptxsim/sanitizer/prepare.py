"""The records of a checked run: what is checked, what every instruction reads and writes, the shadows.

The arrays live as long as the `Checks` object does; compiled code holds their addresses.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxsim.base.notice import need_parts
from ptxsim.base.program import GENERIC, GLOBAL, NO_SPACE, Program
from ptxsim.execute.parts import CHECKS
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.asynchronous_state import ASYNCHRONOUS
from ptxsim.sanitizer.instrumentation import Tables
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Function

CHECK_NAMES = {"memory": state.MEMORY, "init": state.INIT, "races": state.RACES, "barriers": state.BARRIERS}
"""The checks by name."""


def check_names(given: Collection[str]) -> tuple[str, ...]:
    """The names of the requested checks: a collection of names, or a text such as "memory,races" or "all"."""
    if isinstance(given, str):
        given = [name for name in map(str.strip, given.split(",")) if name]
    return tuple(CHECK_NAMES) if list(given) == ["all"] else tuple(given)


def check_flags(names: Collection[str]) -> int:
    """The bits of some checks. Raises E502 for an unknown name."""
    flags = 0
    for name in check_names(names):
        if name not in CHECK_NAMES:
            help = did_you_mean(name, CHECK_NAMES, f"there are {', '.join(CHECK_NAMES)}")
            raise error("E502", f"no check is named '{name}'", help=help)
        flags |= CHECK_NAMES[name]
    return flags


@dataclass
class Checks:
    """The state of the checks of one run. Build it with `Checks.build`."""

    state: Any
    """One CHECKS record."""
    checked: Any
    """A CHECKED record for every instruction, then one for every piece."""
    reports: Any
    """Room for MAX_REPORTS records."""
    of_cta: tuple[Any, ...] = field(default=(), repr=False)
    """The arrays that hold the state of one CTA."""
    keep: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def build(
        cls,
        kernel: Function,
        program: Program,
        image: MemoryImage,
        n_warps: int,
        flags: int,
        undefined: Sequence[Any] = (),
        n_ctas: int = 1,
        in_clusters: bool = False,
    ) -> "Checks":
        """`undefined` are the buffers (by identity) whose contents are undefined before the launch. Raises E402.

        `in_clusters`: CTAs access each other's shared memory, which the checks do not see: none of it counts as
        unwritten, and races between CTAs are not looked for.
        """
        need_parts({CHECKS} if flags else ())
        tables = Tables.of(program) if flags else Tables.empty(program)
        checked = tables.checked
        x = image.context[0]
        shared_bytes = int(x["shared_bytes"])
        shift = _granule_shift(checked["bytes"])
        n_granules = (shared_bytes >> shift) + 1
        n_registers = program.n_registers
        at_start = np.zeros(max(1, n_registers), np.uint32)
        for function, first in program.first_registers:
            for register in function.registers:
                set_by_launch = program.is_ptxplus and register.name == "$r0"  # the packed thread id
                set_by_caller = any(register.declaration is p for p in function.params)
                if register.role or set_by_launch or set_by_caller:
                    at_start[first + register.index] = 0xFFFFFFFF
        shared_start = np.zeros(shared_bytes + 16, np.uint8)
        layout = program.layout
        if program.is_ptxplus:  # header and parameters
            shared_start[: layout.param_start + layout.param_bytes] = 1
        shared_start[0 if in_clusters else image.reserved_shared :] = 1
        of_launch: dict[str, Any] = {
            "registers": tables.registers,
            "calls": tables.calls,
            "written_at_start": at_start,
            "shared_start": shared_start,
        }
        of_cta: dict[str, Any] = {
            "written": np.zeros(max(1, n_registers * n_warps), np.uint32),
            "origins": np.zeros(max(1, n_registers * n_warps), np.int32),
            "shared_shadow": np.zeros(shared_bytes + 16, np.uint8),
            "local_shadow": np.zeros(int(x["local_bytes"]) * 32 * n_warps + 16, np.uint8),
            "clocks": np.zeros(state.MAX_WARPS * state.MAX_WARPS, np.int32),
            "published": np.zeros(state.MAX_WARPS, np.int32),
            "granules": np.zeros(n_granules * state.GRANULE, np.int32),
        }
        if checked["copies"].any():
            of_cta["segments"] = np.zeros(n_warps * 32 * state.SEGMENT, np.int32)
            of_cta["tests"] = np.zeros(state.MAX_WARPS, np.int32)
        if checked["asynchronous"].any():
            of_cta["asynchronous"] = np.zeros(1, ASYNCHRONOUS)
            of_cta["flight"] = np.zeros(max(1, n_registers * n_warps), np.int32)
            of_cta["changed"] = np.zeros(max(1, n_registers * n_warps), np.uint8)
        if flags & state.RACES:
            global_shift = _granule_shift(checked["bytes"][_may_be_global(program, checked)])
            n_bytes = int(x["global_bytes"])
            try:
                of_launch["global_granules"] = np.zeros(
                    ((n_bytes >> global_shift) + 2) * state.GRANULE, np.int32
                )
                _order_between_ctas(checked, n_ctas, n_warps, of_launch, of_cta)
            except MemoryError:
                what = "the check of races needs more memory than there is for "
                what += f"{n_bytes >> 20} MiB of global memory and {n_ctas} CTAs"
                where = kernel.source, kernel.start, kernel.body_start
                raise error("E402", what, *where, "give a smaller launch, or no 'races'") from None
        heap = image.device.allocator
        is_tracked = heap is not None and heap.written is not None
        if (undefined or is_tracked) and flags & state.INIT:
            of_launch["global_shadow"] = _global_shadow(image, undefined)
        record = np.zeros(1, state.CHECKS)
        record[0]["what"], record[0]["n_warps"], record[0]["n_registers"] = flags, n_warps, n_registers
        arrays = of_launch | of_cta
        for name, array in arrays.items():
            record[0][name] = array.ctypes.data
        for name in ("frame", "grown"):
            record[0][f"{name}_row"] = layout.stack_rows.get(name, -1)
        record[0]["frame_end"] = layout.frame_end
        record[0]["lockstep"] = in_lockstep(kernel)
        record[0]["n_granules"], record[0]["granule_shift"] = n_granules, shift
        record[0]["n_ctas"] = n_ctas
        if flags & state.RACES:
            record[0]["global_shift"] = global_shift
            record[0]["n_slots"] = len(of_launch.get("used_slots", ()))
        # pieces are executed by their numbers too
        records = np.concatenate([program.instructions, tables.pieces])
        x["instructions"], x["n_instructions"] = records.ctypes.data, len(records)
        if in_clusters and not program.allocates:
            record[0]["global_granules"] = 0
        if program.has_bulk_copies and flags & state.INIT:
            x["written_shared"] = 0 if in_clusters else arrays["shared_shadow"].ctypes.data
            x["written_global"] = arrays["global_shadow"].ctypes.data if "global_shadow" in arrays else 0
        reports = np.zeros(state.MAX_REPORTS, state.REPORT)
        state_of_cta = tuple(of_cta.values()) if flags else ()
        return cls(record, checked, reports, state_of_cta, (*arrays.values(), records))


def _granule_shift(sizes: Any) -> int:
    """Granules as small as the smallest access, at most 4 bytes."""
    return min([2, *(int(size).bit_length() - 1 for size in sizes if size)])


def _may_be_global(program: Program, checked: Any) -> Any:
    """Which CHECKED records may be of accesses to global memory: not those of instructions that name another space."""
    n = len(program.instructions)
    found = np.ones(len(checked), bool)
    found[:n] = np.isin(program.instructions["space"], (NO_SPACE, GLOBAL, GENERIC))[: len(checked)]
    for i in np.flatnonzero(~found[:n]):
        found[checked[i]["pieces"] : checked[i]["pieces_end"]] = False
    return found


def _order_between_ctas(
    checked: Any, n_ctas: int, n_warps: int, of_launch: dict[str, Any], of_cta: dict[str, Any]
) -> None:
    """The tables of releases for the grid (order.py), if the program has any."""
    releases = (checked["orders"] & state.RELEASES != 0) & (checked["strong"] == state.STRONG_IN_GRID)
    if n_ctas == 1 or not (releases | (checked["orders"] & state.FENCES_GRID != 0)).any():
        return
    n_slots = state.MAX_SLOTS
    while n_slots > 16 and 4 * n_slots * n_ctas > state.SLOT_BYTES:
        n_slots //= 2
    of_launch["slots"] = np.zeros(n_slots * n_ctas, np.int32)
    of_launch["used_slots"] = np.zeros(n_slots, np.uint8)
    of_launch["newest"] = np.zeros(n_ctas, np.int32)
    of_launch["versions"] = np.zeros(n_ctas * state.N_VERSIONS * n_warps, np.int32)
    of_cta["known"] = np.zeros(n_warps * n_ctas, np.int32)
    of_cta["seen"] = np.zeros(n_warps * n_slots, np.int32)
    of_cta["fences"] = np.zeros(state.MAX_WARPS + 2, np.int32)


def in_lockstep(kernel: Function) -> bool:
    """Whether the lanes of a warp run in step: before sm_70, and in PTXPlus."""
    if kernel.module.is_ptxplus:
        return True
    number = re.search(r"sm_(\d+)", kernel.module.directive("target") or "")
    return number is not None and int(number[1]) < 70


def _global_shadow(image: MemoryImage, undefined: Sequence[Any]) -> Any:
    """The shadow of global memory: the heap's, which lasts as long as the machine, or that of one launch."""
    x = image.context[0]
    heap = image.device.allocator
    shadow = None if heap is None else heap.written
    if shadow is None:
        shadow = np.ones(int(x["global_bytes"]) + 16, np.uint8)
    starts = {id(array): address for address, array in image.buffers}
    for array in undefined:
        address = starts.get(id(array))
        if address is None and heap is not None:
            address = heap.address_of(array)
        if address is not None:
            at = address - int(x["global_base"])
            shadow[at : at + array.nbytes] = 0
    return shadow
