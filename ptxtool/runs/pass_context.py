"""What passes may know of a launch and a machine: `ptxtool.passes.context`, from files that have been read."""

from typing import TYPE_CHECKING

from ptxtool.passes.context import CtaSize, PassContext

if TYPE_CHECKING:
    from ptxtool.analysis.occupancy.occupancy import HasSm
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Module


def pass_context(
    module: "Module", launch: "Launch | None" = None, gpu: "HasSm | None" = None, kernel: str | None = None
) -> PassContext:
    """The machine, and the largest CTAs that the launches have of every kernel they name.

    `kernel` is what a launch file without a name launches; without it that is the module's only one.
    """
    ctas: dict[str, CtaSize] = {}
    only = next(iter(module.kernels)) if len(module.kernels) == 1 else None
    for entry in (launch.steps or (launch,)) if launch else ():
        name = entry.kernel or kernel or only
        if name is not None:
            x, y, z = entry.block
            before = ctas.get(name, CtaSize(0, 0))
            ctas[name] = CtaSize(
                max(before.threads, x * y * z), max(before.dynamic_shared, entry.dynamic_shared)
            )
    return PassContext(gpu, ctas)
