"""A run of an application of the sharing papers under a scheme, as a sweep takes it."""

from ptxtool.formats.files import find_input, launch_beside
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.results.sweeps import Configuration
from ptxtool.runs.schemes import Scheme
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited


def configuration(
    chosen: Paper,
    application: Application | Unlimited,
    scheme: Scheme,
    launch_name: str,
    kernel_name: str = "",
) -> Configuration:
    """The run of a scheme, with the papers' registers per thread or else the launch file's. `launch_name` and
    `kernel_name` are files in the sample's folder, "" those that go with it.

    Without `kernel_name` the loads of an application that has `loads_first` are put first. Raises E501.
    """
    usual = find_input(application.sample)
    kernel = usual.with_name(kernel_name) if kernel_name else usual
    launch = kernel.with_name(launch_name) if launch_name else launch_beside(kernel)
    of_launch = None if launch is None else load_launch(launch).registers
    count = application.loads_first if isinstance(application, Application) and not kernel_name else 0
    registers = count or application.registers or of_launch
    lowering = f"hoist-loads:registers={count},lower-ptxplus:regs={count}" if count else ""
    if count:
        kernel = kernel.with_suffix(".ptx")
    return Configuration(
        kernel if kernel_name or count else application.sample,
        launch=launch,
        label=f"{application.name}/{scheme.name}",
        gpu=chosen.gpu,
        settings=scheme.settings,
        scheduler=str(scheme.scheduler),
        passes=",".join(filter(None, (lowering, scheme.pipeline(registers)))),
        registers=registers if count or registers != of_launch else None,
        scheme=scheme.name,
        name=application.name,
        **scheme.options,
    )
