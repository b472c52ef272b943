"""Random CUDA programs, compiled by nvcc and run here, against what g++ makes of the same source.

    python tests/prop/fuzz_cuda.py --first 0 --count 100 [--builds O3.75,O0.90] [--ways run,launch]

Writes a line for every program whose results differ or that cannot be run, and for every batch of 20. Needs nvcc and
g++. What it finds gets a small test of its own. `--look SEED --thread N` prints the first assignment of one program
whose value differs in a thread.

`--save NAME --seeds 1,2` writes `tests/random_cuda/batch`: PTX of the first build and the results of the host, which
`test_random_cuda.py` runs without a compiler.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))
from random_cuda.programs import Program, inputs, source, write
from reference.interpreter import run_reference

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module

BUILDS = {
    "O3.75": ("-arch=sm_75",),
    "O3.90": ("-arch=sm_90",),
    "O3.100": ("-arch=sm_100",),
    "O3.120": ("-arch=sm_120",),
    "O2.86": ("-arch=sm_86", "-Xcicc", "-O2"),
    "O1.80": ("-arch=sm_80", "-Xcicc", "-O1"),
    "O0.75": ("-arch=sm_75", "-Xcicc", "-O0"),
    "O0.90": ("-arch=sm_90", "-Xcicc", "-O0"),
    "G.75": ("-arch=sm_75", "-G"),
    "G.90": ("-arch=sm_90", "-G"),
    "line.89": ("-arch=sm_89", "-lineinfo"),
}
"""Options of nvcc: how much it optimises, and for what. -fmad=false, since g++ is not to fuse either."""
HOST = ("-O1", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing")
BATCH = Path(__file__).parents[1] / "random_cuda" / "batch"
_PER_BATCH = 20
_MOST_INSTRUCTIONS = 30_000_000


def compiled(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:4000]}")


def results_of_host(folder: Path, programs: list[Program], *options: str) -> tuple[dict[str, Any], str]:
    """The results of every program, and what was printed."""
    (folder / "p.cu").write_text(source(programs), encoding="utf-8")
    np.array(inputs(), np.uint32).tofile(folder / "in")
    compiled(
        ["g++", "-x", "c++", "-std=c++17", "-w", *HOST, *options, f"{folder}/p.cu", "-o", f"{folder}/host"]
    )
    command = [f"{folder}/host", f"{folder}/in", f"{folder}/out"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    sizes = [p.grid * p.threads for p in programs]
    every = np.split(np.fromfile(folder / "out", np.uint64), np.cumsum(sizes)[:-1])
    return {p.name: result for p, result in zip(programs, every, strict=True)}, printed


def module_of(folder: Path, build: str, *options: str) -> Module:
    """The PTX that nvcc makes of the source `results_of_host` has left."""
    ptx = folder / f"{build}.ptx"
    flags = ["-std=c++17", "-w", "-ptx", "-fmad=false", *BUILDS[build], *options]
    compiled(["nvcc", *flags, f"{folder}/p.cu", "-o", str(ptx)])
    return ptxtool.parse(ptx.read_text(encoding="utf-8"), name=ptx.name)


def execute(module: Module, program: Program, way: str) -> tuple[Any, str]:
    kernel, out = module.kernels[program.name], np.zeros(program.grid * program.threads, np.uint64)
    launch = (kernel, program.grid, program.block, [np.array(inputs(), np.uint32), out])
    if way == "launch":
        printed = ptxsim.launch(*launch).printed
    elif way == "reference":
        printed = run_reference(kernel, (program.grid,), program.block, launch[3]).printed
    else:
        check = ("memory", "init", "races", "barriers") if way == "checked" else ()
        result = ptxsim.run(*launch, check=check, max_instructions=_MOST_INSTRUCTIONS)
        printed = result.printed
        if result.problems:
            print(f"{program.name}: {result.problems[0]}")
    return out, printed


def fuzz(first: int, count: int, builds: list[str], ways: list[str]) -> int:
    """How many results were wrong."""
    wrong = 0
    for start in range(first, first + count, _PER_BATCH):
        programs = [write(seed, f"p{seed}") for seed in range(start, min(start + _PER_BATCH, first + count))]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            expected, _ = results_of_host(folder, programs)
            for build in builds:
                module = module_of(folder, build)
                for program in programs:
                    for way in ways:
                        wrong += not agrees(module, program, build, way, expected[program.name])
        print(f"{start} to {start + len(programs) - 1}: {wrong} wrong", flush=True)
    return wrong


def agrees(module: Module, program: Program, build: str, way: str, expected: Any) -> bool:
    try:
        found, _ = execute(module, program, way)
    except PtxError as problem:
        print(f"{program.name} {build} {way}: {problem}", flush=True)
        return False
    threads = np.flatnonzero(found != expected)
    if len(threads):
        print(f"{program.name} {build} {way}: {len(threads)} differ, threads {threads[:8]}", flush=True)
    return not len(threads)


def look(seed: int, thread: int, build: str) -> None:
    """Print the first assignment that differs."""
    program = write(seed, f"p{seed}")
    with tempfile.TemporaryDirectory() as name:
        watch = f"-DWATCH={thread}"
        _, of_host = results_of_host(Path(name), [program], watch)
        _, of_device = execute(module_of(Path(name), build, watch), program, "run")
    for ours, theirs in zip(of_device.splitlines(), of_host.splitlines(), strict=False):
        if ours != theirs:
            number = theirs.partition(" ")[0]
            before = program.text.partition(f"; SHOW({number},")[0]
            print(f"here {ours}, on the host {theirs}, after\n...{before[-600:]}")
            return
    print("no assignment differs")


def save(seeds: list[int], build: str, name: str) -> None:
    programs = [write(seed, f"p{seed}") for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        expected, _ = results_of_host(Path(folder), programs)
        text = module_of(Path(folder), build).source.text
    BATCH.mkdir(exist_ok=True)
    lines = (line.rstrip() for line in text.split("\n"))
    kept = "".join(f"{line}\n" for line in lines if line and not line.lstrip().startswith("//"))
    (BATCH / f"{name}.ptx").write_text(kept, encoding="utf-8")
    launches = {
        p.name: {"grid": p.grid, "block": p.block, "results": expected[p.name].tobytes().hex()}
        for p in programs
    }
    (BATCH / f"{name}.json").write_text(json.dumps(launches, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--builds", default=",".join(BUILDS), help="of " + ", ".join(BUILDS))
    parser.add_argument("--ways", default="run", help="of run, checked, launch, reference")
    parser.add_argument("--look", type=int, metavar="SEED", help="print the first difference of one program")
    parser.add_argument("--thread", type=int, default=0, help="of which thread")
    parser.add_argument("--save", metavar="NAME", help="write the programs and their results for the suite")
    parser.add_argument("--seeds", default="", help="the programs to save")
    given = parser.parse_args()
    builds = given.builds.split(",")
    if given.look is not None:
        look(given.look, given.thread, builds[0])
    elif given.save:
        save([int(seed) for seed in given.seeds.split(",")], builds[0], given.save)
    else:
        return fuzz(given.first, given.count, builds, given.ways.split(",")) > 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
