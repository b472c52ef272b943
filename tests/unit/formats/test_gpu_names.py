"""The names of the packaged machines."""

from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu_names import DEFAULT_GPU, gpu_names


def test_names_are_those_of_the_files_in_order() -> None:
    names = gpu_names()
    assert DEFAULT_GPU in names
    assert list(names) == sorted(set(names))
    assert all((resource_dir("gpus") / f"{name}.toml").is_file() for name in names)
