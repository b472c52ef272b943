"""reorder-decls: declare the registers of a kernel in the order of their first use.

Under register sharing the registers with the smallest sequence numbers are private to a warp; sorted by first use they
let a warp run furthest before it needs a shared one. Registers that are never used come last, in their old order.
`order=text` takes the instructions as they stand, as the paper does, `order=cfg` in reverse post-order of the control
flow graph.

`order=late` goes beyond the paper. Of the registers, floor(registers * (100 - share) / 100) are private: it chooses
those with which a thread is expected to execute most instructions before it needs a shared one, and declares them first
(`ptxtool.analysis.sharing.first_shared` states the problem); both groups are in the order of first use. Execution
counts are estimated from the control flow graph, or read from `counts`, a file that `ptxtool sim --json` wrote for the
kernel. The default of `registers` is the count of a run whose launch names none. `delay=true` chooses for a kernel on
which delay-first-use runs next.

Declarations stay in their block, each block is sorted by itself; only the declarations trade places, the text between
them (comments included) stays.

Pre: a module without errors whose kernels declare one register per declaration (run unroll-decls first, or the pass
declines with E301). Post: in every block of every kernel the used registers are declared in the order of their first
use (of `order=late`: the private ones before the others); only register declarations have changed (checked by
`ptxtool.validate.declarations`). Idempotent.
Not handled: declarations between instructions that would have to move after a use (E301).
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through register sharing, section 5.2.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from ptxtool.analysis.sharing.first_shared import ExpectedPath, PrivateSet
from ptxtool.analysis.sharing.first_use import first_use
from ptxtool.analysis.sharing.issue_counts import IssueCounts
from ptxtool.analysis.sharing.shared_registers import private_registers
from ptxtool.base.bits import from_indices
from ptxtool.base.diag import Diagnostic, error
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Module, ScopeClose, ScopeOpen
from ptxtool.ir.symbols import Register
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption
from ptxtool.passes.lines import traded
from ptxtool.passes.sharing.share import Registers, check_options, required_share
from ptxtool.passes.sharing.unroll_decls import declares_several, register_declarations
from ptxtool.validate.declarations import check_only_declarations_changed


@dataclass(frozen=True)
class ReorderDecls:
    """Declare registers in the order of their first use."""

    order: Literal["text", "cfg", "late"] = "text"
    share: Annotated[str, Shown("P", "required for order=late")] = ""
    registers: Registers = 0
    counts: Annotated[str, Shown("FILE", "default: none")] = ""
    delay: bool = False
    name: ClassVar[str] = "reorder-decls"

    def __post_init__(self) -> None:
        if self.order == "late":
            check_options(self.name, self.share, "order=late", registers=self.registers)
            return
        for option in ("share", "registers", "counts", "delay"):
            if getattr(self, option):
                what = f"reorder-decls:order={self.order} has no use for '{option}'"
                help = "leave it out, or choose order=late"
                raise WrongOption(option, Diagnostic("E301", what, help=help))

    def run(self, module: Module, counts: IssueCounts | None = None) -> PassResult:
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        for kernel in module.kernels.values():
            _require_unrolled(kernel)
            gain = ""
            if self.order == "late":
                rank, gain = self._late(kernel, counts)
            else:
                rank = {use.before: use.after for use in first_use(kernel, order=self.order)}
            moved = tuple(_reorder(kernel, rank))
            edits += moved
            if moved:
                message = f"{len(moved)} of {len(kernel.registers)} register declarations moved{gain}"
                remarks.append(Remark(self.name, message, kernel.name, kernel.source.line(moved[0].start)))
        if not edits:
            goal = "that reaches furthest" if self.order == "late" else "of first use"
            remarks.append(Remark(self.name, f"nothing to do: every register stands in the order {goal}"))
        return PassResult(tuple(edits), tuple(remarks), check_only_declarations_changed)

    def _late(self, kernel: Function, counts: IssueCounts | None) -> tuple[Mapping[int, int], str]:
        """The rank of each register by sequence number, and the gain of the order, as text."""
        percent = required_share(self.name, self.share)
        private = private_registers(kernel, percent, self.registers)
        path = ExpectedPath(kernel, counts.of(kernel) if counts else None, self.delay)
        choice = path.best(private)
        written = [use.before - 1 for use in first_use(kernel)]
        order = [k for k in written if k in choice.private] + [k for k in written if k not in choice.private]
        return {k + 1: place for place, k in enumerate(order, 1)}, _gain(path, written, choice, private)


def _gain(path: ExpectedPath, written: list[int], choice: PrivateSet, private: int) -> str:
    as_written = path.value(from_indices(written[:private]))
    how = "the most there can be" if choice.is_best else "the most that was found"
    return (
        f"; with {counted(private, 'private register')}, {counted(f'{choice.value:.4g}', 'instruction')} expected "
        f"before a shared one, {how}; "
        f"{as_written:.4g} in the order of first use"
    )


@dataclass(frozen=True)
class _DeclarationSlot:
    """A declaration of one register and the instruction before which it stands."""

    declaration: Declaration
    register: Register
    position: int


def _reorder(kernel: Function, rank: Mapping[int, int]) -> Iterator[TextEdit]:
    """The edits that put the declarations of every block in the order of their ranks, given by sequence number."""
    for block in _blocks(kernel):
        wanted = sorted(block, key=lambda slot: rank[slot.register.sequence_number])
        if block[0].position != block[-1].position:
            _require_visible(kernel, block, wanted)
        yield from traded(kernel.source, [s.declaration for s in block], [s.declaration for s in wanted])


def _blocks(kernel: Function) -> list[list[_DeclarationSlot]]:
    """The declarations of every `{ }` block that has some, each in textual order; not those that declare nothing."""
    by_start = {register.declaration.start: register for register in kernel.registers}
    outermost: list[_DeclarationSlot] = []
    open_blocks, blocks = [outermost], [outermost]
    for position, statement in kernel.other_statements:
        if isinstance(statement, Declaration) and statement.start in by_start:
            open_blocks[-1].append(_DeclarationSlot(statement, by_start[statement.start], position))
        elif isinstance(statement, ScopeOpen):
            open_blocks.append([])
            blocks.append(open_blocks[-1])
        elif isinstance(statement, ScopeClose):
            open_blocks.pop()
    return [block for block in blocks if block]


def _require_unrolled(kernel: Function) -> None:
    """Decline (E301) where a declaration declares several registers."""
    for declaration in register_declarations(kernel):
        if declares_several(declaration):
            first = declaration.declarators[0]
            shown = first.name + (", ..." if first.count is None else f"<{first.count}>")
            what = f"reorder-decls needs one register per declaration, and '{shown}' declares several"
            help_ = "run unroll-decls first: unroll-decls,reorder-decls"
            raise error("E301", what, kernel.source, declaration.start, declaration.end, help=help_)


def _require_visible(kernel: Function, block: list[_DeclarationSlot], wanted: list[_DeclarationSlot]) -> None:
    """Decline (E301) where declarations stand between instructions and one would change what a name means."""
    first = {use.before: use.instruction for use in first_use(kernel, order="text")}
    names = Counter(register.name for register in kernel.registers)
    for slot, moved in zip(block, wanted, strict=True):
        register = moved.register
        used = first[register.sequence_number]
        after_a_use = used is not None and slot.position > used
        hides_another = names[register.name] > 1 and slot.position != moved.position
        if after_a_use or hides_another:
            what = (
                f"'{register.name}' is declared between instructions and cannot trade places with "
                f"'{slot.register.name}' without changing what it means"
            )
            place = kernel.source, moved.declaration.start, moved.declaration.end
            raise error("E301", what, *place, help="move the declarations of the block to its head")
