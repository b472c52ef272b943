"""`Machine`: several kernels in a row on one GPU, with memory, caches and open DRAM rows kept between them.

    machine = ptxsim.Machine("tesla-c2050", scheduler="gto")
    machine.launch(first, grid, block, [a, b, n])
    machine.launch(second, grid, block, [b, c, n])
    print(machine.totals)

An array is the same buffer in every launch; `between.py` says what else is kept. `run` executes a kernel without time
on the same memory: a way to the launch that is to be looked at. `totals` are sums, as GPGPU-Sim's `gpu_tot_*`.

Not handled: kernels that run at the same time; anything after a launch that was stopped.
"""

from pathlib import Path
from typing import Any

from ptxsim.base.options import Extent
from ptxsim.functional_run import FunctionalResult, run
from ptxsim.launcher import launch
from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SimResult, Totals


class Machine:
    """A GPU that remembers. `options` are those of `ptxsim.launch` for all launches; each may have its own."""

    def __init__(self, gpu: str | Path | Gpu = DEFAULT_GPU, **options: Any):
        self.gpu = machine_of(gpu)
        self.options = options
        self.results: list[SimResult] = []
        """Of every launch with time, in order."""
        self._state = MachineState(self.gpu)

    def launch(
        self, kernel: Function, grid: Extent, block: Extent, args: Any = (), **options: Any
    ) -> SimResult:
        """Run a kernel as `ptxsim.launch` does, behind what ran before; its counters are those of this launch alone.

        Raises what `ptxsim.launch` raises, and E401 behind a launch that was stopped or ended with an error.
        """
        if "gpu" in options:
            raise error(
                "E401", "a GPU for one launch of a machine", help='give it to the machine: Machine("NAME")'
            )
        merged = {**self.options, **options}
        result = launch(kernel, grid, block, args, gpu=self.gpu, _state=self._state, **merged)
        self.results.append(result)
        return result

    def run(
        self, kernel: Function, grid: Extent, block: Extent, args: Any = (), **options: Any
    ) -> FunctionalResult:
        """Run a kernel without time, as `ptxsim.run` does: memory changes; caches, cycles and totals do not."""
        return run(kernel, grid, block, args, _state=self._state, **options)

    def copy(self, *arrays: Any) -> None:
        """Copies between host and device, in either direction: what they do to caches, where the GPU file has that.

        Contents need no copying: before a launch the machine has what the arrays hold, and afterwards the other way
        round. An array that is new or was changed counts as a copy to the device by itself.
        """
        for array in arrays:
            if not hasattr(array, "__array_interface__"):
                raise error("E401", f"a copy of {type(array).__name__}", help="give numpy arrays")
        self._state.device.copy(arrays)

    def free(self, *arrays: Any) -> None:
        """Forget buffers, which may make room for others. Raises E401 for an array that is none."""
        self._state.device.free(arrays)

    @property
    def totals(self) -> Totals:
        """All launches with time together."""
        return Totals.of(self.results)
