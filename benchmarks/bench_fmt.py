"""Speed of `ptxtool fmt`: MB/s of the layout alone, and of all that the command does (parse, lay out, prove), as JSON.

    python benchmarks/bench_fmt.py [FILE ...] [--megabytes 5] [--repeats 5]

Texts are those of `bench_parse.py`: without a file one in the manner of nvcc. Times are CPU seconds, medians.
"""

import argparse
import json
import sys
from pathlib import Path

from bench_parse import generated, median_seconds, repeated

from ptxtool import api
from ptxtool.emit.layout import layout
from ptxtool.parse import parse


def measure(text: str, repeats: int) -> dict[str, float]:
    """The numbers for one text."""
    module = parse(text)
    megabytes = len(text) / 1e6
    alone = median_seconds(lambda _: layout(module), text, repeats)
    whole = median_seconds(lambda t: api.fmt(parse(t)), text, repeats)
    return {"megabytes": round(megabytes, 3), "layout_mb_per_s": round(megabytes / alone, 3)} | {
        "fmt_mb_per_s": round(megabytes / whole, 3)
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--megabytes", type=float, default=5.0)
    options.add_argument("--repeats", type=int, default=5)
    arguments = options.parse_args()
    size = round(arguments.megabytes * 1e6)
    texts = {p.name: repeated(p.read_text(encoding="utf-8"), size) for p in arguments.files}
    texts = texts or {"generated": generated(size)}
    json.dump({name: measure(text, arguments.repeats) for name, text in texts.items()}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
