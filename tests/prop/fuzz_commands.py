"""Mutated inputs of every kind through the commands: texts, launch files, machines, sweep files, stores, arguments.

    python tests/prop/fuzz_commands.py --first 0 --count 1000 [--findings FOLDER] [--kind KIND ...]

Whatever the input, a command ends with 0, 1 or 2, quickly and in little memory: never an internal error, never a
signal. A line is written for every new finding, and its files are left in FOLDER. Every finding becomes a test of its
own. `tests/prop/test_commands.py` runs a few seeds.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))
from forked_command import MIB, Ended, import_all, run_forked
from hostile_jobs import Job, jobs, mutated

MOST_SECONDS, MOST_BYTES = 20, 1024 * MIB


def problem(ended: Ended) -> str:
    """What is wrong with how a command ended; "" for nothing."""
    if ended.exit_code not in (0, 1, 2):
        places = re.findall(r'File ".*/((?:ptxtool|ptxsim)/[^"]*)", line (\d+)', ended.stderr)
        kind = re.search(r"internal error: (\w+)", ended.stderr)
        place = ":".join(places[-1]) if places else ""
        return f"exit code {ended.exit_code}: {kind[1] if kind else ''} {place}"
    if "Traceback" in ended.stderr:
        return "a traceback"
    if ended.exit_code and not ended.stderr and not ended.stdout:
        return f"exit code {ended.exit_code} without a word"
    if ended.cpu_seconds > MOST_SECONDS:
        return f"{ended.cpu_seconds:.0f} seconds"
    return f"{ended.peak_bytes // MIB} MiB" if ended.peak_bytes > MOST_BYTES else ""


def run_job(job: Job) -> Ended:
    """Run a job in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in job.files.items():
            (Path(folder) / name).write_bytes(data)
        return run_forked(job.arguments, Path(folder), memory_bytes=6144 * MIB, cpu_seconds=2 * MOST_SECONDS)


def warm_up(kinds: dict[str, list[Job]]) -> None:
    """Import everything and load the machine code, for all forks."""
    from click.testing import CliRunner

    from ptxtool.cli.main import main

    import_all()
    with tempfile.TemporaryDirectory() as folder:
        launched = kinds["launch"][0]
        for name, data in launched.files.items():
            (Path(folder) / name).write_bytes(data)
        kernel = str(Path(folder) / "k.ptx")
        for command in (["sim", "-q", kernel], ["run", kernel], ["run", "--check", "all", kernel]):
            result = CliRunner().invoke(main, command)
            assert result.exit_code == 0, result.stderr


def keep(folder: Path, job: Job, seed: int, what: str, ended: Ended) -> None:
    """Leave a finding's files and command in a folder."""
    place = folder / f"{seed}"
    place.mkdir(parents=True, exist_ok=True)
    for name, data in job.files.items():
        (place / name).write_bytes(data)
    (place / "command.txt").write_text(
        f"{what}\n{job.arguments!r}\n\n{ended.stderr[-20000:]}", errors="backslashreplace"
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--first", type=int, default=0, metavar="SEED")
    options.add_argument("--count", type=int, default=1000, metavar="N")
    options.add_argument("--findings", type=Path, metavar="FOLDER")
    options.add_argument("--kind", action="append", metavar="KIND")
    given = options.parse_args()
    os.environ["PTXTOOL_DEBUG"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        kinds = jobs(Path(folder))
    warm_up(kinds)
    names = given.kind or list(kinds)
    seen: dict[str, int] = {}
    begin, cpu = time.monotonic(), 0.0
    for seed in range(given.first, given.first + given.count):
        choose = random.Random(seed)
        kind = choose.choice(names)
        job = mutated(choose.choice(kinds[kind]), kind, choose)
        ended = run_job(job)
        cpu += ended.cpu_seconds
        what = problem(ended)
        if what:
            seen[what] = seen.get(what, 0) + 1
            if seen[what] == 1:
                print(f"seed {seed}, {kind}: {what}", flush=True)
                if given.findings:
                    keep(given.findings, job, seed, what, ended)
    hours = f"{cpu / 3600:.2f} CPU hours, {time.monotonic() - begin:.0f} s"
    print(f"{given.count} runs, {hours}: {len(seen)} kinds of findings")
    return 1 if seen else 0


if __name__ == "__main__":
    raise SystemExit(main())
