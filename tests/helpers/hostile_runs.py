"""Jobs of mutated inputs (hostile_jobs.py) run in forks, and what is wrong with how they ended."""

import re
import tempfile
from pathlib import Path

from forked_command import MIB, Ended, run_forked
from hostile_jobs import Job

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
