"""Mangled symbols as C++ names: those that nvcc writes, as c++filt spells them, and hostile ones."""

import re
import shutil
import subprocess

import pytest

from ptxtool.base.demangle import LONGEST, demangle

NVCC = {
    "_Z5scalePff": "scale(float*, float)",
    "_Z5nbodyIfLi4EEvP6float4": "nbody<float, 4>(float4*)",
    "_Z5plainP6float4PA16_KfPFiicE6__half13__nv_bfloat16yRVi": "plain(float4*, float const (*)[16], int (*)(int, "
    "char), __half, __nv_bfloat16, unsigned long long, int volatile&)",
    "_Z4manyIfLi3ELj4ELln5ELc97EL4Mode5EL3Old1EEvPT_N4TileIS2_Li4EE5InnerE": "many<float, 3, 4u, -5l, (char)97, "
    "(Mode)5, (Old)1>(float*, Tile<float, 4>::Inner)",
    "_Z3lamIZ4mainEUliE0_EvT_Pi": "lam<main::{lambda(int)#2}>(main::{lambda(int)#2}, int*)",
    "_Z3ttkI4TileEvPT_IfLi2EE": "ttk<Tile>(Tile<float, 2>*)",
    "_Z3fpkIXadL_Z3fooiEEEvPi": "fpk<&foo(int)>(int*)",
    "_Z2bkILb1EEvPi": "bk<true>(int*)",
    "_ZN1a3varINS_2OpEJifPcEEEvT_DpT0_": "a::var<a::Op, int, float, char*>(a::Op, int, float, char*)",
    "_ZN1a3varINS_2OpEJEEEvT_DpT0_": "a::var<a::Op>(a::Op)",
    "_Z4packIJifEEvDpP4TileIT_Li4EE": "pack<int, float>(Tile<int, 4>*, Tile<float, 4>*)",
    "_ZN1a39_GLOBAL__N__d66a64b0_7_hard_cu_c2f43bf54anonIiEEvPT_": "a::(anonymous namespace)::anon<int>(int*)",
    "_ZN1a1b1kIfLb1EEEvPT_PKS2_4TileIS2_Li4EE": "a::b::k<float, true>(float*, float const*, Tile<float, 4>)",
    "_ZN8__main__3addB2v1E5ArrayIfLi1E1CE": "__main__::add(Array<float, 1, C>)",
    "_ZL4statPi": "stat(int*)",
    "_Z1fv": "f()",
    "_Z1fSt4pairIiSsE": "f(std::pair<int, std::string>)",
}  # fmt: skip


@pytest.mark.parametrize("symbol", NVCC)
def test_a_name_that_nvcc_writes(symbol: str) -> None:
    assert str(demangle(symbol)) == NVCC[symbol]


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="no c++filt here")
def test_the_spelling_is_that_of_cxxfilt() -> None:
    """But for the return type, tags of the ABI and a space before an array's size."""
    done = subprocess.run(["c++filt", *NVCC], capture_output=True, text=True, check=True)
    for theirs, ours in zip(done.stdout.splitlines(), NVCC.values(), strict=True):
        plain = (
            re.sub(r"\[abi:\w+\]|^void ", "", theirs).replace(") [", ")[").replace("&(foo(int))", "&foo(int)")
        )
        plain = plain.replace(
            "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"
        )
        assert ours == plain.replace("std::string >", "std::string>")


def test_the_parts_of_a_name() -> None:
    assert demangle("_ZN3lib5nbodyIfLi4EEEvP6float4") == ("lib::nbody", "<float, 4>", "(float4*)")


@pytest.mark.parametrize(
    "symbol",
    ["scale", "", "_Z", "_ZN", "_Z9scale", "_ZN5scale", "_Z5scalePff$1",
     "_Z1fIiENSt9enable_ifIXsr1aIT_EE1bEvE4typeES1_", "_ZplRK1AS1_",
     "_Z1fDTcl1gEE", "_Z1fT_", "_Z1fS5_", "_Z1fL", "_Z1fn5", "_Zn3foo"],
)  # fmt: skip
def test_no_c_plus_plus_name(symbol: str) -> None:
    assert demangle(symbol) is None


@pytest.mark.parametrize(
    "symbol",
    ["_Z1f" + "P" * 4000, "_Z" + "Z" * 4000, "_Z1fI" + "J" * 4000, "_Z1f" + "1AI" * 1000, "_Z1f" + "i" * LONGEST,
     "_Z1f1AIiE" + "".join(f"S_IS{n:X}_S{n:X}_E" for n in range(40)),
     "_Z1fIJ" + "i" * 100 + "EEv" + "DpPFv" * 20 + "T_"],
    ids=["deep", "local", "packs", "open", "long", "exponential", "expansions"],
)  # fmt: skip
def test_hostile_symbols_are_refused_at_once(symbol: str) -> None:
    assert demangle(symbol) is None
