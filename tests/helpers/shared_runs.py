"""A random program run by pairs of CTAs that share registers or scratchpad: it has to end with the memory that one CTA
by itself leaves, and count every scheduler slot once. For `prop/test_random_sharing.py` and `prop/fuzz_sharing.py`.

Programs have barriers, divergent branches and loops, calls and shared memory (`random_ptx`). All CTAs of a launch do
the same, so there may be as many as it takes. Machine, percentage, scheduler, rule and whatever else there is to choose
come from the same seed.
"""

import random
from typing import Any, NamedTuple

from msgspec.structs import replace
from random_ptx.programs import launch, write

import ptxsim
import ptxtool
from ptxtool.formats.gpu import Gpu, load_gpu

SCHEDULERS = ("lrr", "gto", "owf", "owf_greedy", "two_level:4", "two_level:1", "static_limit:2", "rrr", "old")
_SHARED_BYTES = 512  # the programs' tile
_GPU = load_gpu("tesla-c2050")


class Outcome(NamedTuple):
    """What was run, what is wrong ("" nothing), how many warps waited for a lock."""

    what: str
    problem: str
    waits: int


def _machine(chosen: random.Random, resource: str, rule: str) -> Gpu:
    """One or two SMs; a scratchpad for one to three CTAs and something more, where that is shared."""
    sm = replace(_GPU.sm, count=chosen.choice((1, 1, 2)))
    if resource == "scratchpad":
        sm = replace(sm, scratchpad_bytes=int(_SHARED_BYTES * chosen.uniform(1.1, 3.9)))
    return replace(_GPU, sm=sm, sharing=replace(_GPU.sharing, lock_rule=rule))


def run_shared(seed: int, resource: str) -> Outcome:
    """Run the program of a seed by itself, and with a resource shared."""
    chosen = random.Random(seed)
    text = write(chosen)
    while resource == "scratchpad" and "st.shared" not in text:
        text = write(chosen)
    module = ptxtool.parse(text, name=f"random{seed}.ptx")
    percent = f"{chosen.choice((50, 70, 90, 95, 99)) + chosen.randrange(10) / 10:g}"
    # the symmetric rule may deadlock where registers are shared
    rules = ("safe", "safe", "strict") + (("symmetric",) if resource == "scratchpad" else ())
    rule, scheduler = chosen.choice(rules), chosen.choice(SCHEDULERS)
    options: dict[str, Any] = {
        "gpu": _machine(chosen, resource, rule),
        "scheduler": scheduler,
        # one to three CTAs of 64 threads and something more
        "registers": chosen.randrange(130, 500) if resource == "registers" else 20,
        f"share_{resource}": percent,
        "event_skip": chosen.random() < 0.8,
        "max_cycles": 3_000_000,
        "hotspots": chosen.random() < 0.3,
        "dynamic": chosen.random() < 0.2 and f"period=50,draws={chosen.choice(('cycle', 'sticky'))}",
    }
    what = f"seed {seed}, {percent}% of {resource}, {scheduler}, {rule}"
    n_ctas = chosen.randrange(2, 14)
    expected, _ = launch(module, ptxsim.run)
    try:
        found, result = launch(
            module, lambda k, _, block, arguments: ptxsim.launch(k, n_ctas, block, arguments, **options)
        )
    except ptxtool.PtxError as problem:
        return Outcome(what, str(problem), 0)
    waits = sum(p.warps for p in result.stall_points)
    what += f", {result.shared_pairs} pairs of {result.resident_ctas}, {n_ctas} CTAs"
    problem = "" if found == expected else "memory differs"
    if result.ctas_done != n_ctas or result.core["lock_refused"] != waits:
        problem = (
            f"{result.ctas_done} CTAs done, {result.core['lock_refused']} refusals, {waits} at stall points"
        )
    return Outcome(what, problem, waits)
