"""Expressions of launch files: what they compute, and what they refuse."""

import numpy as np
import pytest

from ptxtool.formats.expression import ExpressionError, compile_expression

A = np.arange(6, dtype=np.float32).reshape(2, 3)
NAMES = {"a": A, "n": np.int32(2), "s": np.float32(0.5)}


def value(text: str) -> object:
    return compile_expression(text, set(NAMES)).evaluate(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + s", A + np.float32(0.5)),
        ("a @ a.T", [[5, 14], [14, 50]]),
        ("2 * a[1, ::-1]", [10, 8, 6]),
        ("a[:, None, 1]", [[1], [4]]),
        ("a.sum(axis=0)", [3, 5, 7]),
        ("np.pad(a, 1, mode='edge')[0]", [0, 0, 1, 2, 2]),
        ("np.where(a > 2, a, -a)[0]", [0, -1, -2]),
        ("1 < a[0] <= 2", [False, False, True]),
        ("n ** 3 // 3", 2),
        ("-n if n > 1 else n", -2),
        ("~n ^ (n << 2) | 1", (~2 ^ 8) | 1),
        ("np.array([n, 3])", [2, 3]),
        ("a.shape[0] * a.shape[1]", 6),
        ("a.astype(np.int32) % 2 == 0", [[True, False, True], [False, True, False]]),
    ],
)
def test_values(text: str, expected: object) -> None:
    np.testing.assert_array_equal(value(text), expected)


def test_single_precision_stays_single() -> None:
    result = value("2.5 * a + s")
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float32


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("b + 1", "unknown name 'b'", "names are"),
        ("np.pda(a, 1)", "'np.pda' cannot be used", "did you mean 'pad'?"),
        ("np.load('x')", "'np.load' cannot be used", ""),
        ("a.tofile('x')", "'.tofile' cannot be used", ""),
        ("a.__class__", "'.__class__' cannot be used", ""),
        ("__import__('os')", "unknown name '__import__'", ""),
        ("[x for x in a]", "'listcomp' cannot be used", ""),
        ("(lambda: 1)()", "'lambda' cannot be used", ""),
        ("np.add(*a)", "'starred' cannot be used", ""),
        ("np.add(**a)", "'**' cannot be used", ""),
        ("f'{a}'", "'joinedstr' cannot be used", ""),
        ("a(1)", "'a' cannot be called", ""),
        ("np.pi(1)", "'np.pi' cannot be called", ""),
        ("a.T(1)", "'a.T' cannot be called", ""),
        ("a := 1", "is no expression", ""),
        ("a +", "is no expression", ""),
        ("b'x'", "cannot be used", ""),
        ("1j * a", "cannot be used", ""),
        ("np", "unknown name 'np'", ""),
    ],
)
def test_refused_before_anything_is_computed(text: str, message: str, help: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, set(NAMES))
    assert message in str(caught.value)
    assert help in caught.value.help


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a @ a", "cannot be computed"),
        ("a[7]", "cannot be computed"),
        ("9 ** 9 ** 9", "is too large"),
        ("1 << 9 ** 9", "is too large"),
        ("[1] * 10 ** 9", "computes with a list"),
        ("np.zeros(10 ** 14)", "1e+14 elements; at most 268435456 are possible"),
        ("np.array(9, dtype='O') ** 9 ** 9", "computes with objects"),
        ("a.astype('object')", "computes with objects"),
        ("np.array([None, 1])", "gives no numbers"),
        ("np.array(np.sin)", "gives no numbers"),
        ("np.zeros(2, dtype=[('x', 'O')])", "computes with objects"),
        ("np.full(3, 'text')", "gives no numbers"),
        ("np.power([10 ** 30], 10 ** 9)", "is too large"),
        ("(2 ** 127) * (2 ** 127)", "is too large"),
        ("np.arange(30000)[:, None] * np.arange(30000)", "9e+08 elements"),
        ("np.arange(30000)[:, None] < np.arange(30000)", "9e+08 elements"),
        ("np.maximum(np.arange(30000)[:, None], np.arange(30000))", "9e+08 elements"),
        ("a.ravel().repeat(10 ** 10)", "6e+10 elements"),
        ("np.add(a, a, out=a)", "cannot be computed"),
    ],
)
def test_refused_when_computed(text: str, message: str) -> None:
    frozen = A.copy()
    frozen.flags.writeable = False
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, {"a"}).evaluate({"a": frozen})
    assert message in str(caught.value)


def test_nested_too_deeply() -> None:
    with pytest.raises(ExpressionError):
        compile_expression("(" * 5000 + "1" + ")" * 5000, set())
    with pytest.raises(ExpressionError):
        compile_expression("-" * 50000 + "1", set()).evaluate({})
