"""The packaged samples: the reference interpreter gives numpy's results, and no dead register matters."""

import numpy as np
import pytest
from kernels import sample
from reference.interpreter import run_reference

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.formats.launch.launch_file import Launch, check_arguments

SAMPLES = ("sgemm", "hotspot", "reduction", "saxpy")
SMS = 14


def some_ctas(launch: Launch) -> list[tuple[int, int, int]]:
    """The first, the last and a middle block: a reduced launch that has every edge."""
    x, y, _ = launch.grid
    return sorted({(0, 0, 0), (x // 2, y // 2, 0), (x - 1, y - 1, 0)})


def run(name: str, poison: bool) -> tuple[list[np.ndarray], int]:
    launch, kernel = sample(name)
    arguments = launch.arguments()
    run_reference(
        kernel,
        launch.grid,
        launch.block,
        arguments,
        launch.dynamic_shared,
        poison=liveness(kernel) if poison else None,
        ctas=some_ctas(launch),
    )
    return [a for a, i in zip(arguments, launch.inputs, strict=True) if i.is_buffer], len(arguments)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("poison", [False, True])
def test_written_elements_are_as_expected(name: str, poison: bool) -> None:
    launch, _ = sample(name)
    arrays, _ = run(name, poison)
    buffers = [i for i in launch.inputs if i.is_buffer]
    expected = launch.expected()
    for wanted in launch.expectations:
        index = next(k for k, i in enumerate(buffers) if i.name == wanted.arg)
        before, after = buffers[index].value, arrays[index]
        written = after != before
        # 3 blocks: 128 x 16 elements each, the inner 10 x 10 cells, one sum, 256 elements
        n = {"sgemm": 3 * 2048, "hotspot": 3 * 100, "reduction": 3, "saxpy": 2 * 512}[name]
        assert int(written.sum()) == n
        np.testing.assert_allclose(
            after[written], expected[wanted.arg][written], rtol=wanted.rtol, atol=wanted.atol
        )


@pytest.mark.parametrize("name", SAMPLES)
def test_arguments_fit_the_kernel(name: str) -> None:
    launch, kernel = sample(name)
    assert check_arguments(launch, kernel) == ()


@pytest.mark.parametrize(("name", "resident"), [("sgemm", 5), ("hotspot", 3), ("reduction", 6), ("saxpy", 6)])
def test_the_grid_is_at_least_ten_waves(name: str, resident: int) -> None:
    """`resident` blocks per SM of the Tesla C2050: by the registers (48 and 36 per thread), or by its threads."""
    launch, _ = sample(name)
    assert launch.registers is not None
    by_registers = 32768 // (launch.threads * -(-launch.registers // 4) * 4)
    assert min(by_registers, 1536 // launch.threads, 8) == resident
    assert launch.blocks >= 10 * SMS * resident


@pytest.mark.parametrize(("name", "private"), [("sgemm", 4), ("hotspot", 3)])
def test_the_first_instruction_needs_a_shared_register(name: str, private: int) -> None:
    """At 90 percent sharing `private` registers are a warp's own, and the converter's order uses none of them first."""
    launch, kernel = sample(name)
    assert launch.registers is not None
    assert launch.registers * 10 // 100 == private
    first = kernel.instructions[0]
    table = kernel.registers
    names = {"sgemm": ["$p0", "$o127", "$r124"], "hotspot": ["$r30"]}[name]
    assert all(n in kernel.text(first) for n in names)
    assert max(table.resolve_index(n, 0) + 1 for n in names) > private


def test_register_counts_are_honest() -> None:
    """General and address registers in use, as the launch files say."""
    for name in ("sgemm", "hotspot", "reduction"):
        launch, kernel = sample(name)
        used = {
            r.name
            for r in kernel.registers
            if r.units and any(r.name in kernel.text(i) for i in kernel.instructions)
        }
        assert launch.registers is not None
        assert launch.registers - 3 <= len(used) <= launch.registers
