"""Random PTX programs under the passes that give physical registers: what runs must leave the same memory.

    python tests/prop/fuzz_allocation.py --first 0 --count 2000 [--ways run,launch] [--ptxas] [--lower]
        [--demote] [--split]

Every program runs as it is and under every pipeline of `random_ptx/variants.py`, with poison in whatever shares a place
(`clobber.py`). Writes a line for every difference and for every 50 programs, and the program to `--keep FOLDER`.
`--ptxas` has the assembler of NVIDIA look at every text too. With `--lower` programs that PTXPlus can express are
lowered to it instead, and run in the meaning of the hardware and in that of GPGPU-Sim. With `--demote` the pipelines
are those of `random_ptx/demotions.py`, of either dialect; with `--split` those of `random_ptx/splits.py`, with poison
in all extended registers at every acquire mark (`other_warps.py`). `--show SEED` prints a program.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))
from clobber import clobbered
from other_warps import overwritten
from ptxas import ptxas_errors
from random_ptx.demotions import demotions, demotions_of_ptxplus
from random_ptx.programs import launch, write
from random_ptx.splits import splits
from random_ptx.statements import PLAIN, Style
from random_ptx.variants import Variant, apply, variants
from reference.interpreter import run_reference

import ptxsim
from ptxtool.analysis.regalloc.register_sets import register_sets
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

LOWERABLE = Style(lowerable=True)
WAYS = {"run": ptxsim.run, "launch": ptxsim.launch, "reference": run_reference}


def problems(
    seed: int, ways: list[str], ptxas: bool, pipelines: Callable[[Module, int], Iterable[Variant]]
) -> list[str]:
    """What is wrong with one program."""
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    expected = {way: launch(module, WAYS[way])[0] for way in ways}
    found: list[str] = []
    try:
        for pipeline, after, doubts in pipelines(module, seed):
            found += [f"{pipeline}: doubt: {doubts[0]}"] if doubts else []
            found += [f"{pipeline}: {what}" for what in differences(after, expected)]
            if ptxas and (errors := ptxas_errors(after.source.text, "sm_80")):
                found.append(f"{pipeline}: ptxas: {next(iter(errors.items()))}")
    except (PtxError, AssertionError, LookupError, ValueError) as problem:
        found.append(f"{type(problem).__name__}: {problem}")
    return found


def differences(after: Module, expected: dict[str, bytes]) -> list[str]:
    found: list[str] = []
    sets = register_sets(after.kernels["k"])
    shared = after if sets is None else overwritten(after, sets.base)
    for way, memory in expected.items():
        found += difference(way, launch(clobbered(shared), WAYS[way])[0], memory)
    return found


def difference(way: str, result: bytes, memory: bytes) -> list[str]:
    if result == memory:
        return []
    place = next(k for k, (a, b) in enumerate(zip(result, memory, strict=True)) if a != b)
    return [f"{way}: byte {place} differs"]


def problems_of_lowering(seed: int, ways: list[str], demote: bool) -> list[str]:
    """What is wrong with one program in PTXPlus."""
    module = parse(write(random.Random(seed), LOWERABLE), f"{seed}.ptx")
    found: list[str] = []
    try:
        expected = {way: launch(module, WAYS[way])[0] for way in ways}
        lowered = demotions_of_ptxplus(module, seed) if demote else [apply(module, "lower-ptxplus")]
        for pipeline, after, doubts in lowered:
            found += [f"{pipeline}: doubt: {doubts[0]}"] if doubts else []
            for way, memory in expected.items():
                for meaning in ("hardware", "gpgpu-sim"):
                    result = launch(after, WAYS[way], ptxplus_semantics=meaning)[0]
                    found += difference(f"{pipeline}: {way}, {meaning}", result, memory)
    except (PtxError, AssertionError, LookupError, ValueError) as problem:
        found.append(f"{type(problem).__name__}: {problem}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--ways", default="run", help="of run, launch (with time), reference")
    parser.add_argument("--ptxas", action="store_true", help="assemble every text")
    parser.add_argument("--lower", action="store_true", help="lower to PTXPlus instead")
    parser.add_argument("--demote", action="store_true", help="demote registers to shared memory")
    parser.add_argument("--split", action="store_true", help="split registers into two sets")
    parser.add_argument("--keep", metavar="FOLDER", help="where programs go that fail")
    parser.add_argument("--show", type=int, metavar="SEED", help="print a program")
    given = parser.parse_args()
    style = LOWERABLE if given.lower else PLAIN
    ways = given.ways.split(",")
    pipelines = demotions if given.demote else splits if given.split else lambda module, _: variants(module)
    if given.show is not None:
        print(write(random.Random(given.show), style))
        return 0
    wrong = 0
    for n, seed in enumerate(range(given.first, given.first + given.count), 1):
        if given.lower:
            found = problems_of_lowering(seed, ways, given.demote)
        else:
            found = problems(seed, ways, given.ptxas, pipelines)
        wrong += bool(found)
        for line in found:
            print(f"{seed}: {line}", flush=True)
        if found and given.keep:
            Path(given.keep, f"{seed}.ptx").write_text(write(random.Random(seed), style), encoding="utf-8")
        if n % 50 == 0 or n == given.count:
            print(f"{n} programs, {wrong} wrong", flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
