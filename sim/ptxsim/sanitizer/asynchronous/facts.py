"""What the checks of asynchronous code know of every instruction: what it is, by the beginning of its opcode."""

from typing import Any

from ptxsim.sanitizer import asynchronous_state as state
from ptxtool.ir.nodes import Function, Instruction, Name, Vector

_KINDS = {
    "mbarrier.init": state.INITIALISES,
    "mbarrier.inval": state.INVALIDATES,
    "mbarrier.test_wait": state.TESTS,
    "mbarrier.try_wait": state.TESTS,
    "mbarrier.pending_count": 0,
    "mbarrier.check_layout": 0,
    "mbarrier.": state.ARRIVES,
    "cp.async.mbarrier.arrive": state.ARRIVES,
    "st.async": state.ARRIVES,
    "red.async": state.ARRIVES,
    "cp.async.bulk.commit_group": state.COMMITS_BULK,
    "cp.async.bulk.wait_group": state.AWAITS_BULK,
    "cp.async.bulk.prefetch": 0,
    "cp.async.bulk": state.COPIES_BULK,
    "cp.reduce.async.bulk": state.COPIES_BULK,
    "wgmma.mma_async": state.MULTIPLIES,
    "wgmma.fence": state.FENCES_REGISTERS,
    "wgmma.commit_group": state.COMMITS_PRODUCTS,
    "wgmma.wait_group": state.AWAITS_PRODUCTS,
    "tcgen05.mma": state.TENSOR_PRODUCT,
    "tcgen05.commit": state.TENSOR_COMMIT,
    "tcgen05.cp": state.TENSOR_COPIES,
    "tcgen05.shift": state.TENSOR_COPIES,
    "tcgen05.ld": state.TENSOR_LOADS,
    "tcgen05.st": state.TENSOR_STORES,
    "tcgen05.wait::ld": state.AWAITS_LOADS,
    "tcgen05.wait::st": state.AWAITS_STORES,
    "tcgen05.alloc": state.ALLOCATES,
    "tcgen05.dealloc": state.FREES,
    "tcgen05.relinquish_alloc_permit": state.GIVES_PERMIT,
    "fence.proxy.async": state.FENCES_PROXY,
    "fence.proxy.tensormap": state.FENCES_PROXY,
    "barrier.cluster.arrive": state.CLUSTER_ARRIVES,
    "barrier.cluster.wait": state.CLUSTER_WAITS,
    "setmaxnreg": state.CHANGES_REGISTERS,
}
"""The first entry that matches counts."""
_SHARED, _GLOBAL, _MAP = (1 << p for p in (state.SHARED_PROXY, state.GLOBAL_PROXY, state.MAP_PROXY))


def note_facts(record: Any, function: Function, index: int, first: int, registers: list[int]) -> None:
    """Fill in a CHECKED record; A's registers of `wgmma`, numbered from `first` on, are appended to `registers`."""
    instruction = function.instructions[index]
    opcode = instruction.opcode.text
    record["moves"] = instruction.opcode.base == "mov" and all(
        isinstance(operand, Name) for operand in instruction.operands
    )
    kind = next((kind for begin, kind in _KINDS.items() if opcode.startswith(begin)), 0)
    record["asynchronous"] = kind
    if kind == state.FENCES_PROXY:
        record["proxies"] = _proxies(opcode)
    elif kind == state.MULTIPLIES:
        registers += [first + r for r in _fragment(function, instruction, index)]


def _proxies(opcode: str) -> int:
    """The proxies of a fence: `fence.proxy.async` without a space is for all of memory."""
    if opcode.startswith("fence.proxy.tensormap"):
        return _MAP
    words = opcode.split(".")
    if "global" in words:
        return _GLOBAL
    return _SHARED if "shared::" in opcode else _SHARED | _GLOBAL


def _fragment(function: Function, instruction: Instruction, index: int) -> list[int]:
    """The registers of A, where it is in registers."""
    a = instruction.operands[1]
    if not isinstance(a, Vector):
        return []
    found = (function.registers.resolve_index(item.text, index) for item in a.items if isinstance(item, Name))
    return [register for register in found if register is not None]
