"""Watch warps on the reference interpreter: which shared bytes do they reach, what do they touch after release marks?

`watch(kernel)` is a context in which `run_reference` of that kernel fills in an `Observed`. Marks are read from the
text; a warp has released from the moment at which it comes to one.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from reference import interpreter as reference
from reference.memory import Space

from ptxtool.ir.marks import REGISTERS, RELEASES, SCRATCHPAD, release_marks
from ptxtool.ir.nodes import Function


@dataclass
class Observed:
    """`reached` are (first byte, end) per instruction; `after_registers` and `after_scratchpad` what warps did after
    their marks: instructions issued, and (instruction, end of the bytes)."""

    reached: dict[int, tuple[int, int]] = field(default_factory=dict)
    after_registers: set[int] = field(default_factory=set)
    after_scratchpad: set[tuple[int, int]] = field(default_factory=set)
    n_released: int = 0


class _Watched(Space):
    """Shared memory that records which warps reach it."""

    def __init__(self, space: Space, tell: Any):
        super().__init__()
        self.starts, self.regions, self._tell = space.starts, space.regions, tell

    def load(self, addresses: Any, n_bytes: int) -> Any:
        self._tell(addresses, n_bytes)
        return super().load(addresses, n_bytes)

    def store(self, addresses: Any, n_bytes: int, values: Any) -> None:
        self._tell(addresses, n_bytes)
        super().store(addresses, n_bytes, values)

    def load_one(self, address: int, n_bytes: int, position: int = 0) -> int:
        self._tell(np.array([address]), n_bytes)
        return super().load_one(address, n_bytes, position)

    def store_one(self, address: int, n_bytes: int, value: int, position: int = 0) -> None:
        self._tell(np.array([address]), n_bytes)
        super().store_one(address, n_bytes, value, position)


@contextmanager
def watch(kernel: Function, touches: Sequence[bool] = ()) -> Iterator[Observed]:
    """Observe the runs of a kernel; `touches` are the instructions that touch shared registers."""
    observed = Observed()
    at = {r: {m.instruction for m in release_marks(kernel) if m.word == r} for r in RELEASES}
    released: dict[str, set[int]] = defaultdict(set)
    now: list[Any] = [None, 0]
    issue, shared_space = reference._Cta.issue, reference.Image.shared_space

    def watched_issue(cta: Any, warp: Any, code: Any, i: int) -> None:
        is_main = warp.routine is cta.machine.main
        now[:] = (warp, i if is_main else -1)
        if is_main:
            for release, positions in at.items():
                if i in positions:
                    released[release].add(id(warp))
                    observed.n_released += 1
        if id(warp) in released[REGISTERS] and (not is_main or touches[i]):
            observed.after_registers.add(i)
        keep.append(warp)  # its id stays its own
        issue(cta, warp, code, i)

    def tell(addresses: Any, n_bytes: int) -> None:
        warp, i = now
        low, end = int(addresses.min()), int(addresses.max()) + n_bytes
        known = observed.reached.get(i, (low, end))
        observed.reached[i] = min(known[0], low), max(known[1], end)
        if id(warp) in released[SCRATCHPAD]:
            observed.after_scratchpad.add((i, end))

    keep: list[Any] = []
    with (
        mock.patch.object(reference._Cta, "issue", watched_issue),
        mock.patch.object(reference.Image, "shared_space", lambda *args: _Watched(shared_space(*args), tell)),
    ):
        yield observed
