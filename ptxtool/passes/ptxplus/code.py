"""The instructions that selection emits: PTXPlus over virtual registers, as text with just enough structure.

For the families of `lower-ptxplus` that emit them, `tidy.py` and `fold.py`, which change them, and `layout.py`, which
prints them.
An operand is its text: `$v7`, `0x00000004`, `s[$v3+0x0010]`, `{$v4,$v5}`, `$p0/$o127`. Virtual registers are `$v<K>`
(a general register of 32 bits) and `$p<K>` (a condition code); `$r0` is the packed thread id at entry, `$o127` the
sink.
"""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

_REGISTER = re.compile(r"\$(?:v|p|r|o)\d+")
_BLOCK_ENDS = frozenset(["bra", "exit", "trap"])
_DESTINATION_FREE = ("bra", "exit", "nop", "bar", "membar", "st", "callp", "retp", "trap")


Registers = tuple[str, ...]


@dataclass
class Code:
    """One PTXPlus instruction."""

    opcode: str
    operands: tuple[str, ...]
    guard: str = ""
    _known: tuple[tuple[str, ...], str, Registers, Registers] | None = field(
        default=None, repr=False, compare=False
    )
    """Operands and guard, and what they write and read: found again where they are no longer these."""

    @property
    def base(self) -> str:
        return self.opcode.partition(".")[0]

    def registers(self) -> tuple[Registers, Registers]:
        """The registers it writes, and those it reads, the guard last; a repetition counts."""
        operands, known = self.operands, self._known
        if known is None or known[0] is not operands or known[1] is not self.guard:
            writes: Registers = ()
            if operands and not is_memory(operands[0]) and self.base not in _DESTINATION_FREE:
                writes = tuple(_REGISTER.findall(operands[0]))
            read = " ".join(operands[1:] if writes else operands)
            reads = tuple(_REGISTER.findall(f"{read} {self.guard}"))
            known = self._known = operands, self.guard, writes, reads
        return known[2:]

    def writes(self) -> Registers:
        """The registers it writes."""
        return self.registers()[0]

    def reads(self) -> Registers:
        """The registers it reads, the guard last; a repetition counts."""
        return self.registers()[1]

    def rename(self, old: str, new: str) -> None:
        """Another register in the place of one, wherever it is named."""

        def replaced(text: str) -> str:
            return _REGISTER.sub(lambda hit: new if hit[0] == old else hit[0], text) if old in text else text

        self.operands, self.guard = tuple(map(replaced, self.operands)), replaced(self.guard)

    def __str__(self) -> str:
        guard = f"{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode}{' ' if self.operands else ''}{', '.join(self.operands)};"


def is_memory(operand: str) -> bool:
    """Whether an operand is a memory access or an address: `s[...]`, `constant0[...]`, `[...]`."""
    return operand.endswith("]")


def registers_in(operand: str) -> list[str]:
    """The registers that an operand names, in order."""
    return _REGISTER.findall(operand)


def word(number: int) -> str:
    """A 32-bit immediate as the converter prints it."""
    return f"0x{number & 0xFFFFFFFF:08x}"


@dataclass(frozen=True)
class BranchTarget:
    """A point that branches may name."""

    label: Hashable


@dataclass
class KernelCode:
    """The code of one kernel, and what it declares."""

    name: str
    parameters: tuple[str, ...]  # `.param  .u64 __cudaparm_k_a`
    shared: tuple[str, ...]  # `.shared .align 4 .b8 tile[64];`
    local_bytes: int = 0
    lines: list[Code | BranchTarget] = field(default_factory=list)
    labels: dict[Hashable, str] = field(default_factory=dict)
    """The labels of the points that branches name."""
    notes: dict[str, int] = field(default_factory=dict)
    """Remarks for the user, with the line in the text that is lowered."""

    def codes(self) -> Iterator[Code]:
        """Its instructions, in order."""
        return (line for line in self.lines if type(line) is Code)

    def blocks(self) -> Iterator[list[Code]]:
        """Its instructions between labels that branches name and instructions that end a block."""
        block: list[Code] = []
        for line in self.lines:
            if isinstance(line, Code):
                block.append(line)
                is_end = line.base in _BLOCK_ENDS
            else:
                is_end = line.label in self.labels
            if is_end:
                yield block
                block = []
        yield block

    def drop(self, gone: Iterable[Code]) -> None:
        """Remove instructions, by identity."""
        ids = set(map(id, gone))
        self.lines = [line for line in self.lines if id(line) not in ids]
