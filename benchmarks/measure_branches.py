"""How often each branch of the simulator is taken, counted in simulations of the samples, for its compilation.

    python benchmarks/measure_branches.py

Writes sim/ptxsim/base/compiler/branch_weights.json; the simulator is then compiled anew. A function that has changed
since the last time is compiled without weights, so run it after changes of the inner functions. Takes some minutes.
"""

import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

MACHINES: tuple[dict[str, Any], ...] = (
    {"gpu": "gpgpusim42-c2050"},
    {"gpu": "gpgpusim42-c2050", "scheduler": "gto"},
    {"gpu": "gpgpusim42-qv100"},
    {"gpu": "tesla-c2050", "share_registers": 10, "scheduler": "owf"},
)


def simulate_samples(after: Callable[[], None]) -> None:
    """Simulate and run every sample on every machine; calls `after` after each."""
    from ptxsim import launch, run
    from ptxtool import api
    from ptxtool.base.resources import resource_dir

    for path in sorted(resource_dir("samples").glob("*/launch.toml")):
        definition = api.load_launch(path)
        kernels = api.load(path.parent.name).kernels
        kernel = kernels[definition.kernel or next(iter(kernels))]
        shape = kernel, definition.grid, definition.block
        shared = definition.dynamic_shared
        run(*shape, definition.arguments(), dynamic_shared=shared, threads=1)
        after()
        for machine in MACHINES:
            launch(
                *shape,
                definition.arguments(),
                registers=definition.registers,
                dynamic_shared=shared,
                **machine,
            )
            after()
        print(path.parent.name, flush=True)


def weights(counted: dict[tuple[str, str, str, int], int], counts: Any) -> dict[str, dict[str, Any]]:
    """What the file has of each function of the simulator with branches that were reached."""
    from ptxsim.base.compiler.branch_weights import ALL, DIGEST

    found: dict[str, dict[str, Any]] = {}
    pairs: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for (*where, _), at in sorted(counted.items()):
        pairs.setdefault(tuple(where), []).append(tuple(counts[at]))
    for (function, digest, line), branches in pairs.items():
        if function.startswith("ptxsim.") and np.any(branches):
            shares = [
                round(ALL * true / (true + false)) if true + false else ALL // 2 for true, false in branches
            ]
            found.setdefault(function, {DIGEST: digest})[line] = shares
    return found


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # no second process compiles
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # before the package is imported
        from ptxsim.base.compiler import branch_weights

        counters = branch_weights.counters = np.zeros((1 << 15, 2), np.int64)
        counts = np.zeros(counters.shape)

        def add() -> None:  # long runs count as much as short ones
            counts[:] += counters / counters.sum()
            counters[:] = 0

        simulate_samples(add)
        found = weights(branch_weights.counted, counts)
    rows = (f"{json.dumps(function)}: {json.dumps(lines)}" for function, lines in found.items())
    branch_weights.FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{branch_weights.FILE}: {len(found)} functions")


if __name__ == "__main__":
    main()
