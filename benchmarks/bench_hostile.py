"""Growth on hostile text: CPU seconds of parse, check, layout and emit for each kind of text, at half and full size,
and the peak memory of all of them together.

    python benchmarks/bench_hostile.py [KIND ...] [--scale 1.0]

Full size is what the kind's name says; `--scale 0.1` takes a tenth of it. Where time grows in proportion, doubling the
size doubles it: `growth` is the ratio of the two times, given where the longer one is at least 0.2 seconds. A text that
is refused is neither checked nor laid out; `check` includes printing the first diagnostics. A line of JSON per kind.

Kinds of calls and branches are for commands: CPU seconds and peak memory of `check`, `occupancy`, `pressure` and
`rewrite -p allocate`, each in a process of its own.
"""

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from forked_command import MIB, call_forked, import_all, run_forked
from hostile_texts import HEAD, body, branches_to_all, chain_of_calls, each, functions_beside

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.emit.layout import layout
from ptxtool.parse import parse

PRINTED = 200
"""This many diagnostics are printed as text."""
WORTH_A_RATIO = 0.2


MILLION, HUNDRED_THOUSAND, TEN_MEGABYTES = 10**6, 10**5, 10**7
KINDS: dict[str, tuple[int, Callable[[int], str]]] = {
    # long pieces
    "10 MB line": (TEN_MEGABYTES, lambda n: body("add.u32 a, b, c; " * (n // 17))),
    "10 MB comment": (TEN_MEGABYTES, lambda n: body(f"/*{'x *' * (n // 3)}*/")),
    "10 MB comment, open": (TEN_MEGABYTES, lambda n: body(f"/*{'x *' * (n // 3)}")),
    "10 MB string": (TEN_MEGABYTES, lambda n: body(f'.pragma "{"x" * n}";')),
    "10 MB string, open": (TEN_MEGABYTES, lambda n: body(f'.pragma "{"x" * n}')),
    "10 MB number": (TEN_MEGABYTES, lambda n: body(f"mov.u32 a, {'1' * n};")),
    "10 MB hexadecimal": (TEN_MEGABYTES, lambda n: body(f"mov.u32 a, 0x{'1' * n};")),
    "10 MB float": (TEN_MEGABYTES, lambda n: body(f"mov.f32 f, 1.{'1' * n};")),
    "10 MB array size": (TEN_MEGABYTES, lambda n: body(f".shared .b8 s[{'1' * n}];")),
    "10 MB identifier": (TEN_MEGABYTES, lambda n: body(f"mov.u32 a, {'n' * n};")),
    "10 MB opcode": (TEN_MEGABYTES, lambda n: body(f"{'n' * n} a, b;")),
    "10 MB blanks": (TEN_MEGABYTES, lambda n: body(" \t" * (n // 2))),
    "10 MB newlines": (TEN_MEGABYTES, lambda n: body("\n" * n)),
    "100,000 modifiers": (HUNDRED_THOUSAND, lambda n: body(f"mov{'.u32' * n} a, b;")),
    "100,000 modifiers apart": (HUNDRED_THOUSAND, lambda n: body(f"mov{' .u32' * n} a, b;")),
    # nesting
    "100,000 braces": (HUNDRED_THOUSAND, lambda n: body("{" * n + "add.u32 a, b, c;" + "}" * n)),
    "100,000 braces, open": (HUNDRED_THOUSAND, lambda n: body("{" * n)),
    "100,000 braces around labels": (HUNDRED_THOUSAND, lambda n: body(each("L#: { bra L#; ", n) + "}" * n)),
    "100,000 braces, same name": (HUNDRED_THOUSAND, lambda n: body("{ .reg .u32 a; " * n + "}" * n)),
    "100,000 parentheses": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, {'(' * n}1{')' * n};")),
    "100,000 parentheses, open": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, {'(' * n};")),
    "100,000 brackets, mixed": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, {'[{(' * (n // 3)};")),
    "100,000 minus signs": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, {'-' * n}1;")),
    "100,000 terms": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, 1{'+1' * n};")),
    "100,000 conditionals": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, {'1 ? 2 : ' * n}3;")),
    "100,000 braces of a value": (HUNDRED_THOUSAND, lambda n: f"{HEAD}.global .u32 x[] = {'{' * n}{'}' * n};"),
    "100,000 dimensions": (HUNDRED_THOUSAND, lambda n: f"{HEAD}.global .u32 x{'[1]' * n};"),
    # names
    "1,000,000 labels": (MILLION, lambda n: body(each("L#:\n", n))),
    "1,000,000 labels, same name": (MILLION, lambda n: body("L:\n" * n)),
    "1,000,000 declarators": (MILLION, lambda n: body(f".reg .u32 {each('x#,', n)} y;")),
    "1,000,000 declarators, same name": (MILLION, lambda n: body(f".reg .u32 {'x,' * n} y;")),
    "100,000 declarations": (HUNDRED_THOUSAND, lambda n: body(each(".shared .u32 x#;\n", n))),
    "100,000 ranges": (HUNDRED_THOUSAND, lambda n: body(each(".reg .u32 x#_<9>;\n", n))),
    "100,000 ranges, same name": (HUNDRED_THOUSAND, lambda n: body(".reg .u32 x<9>;\n" * n)),
    "100,000 unknown names": (HUNDRED_THOUSAND, lambda n: body(each("mov.u32 y#, b;\n", n))),
    "100,000 unknown labels": (HUNDRED_THOUSAND, lambda n: body(each("@p bra L#;\n", n))),
    "100,000 unknown opcodes": (HUNDRED_THOUSAND, lambda n: body(each("foo#.u32 a, b;\n", n))),
    "100,000 unknown modifiers": (HUNDRED_THOUSAND, lambda n: body(each("add.foo#.u32 a, b, c;\n", n))),
    "100,000 wrong instructions": (HUNDRED_THOUSAND, lambda n: body(each("add.u32 a, f, b, #;\n", n))),
    "100,000 branches": (HUNDRED_THOUSAND, lambda n: body(each("L#: @p bra L#;\n", n))),
    "100,000 branches to one place": (HUNDRED_THOUSAND, lambda n: body("@p bra L;\n" * n + "L:")),
    "100,000 branches back": (HUNDRED_THOUSAND, lambda n: body("L:" + "add.u32 a, a, b; @p bra L;\n" * n)),
    "100,000 values read unwritten": (HUNDRED_THOUSAND, lambda n: body(
        f".reg .u32 {each('x#,', n)} y;" + each("@p add.u32 x#, b, c;\n", n) + each("add.u32 a, a, x#;\n", n))),
    "100,000 entries of a table": (HUNDRED_THOUSAND, lambda n: body(
        f"t: .branchtargets {'L,' * n} L; L: brx.idx a, t;")),
    # lists
    "1,000,000 commas": (MILLION, lambda n: body(f"mov.u32 a{',' * n};")),
    "1,000,000 operands": (MILLION, lambda n: body(f"mov.u32 a{', b' * n};")),
    "1,000,000 elements": (MILLION, lambda n: body(f"mov.u32 a, {{{'b, ' * n}b}};")),
    "1,000,000 elements, open": (MILLION, lambda n: body(f"mov.u32 a, {{{'b, ' * n}b;")),
    "1,000,000 arguments": (MILLION, lambda n: body(f"call f, ({'a,' * n}a);")),
    "1,000,000 initial values": (MILLION, lambda n: f"{HEAD}.global .u32 x[] = {{{'1,' * n}1}};"),
    "1,000,000 initial addresses": (MILLION, lambda n: f"{HEAD}.global .u32 x; .global .u64 y[] = {{{'x,' * n}x}};"),
    "100,000 masks": (HUNDRED_THOUSAND, lambda n: (
        f"{HEAD}.global .u32 x; .global .u8 y[] = {{{'0xff(generic(x)+4),' * n}1}};")),
    # directives and functions
    "100,000 functions": (HUNDRED_THOUSAND, lambda n: HEAD + each(".func f#() { ret; }\n", n)),
    "100,000 functions that call": (HUNDRED_THOUSAND, lambda n: (
        f"{HEAD}.func f();\n" + each(".func f#() { call f, (); ret; }\n", n))),
    "100,000 functions, same name": (HUNDRED_THOUSAND, lambda n: HEAD + ".func f() { ret; }\n" * n),
    "100,000 declared functions": (HUNDRED_THOUSAND, lambda n: HEAD + ".extern .func f(.param .u32 a);\n" * n),
    "100,000 parameters": (HUNDRED_THOUSAND, lambda n: (
        f"{HEAD}.func f({each('.param .u32 p#,', n)} .param .u32 q) {{ ret; }}")),
    "100,000 globals": (HUNDRED_THOUSAND, lambda n: HEAD + each(".global .u32 x#;\n", n)),
    "100,000 aliases": (HUNDRED_THOUSAND, lambda n: (
        f"{HEAD}.func f() {{ ret; }}\n" + each(".func g#();\n.alias g#, f;\n", n))),
    "100,000 .loc": (HUNDRED_THOUSAND, lambda n: body(each(".loc 1 # 3\n", n))),
    "100,000 .loc inlined": (HUNDRED_THOUSAND, lambda n: body(
        each(".loc 1 # 3, function_name L+#, inlined_at 1 2 3\n", n))),
    "100,000 .file": (HUNDRED_THOUSAND, lambda n: HEAD + each('.file # "a#.cu"\n', n)),
    "100,000 pragmas": (HUNDRED_THOUSAND, lambda n: body('.pragma "nounroll";\n' * n)),
    "100,000 prototypes": (HUNDRED_THOUSAND, lambda n: body(each("t#: .callprototype _ (.param .b32 _);\n", n))),
    "100,000 sections": (HUNDRED_THOUSAND, lambda n: HEAD + ".section .debug_str { .b8 1 }\n" * n),
    "1,000,000 bytes of a section": (MILLION, lambda n: HEAD + ".section .debug_str {\n" + ".b8 1\n" * n + "}"),
    "1,000,000 bytes of a section, open": (MILLION, lambda n: HEAD + ".section .debug_str {\n" + ".b8 1\n" * n),
    "100,000 directives of a head": (HUNDRED_THOUSAND, lambda n: f"{HEAD}.entry k() {'.maxnreg 16 ' * n}{{ ret; }}"),
    "100,000 line markers": (HUNDRED_THOUSAND, lambda n: HEAD + '# 1 "a.cu"\n' * n + ".entry k() { ret; }"),
    # errors
    "100,000 errors": (HUNDRED_THOUSAND, lambda n: body("mov.u32 a b;\n" * n)),
    "100,000 errors without ends": (HUNDRED_THOUSAND, lambda n: body("mov.u32 a,\n" * n)),
    "100,000 errors outside": (HUNDRED_THOUSAND, lambda n: "add.u32 a, b, c;\n" * n),
    "100,000 unclosed strings": (HUNDRED_THOUSAND, lambda n: body('.pragma "a\n' * n)),
    "100,000 quotes": (HUNDRED_THOUSAND, lambda n: body('"' * n)),
    "100,000 broken heads": (HUNDRED_THOUSAND, lambda n: HEAD + ".entry e( {\n" * n),
    "100,000 broken declarations": (HUNDRED_THOUSAND, lambda n: HEAD + ".global .u32 x = ;\n" * n),
    "100,000 closing braces": (HUNDRED_THOUSAND, lambda n: "}\n" * n),
    "100,000 at signs": (HUNDRED_THOUSAND, lambda n: body("@" * n)),
    "100,000 guards": (HUNDRED_THOUSAND, lambda n: body("@p " * n + "ret;")),
    "100,000 dots": (HUNDRED_THOUSAND, lambda n: body(f"mov{'.' * n} a, b;")),
    "100,000 slashes": (HUNDRED_THOUSAND, lambda n: body(f"mov.u32 a, b {'/ ' * n};")),
    "100,000 bytes of no text": (HUNDRED_THOUSAND, lambda n: body("\x01\x7f\udc80" * (n // 3))),
    # PTXPlus
    "100,000 operands of PTXPlus": (HUNDRED_THOUSAND, lambda n: (
        f".version 1.4+\n.entry k {{ add.u32 $r1, {'s[0x10],' * n}$r1; }}")),
    "100,000 terms of PTXPlus": (HUNDRED_THOUSAND, lambda n: (
        f".version 1.4+\n.entry k {{ add.u32 $r1, {'$r1+' * n}$r1; }}")),
}  # fmt: skip


OF_COMMANDS: dict[str, tuple[int, Callable[[int], str]]] = {
    "chain of 3,000 calls": (3000, chain_of_calls),
    "3,000 x 3,000 branches": (3000, branches_to_all),
    "100,000 functions beside a kernel": (HUNDRED_THOUSAND, functions_beside),
}  # fmt: skip
COMMANDS = (
    "check",
    "occupancy --no-ptxas --block 32 --kernel k",
    "pressure --no-ptxas --kernel k",
    "rewrite -p allocate",
)
MOST_SECONDS, MOST_BYTES = 300, 8192 * MIB


def measure_commands(size: int, make: Callable[[int], str]) -> dict[str, object]:
    """CPU seconds and MiB of each command, at half size and at full size; an exit code that is not 0."""
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            name, *options = command.split()
            of_command: dict[str, object] = {}
            for part, n in (("half", size // 2), ("full", size)):
                path = Path(folder) / "k.ptx"
                path.write_text(make(n))
                ended = run_forked(
                    [name, str(path), *options], memory_bytes=MOST_BYTES, cpu_seconds=MOST_SECONDS
                )
                of_command[part] = {"seconds": round(ended.cpu_seconds, 1), "mib": ended.peak_bytes // MIB}
                of_command |= {"exit_code": ended.exit_code} if ended.exit_code else {}
            found[name] = of_command
    return found


def seconds(text: str) -> tuple[dict[str, float], str]:
    """CPU seconds of each stage, and what became of the text: refused, or how many problems it has."""
    found: dict[str, float] = {}
    begin = time.process_time()
    try:
        module = parse(text, "hostile")
    except PtxError as refused:
        str(refused)  # printing it counts
        found["parse"] = time.process_time() - begin
        return found, f"refused, {len(refused.diagnostics)} errors"
    found["parse"] = time.process_time() - begin
    begin = time.process_time()
    problems = api.check(module)
    assert all(str(d) for d in itertools.islice(problems, PRINTED))
    found["check"] = time.process_time() - begin
    begin = time.process_time()
    layout(module)
    found["layout"] = time.process_time() - begin
    begin = time.process_time()
    assert emit(module) == text
    found["emit"] = time.process_time() - begin
    return found, f"{len(problems)} problems"


def measure(size: int, make: Callable[[int], str]) -> dict[str, object]:
    """The times and MiB of a kind at half size and at full size, each in a process of its own."""
    (half, _, half_mib), (full, outcome, full_mib) = measured(make(size // 2)), measured(make(size))
    stages: dict[str, object] = {
        stage: {"half": round(half.get(stage, 0.0), 2), "full": round(spent, 2)}
        | ({"growth": round(spent / half[stage], 1)} if spent >= WORTH_A_RATIO and half.get(stage) else {})
        for stage, spent in full.items()
    }
    return {"outcome": outcome, "mib": {"half": half_mib, "full": full_mib}} | stages


def measured(text: str) -> tuple[dict[str, float], str, int]:
    """`seconds`, and the MiB that it took."""
    ended = call_forked(
        lambda: print(json.dumps(seconds(text))), memory_bytes=MOST_BYTES, cpu_seconds=MOST_SECONDS
    )
    found, outcome = json.loads(ended.stdout) if not ended.exit_code else ({}, f"ends with {ended.exit_code}")
    return found, outcome, ended.peak_bytes // MIB


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("kinds", nargs="*", metavar="KIND", help="kinds of text; all without one")
    options.add_argument("--scale", type=float, default=1.0, help="how much of the full size")
    arguments = options.parse_args()
    kinds = {**KINDS, **OF_COMMANDS}
    unknown = [kind for kind in arguments.kinds if kind not in kinds]
    if unknown:
        options.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(kinds)}")
    import_all()
    for kind in arguments.kinds or kinds:
        size, make = kinds[kind]
        of_kind = measure_commands if kind in OF_COMMANDS else measure
        print(json.dumps({"kind": kind} | of_kind(round(size * arguments.scale), make)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
