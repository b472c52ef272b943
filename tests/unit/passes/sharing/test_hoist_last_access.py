"""hoist-last-access: what comes after the last access, what must not, and how many registers it takes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ptx.programs import write

from ptxtool.analysis.flow.pressure import pressure
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 n)\n{\n"
REGISTERS = "\t.reg .pred %p;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<2>;\n\t.shared .b32 tile[8];\n"
PASS = "hoist-last-access{share=90,registers=20}"
LOAD = "ld.shared.u32 %r1, [tile];"
STORE = "st.global.u32 [%rd0], %r1;"


def source(lines: list[str]) -> str:
    return HEAD + REGISTERS + "".join(f"\t{line}\n" for line in lines) + "}\n"


def hastened(*lines: str, passes: str = PASS) -> list[str]:
    return code(rewrite(parse(source(list(lines))), passes).module)


def code(module: Module) -> list[str]:
    kernel = module.kernels["k"]
    return [kernel.text(i) for i in range(len(kernel.instructions))]


def test_stores_and_arithmetic_come_behind() -> None:
    lines = [
        "ld.param.u64 %rd0, [n];",
        LOAD,
        STORE,
        "mov.u32 %r2, tile;",
        "add.u64 %rd1, %rd0, 4;",
        "ld.shared.u32 %r3, [%r2+4];",
        "st.global.u32 [%rd1], %r3;",
        "ret;",
    ]
    assert hastened(*lines) == [lines[k] for k in (1, 3, 5, 0, 2, 4, 6, 7)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mov.u32 %r2, tile;", "ld.shared.u32 %r1, [%r2];"),  # true dependence
        ("add.u32 %r2, %r1, 1;", LOAD),  # anti-dependence
        ("mov.u32 %r1, 1;", LOAD),  # output dependence
        ("setp.eq.u32 %p, %r2, 1;", "@%p ld.shared.u32 %r1, [tile];"),
        ("st.shared.u32 [tile+4], %r2;", LOAD),
        ("st.u32 [%rd0], %r2;", LOAD),  # without a state space: may be shared memory
        ("st.volatile.global.u32 [%rd0], %r2;", LOAD),
        ("ld.acquire.gpu.global.u32 %r2, [%rd0];", LOAD),
        ("ld.global.u32 %r2, [%rd0];", "ld.volatile.shared.u32 %r1, [tile];"),
        ("st.global.u32 [%rd0], %r2;\n\tbar.sync 0;", LOAD),
        ("st.global.u32 [%rd0], %r2;\n\tmembar.cta;", LOAD),
        ("@%p ret;", LOAD),
        ('mov.u32 %r2, 1;\n\t.pragma "here";', LOAD),
        ("mov.u32 %r2, 1;\n\tL: mov.u32 %r3, 1;\n\t@%p bra L;", LOAD),
        ("mov.u32 %r2, 1;", f"{LOAD}\n\t@%p bra L;\n\tld.shared.u32 %r3, [tile];\n\tL: mov.u32 %r4, 1;"),
    ],
)
def test_what_must_keep_its_order(first: str, second: str) -> None:
    text = source([first, second, "ret;"])
    assert code(rewrite(parse(text), PASS).module) == code(parse(text))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("st.global.u32 [%rd0], %r2;", LOAD),
        ("st.global.u32 [%rd0], %r2;", "st.shared.u32 [tile], %r3;"),
        ("ld.global.u32 %r2, [%rd0];", "atom.shared.add.u32 %r1, [tile], 1;"),
        ("ld.shared.u32 %r2, [%r3];\n\tst.local.u32 [%r2], %r2;", LOAD),
    ],
)
def test_what_may_pass(first: str, second: str) -> None:
    text = source([first, second, "ret;"])
    assert code(rewrite(parse(text), PASS).module)[-2:] == [first.split("\t")[-1], "ret;"]


def test_only_the_shared_part_counts() -> None:
    lines = ["mov.u32 %r2, 1;", LOAD, "ret;"]
    assert hastened(*lines, passes="hoist-last-access{share=50}") == lines  # bytes 0 to 15 of 32 are private
    beyond = [lines[0], "ld.shared.u32 %r1, [tile+16];", "ret;"]
    assert hastened(*beyond, passes="hoist-last-access{share=50}") == [beyond[1], beyond[0], "ret;"]


def loads_and_stores(n: int) -> list[str]:
    pairs = [
        (f"ld.shared.u32 %r{k}, [tile+{4 * k}];", f"st.global.u32 [%rd0+{4 * k}], %r{k};") for k in range(n)
    ]
    return ["ld.param.u64 %rd0, [n];", *(line for pair in pairs for line in pair), "ret;"]


def test_registers_bound_what_comes_early() -> None:
    """Of n registers two hold the address; of the n - 2 values in the others, none is stored before the last load."""
    lines = loads_and_stores(8)
    loads = [line for line in lines if line.startswith("ld.shared")]
    assert hastened(*lines)[:8] == loads
    for registers in range(3, 11):
        result = rewrite(parse(source(lines)), f"hoist-last-access{{share=90,registers={registers}}}").module
        assert pressure(result.kernels["k"]).maximum <= registers
        n_after = len(lines) - 1 - code(result).index(loads[-1])
        assert n_after == (registers - 2 + 1 if registers < 10 else len(loads) + 2)


def test_without_a_number_the_kernels_own_is_the_bound() -> None:
    lines = loads_and_stores(4)
    assert hastened(*lines, passes="hoist-last-access{share=90}") == lines


def test_comments_and_remarks() -> None:
    text = source(["mov.u32 %r2, 1; // one", f"{LOAD} // two", "ret;"])
    result = rewrite(parse(text), PASS)
    assert result.module.source.text == source([f"{LOAD} // one", "mov.u32 %r2, 1; // two", "ret;"])
    assert result.remarks[0].message == "last access earlier by 1 instruction (of line 11)"
    again = rewrite(result.module, PASS)
    assert again.module is result.module
    assert again.remarks[0].message.startswith("nothing to do")


@pytest.mark.parametrize(
    ("options", "lines", "remark"),
    [
        ("share=0", ["mov.u32 %r2, 1;", LOAD], "nothing is shared at 0%"),
        ("share=90", ["mov.u32 %r2, 1;", STORE], "the shared part is not accessed"),
    ],
)
def test_nothing_to_do(options: str, lines: list[str], remark: str) -> None:
    module = parse(source([*lines, "ret;"]))
    result = rewrite(module, f"hoist-last-access{{{options}}}")
    assert result.module is module
    assert result.remarks[0].message == remark


def test_registers_are_no_less_than_none() -> None:
    with pytest.raises(PtxError, match=r"E502.*registers = -4 is less than 0"):
        rewrite(parse(source([LOAD, "ret;"])), "hoist-last-access{share=90,registers=-4}")


def test_it_needs_a_share() -> None:
    with pytest.raises(PtxError, match=r"E301.*needs the sharing percentage"):
        rewrite(parse(source(["ret;"])), "hoist-last-access")


def test_ptxplus_names_memory_by_letters() -> None:
    lines = [
        "mov.u32 g[$r1], $r2;",
        "mov.u32 $r3, s[0x0020];",
        "st.global.u32 [$r4], $r2;",
        "mov.u32 $r5, s[0x0024];",
        "exit;",
    ]
    head = ".version 1.4+\n.entry k (.param .u32 n)\n{\n\t.reg .u32 $r<6>;\n"
    text = head + "".join(f"\t{line}\n" for line in lines) + "}\n"
    after = rewrite(parse(text, "k.ptxplus"), "hoist-last-access{share=90,scratchpad=40,registers=9}")
    assert code(after.module) == [lines[k] for k in (1, 3, 0, 2, 4)]


@settings(max_examples=10)
@given(st.integers(0, 1 << 32), st.sampled_from([0, 30, 400]))
def test_no_more_registers_than_allowed(seed: int, registers: int) -> None:
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    passes = f"hoist-last-access{{share=90,registers={registers}}}"
    after = rewrite(module, passes).module
    for name, kernel in after.kernels.items():
        before, found = pressure(module.kernels[name]), pressure(kernel)
        assert found.maximum <= max(before.maximum, registers)
        assert (found.max_predicates, found.max_addresses) <= (before.max_predicates, before.max_addresses)
    if registers == 400:
        assert rewrite(after, passes).module is after
