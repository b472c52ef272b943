"""Random programs and packaged samples under the passes for register sharing: they leave the same memory."""

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ptx.programs import launch, write

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

few = settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])


@few
@given(st.integers(0, 1 << 32), st.sampled_from([30, 60, 120, 400]), st.booleans())
def test_memory_is_the_same(seed: int, registers: int, compacted: bool) -> None:
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    options = f"share=50,registers={registers}"
    pipeline = f"delay-first-use{{{options}}}"
    if compacted:
        pipeline = f"compact,{pipeline}"
    after = rewrite(module, pipeline).module
    assert launch(after, ptxsim.run)[0] == launch(module, ptxsim.run)[0]
    assert rewrite(after, f"delay-first-use{{{options}}}").module is after, "not idempotent"


@few
@given(st.integers(0, 1 << 32), st.sampled_from([30, 60, 120]))
def test_late_order_and_marks_behind_it(seed: int, registers: int) -> None:
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    options = f"share=50,registers={registers}"
    passes = ["unroll-decls", f"reorder-decls{{order=late,delay=true,{options}}}"]
    passes += [f"{name}{{{options}}}" for name in ("delay-first-use", "release-registers")]
    try:
        after = rewrite(module, ",".join(passes)).module
    except PtxError as declined:  # declarations between instructions that cannot trade places
        if any(d.code != "E301" for d in declined.diagnostics):
            raise
        return
    assert launch(after, ptxsim.run)[0] == launch(module, ptxsim.run)[0]
