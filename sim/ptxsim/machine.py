"""`Machine`: several kernels in a row on one GPU, with memory, caches and open DRAM rows kept between them.

    machine = ptxsim.Machine("tesla-c2050", scheduler="gto")
    machine.launch(first, grid, block, [a, b, n])
    machine.launch(second, grid, block, [b, c, n])
    print(machine.totals)

An array is the same buffer in every launch; `timing/machine_state.py` lists what else is kept. `run` executes a kernel
without time on the same memory: a quick way to the launch of interest. `totals` are sums, as GPGPU-Sim's `gpu_tot_*`.

For programs that allocate memory and pass pointers there are `heap` (memory by address), `load` (modules, with
variables by name and parameter layouts) and launches with `parameters`, the bytes that a program hands over:

    address = machine.heap.malloc(4096)
    kernel = machine.load(text).kernels["k"]
    machine.run(kernel, grid, block, parameters=struct.pack("<QI", address, 1024))

Kernels on streams run at the same time (streams.py): `stream` makes one, `synchronize` runs what waits on all of them.
`launch` and `run` are the stream that waits for all others and that all others wait for.

Not handled: anything after a launch that was stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from weakref import finalize

from ptxsim.base.options import Extent, RawParameters
from ptxsim.launch_options import LaunchOptions, MachineKeywords, RunKeywords, options_of
from ptxsim.loaded_modules import LoadedKernel, LoadedModule, load_module
from ptxsim.memory_image.heap import MEMORY_BYTES, Heap
from ptxsim.memory_image.texture_handles import KeptTextures
from ptxsim.memory_image.texture_objects import TextureObject
from ptxsim.streams import Stream, WaitingLaunches
from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.ir.nodes import Function, Module
from ptxtool.results.concurrency import ConcurrentResult
from ptxtool.results.simulation import SimResult, Totals

if TYPE_CHECKING:
    from ptxsim.functional_run import FunctionalResult


class Machine:
    """A GPU that keeps its state from launch to launch. `options` are for all launches; each may have its own."""

    def __init__(
        self,
        gpu: str | Path | Gpu | None = None,
        *,
        memory: Any = None,
        options: LaunchOptions | None = None,
        **changes: Unpack[MachineKeywords],
    ):
        """The GPU is the options' by default. `memory` is that of the heap: a number of bytes, or a writable buffer of
        whole pages whose contents kernels work on, such as an mmap (byte k has address 0x1000_0000 + k). By default
        1 GiB of private memory, at the first use of `heap` or `load`. Raises E401 and E402."""
        chosen = options_of("launch", options, changes)
        self.gpu = machine_of(chosen.gpu if gpu is None else gpu)
        self.options = replace(chosen, gpu=self.gpu)
        self.results: list[SimResult] = []
        """Of every launch with time, in order; of launches on streams one for each run of them."""
        self.concurrent_results: list[ConcurrentResult] = []
        """Of every run of launches on streams, in order."""
        self._waiting = WaitingLaunches()
        self._n_streams = self._on_streams = 0
        self._state = MachineState(self.gpu)
        finalize(self, self._state.recycle).atexit = False
        self._cycles = 0
        self._memory = MEMORY_BYTES if memory is None else memory
        if memory is not None:
            self._state.device.open(memory)

    @property
    def heap(self) -> Heap:
        """Memory by address: `malloc`, `free`, `read`, `write`, `fill`, `view`."""
        return self._state.device.open(self._memory)

    def load(
        self, module: Module | str | bytes, name: str = "", *, like: LoadedModule | None = None
    ) -> LoadedModule:
        """Load a module, or the text of one: its variables have addresses, and their initial values. `name` is what
        diagnostics call it. `like` is a loaded module of which this is another text, such as a rewritten one: both have
        the same variables, which keep their contents.

        Raises what parsing raises; E401 for variables that are not those of `like`, E402 where there is no room, E206
        for an invalid initial value.
        """
        return load_module(module, name, self._state.device, self.heap, like)

    def texture(self, value: TextureObject) -> int:
        """The handle of a texture, sampler or surface, valid until it is freed: a number for parameters, structures and
        memory. Its array may be a view of the heap. Raises E401."""
        device = self._state.device
        if device.textures is None:
            device.textures = KeptTextures()
        return device.textures.add(value)

    def free_texture(self, handle: int) -> None:
        """Free a handle. Raises E401 for a number that is none."""
        (self._state.device.textures or KeptTextures()).remove(handle)

    def launch(
        self,
        kernel: Function | LoadedKernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        parameters: bytes | None = None,
        options: LaunchOptions | None = None,
        **changes: Unpack[MachineKeywords],
    ) -> SimResult:
        """Run a kernel as `ptxsim.launch` does, after the earlier ones; the counters are those of this launch alone.

        `parameters` are the bytes of all parameters, instead of `args`: laid out as `LoadedKernel.parameters` says.
        Among `args` a number may be an address of the heap. `options` replace the machine's, keyword arguments single
        ones. What waits on streams runs before. Raises what `ptxsim.launch` raises, E401 for another GPU, and E401
        after a launch that was stopped or ended with an error.
        """
        from ptxsim.launcher import timed_launch

        function, passed, chosen = self._prepared(kernel, args, parameters, options, changes)
        self.synchronize()
        result = timed_launch(function, grid, block, passed, chosen, self._state)
        self.results.append(result)
        self._cycles += result.cycles
        return result

    def _prepared(
        self,
        kernel: Function | LoadedKernel,
        args: Sequence[Any],
        parameters: bytes | None,
        options: LaunchOptions | None,
        changes: Mapping[str, Any],
    ) -> tuple[Function, Sequence[Any], LaunchOptions]:
        """The kernel, the arguments and the options of a launch with time. Raises E401."""
        chosen = options_of("launch", options or self.options, changes)
        if "gpu" in changes or chosen.gpu not in (self.gpu, DEFAULT_GPU):
            help = 'give it to the machine: Machine("NAME")'
            raise error("E401", "a GPU for one launch of a machine", help=help)
        if chosen.gpu is not self.gpu:
            chosen = replace(chosen, gpu=self.gpu)
        function, chosen = self._function(kernel, chosen)
        return function, _passed(args, parameters), chosen

    def stream(self, number: int | None = None) -> Stream:
        """A new stream: what is launched on it runs, in order, when the machine synchronizes. `number` is what results
        call it; by default streams are counted from 1."""
        self._n_streams += 1
        return Stream(self._n_streams if number is None else number, self._waiting, self._prepared)

    def synchronize(self) -> ConcurrentResult | None:
        """Run the launches that wait on streams, at the same time where nothing orders them, and return their result;
        None if none waits.

        CTA dispatch chooses among them as the GPU file's `dispatch.kernels` says. Raises what `launch` raises, and E502
        for a launch that can only be simulated alone (with sharing, a register scheme, clusters, ...). No launch waits
        after an error.
        """
        waiting = self._waiting.take()
        if not waiting:
            return None
        from ptxsim.concurrent_launcher import concurrent_launch

        result = concurrent_launch(waiting, self._state)
        self.concurrent_results.append(result)
        self.results.append(result.whole)
        self._on_streams += len(waiting) - 1
        self._cycles += result.cycles
        return result

    def run(
        self,
        kernel: Function | LoadedKernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        parameters: bytes | None = None,
        options: LaunchOptions | None = None,
        **changes: Unpack[RunKeywords],
    ) -> "FunctionalResult":
        """Run a kernel without time, as `ptxsim.run` does: memory changes; caches, cycles and totals do not.

        `args` and `parameters` are those of `launch`.
        """
        from ptxsim.functional_run import functional_launch

        self.synchronize()
        function, chosen = self._function(kernel, options_of("run", options, changes))
        return functional_launch(function, grid, block, _passed(args, parameters), chosen, self._state)

    def _function(
        self, kernel: Function | LoadedKernel, options: LaunchOptions
    ) -> tuple[Function, LaunchOptions]:
        """The kernel itself, and the options with its module's textures. Raises E401 for another machine's kernel."""
        if not isinstance(kernel, LoadedKernel):
            return kernel, options
        if not kernel.module.is_on(self._state.device):
            help = "load the module on this machine"
            raise error("E401", f"kernel '{kernel.name}' is loaded on another machine", help=help)
        if kernel.module.textures:
            options = replace(options, textures={**kernel.module.textures, **(options.textures or {})})
        return kernel.function, options

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
    def clock(self) -> float:
        """Simulated seconds so far: the cycles of all launches with time. Launches without time take none."""
        return self._cycles / (1e6 * self.gpu.clocks.core_mhz)

    @property
    def totals(self) -> Totals:
        """The sums over all launches with time."""
        totals = Totals.of(self.results)
        return replace(totals, launches=totals.launches + self._on_streams)


def _passed(args: Sequence[Any], parameters: bytes | None) -> Sequence[Any]:
    """The arguments of a launch, or its raw parameters. Raises E401 for both, and for what is no bytes."""
    if parameters is None:
        return args
    if len(args):
        raise error("E401", "both arguments and raw parameters", help="give 'args' or 'parameters'")
    if not isinstance(parameters, bytes | bytearray | memoryview):
        what = f"parameters are of type {type(parameters).__name__}"
        raise error("E401", what, help="give bytes, such as struct.pack(...) returns")
    return RawParameters(parameters)
