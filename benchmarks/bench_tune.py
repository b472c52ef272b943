"""Speed of `ptxtool tune` without simulation: variants made and proved, and predicted, of one kernel, as JSON.

    python benchmarks/bench_tune.py [--instructions 2000] [--values 48] [--threads 128] [--gpu gtx-titan-x] [--jobs 2]

The kernels are those of `long_kernels.py`, with so many values that live throughout. Times are CPU seconds of one
enumeration after a small one that imports everything; `instructions` are those of all variants. With `--jobs` a second
enumeration by so many processes is timed too, in wall time, predictions included.
"""

import argparse
import json
import sys
import time
from functools import partial
from unittest import mock

import long_kernels

from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize
from ptxtool.runs import tuning_variants
from ptxtool.runs.tuning_variants import enumerate_variants
from ptxtool.sweep.tuning import in_processes


def measure(text: str, cta: CtaSize, gpu: Gpu) -> dict[str, float]:
    """The figures for one kernel."""
    kernel = parse(text).kernels["k"]
    predict, predicting = tuning_variants.predict, 0.0

    def timed(*arguments: object) -> object:
        nonlocal predicting
        start = time.process_time()
        found = predict(*arguments)  # type: ignore[arg-type]
        predicting += time.process_time() - start
        return found

    start = time.process_time()
    with mock.patch.object(tuning_variants, "predict", timed):
        variants = enumerate_variants(kernel, cta, gpu).variants
    making = time.process_time() - start - predicting
    instructions = sum(variant.instructions for variant in variants)
    return {
        "kernel_instructions": len(kernel.instructions),
        "variants": len(variants),
        "instructions": instructions,
        "made_and_proved_per_s": round(instructions / making),
        "predictions_s": round(predicting, 3),
        "all_s": round(making + predicting, 3),
    }


def by_processes(text: str, cta: CtaSize, gpu: Gpu, jobs: int) -> dict[str, float]:
    """The figures for one kernel whose variants several processes make."""
    kernel = parse(text).kernels["k"]
    start = time.perf_counter()
    variants = enumerate_variants(kernel, cta, gpu, partial(in_processes, jobs)).variants
    wall = time.perf_counter() - start
    instructions = sum(variant.instructions for variant in variants)
    return {"jobs": jobs, "made_and_predicted_per_s": round(instructions / wall), "wall_s": round(wall, 3)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--instructions", type=int, default=2000)
    options.add_argument("--values", type=int, default=48)
    options.add_argument("--threads", type=int, default=128)
    options.add_argument("--gpu", default="gtx-titan-x")
    options.add_argument("--jobs", type=int)
    arguments = options.parse_args()
    cta, gpu = CtaSize(arguments.threads), load_gpu(arguments.gpu)
    found: dict[str, dict[str, float]] = {}
    with mock.patch.object(long_kernels, "_SUMS", arguments.values):
        for name in ("straight", "branching"):
            write = getattr(long_kernels, name)
            measure(write(200), cta, gpu)
            found[name] = measure(write(arguments.instructions), cta, gpu)
            if arguments.jobs is not None:
                found[name] |= by_processes(write(arguments.instructions), cta, gpu, arguments.jobs)
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
