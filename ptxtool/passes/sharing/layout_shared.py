"""layout-shared: order a kernel's shared variables so that the shared part is needed for the shortest time.

Under scratchpad sharing the first floor(scratchpad * (100 - share) / 100) bytes are private to a CTA; the rest is
shared by a pair, and a CTA that accesses it blocks its partner until `release-scratchpad` releases the lock. So the
variables that are accessed throughout the kernel come first, those accessed during a short part of it last. The order
minimises the span (`ptxtool.analysis.sharing.shared_span`) of the variables that reach beyond the private bytes; it
takes no more bytes than before; ties go to the first order in lexicographic order of the text's. Up to 7 variables are
tried in every order; more are sorted by falling span, then improved by exchanges of two while that helps.

Declarations trade places within the module, or within the head of the kernel's body, with their alignments. Dynamic
shared memory (`.extern .shared .b8 x[]`) stays last, and counts as shared.

Pre: a module without errors. Post: only declarations of shared variables have traded places, and no kernel takes more
scratchpad (checked by `ptxtool.validate.shared_order`). Idempotent.
Not handled, with a remark: PTXPlus, whose code names shared memory by number; kernels that call functions; variables of
the module that several kernels use. Declined (E301): several variables in one declaration.
Reference: V. Jatala, J. Anantpur, A. Karkare, Scratchpad sharing in GPUs, TACO 14(2), 2017 (layout of variables).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, dropwhile, permutations
from typing import ClassVar

from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED, private_part
from ptxtool.analysis.sharing.shared_layout import SharedLayout, SharedVariable, shared_layout
from ptxtool.analysis.sharing.shared_span import SharedSpans
from ptxtool.base.diag import error
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Module, ScopeOpen
from ptxtool.ir.variables import round_up
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.lines import traded
from ptxtool.passes.sharing.share import Scratchpad, SharingPass, Transformed, transform_kernels
from ptxtool.validate.shared_order import check_shared_order

ALL_ORDERS = 7
"""The most variables that are tried in every order (5040 orders)."""


@dataclass(frozen=True)
class LayoutShared(SharingPass):
    """Declare shared variables so that the shared part is needed for the shortest time."""

    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "layout-shared"

    def run(self, module: Module) -> PassResult:
        return transform_kernels(module, check_shared_order, self._kernel)

    def _kernel(self, kernel: Function) -> Transformed:
        layout = shared_layout(kernel)
        layout.boundary(self.percent, self.scratchpad)  # refuses a scratchpad that is too small
        reason = self._reason(kernel.module, kernel, layout)
        if reason:
            return (), [Remark(self.name, f"nothing to do: {reason}", kernel.name)]
        search = _LayoutSearch(kernel, layout, self.percent, self.scratchpad)
        return search.edits(), [self.remark(kernel, search.message())]

    def _reason(self, module: Module, kernel: Function, layout: SharedLayout) -> str:
        """Why a kernel's variables keep their order, "" if they may move."""
        movable = [v for v in layout.variables if v.size]
        if not self.percent:
            return NOTHING_SHARED
        if module.is_ptxplus:
            return "PTXPlus names shared memory by number, so that its variables cannot move"
        if not layout.exact:
            return "the kernel calls functions that have shared variables, or may have them"
        if len(movable) < 2:
            return f"{'one variable' if movable else 'no variable'} with a size"
        for variable in movable:
            declaration = variable.declaration
            if len(declaration.declarators) > 1:
                shown = ", ".join(d.name for d in declaration.declarators)
                what = f"layout-shared needs one variable per declaration, and one declares {shown}"
                help = "write a declaration for each"
                raise error("E301", what, module.source, declaration.start, declaration.end, help=help)
        outside = {v.name for v in movable if not v.in_body}
        for other in module.kernels.values():
            common = outside & {v.name for v in shared_layout(other).variables}
            if other.name != kernel.name and common:
                return f"'{min(common)}' of the module is used by '{other.name}' too"
        starts = {v.declaration.start for v in movable}
        after_head = dropwhile(lambda s: not isinstance(s, Instruction | ScopeOpen), kernel.body or ())
        if any(isinstance(s, Declaration) and s.start in starts for s in after_head):
            return "a variable is declared between instructions or in an inner block"
        return ""


Order = tuple[SharedVariable, ...]


class _LayoutSearch:
    """The best order of one kernel's variables."""

    def __init__(self, kernel: Function, layout: SharedLayout, percent: Fraction, scratchpad: int):
        self._kernel, self._layout, self._percent, self._scratchpad = kernel, layout, percent, scratchpad
        self._spans = SharedSpans(kernel)
        self._dynamic = [v.name for v in layout.variables if not v.size]
        self._old: Order = tuple(v for v in layout.variables if v.size)
        self._best = self._search()

    def edits(self) -> Iterator[TextEdit]:
        places, moved = ([v.declaration for v in order] for order in (self._old, self._best))
        return traded(self._kernel.source, places, moved)

    def message(self) -> str:
        """The gain of the order, for the remark."""
        before, after = (self._cost(order) for order in (self._old, self._best))
        shared = ", ".join(self.shared(self._best)) or "nothing"
        if not before and shared == "nothing":
            return "nothing to do: no variable reaches into the shared part"
        if not before:
            return "nothing to do: the shared part is not accessed"
        if self._best == self._old:
            return f"nothing to do: no order needs the shared part for less than {before:.4g} instructions"
        return f"the shared part is needed for {after:.4g} instructions, not {before:.4g}; it holds {shared}"

    def shared(self, order: Order) -> list[str]:
        """The variables that reach beyond the private bytes."""
        places, end = self._places(order)
        boundary = private_part(self._scratchpad or end, self._percent)
        return [v.name for v, at in zip(order, places, strict=True) if at + v.size > boundary] + self._dynamic

    def _places(self, order: Order) -> tuple[list[int], int]:
        end, places = self._layout.start, list[int]()
        for variable in order:
            places.append(round_up(end, variable.alignment))
            end = places[-1] + variable.size
        for variable in self._layout.variables:
            if not variable.size:
                end = round_up(end, variable.alignment)
        return places, end

    def _cost(self, order: Order) -> float:
        return self._spans.span(self.shared(order))

    def _allowed(self, order: Order) -> bool:
        """Variables of the module come before those of the body, and no order takes more bytes."""
        outside = [v.in_body for v in order]
        return outside == sorted(outside) and self._places(order)[1] <= self._layout.bytes

    def _search(self) -> Order:
        best, cost = self._old, self._cost(self._old)

        def improves(order: Order) -> bool:
            nonlocal best, cost
            if not self._allowed(order) or (found := self._cost(order)) >= cost:
                return False
            best, cost = order, found
            return True

        if len(self._old) <= ALL_ORDERS:
            for order in permutations(self._old):
                improves(order)
            return best
        improves(tuple(sorted(self._old, key=lambda v: (v.in_body, -self._spans.span([v.name]), v.offset))))
        pairs = [*combinations(range(len(best)), 2)]
        improved = True
        while improved:
            improved = False
            for i, j in pairs:
                swapped = list(best)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                improved |= improves(tuple(swapped))
        return best
