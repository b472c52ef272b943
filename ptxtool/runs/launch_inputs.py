"""From a launch file to the simulator's arguments: arrays, textures and surfaces, and options that the file sets."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_data import Input
from ptxtool.formats.launch.launch_file import Launch, check_arguments
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.memory_image.fixed_memory import FixedMemory


def prepared(
    kernel: Function, launch: Launch, options: "LaunchOptions | None"
) -> "tuple[list[Any], list[Any], LaunchOptions]":
    """Fresh contents of a single launch, its arguments as the simulator takes them, and the options with the file's
    inputs.

    Raises E401 where the arguments do not fit the kernel, E502 for a list of launches.
    """
    problems = check_arguments(only_one(launch), kernel)
    if problems:
        raise PtxError(problems)
    contents = [i.fresh() for i in launch.contents]
    values = [simulator_value(launch, i, a) for i, a in zip(launch.inputs, contents, strict=False)]
    chosen = with_inputs(options, launch, launch.constants(), textures(launch))
    if launch.is_placed:
        chosen = replace(chosen, memory=_fixed_memory(launch, contents))
    return contents, values, chosen


def _fixed_memory(launch: Launch, contents: list[Any]) -> "FixedMemory":
    """The arrays that have addresses, and where the module lies."""
    from ptxsim.lowering.variable_layout import ModuleBase
    from ptxsim.memory_image.fixed_memory import FixedMemory

    pairs = zip(launch.contents, contents, strict=True)
    blocks = {i.address: array for i, array in pairs if i.address is not None}
    if launch.module is None:
        return FixedMemory(blocks)
    base = ModuleBase(launch.module.variables, launch.module.constants, launch.module.code)
    return FixedMemory(blocks, base, launch.module.constant_memory)


def with_inputs(
    options: "LaunchOptions | None",
    launch: Launch,
    constants: Mapping[str, Any] | None,
    textures: Mapping[str, Any],
) -> "LaunchOptions":
    """The options with what a launch file sets, and the contents of its variables and textures.

    A run with checks reports the accesses that the file tolerates.
    """
    from ptxsim.launch_options import LaunchOptions

    options, limits = options or LaunchOptions(), launch.limits
    if options.check:
        limits.pop("out_of_bounds", None)
    return replace(
        options,
        cluster=launch.cluster or options.cluster,
        dynamic_shared=launch.dynamic_shared,
        constants=constants,
        textures=textures,
        names=[i.name for i in launch.inputs],
        **limits,
    )


def textures(launch: Launch) -> dict[str, Any]:
    """The textures and surfaces of the module, by name. Raises E401 at the launch file's place."""
    return {i.name: simulator_value(launch, i, i.fresh()) for i in launch.texture_inputs}


def simulator_value(launch: Launch, of: Input, value: Any) -> Any:
    """An argument as the simulator takes it: an array that is declared a texture, surface or tensor map becomes one,
    one with an address is that address."""
    if of.address is not None:
        return of.address
    if of.opaque is None:
        return value
    from ptxsim.memory_image.tensor_maps import TensorMap
    from ptxsim.memory_image.texture_objects import Surface, Texture

    classes: dict[str, Any] = {"texture": Texture, "surface": Surface, "tensor_map": TensorMap}
    try:
        return classes[of.opaque.kind](value, **of.opaque.options)
    except PtxError as problem:
        start, end = of.opaque.start, of.opaque.end
        raise PtxError(
            replace(d, source=launch.source, start=start, end=end) for d in problem.diagnostics
        ) from None
