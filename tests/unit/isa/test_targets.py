"""PTX versions and targets: which exist, and which target has what another introduced."""

import pytest

from ptxtool.isa.targets import NEWEST, exists, first_version, has, is_newer, is_older


@pytest.mark.parametrize(
    ("version", "is_one"),
    [
        ((1, 5), True),
        ((1, 6), False),
        ((5, 1), True),
        ((5, 2), False),
        ((7, 8), True),
        ((7, 9), False),
        ((0, 9), False),
        ((9, 1), True),
        ((9, 6), True),  # newer than what we know
    ],
)
def test_versions_between_releases_do_not_exist(version: tuple[int, int], is_one: bool) -> None:
    assert exists(version) is is_one


def test_a_virtual_architecture_came_with_its_target() -> None:
    assert first_version("sm_90a") == first_version("compute_90a") == (8, 0)
    assert first_version("sm_91") is None


@pytest.mark.parametrize(
    ("target", "wanted", "is_there"),
    [
        ("sm_80", "80", True),
        ("sm_75", "80", False),
        ("sm_90a", "80", True),
        ("sm_90a", "90a", True),
        ("sm_90", "90a", False),
        ("sm_100a", "90a", False),  # of one architecture alone
        ("sm_100f", "100f", True),
        ("sm_103a", "100f", True),
        ("sm_103", "100f", False),  # a plain target has nothing of a family
        ("sm_100f", "103f", False),
        ("sm_110f", "100f", False),  # another family
        ("debug", "10", False),
    ],
)
def test_what_a_target_has(target: str, wanted: str, is_there: bool) -> None:
    assert has(target, wanted) is is_there


@pytest.mark.parametrize(
    ("target", "other", "older"),
    [
        ("sm_20", "sm_90a", True),
        ("sm_90", "sm_100", True),
        ("sm_90", "sm_90a", False),
        ("sm_90", "compute_80", False),
        ("", "sm_90", False),
        ("sm_20", "", False),
    ],
)
def test_which_gpu_is_older(target: str, other: str, older: bool) -> None:
    assert is_older(target, other) is older


def test_newer_than_the_table() -> None:
    major, minor = NEWEST
    assert not is_newer(NEWEST)
    assert not is_newer((major - 1, minor + 9))
    assert is_newer((major, minor + 1))
    assert is_newer((major + 1, 0))
