"""Our kernels that stand for FineReg's applications, with the sizes that say how many of their CTAs an SM holds."""

from dataclasses import dataclass
from pathlib import Path

from ptxtool.analysis.occupancy.occupancy import Occupancy, occupancy
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.formats.files import find_input, launch_beside, read_input
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.parse import parse
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.finereg.paper import Application, Paper


@dataclass(frozen=True)
class StandIn:
    """A kernel of ours: its files, the CTAs of its grid, and its occupancy of an SM of the paper's machine.

    `file` is PTX where a sample has it, since passes that divide registers take no PTXPlus.
    """

    application: Application
    sample: str
    file: Path
    launch: Path
    n_ctas: int
    occupancy: Occupancy

    @property
    def slots(self) -> int:
        """CTAs that an SM holds without a scheme."""
        return self.occupancy.resident_ctas

    @property
    def is_ptxplus(self) -> bool:
        return self.file.suffix == ".ptxplus"

    @property
    def warps(self) -> int:
        """Of a CTA."""
        return self.occupancy.needs.padded_threads // 32

    @property
    def bytes(self) -> int:
        """Registers and scratchpad of a CTA."""
        return 4 * self.occupancy.needs.registers + self.occupancy.needs.scratchpad


def stand_ins(paper: Paper, gpu: Gpu, kernel_named: KernelNamed) -> tuple[StandIn, ...]:
    """The kernels of all applications, in the paper's order. Raises E501 where a file is missing."""
    return tuple(
        stand_in(each, name, gpu, kernel_named) for each in paper.application for name in each.samples
    )


def stand_in(application: Application, sample: str, gpu: Gpu, kernel_named: KernelNamed) -> StandIn:
    """A kernel by the name of its sample, or of a file. Raises E501 where a file is missing."""
    from ptxsim.lowering.variable_layout import lay_out

    file = find_input(sample)
    if file.with_suffix(".ptx").exists():
        file = file.with_suffix(".ptx")
    beside = launch_beside(file) or file.with_name("launch.toml")
    path = file.with_name(application.launch) if application.launch else beside
    launch = load_launch(path)
    name, text = read_input(file)
    kernel = kernel_named(parse(text, name), launch.kernel)
    found = occupancy(
        gpu,
        launch.threads,
        launch.registers or registers_per_thread(kernel),
        lay_out(kernel).static_shared_bytes + launch.dynamic_shared,
    )
    x, y, z = launch.grid
    return StandIn(application, sample, file, path, x * y * z, found)
