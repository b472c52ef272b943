"""`from_numba`: kernels of `numba.cuda` give what numpy does. Skipped where numba cannot compile for CUDA."""

import enum
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

cuda = pytest.importorskip("numba.cuda")
numba = pytest.importorskip("numba")


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    try:
        ptxsim.from_numba(lambda: None).kernel()
    except PtxError as problem:
        pytest.skip(problem.diagnostics[0].message)


def saxpy(a: Any, x: Any, y: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def launched(function: Callable[..., None], grid: Any, block: Any, *args: Any, shared: int = 0) -> Any:
    return ptxsim.from_numba(cuda.jit(function))[grid, block, 0, shared](*args)


X = np.arange(100, dtype=np.float32)


def test_arrays_are_updated_in_place_and_the_result_counts() -> None:
    y = np.ones(100, np.float32)
    result = launched(saxpy, 2, 64, np.float32(2), X, y)
    assert np.array_equal(y, 2 * X + 1)
    assert result.ctas == 2


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.arange(200, dtype=np.float32)[::2], np.zeros(300, np.float32)[::3]),  # strided
        (np.arange(100, dtype=np.float32)[::-1], np.zeros(100, np.float32)),  # backwards
        (np.broadcast_to(np.float32(3), 100), np.zeros(100, np.float32)),  # stride 0, read-only
    ],
)
def test_any_layout(x: Any, y: Any) -> None:
    launched(saxpy, 2, 64, 2.0, x, y)
    assert np.array_equal(y, 2 * x)


def transpose(a: Any, b: Any) -> None:
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        b[j, i] = a[i, j]


@pytest.mark.parametrize("order", ["C", "F"])
def test_two_dimensions(order: Any) -> None:
    a = np.asarray(np.arange(35, dtype=np.int64).reshape(5, 7), order=order)
    b = np.zeros((7, 5), np.int64, order=order)
    launched(transpose, (2, 2), (4, 4), a, b)
    assert np.array_equal(b, a.T)


def volume(a: Any, out: Any) -> None:
    i, j, k = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        out[i, j, k] = a[i, j, k] * a.ndim + a.strides[0]


def test_three_dimensions_and_a_part_of_an_array() -> None:
    a = np.arange(3 * 4 * 10.0).reshape(3, 4, 10)[:, 1:, ::2]
    out = np.zeros((3, 3, 5))
    launched(volume, 3, (1, 4, 8), a, out)
    assert np.array_equal(out, 3 * a + 15 * 8)  # a buffer of its own: rows of 3 * 5 numbers


class Colour(enum.IntEnum):
    RED = 4


def scalars(flag: Any, small: Any, half: Any, z: Any, w: Any, pair: Any, colour: Any, out: Any) -> None:
    out[0] = small if flag else -1
    out[1] = half * 2
    out[2] = z.real
    out[3] = z.imag
    out[4] = w.imag
    out[5] = pair[0] + pair[1][1]
    out[6] = 4 if colour == Colour.RED else 0


def test_scalars_of_every_kind() -> None:
    out = np.zeros(7)
    pair = (7, (1.0, 0.25))
    launched(
        scalars, 1, 1, True, np.int8(-5), np.float16(1.5), 2 - 3j, np.complex64(8j), pair, Colour.RED, out
    )
    assert out.tolist() == [-5, 3, 2, -3, 8, 7.25, 4]


POINT = np.dtype([("x", np.float32), ("n", np.int32)])


def move(one: Any, many: Any) -> None:
    i = cuda.grid(1)
    if i < many.size:
        many[i].x += one.x
        many[i].n = i
    if i == 0:
        one.n = 9


def test_records() -> None:
    many, one = np.zeros(5, POINT), np.array([(2.5, 0)], POINT)
    launched(move, 1, 32, one[0], many)
    assert many.tolist() == [(2.5, i) for i in range(5)]
    assert one.tolist() == [(2.5, 9)]


def reverse(a: Any) -> None:
    s = cuda.shared.array(0, numba.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    a[t] = s[cuda.blockDim.x - 1 - t]


def test_dynamic_shared_memory() -> None:
    a = X[:64].copy()
    launched(reverse, 1, 64, a, shared=64 * 4)
    assert np.array_equal(a, X[63::-1])


def histogram(x: Any, counts: Any) -> None:
    local = cuda.shared.array(16, numba.int32)
    t = cuda.threadIdx.x
    if t < 16:
        local[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, local[t])


def test_atomics_and_static_shared_memory() -> None:
    x = np.random.default_rng(1).integers(0, 16, 500)
    counts = np.zeros(16, np.int32)
    launched(histogram, 4, 128, x, counts)
    assert np.array_equal(counts, np.bincount(x, minlength=16))


TABLE = np.array([1.0, 10.0, 100.0])


@cuda.jit(device=True)
def looked_up(i: Any) -> Any:
    return cuda.const.array_like(TABLE)[i % 3]


def functions(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i]) + math.pow(x[i], 1.5) + looked_up(i)


def test_mathematics_constants_and_device_functions() -> None:
    x = np.linspace(0.1, 9, 40)
    out = np.zeros(40)
    launched(functions, 2, 32, x, out)
    expected = np.sin(x) * np.exp(-x) + x**1.5 + TABLE[np.arange(40) % 3]
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def speak(x: Any) -> None:
    print("value", x[0])


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    result = launched(speak, 1, 1, np.array([5]))
    assert capsys.readouterr().out == result.printed == "value 5\n"


def test_forall() -> None:
    y = np.zeros(100, np.float32)
    result = ptxsim.from_numba(saxpy).forall(100, tpb=32)(1.0, X, y)
    assert np.array_equal(y, X)
    assert result.ctas == 4


def test_signature() -> None:
    kernel = ptxsim.from_numba(saxpy, "void(float32, float32[:], float32[:])")
    y = np.zeros(100, np.float32)
    kernel[2, 64](3, X, y)  # an integer for a float32
    assert np.array_equal(y, 3 * X)
    assert kernel.kernel(3, X, y).params[0].qualifiers == ("f32",)
    with pytest.raises(PtxError, match=r"array\(float64, 1d, C\)\) for kernel 'saxpy'"):
        kernel[2, 64](3, X, np.zeros(100))


def test_the_best_of_several_signatures() -> None:
    kernel = ptxsim.from_numba(
        saxpy, ["(float64, float32[:], float32[:])", "(int32, float32[:], float32[:])"]
    )
    assert kernel.kernel(np.int16(3), X, X).params[0].qualifiers == ("u32",)
    assert kernel.kernel(np.float32(3), X, X).params[0].qualifiers == ("f64",)


def test_kernels_decorated_with_a_signature_keep_it() -> None:
    kernel = cuda.jit(saxpy)  # as the decorator leaves it where there is a GPU
    kernel.overloads[(numba.float32, numba.float32[::1], numba.float32[::1])] = None
    kernel.disable_compile()
    assert ptxsim.from_numba(kernel).kernel(1, X, X).params[0].qualifiers == ("f32",)


def test_transfer_hints() -> None:
    x, y = X.copy(), np.ones(100, np.float32)
    launched(saxpy, 2, 64, 2.0, cuda.In(x), cuda.InOut(y))
    assert np.array_equal(y, 2 * X + 1)
    launched(saxpy, 2, 64, 2.0, x, cuda.In(y))
    assert np.array_equal(y, 2 * X + 1)  # what is only passed in stays
    kernel = ptxsim.from_numba(saxpy, check=("init",))
    result = kernel[2, 64](2.0, x, cuda.Out(y))
    assert {d.code for d in result.problems} == {"E411"}  # `y[i] +=` reads what Out leaves undefined
    assert "saxpy_y" in str(result.problems[0])


def test_checks_name_the_argument() -> None:
    result = ptxsim.from_numba(saxpy, check=("memory",))[2, 64](2.0, X, np.zeros(90, np.float32))
    assert "buffer 'saxpy_y'" in result.problems[0].message


def test_timed_run() -> None:
    y = np.ones(100, np.float32)
    kernel = ptxsim.from_numba(saxpy)
    result = kernel.timed(scheduler="gto")[2, 64](2.0, X, y)
    assert result.cycles > 0
    assert result.scheduler == "gto"
    assert np.array_equal(y, 2 * X + 1)
    assert not hasattr(kernel.timed().functional()[2, 64](2.0, X, y), "cycles")


def test_the_text_has_the_names_of_the_function() -> None:
    text = ptxsim.from_numba(saxpy).ptx(2.0, X, X)
    assert ".entry saxpy(" in text
    assert ".param .u64 saxpy_x_shape0" in text
    assert "[saxpy_x_stride0]" not in text  # C layout: strides are known


@cuda.jit(device=True)
def twice(x: Any) -> Any:
    return 2 * x


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda k: ptxsim.from_numba(3), "int is no numba.cuda kernel"),
        (lambda k: ptxsim.from_numba(twice), "'twice' is a device function"),
        (lambda k: ptxsim.from_numba(saxpy, "float32(float32)"), "gives a result"),
        (lambda k: k(1.0, X, X), "kernel 'saxpy' without a grid"),
        (lambda k: k[1], "launch configuration 1"),
        (lambda k: k[1, 32](X), "takes 3 arguments, not 1"),
        (lambda k: k[1, 32](1.0, {}, X), "argument 'x' is of <class 'dict'>"),
        (lambda k: k[1, 32](1.0, X.astype(">f4"), X), "argument 'x'"),
        (lambda k: k[0, 32](1.0, X, X), "grid 0"),
    ],
)
def test_errors(wrong: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(PtxError) as caught:
        wrong(ptxsim.from_numba(saxpy))
    assert message in str(caught.value)
    assert all(d.code == "E401" and d.help for d in caught.value.diagnostics)


def test_errors_in_the_function_are_numbas() -> None:
    def bad(x: Any) -> None:
        x.no_such_thing()

    with pytest.raises(Exception, match="no_such_thing") as caught:
        launched(bad, 1, 1, X)
    assert not isinstance(caught.value, PtxError)


class DynamicLibNotFoundError(RuntimeError):
    pass


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_ptx(*args: Any, **options: Any) -> None:
        raise DynamicLibNotFoundError("no libnvvm.so here")

    monkeypatch.setattr(cuda, "compile_ptx", compile_ptx)
    with pytest.raises(PtxError) as caught:
        launched(saxpy, 1, 32, 2.0, X, X)
    (found,) = caught.value.diagnostics
    assert found.code == "E502"
    assert "no libnvvm.so here" in found.message
    assert 'pip install "numba-cuda[cu13]"' in found.help
