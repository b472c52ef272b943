"""The bundle gives what the functions give, once."""

from kernels import ptxplus

from ptxtool.analysis.analyses import Analyses
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.loops import loops
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.analysis.sharing.first_use import first_use
from ptxtool.cfg.blocks import build
from ptxtool.cfg.dominance import dominators, post_dominators
from ptxtool.cfg.reconvergence import reconvergence_points
from ptxtool.ir.defuse import def_use


def test_the_bundle_agrees_with_the_functions() -> None:
    kernel = ptxplus("L: callp F; @$p0.ne bra L; exit; F: add.u32 $r1, $r1, $r2; retp;")
    bundle = Analyses(kernel)
    assert bundle.cfg == build(kernel)
    assert bundle.interprocedural_cfg == build(kernel, interprocedural=True)
    assert bundle.def_use == def_use(kernel)
    assert bundle.dominators == dominators(bundle.cfg)
    assert bundle.post_dominators == post_dominators(bundle.cfg)
    assert bundle.reconvergence_points == reconvergence_points(kernel)
    assert bundle.loops == loops(kernel)
    assert bundle.liveness == liveness(kernel)
    assert bundle.thread_liveness == liveness(kernel, per="thread")
    assert bundle.pressure == pressure(kernel)
    assert bundle.first_use == first_use(kernel)
    assert bundle.liveness is bundle.liveness
