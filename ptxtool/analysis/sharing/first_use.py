"""Registers in order of first use: the order that decides which are private under register sharing.

Under register sharing, the registers of a warp with a sequence number up to the private count are its own; the first
instruction that touches another one needs the pair's lock. Declaring registers in order of first use moves that
instruction back as far as a renumbering can.

Order "text" is the paper's: instructions as written, in each the guard first, then the operands from left to right,
destination first. Order "cfg" takes the blocks in reverse post-order, calls followed, then the unreachable ones. Every
named register counts, predicates, the zero register and sinks too: all have sequence numbers. Registers that are never
used come last, in declaration order.

Reference: V. Jatala, J. Anantpur, A. Karkare, "The more we share, the more we have: improving GPU performance through
register sharing", 2015, section 5.2 and figure 7.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args, overload

from ptxtool.cfg.blocks import build
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function
from ptxtool.ir.symbols import Register

Order = Literal["text", "cfg"]


@dataclass(frozen=True)
class Use:
    """The first use of a register; `instruction`, `line` and `text` are None, None and "" if there is none.

    `before` is the sequence number it has, `after` its place in this order, from 1: the one it would have. `kind` is
    its class: "general", "address", "predicate", "zero", "sink"; in PTX "predicate", "16-bit", "32-bit", "64-bit", ...
    """

    name: str
    kind: str
    before: int
    after: int
    instruction: int | None
    line: int | None
    text: str = ""

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {"class" if key == "kind" else key: value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class SharedTouch:
    """The first instruction that touches a register that is not private, and that register."""

    instruction: int
    line: int
    text: str
    register: str
    number: int


@dataclass(frozen=True)
class FirstUse(Sequence[Use]):
    """Every declared register, in order of first use; the never-used ones last, in declaration order."""

    kernel: Function = field(repr=False, compare=False)
    order: str
    uses: tuple[Use, ...]

    @property
    def used(self) -> tuple[Use, ...]:
        """The uses of registers that some instruction touches."""
        return tuple(use for use in self.uses if use.instruction is not None)

    def __len__(self) -> int:
        return len(self.uses)

    @overload
    def __getitem__(self, index: int) -> Use: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Use, ...]: ...
    def __getitem__(self, index: int | slice) -> Use | tuple[Use, ...]:
        return self.uses[index]

    def __iter__(self) -> Iterator[Use]:
        return iter(self.uses)

    def __str__(self) -> str:
        names = max((len(u.name) for u in self.uses), default=0)
        kinds = max((len(u.kind) for u in self.uses), default=0)
        lines = [
            f"{u.name:<{names}}  {u.kind:<{kinds}}  {u.before:>5} -> {u.after:<5}  "
            + (f"line {u.line}: {u.text}" if u.line is not None else "never used")
            for u in self.uses
        ]
        return "\n".join(lines)


def touched_in_order(kernel: Function, instruction: int, step: DefUse) -> tuple[int, ...]:
    """The register indices an instruction touches as they stand in the text: the guard, then the operands."""
    guard = kernel.instructions[instruction].guard
    index = kernel.registers.resolve_index(guard.name, instruction) if guard else -1
    return step.touched if index < 0 else (index, *(k for k in step.touched if k != index))


def first_use(kernel: Function, order: Order = "text") -> FirstUse:
    """The registers in order of first use, with their sequence numbers before and after reordering.

    Order "cfg" raises `PtxError` (E202) on an undeclared label.
    """
    assert order in get_args(Order), order
    registers = kernel.registers
    def_uses = kernel.def_uses
    found: dict[int, int] = {}
    for i in _instructions(kernel, order):
        for k in touched_in_order(kernel, i, def_uses[i]):
            found.setdefault(k, i)
    order_of_use: list[tuple[int, int | None]] = list(found.items())
    order_of_use += [(k, None) for k in range(len(registers)) if k not in found]

    def use(after: int, register: Register, i: int | None) -> Use:
        at = (None, None, "") if i is None else (i, kernel.line(i), kernel.text(i))
        return Use(register.name, register.kind, register.sequence_number, after, *at)

    uses = tuple(use(after, registers[k], i) for after, (k, i) in enumerate(order_of_use, 1))
    return FirstUse(kernel, order, uses)


def _instructions(kernel: Function, order: Order) -> Iterator[int]:
    if order == "text":
        yield from range(len(kernel.instructions))
        return
    cfg = build(kernel, interprocedural=True)
    for block in (*cfg.reverse_postorder, *cfg.unreachable):
        if block != cfg.exit:
            yield from cfg.blocks[block].instructions
