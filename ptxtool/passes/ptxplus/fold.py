"""Loads that become operands: `mov.u32 $v3, s[0x0010]; add.u32 $v4, $v3, $v2;` is `add.u32 $v4, s[0x0010], $v2;`.

An instruction of the machine takes one operand from shared memory, from constant memory or from the words that hold
`%ntid` and `%ctaid`, and then no constant beside it. Folded is a load whose result is read once, further down in
the same basic block, by an instruction that takes it there. Between the two nothing may write shared memory or wait
for other threads (parameters, constants and special registers never change), nor change the address.
"""

import re
from collections import Counter
from functools import cache
from itertools import chain

from ptxtool.passes.ptxplus.code import Code, KernelCode, is_memory

_LOADS = ("mov.u32", "mov.s32", "mov.f32")
_TAKES = re.compile(
    r"(add|sub|mul|mad|min|max|and|or|xor)(\.lo)?(\.rn|\.rz)?\.(u32|s32|b32|f32)"
    r"|set\.\w+\.u32\.(u32|s32|f32)|cvt(\.\w+)?\.(f32|u32|s32)\.(u32|s32|f32)"
)
"""Instructions that read 32 bits and may read them from memory."""
_PAIRS = (("lt", "gt"), ("le", "ge"), ("ltu", "gtu"), ("leu", "geu"))
_MIRRORED = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
_SAME = frozenset({"eq", "ne", "equ", "neu", "num", "nan"})
_SPECIAL = re.compile(r"%\w+\.[xyz]")
_CONSTANT_ADDRESS = re.compile(r"s\[0x([0-9a-f]+)\]")
_FENCES = frozenset(["bar", "membar", "atom", "st"])


def fold(kernel: KernelCode, parameter_end: int) -> None:
    """Fold the loads of a kernel; parameters lie in shared memory up to `parameter_end`."""
    named = [code.registers() for code in kernel.codes()]
    writes = Counter(chain.from_iterable([written for written, _ in named]))
    reads = Counter(chain.from_iterable([read for _, read in named]))
    gone: list[Code] = []
    for block in kernel.blocks():
        waiting: dict[str, Code] = {}  # register -> the load that writes it, still valid
        for code in block:
            if waiting:
                for name in chain(*code.registers()):
                    load = waiting.pop(name, None) if reads[name] == 1 else None
                    if load is not None and name in code.reads() and _take(code, name, load.operands[1]):
                        gone.append(load)
                _forget(waiting, code, parameter_end)
            if (
                code.opcode in _LOADS
                and _is_load(code)
                and writes[code.operands[0]] == reads[code.operands[0]] == 1
            ):
                waiting[code.operands[0]] = code
    kernel.drop(gone)


def _is_load(code: Code) -> bool:
    """Whether one of `_LOADS` is a load."""
    if code.guard or is_memory(code.operands[0]):
        return False
    return is_memory(code.operands[1]) or _SPECIAL.fullmatch(code.operands[1]) is not None


def _forget(waiting: dict[str, Code], line: Code, parameter_end: int) -> None:
    """Drop the loads that cannot move beyond an instruction."""
    changes = line.base in _FENCES or (bool(line.operands) and is_memory(line.operands[0]))
    written = frozenset(line.writes())
    for name, load in [*waiting.items()]:
        is_changed = changes and not _is_fixed(load.operands[1], parameter_end)
        if is_changed or not written.isdisjoint(load.reads()):
            del waiting[name]


def _is_fixed(operand: str, parameter_end: int) -> bool:
    """Whether an operand never changes in the kernel: parameters, constants, special registers."""
    if not operand.startswith("s["):
        return True
    found = _CONSTANT_ADDRESS.fullmatch(operand)
    return found is not None and int(found[1], 16) < parameter_end


def _take(code: Code, name: str, operand: str) -> bool:
    """Replace a register by a memory operand, if the instruction takes one there."""
    sources = list(code.operands[1:])
    if not _takes_memory(code.opcode) or not all(_is_register(s) for s in sources):
        return False
    place = next((k for k, s in enumerate(sources) if s in (name, f"-{name}")), None)
    if place is None:
        return False
    sources[place] = sources[place].replace(name, operand)
    opcode = code.opcode
    # constants come second, everything else first
    wanted = 1 if operand.startswith("c") and len(sources) > 1 else 0
    if place != wanted:
        swapped = _swapped(opcode)
        if place == 2 or swapped is None:
            return False
        opcode = swapped
        sources[0], sources[1] = sources[1], sources[0]
    code.opcode, code.operands = opcode, (code.operands[0], *sources)
    return True


@cache
def _takes_memory(opcode: str) -> bool:
    return _TAKES.fullmatch(opcode) is not None


def _is_register(source: str) -> bool:
    return source.lstrip("-").startswith("$v")


def _swapped(opcode: str) -> str | None:
    """The opcode with its first two sources exchanged, None if that changes the result."""
    base, *words = opcode.split(".")
    if base == "set":
        name = words[0] if words[0] in _SAME else _MIRRORED.get(words[0])
        return ".".join((base, name, *words[1:])) if name else None
    return None if base in ("sub", "cvt") else opcode
