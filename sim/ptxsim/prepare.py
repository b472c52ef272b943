"""Prepare machine code for a wheel: compile what runs and simulations need for a common level of processors.

    python -m ptxsim.prepare x86-64-v3        (`make wheel` does it)

writes `prepared/x86-64-v3.code` into the package, where `prepared_code` reads it. It has every entry, every boundary
and every built-in policy, for narrow records: machines with more than 64 warps or 32 CTAs per SM compile their loop.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ptxsim.base import machine_code, prepared_code


def functions() -> Iterator[Any]:
    """The functions that runs and simulations load by themselves."""
    from ptxsim.base.pool.restore import restore_records
    from ptxsim.execute.memory.deferred_atomics import apply
    from ptxsim.functional.cluster_loop import cluster_loop
    from ptxsim.functional.cta_loop import run_ctas
    from ptxsim.timing.core.cycle import simulator
    from ptxsim.timing.core.plain_run import kinds
    from ptxsim.timing.dynamic_period import end_period
    from ptxsim.timing.memory.sectors import copies_fill
    from ptxsim.timing.residency.schemes import DECISIONS, built_in_decision
    from ptxsim.timing.schedulers import NUMBERED, SCHEDULERS, policy
    from ptxsim.timing.workers import work

    numbered = {name: f"{name}:{default or 1}" for name, default in NUMBERED.items()}
    policies = [policy(numbered.get(name, name)) for name in SCHEDULERS]
    yield from (simulator(False, constants) for constants in kinds(has_team=False))
    yield from (work.simulator(False, constants) for constants in kinds(has_team=True))
    yield from (run_ctas, cluster_loop(), end_period(False), copies_fill, restore_records, apply)
    yield from machine_code.declared()
    yield from dict.fromkeys(function for p in policies for function in (p.pick, p.window))
    yield from dict.fromkeys(built_in_decision(*key) for key in DECISIONS)


def write(level: str, prepared: Iterable[Any]) -> None:
    """Write the file of a level: with functions from the disk, or compiled, for this process's processor."""
    stored = []
    for function in prepared:
        machine_code.address(function)
        stored.append(machine_code.stored(function))
    prepared_code.FOLDER.mkdir(exist_ok=True)
    path = prepared_code.FOLDER / f"{level}{prepared_code.SUFFIX}"
    path.write_bytes(prepared_code.pack(level, stored))
    print(f"{path}: {len(stored)} functions, {path.stat().st_size / 1e6:.1f} MB")


def environment(level: str) -> dict[str, str]:
    """The variables with which a process of numba's compiles for a level."""
    return {"NUMBA_CPU_NAME": prepared_code.LEVELS[level][0], "NUMBA_CPU_FEATURES": ""}


def main(arguments: list[str]) -> int:
    """Prepare a level, in a process of its own."""
    if len(arguments) != 1 or arguments[0] not in prepared_code.LEVELS:
        print(f"usage: python -m ptxsim.prepare {{{','.join(prepared_code.LEVELS)}}}", file=sys.stderr)
        return 2
    code = f"from ptxsim import prepare; prepare.write({arguments[0]!r}, prepare.functions())"
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment(arguments[0])}
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
