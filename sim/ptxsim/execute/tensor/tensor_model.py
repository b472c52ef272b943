"""How tensor cores add: what is known about products of small floats, by generation.

Products are exact. A group of them is added together with the accumulator in fixed point: the largest exponent decides
the unit, 2^-F of it, and every term is cut to whole units (toward zero); zeros do not count. The exact sum of what is
left is cut to the result's precision (`.f32`) or rounded to the nearest, ties to even (`.f16`), and is the accumulator
of the next group. The number of products of a group, F, and the fraction bits of an `.f32` result depend on the
generation:

    before sm_75   4 products, F = 23        sm_75        4 products, F = 24
    sm_80 to 89    8 (tf32: 4), F = 24       sm_89, fp8   16, F = 13, result 13 bits
    sm_90          16 (tf32: 8), F = 25      sm_90, fp8   32, F = 13, result 13 bits
    from sm_100    16 (tf32: 8), F = 25      from sm_100, 8 bits and less: 32, F = 25

The order within an instruction is that of k; what is too large becomes an infinity. `.f64` is a chain of fused
multiply-adds, integers are exact.

Reference: M. Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021; F. Khattak and M. Mikaitis, "Accurate
models of NVIDIA tensor cores", arXiv 2512.07004, 2025 (measured on V100, A100, Ada, H100, B200; sm_75 after the first).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Accumulation:
    """Products of a group, fraction bits of the unit, fraction bits of an `.f32` result."""

    products: int
    unit_bits: int
    result_bits: int


def accumulation(capability: int, type_name: str) -> Accumulation:
    """How products of a type are added on a machine of a compute capability (75 for `sm_75`)."""
    is_tiny = type_name.startswith("e")
    if capability < 80:
        return Accumulation(4, 23 if capability < 75 else 24, 23)
    if is_tiny and capability < 100:
        return Accumulation(16 if capability < 90 else 32, 13, 13)
    unit_bits = 24 if capability < 90 else 25
    if is_tiny:
        return Accumulation(32, unit_bits, 23)
    products = 8 if capability < 90 else 16
    return Accumulation(products // 2 if type_name == "tf32" else products, unit_bits, 23)
