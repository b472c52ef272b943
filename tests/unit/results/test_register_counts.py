"""The registers per thread of a kernel from three sides."""

from kernels import ptx

from ptxtool.results.register_counts import PtxasRun, PtxasUsage, register_counts

KERNEL = ptx("mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2; ret;")


def test_without_ptxas_there_are_two_sides() -> None:
    """The pair of %rd1, which is never written, and %r1 or %r2: three registers at once."""
    counts = register_counts(KERNEL, None)
    assert counts.need is not None
    assert counts.need.live == 3
    assert counts.to_dict()["ptxas"] is None
    assert str(counts).startswith("registers per thread: 3 live at once, ")


def test_a_figure_of_ptxas() -> None:
    run = PtxasRun("12.0", "sm_70", 3, {"k": PtxasUsage(16, 0, 8)})
    counts = register_counts(KERNEL, run)
    assert str(counts).endswith("16 by ptxas 12.0 -O3 for sm_70 (which spills 8 bytes)")
    assert counts.to_dict()["ptxas"] == {
        "registers": 16,
        "stack_bytes": 0,
        "spill_bytes": 8,
        "version": "12.0",
        "arch": "sm_70",
        "level": 3,
    }


def test_why_there_is_no_figure() -> None:
    counts = register_counts(KERNEL, PtxasRun("12.0", "sm_70", 3, problem="it crashed"))
    assert counts.used is None
    assert counts.ptxas_problem == "no figure from ptxas 12.0 -O3 for sm_70: it crashed"
    assert register_counts(KERNEL, None).ptxas_problem == ""
