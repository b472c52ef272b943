"""release-registers: marks where a warp has touched its shared registers for the last time.

Under register sharing a warp that touches a register beyond the private ones holds the lock of its pair until it exits;
its partner waits. `.pragma "release_registers";` gives the lock back as soon as no path that any lane of the warp may
still take touches such a register. The marks of an earlier run go first: run the pass last, for a pass that moves
declarations or registers moves the shared part too.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100). Where `registers` is not given it is the
count that a run takes where its launch says none: live at once in PTX, declared general registers in PTXPlus. A call of
a function touches shared registers: its own have the numbers behind the kernel's.

Pre: a module without errors. Post: the marks stand at the earliest points per warp
(`ptxtool.analysis.sharing.release_points`); nothing else has changed and every mark holds (checked by
`ptxtool.validate.marks`). Idempotent. Not handled: results of loads that nobody reads; the machine must let them arrive
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
from ptxtool.passes.sharing.marks import release
from ptxtool.passes.sharing.share import Registers, Share, check_options, required_share, virtual_remark


@dataclass(frozen=True)
class ReleaseRegisters:
    """Mark where a warp has touched its shared registers for the last time."""

    share: Share = ""
    registers: Registers = 0
    name: ClassVar[str] = "release-registers"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, registers=self.registers)

    def run(self, module: Module) -> PassResult:
        percent = required_share(self.name, self.share)

        def touches(kernel: Function) -> Sequence[bool]:
            return touches_shared_registers(kernel, private_registers(kernel, percent, self.registers))

        done = release(
            module,
            self.name,
            REGISTERS,
            percent,
            touches,
            in_use="shared registers are in use to the end",
            unused="no shared register is used",
        )
        kernels = module.kernels.values()
        said = [r for k in kernels for r in virtual_remark(self.name, k, percent, self.registers)]
        return replace(done, remarks=(*done.remarks, *said))
