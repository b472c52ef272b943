"""release-scratchpad: marks where a warp has accessed the shared part of the scratchpad for the last time.

Under scratchpad sharing a CTA that accesses the shared part holds the lock of its pair until it ends; its partner
waits. `.pragma "release_scratchpad";` says that the warp is done with it: no path that any of its lanes may still take
accesses it. When every warp of the CTA has said so or exited, the lock is free. The marks of an earlier run go first:
run the pass last, for a pass that moves variables moves the shared part too.

Shared are the bytes from floor(scratchpad * (100 - share) / 100) on. An access counts as one to them unless it is
proven to lie below (`ptxtool.analysis.sharing.shared_access`). Where `scratchpad` is not given it is the kernel's
static bytes; a run that adds dynamic ones only makes the private part larger.

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
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult
from ptxtool.passes.sharing.marks import release
from ptxtool.passes.sharing.share import Scratchpad, Share, check_options, required_share


@dataclass(frozen=True)
class ReleaseScratchpad:
    """Mark where a warp has accessed the shared part of the scratchpad for the last time."""

    share: Share = ""
    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "release-scratchpad"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, scratchpad=self.scratchpad)

    def run(self, module: Module) -> PassResult:
        percent = required_share(self.name, self.share)

        def touches(kernel: Function) -> Sequence[bool]:
            return touches_shared_scratchpad(kernel, shared_layout(kernel).boundary(percent, self.scratchpad))

        return release(
            module,
            self.name,
            SCRATCHPAD,
            percent,
            touches,
            in_use="shared scratchpad is in use to the end",
            unused="the shared part is not accessed",
        )
