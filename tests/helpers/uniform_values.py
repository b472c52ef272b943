"""Whether uniform registers are equal in all lanes of a warp: a watch over a run of the reference interpreter."""

from collections.abc import Sequence

import numpy as np
from reference.interpreter import Warp

from ptxtool.analysis.flow.uniformity import Uniformity, uniformity
from ptxtool.ir.nodes import Function


class UniformValues:
    """Looks, before each instruction, at every register of which `uniformity` says that the lanes agree.

    `compared` counts the values looked at in warps of several active lanes; `branches` are the branches that had to
    lead all of them the same way. Raises `AssertionError` where lanes disagree.
    """

    def __init__(self) -> None:
        self.compared = 0
        self.branches: set[str] = set()
        self._found: dict[str, Uniformity] = {}
        self._registers: dict[tuple[str, int], Sequence[int]] = {}

    def __call__(self, warp: Warp, i: int) -> None:
        lanes, function, code = warp.active, warp.routine.function, warp.routine.code[i]
        if np.count_nonzero(lanes) < 2:
            return
        if function.name not in self._found:
            self._found[function.name] = uniformity(function)
        registers = self._registers.get((function.name, i))
        if registers is None:
            registers = self._registers[function.name, i] = self.uniform(function, i)
        place = f"{function.name}, line {function.line(i)}: {function.text(i)}"
        for k in registers:
            first, n = warp.routine.operands.rows[k], function.registers[k].vector
            values = warp.registers[first : first + n, lanes]
            assert (values == values[:, :1]).all(), f"{function.registers[k].name} varies: {place}"
        self.compared += len(registers)
        found = self._found[function.name]
        is_split = any(split.instruction == i for split in found.sides.splits)
        if code.guard is not None and is_split and i not in found.divergent:
            assert len({*code.guard(warp)[lanes].tolist()}) == 1, f"diverges: {place}"
            self.branches.add(place)

    def uniform(self, function: Function, i: int) -> Sequence[int]:
        """The registers that are uniform before an instruction, of those that the text names."""
        found = self._found[function.name]
        varying = found.varying_before(i)
        return [k for k in found.registers if k not in varying and k >= 0]
