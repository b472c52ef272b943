"""What callers pass to a launch: extents, whole numbers, names of semantics, the kernel and its arguments."""

from typing import Any

import numpy as np
import pytest
from small_lowering import kernel

from ptxsim.base import options as limits
from ptxsim.base.options import check_call, extent, is_as_gpgpu_sim, whole
from ptxtool.base.diag import PtxError


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7, (7, 1, 1)), ((2, 3), (2, 3, 1)), (np.array([2, 3, 4]), (2, 3, 4)), (np.int64(5), (5, 1, 1))],
)
def test_an_extent_has_three_sizes(value: Any, expected: tuple[int, int, int]) -> None:
    assert extent("grid", value) == expected


@pytest.mark.parametrize("value", [0, -1, 1.5, (), (1, 2, 3, 4), (1, 0), "12"])
def test_what_is_no_extent(value: Any) -> None:
    with pytest.raises(PtxError, match="is not one to three positive whole numbers") as caught:
        extent("grid", value)
    assert caught.value.diagnostics[0].code == "E401"


def test_whole_numbers_within_their_limits() -> None:
    whole("n", 3, 3, 3)
    whole("n", np.int32(4), 3)
    for value, message in (
        (2, "n = 2"),
        (4, "n = 4"),
        (True, "n = True"),
        (3.0, "n = 3.0"),
        ("3", "n = '3'"),
    ):
        with pytest.raises(PtxError) as caught:
            whole("n", value, 3, 3)
        assert caught.value.diagnostics[0].message == message


def test_names_of_semantics() -> None:
    assert is_as_gpgpu_sim("gpgpu-sim")
    assert not is_as_gpgpu_sim("hardware")
    with pytest.raises(PtxError, match="did you mean 'hardware'") as caught:
        is_as_gpgpu_sim("hardwear")
    assert caught.value.diagnostics[0].code == "E502"


def test_a_call_has_a_parsed_kernel_and_as_many_names_as_arguments() -> None:
    function = kernel("ret;")
    check_call(function, [1, 2], ["a", "b"])
    check_call(function, [1, 2], [])
    cases: list[tuple[Any, Any, list[str], str]] = [
        (function.module, [], [], "kernel is a whole module"),
        ("k", [], [], "kernel is 'k'"),
        (None, [], [], "kernel is of type NoneType"),
        (function, "ab", [], "args is 'ab'"),
        (function, 5, [], "args is 5"),
        (function, [1, 2], ["a"], "1 names for 2 arguments"),
    ]
    for given, args, names, message in cases:
        with pytest.raises(PtxError) as caught:
            check_call(given, args, names)
        assert caught.value.diagnostics[0].message == message


def test_a_thread_simulates_four_sms_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "available_cpus", lambda: 64)
    assert limits.all_threads() == 32
    assert [limits.simulating_threads(n) for n in (1, 4, 14, 80, 144)] == [1, 1, 3, 20, 32]
    monkeypatch.setattr(limits, "available_cpus", lambda: 2)
    assert (limits.all_threads(), limits.simulating_threads(14)) == (2, 2)
