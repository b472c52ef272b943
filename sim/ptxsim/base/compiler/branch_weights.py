"""How often each branch of compiled code is taken, for LLVM to lay out code and to choose registers by.

`branch_weights.json` has what `benchmarks/measure_branches.py` counts in simulations of the samples: for a function its
branches by the line that they stand in, from the function's first line on. `"12/2": [900000, 20]` says that two
branches stand in line 12, and that the first finds its condition true in 900,000 of a million times. A function that
has changed since, by a digest of its lines, is compiled without: that costs speed, never results.

Reference: LLVM branch weight metadata.
"""

import hashlib
import json
import linecache
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import llvmlite.ir as llvm
from numba.core import ir
from numba.core.lowering import Lower

FILE = Path(__file__).with_suffix(".json")
ALL = 1_000_000
DIGEST = "digest"

_lower_block = Lower.lower_block

counters: Any = None
"""Where code that is compiled now counts: an array of int64, two for each of `counted`: condition true, false."""
counted: dict[tuple[str, str, str, int], int] = {}
"""Branches by function, its digest, line and number of branches there, which of these: their places in `counters`."""


def lower_block(lower: Any, block: Any) -> None:
    """`Lower.lower_block`: the branch at a block's end gets its weights, or counts."""
    _lower_block(lower, block)
    if not isinstance(block.terminator, ir.Branch):
        return
    written = lower.func_ir.func_id
    function = f"{written.modname}.{written.func_qualname}"
    if counters is not None:
        key = function, _digest(written.code), *_where(lower, block.terminator)
        _count(lower.builder, counted.setdefault(key, len(counted)))
        return
    lines = _known().get(function, {})
    if lines and lines[DIGEST] == _digest(written.code):
        line, place = _where(lower, block.terminator)
        if line in lines:
            true = lines[line][place]
            lower.builder.block.terminator.set_weights([true + 1, ALL - true + 1])


def _count(builder: Any, place: int) -> None:
    """Count, before the branch at the end of a block, which way it goes."""
    branch, word = builder.block.terminator, llvm.IntType(64)
    builder.position_before(branch)
    true, false = (llvm.Constant(word, counters.ctypes.data + 16 * place + at) for at in (0, 8))
    where = builder.inttoptr(builder.select(branch.operands[0], true, false), word.as_pointer())
    builder.store(builder.add(builder.load(where), llvm.Constant(word, 1)), where)
    builder.position_at_end(builder.block)


def _where(lower: Any, branch: Any) -> tuple[str, int]:
    """The line of a branch with the number of branches that stand there, and which of them it is."""
    ends = [block.terminator for _, block in sorted(lower.blocks.items())]
    beside = [end for end in ends if isinstance(end, ir.Branch) and end.loc.line == branch.loc.line]
    line = branch.loc.line - lower.func_ir.func_id.firstlineno
    return f"{line}/{len(beside)}", next(k for k, end in enumerate(beside) if end is branch)


@cache
def _digest(code: CodeType) -> str:
    last = max(line for _, _, line in code.co_lines() if line)
    text = "".join(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _known() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
