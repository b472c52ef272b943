"""Random inputs in the shape of a launch's own: the same buffers, sizes and types with other contents.

For `prove`. Scalars stay, because they are sizes and strides. The elements of a buffer are drawn from the range of its
own contents, so that indices stay valid; a buffer of equal integers, such as locks and counters, stays as it is, and
one of equal floats is drawn from [-1, 1). A structure that is passed by value stays as well.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ptxtool.base.diag import error
from ptxtool.formats.launch.launch_data import Input, Launch


def with_random_inputs(launch: Launch, seed: int, buffers: Collection[str]) -> Launch:
    """The launch with random contents of these buffers, its constants and textures: the same for the same seed.

    Raises E502 for a launch with memory at fixed addresses, whose contents may be pointers.
    """
    if launch.is_placed:
        help = "leave --random out: its own inputs are compared"
        raise error("E502", "random inputs for memory at fixed addresses", launch.source, help=help)
    generator = np.random.default_rng(seed)

    def redrawn(inputs: tuple[Input, ...]) -> tuple[Input, ...]:
        return tuple(
            replace(each, value=random_like(each.value, generator))
            if isinstance(each.value, np.ndarray) and (each.name in buffers or inputs is not launch.inputs)
            else each
            for each in inputs
        )

    return replace(
        launch,
        inputs=redrawn(launch.inputs),
        constant_inputs=redrawn(launch.constant_inputs),
        texture_inputs=redrawn(launch.texture_inputs),
    )


def random_like(value: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A read-only array of the same shape and type with random elements in the range of this one's."""
    made = value
    kind = value.dtype.kind
    if kind in "iu" and value.size:
        low, high = value.min(), value.max()
        if low < high:
            made = generator.integers(low, high, value.shape, value.dtype, endpoint=True)
    elif kind == "f" and value.size:
        finite = value[np.isfinite(value)].astype(np.float64)
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        if low == high:
            low, high = -1.0, 1.0
        with np.errstate(over="ignore"):
            share = generator.random(value.shape)
            made = (low * (1 - share) + high * share).astype(value.dtype)
    made.setflags(write=False)
    return made
