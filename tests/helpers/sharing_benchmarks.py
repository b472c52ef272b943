"""What the samples in `samples/sharing` compute, once more, and how many CTAs of them the papers have on an SM.

Each function takes the arguments and constants of the launch by name, as they were before it, and returns the buffers
that the kernel writes. Where a sample of another shape computes the same, its reference serves both.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import paper_benchmarks
import scratchpad_benchmarks
from resident_ctas import REGISTERS, SCRATCHPAD

Values = Mapping[str, Any]

OF_THE_PAPERS = {
    "conv1": "CONV1",
    "conv2": "CONV2",
    "lib": "LIB",
    "mri-q": "mri-q",
    "sgemm": "sgemm",
    "srad1": "SRAD1",
    "srad2": "SRAD2",
}
"""The papers' names of the samples in `samples/sharing`."""
BY_REGISTERS = tuple(name for name, app in OF_THE_PAPERS.items() if app in REGISTERS)
BY_SCRATCHPAD = tuple(name for name, app in OF_THE_PAPERS.items() if app in SCRATCHPAD)
LAUNCH_FILES = ("launch.toml", "second-grid.toml")


def sgemm(given: Values) -> dict[str, np.ndarray]:
    """Column of C by column."""
    a, b, c = (given[name].astype(np.float64) for name in "abc")
    sums = [sum(a[k] * factor for k, factor in enumerate(column)) for column in b.T]
    return {"c": float(given["alpha"]) * np.array(sums) + float(given["beta"]) * c}


def lib(given: Values) -> dict[str, np.ndarray]:
    """Rate by rate; the derivative by the last initial rate is a central difference."""

    def value(last: float) -> float:
        steps, delta = int(given["n_steps"]), float(given["delta"])
        rates = np.full(int(given["n_rates"]), np.float64(np.float32(0.05)))
        rates[-1] += last
        for step in range(steps):
            drift = 0.0
            for i in range(step + 1, len(rates)):
                sigma = float(given["volatility"][i - step - 1])
                drift += delta * sigma * rates[i] / (1 + delta * rates[i])
                rates[i] *= np.exp(
                    delta * sigma * drift + sigma * np.sqrt(delta) * 0.3 - delta * sigma**2 / 2
                )
        bonds = np.cumprod(1 / (1 + delta * rates[steps:]))
        paid = [
            max(1 - bonds[m - 1] - rate * delta * bonds[:m].sum(), 0)
            for m, rate in zip(given["maturity"], given["swap_rate"].astype(np.float64), strict=True)
        ]
        return 100 * sum(paid) / float(np.prod(1 + delta * rates[:steps]))

    paths = int(given["paths"])
    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    return {"value": np.full(paths, value(0.0)), "derivative": np.full(paths, slope)}


def srad1(given: Values) -> dict[str, np.ndarray]:
    """The rows before and after the image are not part of it."""
    return scratchpad_benchmarks.srad1({**given, "image": given["image"][1:-1]})


def srad2(given: Values) -> dict[str, np.ndarray]:
    """Nor is the row after the coefficients."""
    return scratchpad_benchmarks.srad2({**given, "coefficient": given["coefficient"][:-1]})


REFERENCES: Mapping[str, Callable[[Values], dict[str, np.ndarray]]] = {
    "conv1": scratchpad_benchmarks.conv1,
    "conv2": scratchpad_benchmarks.conv2,
    "lib": lib,
    "mri-q": paper_benchmarks.mri_q,
    "sgemm": sgemm,
    "srad1": srad1,
    "srad2": srad2,
}
