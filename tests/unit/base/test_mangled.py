"""C++ names of kernels: how reports show them, and what finds them."""

import pytest

from ptxtool.base.mangled import cpp_name, shown_name, source_name, symbols_of

NBODY4, NBODY8, PLAIN = (
    "_ZN3sim5nbodyIfLi4EEEvP6float4PKS1_",
    "_ZN3sim5nbodyIfLi8EEEvP6float4PKS1_",
    "_Z5nbodyPfb",
)
ALL = (NBODY4, NBODY8, PLAIN, "nbody_c", "_Z4boolILb1ELj3EEvPi", "_Z3useI4foldIfiEEvT_")


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


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nbody", [PLAIN]),  # the whole name of one, a part of the others'
        ("sim::nbody", [NBODY4, NBODY8]),
        ("nbody<float,4>", [NBODY4]),
        ("nbody<float, 4>(float4*, const float4*)", [NBODY4]),
        ("void sim::nbody< float , (int)8 >( float4 * , float4 const * )", [NBODY8]),
        ("nbody(float*, bool)", [PLAIN]),
        ("nbody_c", ["nbody_c"]),
        ("bool<true, 3u>", ["_Z4boolILb1ELj3EEvPi"]),
        ("bool<(bool)1, (unsigned int)3>(int *)", ["_Z4boolILb1ELj3EEvPi"]),
        ("body", []),
        ("nbody<float>", [NBODY4, NBODY8]),
        ("nbody<>", []),
        ("nbody<int>", []),
        ("bool<true>", ["_Z4boolILb1ELj3EEvPi"]),
        ("fold<float>", []),  # of an argument
        ("", []),
    ],
)
def test_the_kernels_of_a_name(name: str, found: list[str]) -> None:
    assert symbols_of(name, ALL) == found


def test_a_symbol_that_is_not_read_is_found_by_its_plain_name() -> None:
    symbol = "_ZN3lib4castIiENSt9enable_ifIXsr1aIT_EE1bEvE4typeES2_"
    assert cpp_name(symbol) == symbol
    assert symbols_of("cast", [symbol]) == symbols_of("lib::cast", [symbol]) == [symbol]


def test_a_long_name_is_shown_without_its_parameters_or_arguments() -> None:
    assert shown_name("_Z5scalePff") == "scale(float*, float)"
    many = "5float" * 20
    assert shown_name(f"_Z5scaleIiEvPT_{many}") == "scale<int>"
    assert shown_name(f"_Z5scaleI{many}EvPi") == "scale"
    assert shown_name("scale") == "scale"
    assert shown_name("k" * 5000) == "k" * 87 + "..." + "k" * 30
