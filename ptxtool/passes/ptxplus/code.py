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


@dataclass
class Code:
    """One PTXPlus instruction."""

    opcode: str
    operands: tuple[str, ...]
    guard: str = ""

    @property
    def base(self) -> str:
        return self.opcode.partition(".")[0]

    def writes(self) -> tuple[str, ...]:
        """The registers it writes."""
        if not self.operands or self.base in _DESTINATION_FREE or is_memory(self.operands[0]):
            return ()
        return tuple(_REGISTER.findall(self.operands[0]))

    def reads(self) -> tuple[str, ...]:
        """The registers it reads, the guard last; a repetition counts."""
        operands = self.operands[1:] if self.writes() else self.operands
        found = [name for operand in operands for name in _REGISTER.findall(operand)]
        return (*found, *_REGISTER.findall(self.guard))

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
    addresses: dict[str, str] = field(default_factory=dict)
    """What these are called in the final text, once encodings are known."""
    notes: dict[str, int] = field(default_factory=dict)
    """Remarks for the user, with the line in the text that is lowered."""

    def codes(self) -> Iterator[Code]:
        """Its instructions, in order."""
        return (line for line in self.lines if isinstance(line, Code))

    def blocks(self) -> Iterator[list[Code]]:
        """Its instructions between labels that branches name and instructions that end a block."""
        block: list[Code] = []
        for line in self.lines:
            if isinstance(line, Code):
                block.append(line)
            if line.label in self.labels if isinstance(line, BranchTarget) else line.base in _BLOCK_ENDS:
                yield block
                block = []
        yield block

    def drop(self, gone: Iterable[Code]) -> None:
        """Remove instructions, by identity."""
        ids = set(map(id, gone))
        self.lines = [line for line in self.lines if id(line) not in ids]
