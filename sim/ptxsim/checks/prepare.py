"""The records of a checked run: what is checked, what every instruction reads and writes, the shadows.

The arrays live as long as the `Checks` object does; compiled code holds their addresses.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxsim.checks.state import (
    ACQUIRES,
    AWAITS,
    BARRIERS,
    CHECKED,
    CHECKS,
    COMMITS,
    COPIES,
    GRANULE,
    INIT,
    MAX_REPORTS,
    MAX_WARPS,
    MEMORY,
    ORDERS_WARP,
    RACES,
    RELEASES,
    REPORT,
    SEGMENT,
    TRACKS,
)
from ptxsim.image import MemoryImage
from ptxsim.program import ATOMIC, LOAD, NO_ACCESS, STORE, Program
from ptxsim.semantics.codes import ACCESS32, ACCESS64, COPY
from ptxtool.base.diag import error
from ptxtool.base.nearest import nearest
from ptxtool.ir.defuse import def_use
from ptxtool.ir.nodes import Function, Immediate, Instruction, Name
from ptxtool.isa.literals import integer

CHECK_NAMES = {"memory": MEMORY, "init": INIT, "races": RACES, "barriers": BARRIERS}
"""What can be checked, by name."""

_ORDERS = {
    "bar.warp.sync": ORDERS_WARP,
    "mbarrier.test_wait": ACQUIRES,
    "mbarrier.try_wait": ACQUIRES,
    "mbarrier.": RELEASES,
    "cp.async.mbarrier": RELEASES,
    "fence.proxy": 0,
    "fence": RELEASES | ACQUIRES,
    "membar": RELEASES | ACQUIRES,
}
"""What instructions order, by the beginning of their opcode: the first that fits."""
_COPIES = {
    "cp.async.commit_group": COMMITS,
    "cp.async.wait_group": AWAITS,
    "cp.async.wait_all": AWAITS,
    "cp.async.mbarrier.arrive": TRACKS,
}
_MODIFIERS = {"release": RELEASES, "acquire": ACQUIRES, "acq_rel": RELEASES | ACQUIRES}
_WEAK = ("mbarrier.init", "mbarrier.inval")
_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"})


def check_flags(names: Collection[str]) -> int:
    """The bits of some checks. Raises E502 for a name that is none."""
    flags = 0
    for name in names:
        if name not in CHECK_NAMES:
            near = nearest(name, CHECK_NAMES)
            help = f"did you mean '{near}'?" if near else f"there are {', '.join(CHECK_NAMES)}"
            raise error("E502", f"no check is named '{name}'", help=help)
        flags |= CHECK_NAMES[name]
    return flags


@dataclass
class Checks:
    """The state of the checks of one run. Build it with `Checks.build`."""

    state: Any
    """One CHECKS record."""
    checked: Any
    """A CHECKED record for every instruction."""
    reports: Any
    """Room for MAX_REPORTS records."""
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
    ) -> "Checks":
        """`undefined` are the buffers (by identity) of which nothing is written before the launch."""
        if flags:
            checked, registers = _instructions(program)
        else:  # nothing is asked of an instruction
            checked, registers = np.zeros(max(1, len(program.instructions)), CHECKED), np.zeros(1, np.int32)
        x = image.context[0]
        shared_bytes = int(x["shared_bytes"])
        shift = _granule_shift(checked)
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
        arrays: dict[str, Any] = {
            "registers": registers,
            "written": np.zeros(max(1, n_registers * n_warps), np.uint32),
            "written_at_start": at_start,
            "shared_shadow": np.zeros(shared_bytes + 16, np.uint8),
            "shared_start": shared_start,
            "local_shadow": np.zeros(int(x["local_bytes"]) * 32 * n_warps + 16, np.uint8),
            "clocks": np.zeros(MAX_WARPS * MAX_WARPS, np.int32),
            "published": np.zeros(MAX_WARPS, np.int32),
            "granules": np.zeros(n_granules * GRANULE, np.int32),
        }
        if checked["copies"].any():
            arrays["segments"] = np.zeros(n_warps * 32 * SEGMENT, np.int32)
            arrays["tests"] = np.zeros(MAX_WARPS, np.int32)
        if undefined and flags & INIT:
            arrays["global_shadow"] = _global_shadow(image, undefined)
        state = np.zeros(1, CHECKS)
        for name, array in arrays.items():
            state[0][name] = array.ctypes.data
        state[0]["what"] = flags
        state[0]["n_warps"] = n_warps
        state[0]["n_registers"] = n_registers
        # arguments are copied to frames behind the back of the checks
        state[0]["local_start"] = program.call_words > 0
        state[0]["lockstep"] = _in_lockstep(kernel)
        state[0]["n_granules"] = n_granules
        state[0]["granule_shift"] = shift
        return cls(state, checked, np.zeros(MAX_REPORTS, REPORT), tuple(arrays.values()))


def _instructions(program: Program) -> tuple[Any, Any]:
    """A CHECKED record for every instruction, and the registers that they name."""
    checked = np.zeros(max(1, len(program.instructions)), CHECKED)
    checked["guard"] = checked["passed"] = -1
    registers: list[int] = []
    firsts = {function.name: first for function, first in program.first_registers}
    facts = {function.name: def_use(function) for function, _ in program.first_registers}
    for i, (function, index) in enumerate(program.places):
        record, first = checked[i], firsts[function.name]
        record["reads"] = record["writes"] = record["end"] = len(registers)
        if index < 0:
            continue
        instruction, known = function.instructions[index], facts[function.name][index]
        guard = instruction.guard
        named = -1
        if guard is not None:
            named = function.registers.resolve_index(guard.name, index)
            record["guard"] = first + named
        passed = _passed(function, instruction, index)
        record["passed"] = first + passed if passed >= 0 else -1
        registers += [first + r for r in known.uses if r not in (named, passed)]
        record["writes"] = len(registers)
        registers += [first + r for r in known.defs]
        record["end"] = len(registers)
        if instruction.opcode.base != "call":
            _access(record, program, i, instruction)
    return checked, np.array(registers or [0], np.int32)


def _passed(function: Function, instruction: Instruction, index: int) -> int:
    """The register of which a shuffle passes on what lanes have; -1 none. Lanes that nobody reads may have nothing."""
    if instruction.opcode.base != "shfl":
        return -1
    names = [
        function.registers.resolve_index(o.text, index)
        for o in instruction.operands[1:]
        if isinstance(o, Name)
    ]
    return (
        names[0] if names and isinstance(instruction.operands[1], Name) and names.count(names[0]) == 1 else -1
    )


def _access(record: Any, program: Program, i: int, instruction: Instruction) -> None:
    timed = program.instructions[i]
    modifiers = frozenset(instruction.opcode.text.split("."))
    for uop in program.uops[timed["uop_start"] : timed["uop_end"]]:
        if uop["op"] in (ACCESS32, ACCESS64):
            record["bytes"] = uop["c"] >> 8
        elif uop["op"] == COPY:
            record["bytes"], record["copies"] = uop["e"], COPIES
    record["access"] = STORE if record["copies"] == COPIES else timed["access"]
    opcode = instruction.opcode.text
    for begin, what in _COPIES.items():
        if opcode.startswith(begin):
            record["copies"] = what
            record["groups"] = next(
                (integer(o.text) for o in instruction.operands if isinstance(o, Immediate)), -1
            )
    if timed["access"] == NO_ACCESS and instruction.opcode.base in ("ld", "st"):
        record["bytes"] = 0  # parameters in a frame
    if record["bytes"] and timed["access"] == NO_ACCESS:  # an operand of PTXPlus arithmetic
        record["access"] = LOAD
    works_on_mbarrier = opcode.startswith("mbarrier.") and not opcode.startswith(_WEAK)
    record["strong"] = timed["access"] == ATOMIC or works_on_mbarrier or bool(modifiers & _STRONG)
    orders = next((order for begin, order in _ORDERS.items() if opcode.startswith(begin)), -1)
    if orders < 0:
        orders = next((order for name, order in _MODIFIERS.items() if name in modifiers), 0)
    record["orders"] = orders


def _granule_shift(checked: Any) -> int:
    """Granules as small as the smallest access, at most 4 bytes."""
    sizes = [int(n) for n in checked["bytes"] if n]
    return min([2, *(size.bit_length() - 1 for size in sizes)])


def _in_lockstep(kernel: Function) -> bool:
    """Whether the lanes of a warp run in step: before sm_70, and in PTXPlus."""
    if kernel.module.is_ptxplus:
        return True
    number = re.search(r"sm_(\d+)", kernel.module.directive("target") or "")
    return number is not None and int(number[1]) < 70


def _global_shadow(image: MemoryImage, undefined: Sequence[Any]) -> Any:
    x = image.context[0]
    shadow = np.ones(int(x["global_bytes"]) + 16, np.uint8)
    given = {id(array) for array in undefined}
    for address, array in image.buffers:
        if id(array) in given:
            at = address - int(x["global_base"])
            shadow[at : at + array.nbytes] = 0
    return shadow
