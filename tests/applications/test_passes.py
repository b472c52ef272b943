"""Applications as they are with rewritten kernels: `exec --passes` changes registers, and no result."""

from pathlib import Path

import pytest
from cuda_programs import compiled, run

from ptxtool import api


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["launches", "matrix_multiply", "pointers", "symbols", "wavefront"])
@pytest.mark.parametrize("passes", ["allocate:max-regs=20", "unroll-decls,reorder-decls"])
def test_results_are_the_same(
    name: str, passes: str, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled(name, programs), passes=passes)
    assert ran.run.status == 0
    assert [each for each in ran.diagnostics if each.code[1] != "4"] == []  # E4xx: wrong calls in the program
    assert {each.kernel for each in ran.run.rewritten} == {launch.kernel for launch in ran.run.launches}
    assert all(each.registers_after <= 20 for each in ran.run.rewritten if "allocate" in passes)


@pytest.mark.slow
def test_registers_become_shared_memory_with_time(
    programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Demoted registers take shared memory of the size of the launched CTAs: 256 and 64 threads."""
    program = compiled("matrix_multiply", programs)
    plain = run(capfd, program, timed=True, gpu_chosen=True)
    ran = run(
        capfd,
        program,
        timed=True,
        gpu_chosen=True,
        passes="allocate,demote:count=2",
        record=tmp_path / "out",
    )
    assert (ran.run.status, ran.diagnostics) == (0, [])
    assert sorted(each.threads for each in ran.run.rewritten) == [64, 256]
    assert [each.cycles for each in ran.run.launches] != [each.cycles for each in plain.run.launches]
    recording = api.load_recording(tmp_path / "out" / "launch.toml")
    assert recording is not None
    again = api.simulate_recording(recording)
    assert again.problems == ()
    assert [result.cycles for result in again.results] == [launch.cycles for launch in ran.run.launches]


@pytest.mark.slow
def test_a_kernel_that_is_refused_runs_as_it_is(programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("matrix_multiply", programs), passes="allocate:max-regs=2")
    assert ran.run.status == 0
    assert [each.refused for each in ran.run.rewritten] == ["E301"] * 2
    assert all("runs as it is" in each.message for each in ran.diagnostics)
    assert len(ran.diagnostics) == 2
