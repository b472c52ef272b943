"""Random programs under register and scratchpad sharing.

    python tests/prop/fuzz_sharing.py --first 0 --count 200

Writes a line for every run that does not end or leaves other memory, and the sums.
"""

import argparse
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))
from shared_runs import run_shared


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--first", type=int, default=0, metavar="SEED")
    options.add_argument("--count", type=int, default=200, metavar="N")
    given = options.parse_args()
    wrong = 0
    waiting = {"registers": 0, "scratchpad": 0}
    for seed in range(given.first, given.first + given.count):
        for resource in waiting:
            outcome = run_shared(seed, resource)
            waiting[resource] += outcome.waits > 0
            if outcome.problem:
                print(f"{outcome.what}: {outcome.problem}", flush=True)
                wrong += 1
    for resource, waits in waiting.items():
        print(f"{resource}: {given.count} runs, {waits} of them with lock waits")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
