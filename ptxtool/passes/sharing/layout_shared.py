"""layout-shared: the order of a kernel's shared variables in which the shared part is needed for the shortest time.

Under scratchpad sharing the first floor(scratchpad * (100 - share) / 100) bytes are a CTA's own; what lies behind them
is its pair's, and who accesses it keeps the partner away until `release-scratchpad` lets go. So the variables that are
accessed all along belong in front, those of a short stretch behind. The order minimises the span
(`ptxtool.analysis.sharing.shared_span`) of the variables that reach beyond the private bytes; it takes no more bytes
than before, and of equal orders the first in lexicographic order of the text's. All orders are tried of up to 7
variables; of more, the order by falling span, improved by exchanges of two while that helps.

Declarations trade places within the module, or within the head of the kernel's body; alignments go with them. Dynamic
shared memory (`.extern .shared .b8 x[]`) stays behind the others, and counts as shared.

Pre: a module without errors. Post: only declarations of shared variables have traded places, and no kernel takes more
scratchpad (checked by `ptxtool.validate.shared_order`). Idempotent.
Not handled, with a remark: PTXPlus, whose code names shared memory by number; kernels that call functions; variables of
the module that several kernels use. Declined (E301): several variables in one declaration.
Reference: V. Jatala, J. Anantpur, A. Karkare, Scratchpad sharing in GPUs, TACO 14(2), 2017 (layout of variables).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import ClassVar

from ptxtool.analysis.occupancy.sharing_plan import private_part
from ptxtool.analysis.sharing.shared_layout import SharedLayout, SharedVariable, shared_layout
from ptxtool.analysis.sharing.shared_span import SharedSpans
from ptxtool.base.diag import error
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Instruction, Module, ScopeOpen
from ptxtool.ir.variables import round_up
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.sharing.share import Scratchpad, Share, check_options, required_share
from ptxtool.validate.shared_order import check_shared_order

ALL_ORDERS = 7
"""So many variables are put in every order; 5040 of them."""


@dataclass(frozen=True)
class LayoutShared:
    """Declare shared variables so that the shared part is needed for the shortest time."""

    share: Share = ""
    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "layout-shared"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, scratchpad=self.scratchpad)

    def run(self, module: Module) -> PassResult:
        percent = required_share(self.name, self.share)
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        for kernel in module.kernels.values():
            layout = shared_layout(kernel)
            layout.boundary(percent, self.scratchpad)  # refuses a scratchpad that is too small
            reason = self._reason(module, kernel, layout, percent)
            if reason:
                remarks.append(Remark(self.name, f"nothing to do: {reason}", kernel.name))
                continue
            search = _Search(kernel, layout, percent, self.scratchpad)
            made = tuple(search.edits())
            edits += made
            remarks.append(Remark(self.name, search.said(), kernel.name, kernel.source.line(kernel.start)))
        return PassResult(tuple(edits), tuple(remarks), check_shared_order)

    def _reason(self, module: Module, kernel: Function, layout: SharedLayout, percent: Fraction) -> str:
        """Why a kernel's variables stay as they are, "" if they need not."""
        movable = [v for v in layout.variables if v.size]
        if not percent:
            return "nothing is shared at 0%"
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
        if _behind_code(kernel, {v.declaration.start for v in movable}):
            return "a variable is declared between instructions or in an inner block"
        return ""


def _behind_code(kernel: Function, starts: set[int]) -> bool:
    """Whether one of the declarations stands behind the head of the body."""
    in_head = True
    for statement in kernel.body or ():
        if isinstance(statement, Instruction | ScopeOpen):
            in_head = False
        elif isinstance(statement, Declaration) and statement.start in starts and not in_head:
            return True
    return False


Order = tuple[SharedVariable, ...]


class _Search:
    """The best order of one kernel's variables."""

    def __init__(self, kernel: Function, layout: SharedLayout, percent: Fraction, scratchpad: int):
        self._kernel, self._layout, self._percent, self._scratchpad = kernel, layout, percent, scratchpad
        self._spans = SharedSpans(kernel)
        self._dynamic = [v.name for v in layout.variables if not v.size]
        self._old: Order = tuple(v for v in layout.variables if v.size)
        self._best = self._search()

    def edits(self) -> Iterator[TextEdit]:
        text = self._kernel.source.text
        for slot, moved in zip(self._old, self._best, strict=True):
            if slot is not moved:
                there, here = slot.declaration, moved.declaration
                yield TextEdit(there.start, there.end, text[here.start : here.end])

    def said(self) -> str:
        """What the order is worth."""
        before, after = (self._cost(order) for order in (self._old, self._best))
        shared = ", ".join(self.shared(self._best)) or "nothing"
        if not before:
            what = (
                "no variable reaches into the shared part"
                if shared == "nothing"
                else "the shared part is not accessed"
            )
            return f"nothing to do: {what}"
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
        for order in self._candidates():
            if self._allowed(order) and (found := self._cost(order)) < cost:
                best, cost = order, found
        if len(self._old) > ALL_ORDERS:
            best = self._improved(best, cost)
        return best

    def _candidates(self) -> Iterator[Order]:
        if len(self._old) <= ALL_ORDERS:
            yield from permutations(self._old)
        else:
            yield tuple(sorted(self._old, key=lambda v: (v.in_body, -self._spans.span([v.name]), v.offset)))

    def _improved(self, order: Order, cost: float) -> Order:
        better = True
        while better:
            better = False
            for i, j in combinations(range(len(order)), 2):
                swapped: list[SharedVariable] = list(order)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                if self._allowed(tuple(swapped)) and (found := self._cost(tuple(swapped))) < cost:
                    order, cost, better = tuple(swapped), found, True
        return order
