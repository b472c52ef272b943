"""Approximate functions: never further from the exact value than docs/simulator.md says."""

import random
import re
from decimal import Decimal

import numpy as np
import pytest
from approximations import APPROXIMATIONS, allowed, approximation
from checkout import CHECKOUT
from exact_functions import error_in_places, exact
from reference.interpreter import run_reference

from ptxsim import functional_run as functional
from ptxtool.parse import parse

# format: bits of the word, significand bits, smallest normal exponent, numpy's view
FORMATS = {"f32": (32, 24, -126), "f16": (16, 11, -14), "bf16": (16, 8, -126), "f64": (64, 53, -1022)}
N = 256
CASES = [
    # instruction, function, range of arguments
    ("sin.approx.f32", "sin", (-100.0, 100.0)),
    ("cos.approx.f32", "cos", (-100.0, 100.0)),
    ("sin.approx.f32", "sin", (-1e30, 1e30)),
    ("ex2.approx.f32", "ex2", (-125.0, 127.0)),
    ("ex2.approx.f32", "ex2", (-148.0, -126.0)),
    ("lg2.approx.f32", "lg2", (1e-38, 1e38)),
    ("lg2.approx.f32", "lg2", (0.9, 1.1)),
    ("tanh.approx.f32", "tanh", (-9.0, 9.0)),
    ("rsqrt.approx.f32", "rsqrt", (1e-38, 1e38)),
    ("sqrt.approx.f32", "sqrt", (1e-38, 1e38)),
    ("rcp.approx.f32", "rcp", (-1e38, 1e38)),
    ("ex2.approx.f16", "ex2", (-14.0, 15.0)),
    ("tanh.approx.f16", "tanh", (-4.0, 4.0)),
    ("ex2.approx.ftz.bf16", "ex2", (-120.0, 120.0)),
    ("tanh.approx.bf16", "tanh", (-3.0, 3.0)),
    ("rcp.approx.ftz.f64", "rcp", (-1e300, 1e300)),
    ("rsqrt.approx.f64", "rsqrt", (1e-300, 1e300)),
]


def arguments(low: float, high: float, form: str) -> list[int]:
    """Words of numbers of a format: near both ends of the range and anywhere in it."""
    rng = random.Random(f"{low}{high}{form}")
    bits = FORMATS[form][0]
    numbers = []
    for k in range(N):
        number = rng.uniform(low, high)
        if k % 2 and low < 0 < high:
            number *= 2.0 ** -rng.uniform(0, 10)
        elif k % 2 and low > 0 and high / low > 1e6:
            number = low * (high / low) ** rng.random()
        numbers.append(number)
    if form == "bf16":
        return [int(np.float32(x).view(np.uint32)) >> 16 for x in numbers]
    return [int(np.array(x, f"f{bits // 8}").view(f"u{bits // 8}")) for x in numbers]


def value(word: int, form: str) -> float:
    if form == "bf16":
        return float(np.uint32(word << 16).view(np.float32))
    size = FORMATS[form][0] // 8
    return float(np.array(word, f"u{size}").view(f"f{size}"))


def results(instruction: str, words: list[int], run: object) -> list[int]:
    form = instruction.rpartition(".")[2]
    size = FORMATS[form][0] // 8
    name = {2: "h", 4: "f", 8: "d"}[size]
    text = f""".version 9.0
.target sm_100
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{{
	.reg .b16 %h<2>; .reg .f32 %f<2>; .reg .f64 %d<2>; .reg .b64 %a<4>; .reg .b32 %t;
	ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q]; mov.u32 %t, %tid.x;
	mul.wide.u32 %a2, %t, {size}; add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;
	ld.global.b{8 * size} %{name}0, [%a0]; {instruction} %{name}1, %{name}0; st.global.b{8 * size} [%a1], %{name}1;
	ret;
}}
"""
    source, target = np.array(words, f"u{size}"), np.zeros(N, f"u{size}")
    run(parse(text).kernels["k"], (1,), (N,), [source, target])  # type: ignore[operator]
    return [int(w) for w in target]


@pytest.mark.parametrize("run", [functional.run, run_reference], ids=["compiled", "reference"])
@pytest.mark.parametrize(("instruction", "function", "bounds"), CASES)
def test_error(instruction: str, function: str, bounds: tuple[float, float], run: object) -> None:
    form = instruction.rpartition(".")[2]
    _, precision, lowest = FORMATS[form]
    words = arguments(*bounds, form)
    worst = max(
        error_in_places(value(found, form), exact(function, value(word, form)), precision, lowest)
        for word, found in zip(words, results(instruction, words, run), strict=True)
    )
    found = approximation(instruction)
    assert found is not None
    assert worst <= Decimal(str(found.ours))


def test_the_bounds_stand_in_the_documentation() -> None:
    page = (CHECKOUT / "docs/simulator.md").read_text(encoding="utf-8")
    said = [line for line in page.splitlines() if re.match(r"\| `[a-z0-9.]+\.(approx|full)\.", line)]
    assert said == [a.row for a in APPROXIMATIONS]


def test_hardware_may_be_as_far_as_the_manual_says() -> None:
    """ex2: two last places and half of one here; sin: absolute, more of it for larger arguments, no promise beyond."""
    wave, power = approximation("sin.approx.ftz.f32"), approximation("ex2.approx.f32")
    assert wave is not None
    assert power is not None
    assert approximation("sqrt.rn.f32") is None
    assert allowed(power, np.array([1.5]), [], "f32")[0] == pytest.approx(2.501 * 2.0**-23)
    error = allowed(wave, np.array([0.0, 0.0, 0.0]), [np.array([3.0, 300.0, 400.0])], "f32")
    own = 0.501 * 2.0**-149
    assert error.tolist() == [2.0**-20.5 + own, 2.0**-14.7 + own, np.inf]
