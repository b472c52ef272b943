"""The names of the packaged machines, and the one that fits a text."""

import itertools

import pytest

from ptxtool import api
from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import BY_TARGET, DEFAULT_GPU, fitting_gpu, gpu_names
from ptxtool.isa.targets import is_older


def test_names_are_those_of_the_files_in_order() -> None:
    names = gpu_names()
    assert DEFAULT_GPU in names
    assert list(names) == sorted(set(names))
    assert all((resource_dir("gpus") / f"{name}.toml").is_file() for name in names)


def test_the_machines_of_targets_have_them_and_come_oldest_first() -> None:
    assert {capability: load_gpu(name).target for capability, name in BY_TARGET.items()} == {
        capability: capability for capability in BY_TARGET
    }
    capabilities = list(BY_TARGET)
    assert all(is_older(a, b) for a, b in itertools.pairwise(capabilities))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("sm_20", "tesla-c2050"),
        ("sm_10", "tesla-c2050"),  # PTX for sm_10 runs on what is newer
        ("sm_35", "gtx-titan-x"),  # no machine of 3.x or 5.0: the next is 5.2
        ("sm_60", "gpgpusim42-titanx"),  # 6.1
        ("sm_70", "v100"),
        ("sm_72", "rtx2060"),
        ("sm_75", "rtx2060"),
        ("compute_80", "a100"),
        ("sm_87", "rtx4090"),
        ("sm_90a", "h100"),
        ("sm_100a", "b200"),
        ("sm_121", "b200"),  # newer than every machine: the newest
        ("", DEFAULT_GPU),
        ("sm_999", DEFAULT_GPU),
    ],
)
def test_the_oldest_machine_that_runs_a_text_fits_it(target: str, expected: str) -> None:
    assert fitting_gpu(target) == api.fitting_gpu(target) == expected
