"""A random program run by CTAs that are switched: it has to end with the memory that one CTA by itself leaves, and
count the same whether cycles are skipped or not. For `prop/test_random_switching.py`.

Programs have barriers, divergent branches and loops, calls, shared and local memory (`random_ptx`). Machine, scheme,
its options and scheduler come from the same seed; live registers are lost where the analysis does not find them.
"""

import random
from typing import Any, NamedTuple

from msgspec.structs import replace
from random_ptx.programs import launch, write

import ptxsim
import ptxtool
from ptxtool.formats.gpu import Gpu, load_gpu

SCHEDULERS = ("lrr", "gto", "two_level:4", "static_limit:2", "rrr", "old")


class Outcome(NamedTuple):
    """What was run, what is wrong ("" nothing), and how many CTAs gave way."""

    what: str
    problem: str
    switches: int


def _machine(chosen: random.Random) -> Gpu:
    """One or two SMs with places for few CTAs, so that there is reason to switch, and room for few registers."""
    gpu = load_gpu(chosen.choice(("tesla-c2050", "gtx980-finereg", "gpgpusim42-c2050")))
    entries = chosen.choice((40, 100, 300))
    switching = replace(
        gpu.switching,
        ctas=chosen.choice((3, 8, 128)),
        acrf_registers=gpu.sm.registers - 32 * entries,
        pcrf_entries=entries,
        order=chosen.choice(("launch-first", "ready-first")),
        unified_bytes=gpu.l1d.sets * gpu.l1d.line_bytes * chosen.choice((6, 12, 45)),
        unified_l1_ways=chosen.choice((1, 4)),
        swap_cycles=chosen.choice((0, 1, 24, 200)),
        concurrent_switches=chosen.choice((1, 1, 2, 8)),
        registers_per_cycle=chosen.choice((1, 1, 3, 1024)),
        overlap=chosen.random() < 0.4,
        restore_first_cycles=chosen.choice((1, 4, 4, 1500)),
        refused_is_stalled=chosen.random() < 0.3,
        vector_entries=chosen.choice((1, 2, 32)),
        stalled_cycles=chosen.choice((0, 0, 0, 7, 50)),
    )
    sm = replace(gpu.sm, count=chosen.choice((1, 1, 2)), ctas=chosen.choice((1, 2, 8)))
    return replace(gpu, sm=sm, switching=switching)


def run_switched(seed: int) -> Outcome:
    """Run the program of a seed by itself, and by CTAs that are switched, with and without the skip."""
    chosen = random.Random(seed)
    text = write(chosen)
    module = ptxtool.parse(text, name=f"random{seed}.ptx")
    machine, scheduler = _machine(chosen), chosen.choice(SCHEDULERS)
    scheme = "virtual-thread" if chosen.random() < 0.2 else "finereg"
    if chosen.random() < 0.4:
        scheme = chosen.choice(("unified", f"{scheme}-unified", f"{scheme}-unified"))
    n_ctas = chosen.randrange(2, 14)
    options: dict[str, Any] = {
        "gpu": machine,
        "scheduler": scheduler,
        "registers": chosen.randrange(20, 200),
        "max_cycles": 3_000_000,
        "hotspots": chosen.random() < 0.3,
        "scheme": scheme,
    }
    expected, _ = launch(module, ptxsim.run)
    found, skipped = launch(
        module, lambda k, _, block, arguments: ptxsim.launch(k, n_ctas, block, arguments, **options)
    )
    options["event_skip"] = False
    again, stepped = launch(
        module, lambda k, _, block, arguments: ptxsim.launch(k, n_ctas, block, arguments, **options)
    )
    what = f"seed {seed}: {scheme} on {machine.name}, {scheduler}, {n_ctas} CTAs"
    problem = "" if found == expected == again else "memory differs"
    if skipped.ctas_done != n_ctas:
        problem = f"{skipped.ctas_done} CTAs done"
    other = stepped.to_dict()
    differing = [name for name, value in skipped.to_dict().items() if other[name] != value]
    if differing:
        problem = f"with and without the skip: {', '.join(differing)}"
    return Outcome(what, problem, skipped.switching.switches if skipped.switching else 0)
