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
from functools import lru_cache

import msgspec

_REGISTER = re.compile(r"\$(?:v|p|r|o)\d+")
_BLOCK_ENDS = frozenset(["bra", "exit", "trap"])
_DESTINATION_FREE = frozenset(["bra", "exit", "nop", "bar", "membar", "st", "callp", "retp", "trap"])


Registers = tuple[str, ...]


class Code(msgspec.Struct, eq=False, gc=False):
    """One PTXPlus instruction."""

    opcode: str
    operands: tuple[str, ...]
    guard: str = ""
    _known: tuple[tuple[str, ...], str, Registers, Registers] | None = None
    """Operands and guard, and what they write and read: found again where they are no longer these."""

    @property
    def base(self) -> str:
        return _base_of(self.opcode)

    def registers(self) -> tuple[Registers, Registers]:
        """The registers it writes, and those it reads, the guard last; a repetition counts."""
        operands, known = self.operands, self._known
        if known is None or known[0] is not operands or known[1] is not self.guard:
            writes: Registers = ()
            if operands and operands[0][-1] != "]" and _base_of(self.opcode) not in _DESTINATION_FREE:
                writes = registers_in(operands[0])
            reads: Registers = ()
            for operand in operands[1:] if writes else operands:
                reads += registers_in(operand)
            if self.guard:
                reads += registers_in(self.guard)
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
        text = f"{self.opcode} {', '.join(self.operands)};" if self.operands else f"{self.opcode};"
        return f"{self.guard} {text}" if self.guard else text


def is_memory(operand: str) -> bool:
    """Whether an operand is a memory access or an address: `s[...]`, `constant0[...]`, `[...]`."""
    return operand.endswith("]")


@lru_cache(maxsize=1 << 14)
def registers_in(operand: str) -> Registers:
    """The registers that an operand names, in order."""
    return tuple(_REGISTER.findall(operand))


@lru_cache(maxsize=1 << 10)
def _base_of(opcode: str) -> str:
    return opcode.partition(".")[0]


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

    def codes(self) -> list[Code]:
        """Its instructions, in order."""
        return [line for line in self.lines if type(line) is Code]

    def blocks(self) -> Iterator[list[Code]]:
        """Its instructions between labels that branches name and instructions that end a block."""
        block: list[Code] = []
        for line in self.lines:
            if isinstance(line, Code):
                block.append(line)
                is_end = _base_of(line.opcode) in _BLOCK_ENDS
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
