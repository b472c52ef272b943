"""Names of the packaged machines. In a file of its own, which the commands import without reading GPU files."""

from ptxtool.base.resources import resource_dir

DEFAULT_GPU = "tesla-c2050"
"""The machine of every command and function that is passed none; its file explains every key."""


def gpu_names() -> tuple[str, ...]:
    """Names of the GPU files that come with the package."""
    return tuple(sorted(path.stem for path in resource_dir("gpus").glob("*.toml")))
