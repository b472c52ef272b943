"""Parsing speed: MB/s and statements/s of the per-statement parser beside other parsers, as JSON.

    python benchmarks/bench_parse.py [FILE ...] [--megabytes 5] [--repeats 5] [--no-lark]

Without a file it makes one of the wanted size, in the manner of nvcc: many kernels of loads, address arithmetic,
fused multiply-adds, compares and branches with different registers, offsets and constants. With files, each is
repeated to the wanted size with its functions renamed, so statement texts differ as little as they do in the file.
Times are CPU seconds, medians over the repeats; memory is what the module holds beside the text. The check is all of
`ptxtool check`: parsing, the meaning of every statement, control flow.

The other parsers: whole-file Lark; pyptx (`pip install pyptx`), once, over the first functions up to 0.3 MB; ptxas
as far as it reads, which is made by a last line that is wrong: it has parsed and checked all before it when it
stops there. One that is absent, or does not get there, is left out, and standard error says so. A ratio above 1
means that ours is faster.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from ptxtool.parse import parse, parse_with_lark
from ptxtool.sema.module import check_module


def generated(size: int, seed: int = 1) -> str:
    """PTX as nvcc prints it, of about `size` characters."""
    choose = random.Random(seed)
    out = [".version 8.6\n.target sm_75\n.address_size 64\n"]
    length, kernel = 0, 0
    while length < size:
        body = "".join(_lines(choose, kernel))
        text = (
            f"\n\t// .globl\tkernel_{kernel}\n.visible .entry kernel_{kernel}(\n"
            f"\t.param .u64 kernel_{kernel}_param_0,\n"
            f"\t.param .u32 kernel_{kernel}_param_1\n)\n{{\n\t.reg .pred \t%p<90>;\n\t.reg .f32 \t%f<900>;\n"
            f"\t.reg .b32 \t%r<900>;\n\t.reg .b64 \t%rd<400>;\n\n\n"
            f"\tld.param.u64 \t%rd1, [kernel_{kernel}_param_0];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n"
            f"{body}\tret;\n\n}}\n"
        )
        out.append(text)
        length += len(text)
        kernel += 1
    return "".join(out)


def _lines(choose: random.Random, kernel: int) -> list[str]:
    r, f, rd = (
        (lambda: choose.randrange(1, 900)),
        (lambda: choose.randrange(1, 900)),
        lambda: choose.randrange(1, 400),
    )
    lines: list[str] = []
    for block in range(40):
        lines.append(f"\n$L__BB{kernel}_{block}:\n")
        for _ in range(6):
            lines += [
                f"\tmul.wide.s32 \t%rd{rd()}, %r{r()}, {choose.choice((4, 8, 16))};\n",
                f"\tadd.s64 \t%rd{rd()}, %rd{rd()}, %rd{rd()};\n",
                f"\tld.global.f32 \t%f{f()}, [%rd{rd()}+{choose.randrange(64) * 4}];\n",
                f"\tfma.rn.f32 \t%f{f()}, %f{f()}, %f{f()}, %f{f()};\n",
                f"\tfma.rn.f32 \t%f{f()}, %f{f()}, 0f{choose.randrange(2**32):08X}, %f{f()};\n",
                f"\tst.shared.f32 \t[%r{r()}+{choose.randrange(64) * 4}], %f{f()};\n",
                f"\tadd.s32 \t%r{r()}, %r{r()}, {choose.randrange(-128, 128)};\n",
                f"\tld.shared.v2.f32 \t{{%f{f()}, %f{f()}}}, [%r{r()}];\n",
            ]
        p = choose.randrange(1, 90)
        lines += [f"\tsetp.lt.s32 \t%p{p}, %r{r()}, %r{r()};\n", f"\t@%p{p} bra \t$L__BB{kernel}_{block};\n"]
    return lines


def repeated(text: str, size: int) -> str:
    """A file's functions again and again under new names, after its header."""
    start = text.find(".visible")
    header, functions = text[:start], text[start:]
    names = sorted(
        set(re.findall(r"\.(?:entry|func)[^;{]*?([A-Za-z_$][\w$]*)\s*\(", functions)), key=len, reverse=True
    )
    pattern = re.compile("|".join(rf"\b{re.escape(n)}(?![\w$])" for n in names) or r"(?!)")
    copies = max(1, round(size / max(1, len(functions))))
    return header + "".join(pattern.sub(lambda m, c=c: f"{m[0]}_{c}", functions) for c in range(copies))


def median_seconds(function: Callable[[str], object], text: str, repeats: int) -> float:
    times: list[float] = []
    for _ in range(repeats):
        begin = time.process_time()
        function(text)
        times.append(time.process_time() - begin)
    return statistics.median(times)


def ptxas_seconds(text: str, repeats: int) -> float | None:
    """CPU seconds until ptxas reaches a last line that is wrong; None without ptxas, or where it stops before."""
    program = shutil.which("ptxas")
    if program is None:
        return _left_out("ptxas", "it is not on the PATH")
    found = re.search(r"\.target\s+(sm_\w+)", text)
    arch = found[1] if found else "sm_90"
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ptx")
        path.write_text(f"{text}\n)\n", encoding="utf-8")
        last = text.count("\n") + 2
        for _ in range(repeats):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [program, f"-arch={arch}", "-w", str(path), "-o", os.devnull]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if f"line {last}; fatal" not in done.stderr:
                return _left_out("ptxas", f"it says {done.stderr.strip()[:200]!r}")
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def pyptx_speed(text: str) -> float | None:
    """MB/s of pyptx; None where it is not installed."""
    try:
        from pyptx.parser import parse as their_parse  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _left_out("pyptx", "it is not installed ('pip install pyptx')")
    end = text.find("\n}\n", 300_000)
    piece = text if end < 0 else text[: end + 3]
    return len(piece) / 1e6 / median_seconds(their_parse, piece, 1)


def _left_out(name: str, reason: str) -> None:
    print(f"{name} is left out: {reason}", file=sys.stderr)


def measure(text: str, repeats: int, with_lark: bool) -> dict[str, float]:
    """The numbers for one text."""
    seconds = median_seconds(parse, text, repeats)
    tracemalloc.start()
    module = parse(text)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    statements = sum(len(function.body or ()) for function in module.functions.values()) + len(module.items)
    found = {
        "megabytes": len(text) / 1e6,
        "statements": statements,
        "parse_mb_per_s": len(text) / 1e6 / seconds,
        "parse_statements_per_s": statements / seconds,
        "memory_per_byte": held / len(text),
        "check_mb_per_s": len(text) / 1e6 / median_seconds(lambda t: check_module(parse(t)), text, repeats),
    }
    if (theirs := ptxas_seconds(text, repeats)) is not None:
        found |= {"ptxas_mb_per_s": len(text) / 1e6 / theirs, "ratio_to_ptxas": theirs / seconds}
    if (speed := pyptx_speed(text)) is not None:
        found |= {"pyptx_mb_per_s": speed, "ratio_to_pyptx": len(text) / 1e6 / seconds / speed}
    if with_lark:
        lark_seconds = median_seconds(parse_with_lark, text, 1)
        found |= {"lark_mb_per_s": len(text) / 1e6 / lark_seconds, "ratio_to_lark": lark_seconds / seconds}
    return {key: round(value, 3) for key, value in found.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--megabytes", type=float, default=5.0)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument(
        "--no-lark", action="store_true", help="leave out whole-file Lark, which takes ten times longer"
    )
    arguments = options.parse_args()
    size = round(arguments.megabytes * 1e6)
    texts = {p.name: repeated(p.read_text(encoding="utf-8"), size) for p in arguments.files}
    texts = texts or {"generated": generated(size)}
    results = {name: measure(text, arguments.repeats, not arguments.no_lark) for name, text in texts.items()}
    json.dump(results, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
