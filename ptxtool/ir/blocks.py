"""How many threads a CTA of a kernel may have: `.reqntid 32, 4` says exactly how many, `.maxntid 256` the most.

For launches, occupancy, and the passes that lay out memory for every thread. Reference: PTX ISA, section 11.4
(performance-tuning directives).
"""

from collections.abc import Sequence
from math import prod

import msgspec

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Directive, Function
from ptxtool.isa.literals import integer


class BlockBound(msgspec.Struct, frozen=True):
    """The bound that a kernel's head sets for its CTAs: `extent` in x, y and z."""

    directive: Directive
    extent: tuple[int, int, int]

    @property
    def is_exact(self) -> bool:
        """True for `.reqntid`: no other extent will do. `.maxntid` bounds the product."""
        return self.directive.name == "reqntid"

    @property
    def threads(self) -> int:
        return prod(self.extent)


def numbers(directive: Directive) -> tuple[int, ...]:
    """The numbers of a directive such as `.maxntid 0x20, 4`. All are whole: the parser sees to it."""
    return tuple(integer(word.strip()) for word in directive.text.split(","))


def block_bound(kernel: Function) -> BlockBound | None:
    """The bound of a kernel's `.reqntid` or `.maxntid`, None where it has neither."""
    for directive in kernel.directives:
        if directive.name in ("reqntid", "maxntid"):
            x, y, z = (*numbers(directive), 1, 1)[:3]
            return BlockBound(directive, (x, y, z))
    return None


def block_problem(kernel: Function, block: Sequence[int]) -> Diagnostic | None:
    """E402 where the kernel's head forbids CTAs of that extent."""
    extent = (*(int(n) for n in block), 1, 1)[:3]
    return _problem(kernel, f"block {extent}", prod(extent), extent)


def threads_problem(kernel: Function, threads: int) -> Diagnostic | None:
    """E402 where the kernel's head forbids CTAs of that many threads, however they are laid out."""
    return _problem(kernel, f"{threads} threads per CTA", threads)


def _problem(kernel: Function, what: str, threads: int, extent: tuple[int, ...] = ()) -> Diagnostic | None:
    """E402 about CTAs that a kernel's head forbids, None where it allows them."""
    bound = block_bound(kernel)
    if bound is None:
        return None
    if bound.is_exact:
        is_allowed = extent == bound.extent if extent else threads == bound.threads
        help = f"it takes CTAs of {' x '.join(map(str, bound.extent))} threads and no others"
    else:
        is_allowed = threads <= bound.threads
        help = f"it takes CTAs of at most {bound.threads} threads"
    if is_allowed:
        return None
    directive = bound.directive
    message = f"{what} against '.{directive.name} {directive.text}' of kernel '{kernel.name}'"
    return Diagnostic("E402", message, kernel.source, directive.start, directive.end, help)
