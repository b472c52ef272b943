"""release-scratchpad: marks where a warp has accessed the shared part of the scratchpad for the last time.

Under scratchpad sharing a CTA that accesses the shared part holds the lock of its pair until it ends; its partner
waits. `.pragma "release_scratchpad";` declares that the warp has finished with it: no path that any of its lanes may
still take accesses it. When every warp of the CTA has executed a mark or exited, the lock is free. The marks of an
earlier run are deleted first: run the pass last, as a pass that moves variables moves the shared part too.

Shared are the bytes from floor(scratchpad * (100 - share) / 100) on. An access counts as one to them unless it is
proven to lie below (`ptxtool.analysis.sharing.shared_access`). The default of `scratchpad` is the kernel's static
bytes; a run that adds dynamic ones only enlarges the private part.

Pre: a module without errors. Post: the marks stand at the earliest points per warp
(`ptxtool.analysis.sharing.release_points`); nothing else has changed and every mark holds (checked by
`ptxtool.validate.marks`). Idempotent. Reference: V. Jatala, J. Anantpur, A. Karkare, Scratchpad sharing in GPUs, TACO
14(2), 2017, `relssp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ptxtool.analysis.sharing.shared_access import touches_shared_scratchpad
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.ir.marks import SCRATCHPAD
from ptxtool.ir.nodes import Function
from ptxtool.passes.sharing.marks import ReleasePass
from ptxtool.passes.sharing.share import Scratchpad


@dataclass(frozen=True)
class ReleaseScratchpad(ReleasePass):
    """Mark where a warp has accessed the shared part of the scratchpad for the last time."""

    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "release-scratchpad"
    mark: ClassVar[str] = SCRATCHPAD
    in_use: ClassVar[str] = "shared scratchpad is in use to the end"
    unused: ClassVar[str] = "the shared part is not accessed"

    def touches(self, kernel: Function) -> Sequence[bool]:
        boundary = shared_layout(kernel).boundary(self.percent, self.scratchpad)
        return touches_shared_scratchpad(kernel, boundary)
