"""How many threads a CTA of a kernel may have: `.reqntid 32, 4` says exactly how many, `.maxntid 256` the most.

For launches, occupancy, and the passes that lay out memory for every thread. Reference: PTX ISA, section 11.4
(performance-tuning directives).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Directive, Function
from ptxtool.isa.literals import integer


@dataclass(frozen=True)
class BlockBound:
    """What a kernel's head says of its CTAs: `extent` in x, y and z."""

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
    """The numbers behind a directive such as `.maxntid 0x20, 4`. Raises `ValueError` where they are not whole."""
    return tuple(integer(word.strip()) for word in directive.text.split(","))


def block_bound(kernel: Function) -> BlockBound | None:
    """What `.reqntid` or `.maxntid` of a kernel says, None where it has neither."""
    for directive in kernel.directives:
        if directive.name in ("reqntid", "maxntid"):
            x, y, z = (*numbers(directive), 1, 1)[:3]
            return BlockBound(directive, (x, y, z))
    return None


def block_problem(kernel: Function, block: Sequence[int]) -> Diagnostic | None:
    """E402 where the kernel's head forbids CTAs of that extent."""
    bound = block_bound(kernel)
    extent = (*(int(n) for n in block), 1, 1)[:3]
    if bound is None or (extent == bound.extent if bound.is_exact else prod(extent) <= bound.threads):
        return None
    return _forbidden(kernel, bound, f"block {extent}")


def threads_problem(kernel: Function, threads: int) -> Diagnostic | None:
    """E402 where the kernel's head forbids CTAs of that many threads, however they are laid out."""
    bound = block_bound(kernel)
    if bound is None or (threads == bound.threads if bound.is_exact else threads <= bound.threads):
        return None
    return _forbidden(kernel, bound, f"{threads} threads per CTA")


def _forbidden(kernel: Function, bound: BlockBound, what: str) -> Diagnostic:
    """What there is to say of CTAs that a kernel's head forbids."""
    directive = bound.directive
    if bound.is_exact:
        help = f"it takes CTAs of {' x '.join(map(str, bound.extent))} threads and no others"
    else:
        help = f"it takes CTAs of at most {bound.threads} threads"
    message = f"{what} against '.{directive.name} {directive.text}' of kernel '{kernel.name}'"
    return Diagnostic("E402", message, kernel.source, directive.start, directive.end, help)
