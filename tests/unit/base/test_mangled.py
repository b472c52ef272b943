"""Names in the source of mangled symbols, by the Itanium C++ ABI."""

import pytest

from ptxtool.base.mangled import source_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("softmax", "softmax"),
        ("_Z5scalePff", "scale"),
        ("_Z5scaleIfEvPT_f", "scale"),
        ("_ZL5scalePf", "scale"),
        ("_ZN3lib5scaleILi4EEvPf", "lib::scale"),
        ("_ZN12_GLOBAL__N_15scaleEPf", "scale"),
        ("_Z11scale_10x10Pf", "scale_10x10"),
        # no plain names: an operator, cut off, nothing
        ("_ZplRK1AS1_", "_ZplRK1AS1_"),
        ("_Z9scale", "_Z9scale"),
        ("_ZN", "_ZN"),
        ("_Z", "_Z"),
    ],
)
def test_source_name(symbol: str, name: str) -> None:
    assert source_name(symbol) == name
