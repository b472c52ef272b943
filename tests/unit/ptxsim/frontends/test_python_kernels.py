"""What from_numba and from_triton share; and the programs of docs/python-kernels.md run."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT
from scripts import module_of

from ptxsim.frontends.python_kernels import Transfers, entry_name, renamed
from ptxtool.base.diag import PtxError

DOCUMENT = CHECKOUT / "docs" / "python-kernels.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "function"),
    [("numba", "from_numba"), ("triton", "from_triton"), ("triton", "simulate_triton")],
)
def test_programs_of_the_document(
    package: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    if function == "simulate_triton":  # what it sets is set back after the test
        monkeypatch.setattr("triton.knobs.runtime.add_stages_inspection_hook", None)
        monkeypatch.setattr("triton.runtime.driver._active", None)
    (block,) = [each for each in BLOCKS if f"ptxsim.{function}(" in each]
    file = tmp_path / f"{package}_program.py"  # Triton reads a function's source
    file.write_text(block)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # Triton announces changes
            module_of(file)
    except PtxError as problem:
        if problem.diagnostics[0].code != "E502":
            raise
        pytest.skip(problem.diagnostics[0].message)


def test_names() -> None:
    ptx = ".entry k1(.param .u32 k1_param_0, .param .u32 k1_param_1) { ld [k1_param_1]; k1_shared k12_x xk1 }"
    expected = ".entry f(.param .u32 f_a, .param .u32 f_b) { ld [f_b]; f_shared f2_x xk1 }"
    assert renamed(ptx, "k1", "f", ["a", "b"]) == expected


def test_names_are_not_given_twice() -> None:
    ptx = ".global .u32 f; .entry k(.param .u32 k_param_0) { f_a: bra f_a; }"
    assert renamed(ptx, "k", "f", ["a"]) == ptx  # `f` and `f_a` mean something else
    assert renamed(".entry k() {}", "k", "<lambda>", []) == ".entry _lambda_() {}"


def test_the_entry() -> None:
    assert entry_name(".func g() {}\n.visible .entry\tk$1(") == "k$1"
    with pytest.raises(PtxError, match=r"no '\.entry'"):
        entry_name(".func g() {}")


def test_arrays_that_fit_are_their_own_buffers() -> None:
    transfers = Transfers()
    rows, columns = np.zeros((2, 3)), np.zeros((2, 3), order="F")
    assert transfers.buffer(rows) is rows
    buffer = transfers.buffer(columns)
    assert buffer.shape == (3, 2)
    assert np.shares_memory(buffer, columns)
    assert transfers.buffer(columns) is buffer


def test_other_arrays_are_copied_back() -> None:
    transfers = Transfers()
    strided, fixed, given = np.arange(10)[::2], np.arange(4), np.arange(3)
    fixed.flags.writeable = False
    buffers = [transfers.buffer(strided), transfers.buffer(fixed), transfers.buffer(given, write_back=False)]
    for buffer in buffers:
        assert buffer.flags.c_contiguous
        assert buffer.flags.writeable
        buffer[:] = -1
    assert strided.tolist() == [0, 2, 4, 6, 8]
    transfers.finish()
    assert strided.tolist() == [-1] * 5
    assert fixed.tolist() == [0, 1, 2, 3]
    assert given.tolist() == [0, 1, 2]


def test_dates_are_integers() -> None:
    dates = np.array(["2026-01-01", "1970-01-02"], "M8[D]")
    buffer = Transfers().buffer(dates)
    assert buffer.dtype == np.int64
    assert buffer[1] == 1
    assert np.shares_memory(buffer, dates)
