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

    The loads of an application that has `loads_first` are put first. A sample's own text is lowered after that, one
    that `kernel_name` names is run in the form that it has. Raises E501.
    """
    usual = find_input(application.sample)
    kernel = usual.with_name(kernel_name) if kernel_name else usual
    launch = kernel.with_name(launch_name) if launch_name else launch_beside(kernel)
    of_launch = None if launch is None else load_launch(launch).registers
    count = application.loads_first if isinstance(application, Application) else 0
    registers = count or application.registers or of_launch
    first = [f"hoist-loads:registers={count}"] if count else []
    if count and not kernel_name:
        kernel = kernel.with_suffix(".ptx")
        first.append(f"lower-ptxplus:regs={count}")
    return Configuration(
        kernel if kernel_name or count else application.sample,
        launch=launch,
        label=f"{application.name}/{scheme.name}",
        gpu=chosen.gpu,
        settings=scheme.settings,
        scheduler=str(scheme.scheduler),
        passes=",".join(filter(None, (*first, scheme.pipeline(registers)))),
        registers=registers if count or registers != of_launch else None,
        scheme=scheme.name,
        name=application.name,
        **scheme.options,
    )
