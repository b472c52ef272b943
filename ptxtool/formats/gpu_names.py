"""Names of the packaged machines, and which of them fits a text. In a file of its own, which the commands import
without reading GPU files.
"""

from ptxtool.base.resources import resource_dir
from ptxtool.isa.targets import first_version, is_older

DEFAULT_GPU = "tesla-c2050"
"""The machine of every command and function that is passed none; its file explains every key."""
AUTO = "auto"
"""In place of a name: the machine that fits the text."""
BY_TARGET = {
    "sm_20": "tesla-c2050",
    "sm_52": "gtx-titan-x",
    "sm_61": "gpgpusim42-titanx",
    "sm_70": "v100",
    "sm_75": "rtx2060",
    "sm_80": "a100",
    "sm_86": "rtx3070",
    "sm_89": "rtx4090",
    "sm_90": "h100",
    "sm_100": "b200",
}
"""A machine of each compute capability that there is one of, the oldest first."""


def gpu_names() -> tuple[str, ...]:
    """Names of the GPU files that come with the package."""
    return tuple(sorted(path.stem for path in resource_dir("gpus").glob("*.toml")))


def fitting_gpu(target: str) -> str:
    """The name of the machine for texts of a `.target`: the oldest that is no older, or else the newest.

    A text without a target, or with an unknown one, has `DEFAULT_GPU`.
    """
    if first_version(target) is None:
        return DEFAULT_GPU
    for capability, name in BY_TARGET.items():
        if not is_older(capability, target):
            return name
    return name
