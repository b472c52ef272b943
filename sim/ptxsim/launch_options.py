"""`LaunchOptions`: what `launch` and `run` take besides the kernel, the grid, the CTA's shape and the arguments.

One frozen value travels from a command, a sweep or a frontend to the simulator; it checks its values when it is
constructed. The `...Keywords` are the same options as keyword arguments of the public functions, for type checkers and
editors: a test holds their names and types to the dataclass.
"""

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ptxsim.base import options as limits
from ptxtool.analysis.occupancy.register_schemes import own_parts, scheme_named
from ptxtool.analysis.occupancy.sharing_plan import Percent, percentage
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_names import DEFAULT_GPU

if TYPE_CHECKING:
    from ptxsim.functional.tracing import Trace
    from ptxsim.memory_image.fixed_memory import FixedMemory
    from ptxsim.observe.timeline import Timeline
    from ptxsim.timing.drive import Progress
    from ptxsim.timing.dynamic_execution import DynamicExecution
    from ptxsim.timing.schedulers import Policy


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """The options of a launch. Raises `PtxError` E401 or E502 for a value that is not possible."""

    # ---- of `launch` and `run`

    dynamic_shared: int = 0
    """Bytes of dynamic shared memory of a CTA."""
    cluster: limits.Extent | None = None
    """CTAs of a cluster in x, y and z; by default what the kernel's `.reqnctapercluster` says, or no clusters."""
    constants: Mapping[str, Any] | None = None
    """Contents of module variables, by name."""
    variables: MutableMapping[str, Any] | None = None
    """Filled after the run with the contents of the module's variables in global memory: arrays of uint8, by name."""
    textures: Mapping[str, Any] | None = None
    """Textures, samplers and surfaces of the module, by name. (Handles among the parameters are arguments.)"""
    memory: "FixedMemory | None" = None
    """Memory at addresses of its own (a recorded launch); arguments that point to it are numbers. Not for a machine,
    which has a heap."""
    names: Sequence[str] = ()
    """What reports call the arguments, one for each; by default the names of the parameters."""
    stack_bytes: int = limits.STACK_BYTES
    """Stack of a thread for recursion, beyond its longest chain of different functions; and as many for `alloca`."""
    heap_bytes: int = limits.HEAP_BYTES
    """The heap of `malloc`."""
    output: Callable[[str], object] | None = None
    """Called with what the kernel prints, piece by piece. All of it is in the result's `printed`."""
    out_of_bounds: Literal["error", "count"] = "error"
    """Global accesses outside of all buffers end the run with E404. "count": those up to 64 KiB before and after the
    memory in use, and those between buffers, are done (what lies there is zero at first) and counted, as the result's
    `out_of_bounds`; on a machine with a heap those in all of the heap's memory."""
    threads: int | Literal["auto"] | None = None
    """Threads that may share the run where that is faster (docs/performance.md); results are the same. "auto": one for
    each CPU, as the command `sim` has it; nothing is compiled for that in a short run. None: that in `run`, one in
    `launch`."""
    ptxplus_semantics: str = "hardware"
    """"gpgpu-sim" gives PTXPlus instructions the meaning they have in GPGPU-Sim (docs/ptxplus-semantics.md)."""

    # ---- of `run`: without time

    check: Collection[str] = ()
    """"memory" (out-of-bounds accesses; the run continues without them), "init" (uninitialised reads of registers,
    of shared and local memory, and of the buffers in `undefined`), "races" (on shared memory, and on global memory
    between CTAs too), "barriers" (reached by a part of a warp only, or not by a warp that ends), or "all". Findings are
    the result's `problems`."""
    undefined: Sequence[Any] = ()
    """Buffers among the arguments, or views of a machine's heap, whose contents are undefined before the launch."""
    max_instructions: int | None = None
    """Warp instructions of a CTA after which the run ends with E408."""
    slice: int | None = None
    """Warp instructions (64 by default) before the next warp of the CTA runs, unless a barrier, or a load or atomic of
    global or shared memory, ends the slice earlier. 1: the warps proceed in step."""
    asynchronous: Literal["early", "late"] = "early"
    """When asynchronous operations complete (`wgmma`, bulk copies): "early", when they are executed, or "late", when
    they are waited for. A program that waits as it should computes the same."""
    trace: "Trace | None" = None
    """Selects instructions; called with each of them as it executes (`ptxsim.Trace`)."""

    # ---- of `launch`: with time

    gpu: str | Path | Gpu = DEFAULT_GPU
    """The name of a packaged machine, the path of a GPU file or of a `gpgpusim.config`, or a machine already read."""
    scheduler: "str | Policy | None" = None
    """`lrr`, `gto`, `old`, `rrr`, `two_level:N`, `static_limit:N`, `owf`, `owf_greedy`, or a policy of your own,
    `FILE.py:FUNCTION` (docs/schedulers.md); by default the machine's."""
    registers: int | None = None
    """Registers per thread used for allocation; by default the kernel's own need."""
    scratchpad: int | None = None
    """Bytes of scratchpad of a CTA used for allocation and for sharing; by default what it has, which in PTXPlus
    includes its parameters. What it can access does not change."""
    share_registers: Percent = 0
    """The percentage of registers that pairs of CTAs share (Jatala et al.), 0 <= P < 100."""
    share_scratchpad: Percent = 0
    """The percentage of scratchpad that pairs of CTAs share. One of the two can be shared."""
    allocate: bool = True
    """Virtual registers are shared by the physical ones that they are assigned, in order of first use. False: as the
    text declares them."""
    dynamic: "bool | str | DynamicExecution" = False
    """Dynamic warp execution of the same authors: memory instructions of non-owner warps are held back. True, options
    as text (`period=500,draws=sticky`), or a `DynamicExecution`. Needs a sharing percentage."""
    scheme: str | None = None
    """The register scheme, such as "finereg" (docs/switching.md), or one of your own, `FILE.py:FUNCTION`
    (docs/schemes.md); by default the machine's."""
    switching: str | None = None
    """Another name for `scheme`."""
    max_cycles: int | None = None
    """Cycles after which the run ends with status "max-cycles"."""
    event_skip: bool = True
    """False steps through every cycle: slower, same results."""
    lock_as_stall: bool = False
    """A warp stopped by a lock counts as Stall instead of Scoreboard."""
    bank_conflicts: bool = True
    """False: operand reads never conflict."""
    hotspots: bool = False
    """Counts where the time goes, by reason and instruction: the result's `hotspots` (docs/hotspots.md)."""
    timeline: "Timeline | str | Path | None" = None
    """A file for Perfetto (`.json`, `.json.gz`), or a `Timeline` (docs/timeline.md)."""
    progress: "Progress | None" = None
    """Called several times a second with a snapshot of the run."""
    on_interrupt: Literal["raise", "return"] = "raise"
    """On Ctrl-C: raise `KeyboardInterrupt`, or return the counters so far with status "interrupted"."""

    def __post_init__(self) -> None:
        limits.whole("dynamic_shared", self.dynamic_shared, 0)
        if self.cluster is not None:
            limits.extent("cluster", self.cluster)
        limits.whole("stack_bytes", self.stack_bytes, 0, limits.MOST_STACK_BYTES)
        limits.whole("heap_bytes", self.heap_bytes, 64, limits.MOST_HEAP_BYTES)
        if self.slice is not None:
            limits.whole("slice", self.slice, 1, limits.MOST_SLICE)
        for name, least in (("registers", 0), ("scratchpad", 0), ("max_cycles", 1), ("max_instructions", 1)):
            if getattr(self, name) is not None:
                limits.whole(name, getattr(self, name), least, limits.MOST_COUNT)
        if self.threads not in (None, "auto"):
            limits.whole("threads", self.threads, 1, limits.MOST_THREADS)
        for name in ("share_registers", "share_scratchpad"):
            if getattr(self, name) != 0:
                percentage(getattr(self, name), name)
        if self.out_of_bounds not in ("error", "count"):
            raise error("E401", f"out_of_bounds = {self.out_of_bounds!r}", help='give "error" or "count"')
        if self.asynchronous not in ("early", "late"):
            raise error("E401", f"asynchronous = {self.asynchronous!r}", help='give "early" or "late"')
        if self.check and self.out_of_bounds == "count":
            help = 'leave one out: the check "memory" reports such accesses, and the run continues'
            raise error("E401", "out_of_bounds = 'count' together with checks", help=help)
        limits.is_as_gpgpu_sim(self.ptxplus_semantics)
        if self.scheme is not None and self.switching is not None:
            help = "give one of them"
            raise error("E401", "'scheme' and 'switching' are two names for one option", help=help)
        if self.scheme_name is not None and own_parts(self.scheme_name) is None:
            scheme_named(self.scheme_name)

    @property
    def scheme_name(self) -> str | None:
        """The register scheme by either name; None: the machine's."""
        return self.switching if self.scheme is None else self.scheme


class _Keywords(TypedDict, total=False):
    """Options of `launch` and `run` alike."""

    dynamic_shared: int
    cluster: limits.Extent | None
    constants: Mapping[str, Any] | None
    variables: MutableMapping[str, Any] | None
    textures: Mapping[str, Any] | None
    names: Sequence[str]
    stack_bytes: int
    heap_bytes: int
    output: Callable[[str], object] | None
    out_of_bounds: Literal["error", "count"]
    ptxplus_semantics: str


class RunKeywords(_Keywords, total=False):
    """The options of `ptxsim.run`."""

    memory: "FixedMemory | None"
    check: Collection[str]
    undefined: Sequence[Any]
    max_instructions: int | None
    slice: int | None
    threads: int | Literal["auto"] | None
    asynchronous: Literal["early", "late"]
    trace: "Trace | None"


class LadderKeywords(_Keywords, total=False):
    """The options that all schemes of `ptxtool.compare` have in common; which GPU is a parameter of its own."""

    scheduler: "str | Policy | None"
    registers: int | None
    scratchpad: int | None
    allocate: bool
    scheme: str | None
    switching: str | None
    max_cycles: int | None
    event_skip: bool
    lock_as_stall: bool
    bank_conflicts: bool
    hotspots: bool
    timeline: "Timeline | str | Path | None"
    progress: "Progress | None"
    on_interrupt: Literal["raise", "return"]


class PageKeywords(LadderKeywords, total=False):
    """The options of the runs of `ptxtool.page`, where `threads` are those of a CTA."""

    share_registers: Percent
    share_scratchpad: Percent
    dynamic: "bool | str | DynamicExecution"


class MachineKeywords(PageKeywords, total=False):
    """The options of a `ptxsim.Machine` and its launches."""

    threads: int | Literal["auto"] | None


class LaunchKeywords(MachineKeywords, total=False):
    """The options of `ptxsim.launch`."""

    gpu: str | Path | Gpu
    memory: "FixedMemory | None"


_REFUSED = {
    function: [f for f in fields(LaunchOptions) if f.name not in keywords.__optional_keys__]
    for function, keywords in (("launch", LaunchKeywords), ("run", RunKeywords))
}


def options_of(
    function: Literal["launch", "run"], options: LaunchOptions | None, changes: Mapping[str, Any]
) -> LaunchOptions:
    """The options of a call of `ptxsim.launch` or `ptxsim.run`: `options` with the changes of its keyword arguments.

    Raises E401 for an option that only the other function has, and TypeError for a keyword that is no option.
    """
    if options is None:
        chosen = LaunchOptions(**changes)
    else:
        chosen = replace(options, **changes) if changes else options
    for field in _REFUSED[function]:
        if getattr(chosen, field.name) != field.default:
            other = "run" if function == "launch" else "launch"
            help = f"it is an option of ptxsim.{other} (docs/simulator.md)"
            raise error("E401", f"ptxsim.{function} has no option '{field.name}'", help=help)
    return chosen
