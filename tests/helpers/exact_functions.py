"""Transcendental functions in 60 decimal digits, from their series: what approximate instructions are held against."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache

DIGITS = 60


@cache
def pi() -> Decimal:
    """Machin: pi / 4 = 4 arctan(1/5) - arctan(1/239)."""

    def arctan_of_inverse(n: int) -> Decimal:
        total, term, k = Decimal(0), Decimal(1) / n, 0
        while abs(term) > Decimal(10) ** -(2 * DIGITS):
            total += term / (2 * k + 1) * (-1) ** k
            term /= n * n
            k += 1
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


def _sine(x: Decimal) -> Decimal:
    x = x.remainder_near(2 * pi())
    total = term = x
    k = 1
    while abs(term) > Decimal(10) ** -(2 * DIGITS):
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        total += term
        k += 1
    return total


def _tanh(x: Decimal) -> Decimal:
    up, down = x.exp(), (-x).exp()
    return (up - down) / (up + down)


FUNCTIONS: dict[str, Callable[[Decimal], Decimal]] = {
    "sin": _sine,
    "cos": lambda x: _sine(pi() / 2 - x),
    "ex2": lambda x: (x * Decimal(2).ln()).exp(),
    "lg2": lambda x: x.ln() / Decimal(2).ln(),
    "tanh": _tanh,
    "rsqrt": lambda x: 1 / x.sqrt(),
    "sqrt": lambda x: x.sqrt(),
    "rcp": lambda x: 1 / x,
}


def exact(name: str, x: float) -> Decimal:
    """The value of a function, to `DIGITS` digits and more."""
    with localcontext() as context:
        context.prec = 3 * DIGITS
        return FUNCTIONS[name](Decimal(x))


def error_in_places(value: float, wanted: Decimal, precision: int, lowest: int) -> Decimal:
    """How far a value is from the exact one, in last places of a format of some bits and lowest exponent."""
    with localcontext() as context:
        context.prec = 3 * DIGITS
        size = abs(wanted)
        exponent = lowest
        while Decimal(2) ** (exponent + 1) <= size:
            exponent += 1
        return abs(Decimal(value) - wanted) / Decimal(2) ** (exponent - precision + 1)
