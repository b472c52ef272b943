"""Random CUDA programs whose results are known: the same source compiled for the host computes them.

`write(seed, name)` makes one kernel and all it needs, `source(programs)` a file of many: nvcc compiles it to PTX and
g++ to a host program that writes every result. Whatever the seed, nothing in a program is undefined, and every loop
ends.

A kernel is a sequence of phases of one thread (`functions.py`), which work on a structure of values, with exchanges
among the threads of a CTA between them (`exchanges.py`). On the host every phase runs for all threads before the
exchange. A thread's result is a hash of all it has in the end.
"""

import random
from array import array
from dataclasses import dataclass
from pathlib import Path

from random_cuda.exchanges import exchange
from random_cuda.expressions import TYPES, Body
from random_cuda.functions import Functions

HEADER = Path(__file__).parent / "portable.h"
N_INPUTS = 8
"""Words that each thread reads."""
MOST_THREADS = 3 * 96
_BLOCKS = ((32, 1, 1), (64, 1, 1), (64, 1, 1), (96, 1, 1), (48, 1, 1), (8, 5, 1), (4, 4, 3), (16, 2, 2))
_SPECIAL = (
    0,
    1,
    0x7FFFFFFF,
    1 << 31,
    0xFFFFFFFF,
    0x7F800000,
    0xFF800000,
    0x7FC00001,
    0x3F800000,
    1 << 23,
    0x80000001,
)


def inputs() -> list[int]:
    """Words for all threads: any bits, small numbers, floats, special ones."""
    r = random.Random(5)
    words: list[int] = []
    for _ in range(N_INPUTS * MOST_THREADS):
        real = array("I", array("f", [r.gauss(0, 1)]).tobytes())[0]
        words.append(r.choice((r.getrandbits(32), r.randrange(20), real, r.choice(_SPECIAL))))
    return words


@dataclass(frozen=True)
class Program:
    """One kernel: its text, and the launch."""

    name: str
    text: str
    grid: int
    block: tuple[int, int, int]

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z


class _Writer(Functions):
    def structure(self) -> str:
        """The structure `S`."""
        kinds = [self.random.choice(TYPES) for _ in range(self.random.randint(1, 5))]
        self.fields = [(kind, f"m{k}") for k, kind in enumerate(kinds)]
        members = " ".join(f"{kind} {name};" for kind, name in self.fields)
        return (
            f"struct S {{ {members} u32 row[4]; union {{ u32 word; u8 byte[4]; f32 real; i16 half[2]; }}; }};"
        )

    def data(self) -> str:
        """Tables with initial values, in constant and global memory, and pointers to a variable."""
        r, lines = self.random, []
        for k in range(r.randint(1, 3)):
            kind, n = r.choice(("u32", *TYPES)), r.choice((4, 8, 16, 32))
            given = ", ".join(self.literal(kind) for _ in range(n))
            lines.append(f"{r.choice(('CONSTANT', 'GLOBAL'))} {kind} t{k}[{n}] = {{{given}}};")
            self.tables.append((kind, f"t{k}", n))
        kind = r.choice(self.tables)[0]
        lines.append(f"GLOBAL {kind} place = ({kind})3;\nGLOBAL {kind} *where[2] = {{&place, &place}};")
        self.tables.append((kind, "(*where)", 1))
        return "\n".join(lines)

    def phase(self, k: int) -> str:
        self.body = body = Body(declarations=["S &s = state;"])
        self.know_structure()
        body.pointers.append(("in", N_INPUTS))
        kept, self.callees = self.callees, self.callees + self.structured
        self.variables(self.random.randint(2, 4))
        self.local_arrays()
        text = self.statements(self.random.randint(4, 8), 3)
        self.callees = kept
        mixed = " ".join(
            f"s.word = (u32)mix(s.word, {name});" for _, name in body.values if name.startswith("v")
        )
        return f"FN_CALL void phase{k}(S &state, const u32 *in) {{\n    {text}\n    {mixed}\n}}"

    def ends(self) -> list[str]:
        """The functions that fill the state and make the result of it."""
        begin = [f"s.{name} = ({kind})in[{n}] + ({kind}){n};" for n, (kind, name) in enumerate(self.fields)]
        begin += [
            f"s.{name} = f32_of(in[{n}]);" for n, (kind, name) in enumerate(self.fields) if kind == "f32"
        ]
        begin += ["s.word = in[6] ^ in[7];", "for (int k = 0; k < 4; k++) s.row[k] = in[k] >> k;"]
        end = [f"h = mix(h, s.{name});" for _, name in self.fields] + [
            "for (int k = 0; k < 4; k++) h = mix(h, s.row[k]);"
        ]
        return [
            f"FN void begin(S &s, const u32 *in) {{ {' '.join(begin)} }}",
            f"FN u64 end(const S &s) {{ u64 h = s.word; {' '.join(end)} return h; }}",
        ]

    def program(self, name: str) -> Program:
        r = self.random
        block, grid = r.choice(_BLOCKS), r.choice((1, 1, 2, 3))
        x, y, z = block
        threads = x * y * z
        parts = [self.structure(), self.data()]
        if self.one_in(3):
            parts.append(self.by_pointer())
        if self.one_in(5):
            parts.append(self.virtual())
        parts += [self.function(k) for k in range(r.randint(0, 4))]
        n_phases = r.randint(1, 3)
        parts += [self.phase(k) for k in range(n_phases)] + self.ends()
        device, host = [], []
        for k in range(n_phases):
            on_device, on_host = exchange(r, self.fields, threads)
            device += [f"    phase{k}(s, in);", f"    {{ {on_device} }}"]
            host += [f"    EACH_THREAD phase{k}(s[t], in + {N_INPUTS} * t);", f"    {{ {on_host} }}"]
        lines = [
            *(f"namespace n_{name} {{", *parts, "}", "#ifdef __CUDACC__"),
            f'extern "C" __global__ void {name}(const u32 *in, u64 *out) {{',
            f"    using namespace n_{name};",
            f"    u32 t = threadIdx.x + {x} * (threadIdx.y + {y} * threadIdx.z), g = t + {threads} * blockIdx.x;",
            f"    in += {N_INPUTS} * g;\n    S s; begin(s, in);",
            *(*device, "    out[g] = end(s);\n}", "#else"),
            f"static void {name}(const u32 *in, u64 *out) {{",
            f"    using namespace n_{name};\n    const u32 threads = {threads};",
            f"    static S s[{threads}]; EACH_THREAD begin(s[t], in + {N_INPUTS} * t);",
            *(*host, "    EACH_THREAD out[t] = end(s[t]);\n}", "#endif"),
        ]
        return Program(name, "\n".join(lines), grid, block)


def write(seed: int, name: str) -> Program:
    """One program; the same seed, the same program."""
    return _Writer(seed).program(name)


_HEAD = """
#ifdef __CUDACC__
#include <cstdio>
#define METHOD __device__
#define NUMBER (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * (threadIdx.z + blockDim.z * blockIdx.x)))
#else
#include <cstdio>
#define METHOD
static u32 NUMBER, first;
#define EACH_THREAD for (u32 t = 0; t < threads; t++) if (NUMBER = first + t, true)
#endif
#ifdef WATCH
#define SHOW(k, v) (NUMBER == WATCH ? printf("%d %llx\\n", k, (unsigned long long)mix(0, v)) : 0)
#else
#define SHOW(k, v)
#endif
"""
_MAIN = """
#ifndef __CUDACC__
static const struct {{ void (*run)(const u32 *, u64 *); int grid, threads; }} programs[] = {{
{rows}
}};
int main(int, char **arguments) {{
    static u32 in[{n_inputs}];
    static u64 out[{most_threads}];
    FILE *from = fopen(arguments[1], "rb"), *to = fopen(arguments[2], "wb");
    if (!from || !to || fread(in, 4, {n_inputs}, from) != {n_inputs}) return 1;
    for (auto &p : programs) {{
        for (int c = 0; c < p.grid; c++) {{
            first = c * p.threads;
            p.run(in + {n_in} * first, out + first);
        }}
        fwrite(out, 8, p.grid * p.threads, to);
    }}
    return fclose(to);
}}
#endif
"""


def source(programs: list[Program]) -> str:
    """A file of programs, for nvcc and for g++; the host program reads a file of inputs and writes one of results."""
    head = HEADER.read_text(encoding="utf-8").replace("#pragma once\n", "") + _HEAD
    rows = ",\n".join(f"    {{{p.name}, {p.grid}, {p.threads}}}" for p in programs)
    n_inputs = N_INPUTS * MOST_THREADS
    main = _MAIN.format(rows=rows, n_inputs=n_inputs, most_threads=MOST_THREADS, n_in=N_INPUTS)
    return "\n".join([head, *(p.text for p in programs), main])
