"""The size of a result before it is computed: never below that of numpy's, and not far above it."""

import numpy as np
import pytest

from ptxtool.formats.expression import FUNCTIONS
from ptxtool.formats.expression_size import _GROWING, result_elements

A = np.arange(6, dtype=np.float32).reshape(2, 3)

CALLS = [
    ("empty", ((3, 5),), {}),
    ("ones", (7,), {}),
    ("zeros", (), {"shape": [2, 2]}),
    ("full", ((2, 3), 1000), {}),
    ("ones_like", (A,), {"shape": (9, 9)}),
    ("eye", (4, 6), {}),
    ("identity", (5,), {}),
    ("tri", (3,), {"M": 8}),
    ("outer", (A, A), {}),
    ("kron", (A, A), {}),
    ("matmul", (A, A.T), {}),
    ("matmul", (np.ones((4, 2, 3)), np.ones((4, 3, 5))), {}),
    ("dot", (A, A[0]), {}),
    ("broadcast_to", (A, (4, 2, 3)), {}),
    ("diag", (A[0],), {"k": -2}),
    ("arange", (10,), {}),
    ("arange", (1, 2, 0.25), {}),
    ("linspace", (0, 1000), {"num": 11}),
    ("repeat", (A, 3), {}),
    ("tile", (A, (2, 5)), {}),
    ("pad", (A, ((1, 2), (0, 3))), {}),
    ("einsum", ("ij,kj->ik", A, A), {}),
    ("indices", ((2, 3),), {}),
    ("bincount", (np.array([1, 9, 2]),), {}),
    ("bincount", (np.array([1]),), {"minlength": 40}),
    ("add", (A, A[:, :1]), {}),
    ("sort", (A,), {}),
]


@pytest.mark.parametrize(("name", "args", "keywords"), CALLS)
def test_bounds_hold_and_are_close(name: str, args: tuple[object, ...], keywords: dict[str, object]) -> None:
    exact = np.size(getattr(np, name)(*args, **keywords))
    assert exact <= result_elements(name, args, keywords) <= 3 * exact


def test_several_results_count_together() -> None:
    assert result_elements("meshgrid", (A, A), {}) == 72
    assert result_elements("histogram", (A, 100), {}) == 100


def test_every_function_is_one_of_an_expression() -> None:
    assert _GROWING.keys() <= FUNCTIONS


@pytest.mark.parametrize("args", [("x",), (), (None,), (A, "y"), ([[1], [2, 3]],)])
@pytest.mark.parametrize("name", [*_GROWING, "add"])
def test_what_makes_no_sense_is_left_to_numpy(name: str, args: tuple[object, ...]) -> None:
    assert result_elements(name, args, {}) >= 0
