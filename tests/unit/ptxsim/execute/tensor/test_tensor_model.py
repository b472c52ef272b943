"""How tensor cores add, by generation: the table in the module's docstring, at its borders."""

import pytest

from ptxsim.execute.tensor.tensor_model import Accumulation, accumulation


@pytest.mark.parametrize(
    ("capability", "type_", "products", "unit_bits", "result_bits"),
    [
        (70, "f16", 4, 23, 23),
        (75, "f16", 4, 24, 23),
        (80, "f16", 8, 24, 23),
        (80, "tf32", 4, 24, 23),
        (89, "bf16", 8, 24, 23),
        (89, "e4m3", 16, 13, 13),
        (90, "f16", 16, 25, 23),
        (90, "tf32", 8, 25, 23),
        (90, "e5m2", 32, 13, 13),
        (100, "e5m2", 32, 25, 23),
        (120, "e2m1", 32, 25, 23),
        (100, "bf16", 16, 25, 23),
    ],
)
def test_generations(capability: int, type_: str, products: int, unit_bits: int, result_bits: int) -> None:
    assert accumulation(capability, type_) == Accumulation(products, unit_bits, result_bits)
