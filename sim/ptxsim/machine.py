"""`Machine`: several kernels in a row on one GPU, with memory, caches and open DRAM rows kept between them.

    machine = ptxsim.Machine("tesla-c2050", scheduler="gto")
    machine.launch(first, grid, block, [a, b, n])
    machine.launch(second, grid, block, [b, c, n])
    print(machine.totals)

An array is the same buffer in every launch; `timing/machine_state.py` lists what else is kept. `run` executes a kernel
without time on the same memory: a quick way to the launch of interest. `totals` are sums, as GPGPU-Sim's `gpu_tot_*`.

Not handled: kernels that run at the same time; anything after a launch that was stopped.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ptxsim.base.options import Extent
from ptxsim.functional_run import FunctionalResult, functional_launch
from ptxsim.launch_options import LaunchOptions, MachineKeywords, RunKeywords, options_of
from ptxsim.launcher import timed_launch
from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SimResult, Totals


class Machine:
    """A GPU that keeps its state from launch to launch. `options` are for all launches; each may have its own."""

    def __init__(
        self,
        gpu: str | Path | Gpu | None = None,
        *,
        options: LaunchOptions | None = None,
        **changes: Unpack[MachineKeywords],
    ):
        """The GPU is the options' by default."""
        chosen = options_of("launch", options, changes)
        self.gpu = machine_of(chosen.gpu if gpu is None else gpu)
        self.options = replace(chosen, gpu=self.gpu)
        self.results: list[SimResult] = []
        """Of every launch with time, in order."""
        self._state = MachineState(self.gpu)

    def launch(
        self,
        kernel: Function,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        options: LaunchOptions | None = None,
        **changes: Unpack[MachineKeywords],
    ) -> SimResult:
        """Run a kernel as `ptxsim.launch` does, after the earlier ones; the counters are those of this launch alone.

        `options` replace the machine's, keyword arguments single ones. Raises what `ptxsim.launch` raises, E401 for
        another GPU, and E401 after a launch that was stopped or ended with an error.
        """
        chosen = options_of("launch", options or self.options, changes)
        if "gpu" in changes or chosen.gpu not in (self.gpu, DEFAULT_GPU):
            help = 'give it to the machine: Machine("NAME")'
            raise error("E401", "a GPU for one launch of a machine", help=help)
        if chosen.gpu is not self.gpu:
            chosen = replace(chosen, gpu=self.gpu)
        result = timed_launch(kernel, grid, block, args, chosen, self._state)
        self.results.append(result)
        return result

    def run(
        self,
        kernel: Function,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        options: LaunchOptions | None = None,
        **changes: Unpack[RunKeywords],
    ) -> FunctionalResult:
        """Run a kernel without time, as `ptxsim.run` does: memory changes; caches, cycles and totals do not."""
        return functional_launch(kernel, grid, block, args, options_of("run", options, changes), self._state)

    def copy(self, *arrays: Any) -> None:
        """Model copies between host and device, in either direction: their effect on caches, if the GPU file has it.

        Contents need no copying: a launch reads the arrays as they are and leaves its results in them. An array that
        is new or was changed counts as a copy to the device by itself.
        """
        for array in arrays:
            if not hasattr(array, "__array_interface__"):
                raise error("E401", f"a copy of {type(array).__name__}", help="give numpy arrays")
        self._state.device.copy(arrays)

    def free(self, *arrays: Any) -> None:
        """Free the memory of buffers. Raises E401 for an array that is not a buffer of this machine."""
        self._state.device.free(arrays)

    @property
    def totals(self) -> Totals:
        """The sums over all launches with time."""
        return Totals.of(self.results)
