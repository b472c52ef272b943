"""Runs of the papers' experiments that were not made: their gains are those that the papers print."""

from ptxtool.runs.schemes import FULL
from ptxtool.sweep.reproduction.exhibits import RunCounters
from ptxtool.sweep.reproduction.papers import paper
from ptxtool.sweep.reproduction.schemes import (
    REPLICAS,
    full_scheme,
    limited_schemes,
    replica_name,
    unlimited_schemes,
)


def run(thread_ipc: float, resident_ctas: int = 3) -> RunCounters:
    """The counters of a run that was not made."""
    return {
        "cycles": 1000,
        "thread_ipc": thread_ipc,
        "n_ctas": 420,
        "resident_ctas": resident_ctas,
        "registers": 36,
        "scratchpad_bytes": 7200,
        "block": (16, 16, 1),
        "slots": {"stall": 40, "idle": 10, "scoreboard": 5},
        "l1": {"misses": 3},
        "l2": {"misses": 2},
    }


def made_up(name: str) -> dict[tuple[str, str], RunCounters]:
    """Runs whose gains are exactly those of the papers, and whose CTAs are those of their tables."""
    papers = paper(name)
    runs: dict[tuple[str, str], RunCounters] = {}
    for a in papers.application:
        base = a.ipc[-1] / (1 + a.gain / 100)
        for scheme in limited_schemes(papers):
            runs[a.name, scheme.name] = run(base * (1 + a.ladder.get(scheme.name, 0) / 100))
        for percent, ctas, ipc in zip(papers.percents, a.resident, a.ipc, strict=True):
            runs[a.name, full_scheme(papers, percent).name] = run(ipc, resident_ctas=ctas)
        for number in range(REPLICAS):
            runs[a.name, replica_name(FULL[papers.resource], number)] = run(a.ipc[-1], a.resident[-1])
    for u in papers.unlimited:
        size = {"block": (u.threads or 25, 1, 1), "registers": u.registers or 10}
        size |= {"scratchpad_bytes": 16256 if u.limited_by == "scratchpad" else 0}
        runs |= {(u.name, scheme.name): {**run(50), **size} for scheme in unlimited_schemes(papers)}
    return runs
