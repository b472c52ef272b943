"""Kill a sweep with SIGKILL at random moments, start it again each time, and compare its end with an undisturbed one.

Every second kill comes while the sweep starts, the others after its first few results.

    python benchmarks/sweep_kills.py [--kills 20] [--seed 1] [--jobs 2]

Prints how many runs were made between two kills, and whether both stores export the same bytes. Exits 1 where they do
not, or where a worker outlives its sweep.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.sweep.export import encode

SPEC = """\
name = "killed"
kernels = ["saxpy", "reduction"]
schedulers = ["lrr", "gto", "owf"]
share-registers = [0, 90]
set = [{sets}]
"""


def program(spec: Path, store: Path, jobs: int) -> "subprocess.Popen[bytes]":
    """A sweep as a process of its own, in its own process group."""
    command = [sys.executable, "-m", "ptxtool", "sweep", spec, "--store", store, "--jobs", str(jobs), "-q"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def results(store: Path) -> int:
    """How many runs have a result."""
    try:
        return api.load_sweep(store).counts().get("done", 0)
    except PtxError:  # not written yet
        return 0


def group_members(group: int) -> list[int]:
    """The processes of a process group that are alive."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = folder / "killed.toml"
        sets = ", ".join(f'"sm.count={n}"' for n in range(8, 15))
        spec.write_text(SPEC.format(sets=sets))
        alone, killed = folder / "alone.db", folder / "killed.db"
        start = time.monotonic()
        undisturbed = program(spec, alone, given.jobs)
        while not results(alone):
            time.sleep(0.1)
        first = time.monotonic() - start
        assert undisturbed.wait() == 0
        seconds = time.monotonic() - start
        print(
            f"undisturbed: {results(alone)} runs in {seconds:.1f} s, the first after {first:.1f} s",
            flush=True,
        )
        left_over = 0
        for k in range(given.kills):
            before = results(killed)
            process = program(spec, killed, given.jobs)
            since = time.monotonic()
            if k % 2:  # anywhere while it starts
                time.sleep(chance.uniform(0, first))
            else:  # anywhere after its first few results
                wanted = before + chance.randint(1, 6)
                while results(killed) < wanted and process.poll() is None:
                    time.sleep(0.02)
                time.sleep(chance.uniform(0, 0.5))
            wait = time.monotonic() - since
            ended = process.poll() is not None
            if not ended:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
            time.sleep(2)
            alive = group_members(process.pid)
            left_over += len(alive)
            print(
                f"kill {k + 1} after {wait:.2f} s: {results(killed) - before} runs"
                + (" (it had ended)" if ended else "")
                + (f", {len(alive)} processes left" if alive else ""),
                flush=True,
            )
        assert program(spec, killed, given.jobs).wait() == 0
        same = encode(api.load_sweep(alone), "json") == encode(api.load_sweep(killed), "json")
        print(
            f"both stores export {'the same bytes' if same else 'DIFFERENT results'}; {left_over} processes left"
        )
        return 0 if same and not left_over else 1


if __name__ == "__main__":
    sys.exit(main())
