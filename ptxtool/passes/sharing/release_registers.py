"""release-registers: marks where a warp has touched its shared registers for the last time.

Under register sharing a warp that touches a register beyond the private ones holds the lock of its pair until it exits;
its partner waits. `.pragma "release_registers";` releases the lock as soon as no path that any lane of the warp may
still take touches such a register. The marks of an earlier run are deleted first: run the pass last, as a pass that
moves declarations or registers moves the shared part too.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100). The default of `registers` is the count of
a run whose launch names none: the most live at once in PTX, declared general registers in PTXPlus. A call of a function
touches shared registers: the callee's registers have higher numbers than the kernel's.

Pre: a module without errors. Post: the marks stand at the earliest points per warp
(`ptxtool.analysis.sharing.release_points`); nothing else has changed and every mark holds (checked by
`ptxtool.validate.marks`). Idempotent. Not handled: results of loads that no instruction reads; they must arrive
before the partner takes the lock. Reference: the future work of V. Jatala, J. Anantpur, A. Karkare, Improving GPU
performance through resource sharing, HPDC 2016; early release by last use as in S. Jeon et al., GPU register file
virtualization, MICRO 2015.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ptxtool.analysis.sharing.shared_registers import private_registers, touches_shared_registers
from ptxtool.ir.marks import REGISTERS
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult
from ptxtool.passes.sharing.marks import ReleasePass
from ptxtool.passes.sharing.share import Registers, virtual_remark


@dataclass(frozen=True)
class ReleaseRegisters(ReleasePass):
    """Mark where a warp has touched its shared registers for the last time."""

    registers: Registers = 0
    name: ClassVar[str] = "release-registers"
    mark: ClassVar[str] = REGISTERS
    in_use: ClassVar[str] = "shared registers are in use to the end"
    unused: ClassVar[str] = "no shared register is used"

    def touches(self, kernel: Function) -> Sequence[bool]:
        return touches_shared_registers(kernel, private_registers(kernel, self.percent, self.registers))

    def run(self, module: Module) -> PassResult:
        result = super().run(module)
        kernels = module.kernels.values()
        virtual = [r for k in kernels for r in virtual_remark(self.name, k, self.percent, self.registers)]
        return replace(result, remarks=(*result.remarks, *virtual))
