"""CUDA programs whose functions stay functions (tests/programs/calls.cu, compiled by nvcc), against Python."""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from checkout import TESTS
from reference.interpreter import run_reference
from uncompiled import output_of

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

PROGRAMS = TESTS / "programs"
RUNS: list[Callable[..., Any]] = [ptxsim.run, ptxsim.launch]
"""The runs that users see; the reference interpreter checks them."""


@cache
def module() -> Module:
    path = PROGRAMS / "calls.ptx"
    return parse(path.read_bytes(), path.name)


@pytest.fixture(params=[*RUNS, run_reference], ids=["functional", "timed", "reference"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return lambda name, *launch: request.param(module().kernels[name], *launch)


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


def test_ackermann(run: Callable[..., Any]) -> None:
    out = np.zeros(32, np.int32)
    run("ackermanns", 1, 32, [out])
    assert out.tolist() == [ackermann(t % 3, t % 5) for t in range(32)]


def test_quicksort(run: Callable[..., Any]) -> None:
    data = np.random.default_rng(3).standard_normal((64, 40)).astype(np.float32)
    data[5] = np.arange(40)  # in order already: the recursion goes otherwise
    expected = np.sort(data, axis=1)
    run("quicksorts", 2, 32, [data, 40])
    assert np.array_equal(data, expected)


def test_a_tree(run: Callable[..., Any]) -> None:
    """A tree of which every node hangs under a random earlier one, on a random side that is free."""
    rng = np.random.default_rng(4)
    n = 100
    nodes = np.full((n, 3), -1, np.int32)
    for k in range(1, n):
        parent, side = int(rng.integers(k)), int(rng.integers(1, 3))
        while nodes[parent, side] >= 0:
            parent = int(nodes[parent, side])
        nodes[parent, side] = k

    def depth(k: int) -> int:
        return 0 if k < 0 else 1 + max(depth(int(nodes[k, 1])), depth(int(nodes[k, 2])))

    out = np.zeros(n, np.int32)
    run("depths", 4, 32, [nodes, n, out])
    assert out.tolist() == [depth(k) for k in range(n)]


def test_mutual_recursion(run: Callable[..., Any]) -> None:
    out = np.zeros(96, np.int32)
    run("parities", 1, 96, [out])
    assert out.tolist() == [2 * (t % 2 == 0) + (t // 2) % 2 for t in range(96)]


def test_a_table_of_functions_in_constant_memory(run: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)
    which = rng.integers(-1, 4, 100).astype(np.int32)  # some lanes call nothing
    a, b = (rng.standard_normal(100).astype(np.float32) for _ in range(2))
    out = np.full(100, 7, np.float32)
    run("apply", 4, 32, [which, a, b, out, 100])
    expected = np.select(
        [which == k for k in range(4)], [a + b, a - b, a * b, np.maximum(a, b)], np.float32(7)
    )
    assert np.array_equal(out, expected)


def test_virtual_functions_of_objects_on_the_heap(run: Callable[..., Any]) -> None:
    out = np.zeros(64, np.float32)
    run("shapes", 1, 64, [out])
    assert out.tolist() == [[30.0 * t * t, 20.0 * t + 4, 10.0 * t * t + 9][t % 3] for t in range(64)]


def test_structures_by_value(run: Callable[..., Any]) -> None:
    record = np.dtype([("mass", "f8"), ("position", "f4", 3), ("tag", "i2"), ("name", "S5")], align=True)
    given = np.zeros(32, record)
    for t in range(32):
        given[t] = (t + 0.5, (t, 2 * t, 3 * t), t, b"abcde")
    expected = given.copy()
    for t in range(32):
        expected[t]["position"][t % 3] += np.float32(1.5)
        expected[t]["position"][(t + 1) % 3] -= np.float32(0.25)
        expected[t]["mass"] *= 4
        name = bytearray(b"abcde")
        name[t % 5] = name[(t + 1) % 5] = ord("x")
        expected[t]["name"] = bytes(name)
    run("particles", 1, 32, [given])
    for field in record.names or ():
        assert np.array_equal(given[field], expected[field]), field


def test_a_switch(run: Callable[..., Any]) -> None:
    def selected(k: int, x: int) -> int:
        reverse = int(f"{x:032b}"[::-1], 2)
        signed = reverse - (1 << 32) if reverse >> 31 else reverse
        return [x + 1, x * x, x.bit_count(), x << 3, ~x, signed, x % 7, -1][k]

    out = np.zeros(64, np.int32)
    run("switches", 1, 64, [out])
    assert out.tolist() == [selected(t % 8, 3 * t) for t in range(64)]


def printed_by(t: int, text: str) -> str:
    fields = f"{t * 0.5:5.2f}|{t:<6d}|{t * 255:06x}|{chr(ord('a') + t)}|{text}|{1 << (t + 20)}%"
    return f"{t}: {fields}\n"


def test_printf_of_lanes_in_their_order(run: Callable[..., Any]) -> None:
    text = np.frombuffer(b"some text\0", np.uint8).copy()
    result = run("prints", 1, 32, [text])
    lines = "".join(printed_by(t, "some text") for t in (3, 11, 19, 27))
    last = "    31|1.235e+04|1e-05|0x1p+0|-5000000000|4464\n"  # 70000 as a short is 4464
    assert result.printed == lines + "no values\n" + last


def test_output_comes_in_pieces(run: Callable[..., Any]) -> None:
    """More than the buffer holds: nothing is lost, and the callable gets all of it in order."""
    text = np.frombuffer(b"x" * 2000 + b"\0", np.uint8).copy()
    pieces: list[str] = []
    kernel = module().kernels["prints"]
    for simulate in RUNS:
        pieces.clear()
        result = simulate(kernel, 600, 32, [text], output=pieces.append)
        assert result.printed == "".join(pieces)
        assert result.printed.count("x" * 2000 + "|") == 4 * 600
        assert result.printed.count("no values\n") == 600
        assert len(pieces) > 1


def test_an_assertion_that_fails(run: Callable[..., Any]) -> None:
    values = np.zeros(64, np.int32)
    run("asserts", 1, 64, [values])
    values[40] = values[50] = -1
    with pytest.raises(PtxError) as caught:
        run("asserts", 1, 64, [values])
    message = caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].code == "E413"
    assert message.startswith("assertion 'v >= 0' failed at calls.cu:")
    assert "in 'void asserts(const int *)'" in message
    assert "kernel 'asserts', CTA (0,0,0), thread (40,0,0)" in message.replace("0, ", "0,")


def test_lists_on_the_heap(run: Callable[..., Any]) -> None:
    out = np.zeros(64, np.int32)
    run("lists", 2, 64, [out])  # the same by both CTAs
    assert out.tolist() == [t * t * (t + 1) // 2 for t in range(64)]
    run("too_much", 1, 64, [out])
    assert out.tolist() == [1] * 64


def test_memory_of_the_heap_is_used_again() -> None:
    """20,000 lists of up to 64 items of 32 bytes are more than the heap's 8 MiB; each thread gives its own back."""
    out = np.zeros(64, np.int32)
    ptxsim.run(module().kernels["lists"], 400, 64, [out])
    assert out.tolist() == [t * t * (t + 1) // 2 for t in range(64)]


def test_what_the_checks_say_of_calls() -> None:
    """Arguments and results of functions are written; right programs have no findings."""
    out = np.zeros(32, np.int32)
    everything = ("memory", "init", "races", "barriers")
    assert ptxsim.run(module().kernels["ackermanns"], 1, 32, [out], check=everything).problems == ()
    data = np.random.default_rng(3).standard_normal((32, 20)).astype(np.float32)
    assert ptxsim.run(module().kernels["quicksorts"], 1, 32, [data, 20], check=everything).problems == ()
    floats = np.zeros(32, np.float32)
    assert ptxsim.run(module().kernels["shapes"], 1, 32, [floats], check=everything).problems == ()


def test_the_same_on_sm_90() -> None:
    """nvcc makes the same of it for sm_90 but for the target."""
    text = (PROGRAMS / "calls.ptx").read_text().replace(".target sm_75", ".target sm_90")
    out = np.zeros(32, np.int32)
    ptxsim.run(parse(text, "calls.ptx").kernels["ackermanns"], 1, 32, [out])
    assert out.tolist() == [ackermann(t % 3, t % 5) for t in range(32)]


def test_bits_of_what_is_printed() -> None:
    """Values reach printf as they are: a float's bits, a negative number as unsigned."""
    from ptxsim.memory_image.printing import take_output

    class Image:
        host = np.zeros(256, np.uint8)
        context = np.zeros(1, [("host_used", "i8")])

    pattern = b"%f %u %i %o %s"
    words = [b"", struct.pack("<q", 0), struct.pack("<q", len(pattern)), pattern.ljust(16, b"\0")]
    words += [struct.pack("<d", -0.5), *(struct.pack("<q", v) for v in (-1, -1, 8, -1))]
    n = len(b"".join(words)) // 8 + 1
    data = struct.pack("<q", n) + b"".join(words)
    Image.host[: len(data)] = np.frombuffer(data, np.uint8)
    Image.context[0]["host_used"] = len(data)
    assert take_output(Image)[0] == "-0.500000 4294967295 -1 10 (null)"


UNCOMPILED = """
import sys
import numpy as np
import ptxsim
from ptxtool.parse import parse

path = sys.argv[1]
kernels = parse(open(path, "rb").read(), path).kernels
out = np.zeros(8, np.int32)
for run in (ptxsim.run, ptxsim.launch):
    out[:] = 0
    run(kernels["ackermanns"], 1, 8, [out])
    print(out.tolist())
run(kernels["lists"], 1, 8, [out])
print(out.tolist())
text = np.frombuffer(b"text" + bytes(1), np.uint8).copy()
print(ptxsim.run(kernels["prints"], 1, 32, [text]).printed.splitlines()[0])
"""


def test_without_compilation() -> None:
    """`NUMBA_DISABLE_JIT=1` gives the same: no result depends on how numba treats a number's width."""
    printed = output_of(UNCOMPILED, str(PROGRAMS / "calls.ptx"), compiled=False)
    expected = [str([ackermann(t % 3, t % 5) for t in range(8)])] * 2
    expected += [str([t * t * (t + 1) // 2 for t in range(8)]), printed_by(3, "text").rstrip()]
    assert printed.splitlines() == expected
