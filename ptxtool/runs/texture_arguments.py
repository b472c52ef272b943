"""What a launch gives to the simulator: arguments, some of them textures and surfaces, and those by name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_data import Input
from ptxtool.formats.launch.launch_file import Launch


def given(launch: Launch, arguments: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as the simulator takes them, and the textures by name. Raises E401 at the launch file's place."""
    values = [made(launch, i, a) for i, a in zip(launch.inputs, arguments, strict=True)]
    return values, {i.name: made(launch, i, i.fresh()) for i in launch.texture_inputs}


def made(launch: Launch, of: Input, value: Any) -> Any:
    """An argument as the simulator takes it: a texture or surface of its array where it is one."""
    if of.opaque is None:
        return value
    from ptxsim.memory_image.texture_objects import Surface, Texture

    classes: dict[str, Any] = {"texture": Texture, "surface": Surface}
    try:
        return classes[of.opaque.kind](value, **of.opaque.options)
    except PtxError as problem:
        start, end = of.opaque.start, of.opaque.end
        raise PtxError(
            replace(d, source=launch.source, start=start, end=end) for d in problem.diagnostics
        ) from None
