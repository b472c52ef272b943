"""Random programs of functions that call one another: both runs leave what the reference interpreter leaves.

Every function takes fuel, which calls use up, and a value. Its body is a random sequence of arithmetic, divergent
branches, loops whose length depends on the lane, guarded and indirect calls, early returns, exits, and local memory.
"""

import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.interpreter import run_reference

import ptxsim
from ptxtool.parse import parse

THREADS = 48


class Writer:
    """Writes one program; the same seed, the same program."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.n_functions = self.random.randint(1, 4)
        self.n_labels = 0
        self.in_registers = [self.random.random() < 0.4 for _ in range(self.n_functions)]

    def program(self) -> str:
        heads = [self.head(k) for k in range(self.n_functions)]
        named = [f"f{k}" for k in range(self.n_functions) if not self.in_registers[k]]
        size = max(1, len(named))
        table = f".global .align 8 .u64 table[{size}]" + (f" = {{{', '.join(named)}}}" if named else "") + ";"
        bodies = [self.function(k, len(named)) for k in range(self.n_functions)]
        first = self.random.randrange(self.n_functions)
        return "\n".join(
            [
                ".version 8.0\n.target sm_80\n.address_size 64",
                *(f"{head};" for head in heads),
                table,
                *bodies,
                ".visible .entry k(.param .u64 out, .param .u32 fuel)\n{",
                ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;",
                "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [fuel];",
                "mov.u32 %r2, %tid.x; mad.wide.u32 %d1, %r2, 4, %d1; mov.u32 %r3, 7;",
                self.direct(first),
                "add.u32 %r3, %r3, %r2; st.global.u32 [%d1], %r3; ret;\n}",
            ]
        )

    def head(self, k: int) -> str:
        space = "reg" if self.in_registers[k] else "param"
        return f".func (.{space} .b32 result{k}) f{k}(.{space} .b32 fuel{k}, .{space} .b32 value{k})"

    def function(self, k: int, n_named: int) -> str:
        own = self.in_registers[k]
        lines = [f"{self.head(k)}\n{{", ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;"]
        lines += [".local .b32 mine[4];"]
        lines += [
            f"mov.u32 %r1, fuel{k}; mov.u32 %r2, value{k};"
            if own
            else f"ld.param.b32 %r1, [fuel{k}]; ld.param.b32 %r2, [value{k}];"
        ]
        self.give = f"mov.u32 result{k}, %r3;" if own else f"st.param.b32 [result{k}], %r3;"
        lines += ["mov.u32 %r3, %r2; mov.u64 %d2, table; st.local.u32 [mine+4], %r1;"]
        lines += [f"setp.eq.u32 %p0, %r1, 0;\n@%p0 {self.give}\n@%p0 ret;", "sub.u32 %r1, %r1, 1;"]
        lines += [self.statement(2, n_named) for _ in range(self.random.randint(2, 5))]
        lines += [f"ld.local.u32 %r5, [mine+4]; add.u32 %r3, %r3, %r5;\n{self.give}"]
        return "\n".join([*lines, "ret;\n}" if self.random.random() < 0.7 else "}"])

    def statement(self, depth: int, n_named: int) -> str:
        choices = [self.arithmetic, self.arithmetic, self.call, self.call]
        if n_named:
            choices.append(lambda: self.indirect(n_named))
        if depth:
            choices += [lambda: self.branch(depth, n_named), lambda: self.loop(n_named), self.leave]
        return self.random.choice(choices)()

    def arithmetic(self) -> str:
        number = self.random.randint(1, 99)
        return self.random.choice(
            [
                f"mad.lo.u32 %r3, %r3, {number}, %r2;",
                f"xor.b32 %r3, %r3, {number};",
                f"add.u32 %r2, %r2, {number};",
                "shf.l.wrap.b32 %r3, %r3, %r3, 5;",
                "ld.local.u32 %r6, [mine+8]; add.u32 %r3, %r3, %r6; st.local.u32 [mine+8], %r2;",
            ]
        )

    def condition(self) -> str:
        """%p1: something that differs between lanes."""
        return f"and.b32 %r7, %r3, {self.random.randint(1, 7)};\nsetp.gt.u32 %p1, %r7, {self.random.randint(0, 3)};"

    def call(self) -> str:
        guard = self.random.random() < 0.4
        text = self.direct(self.random.randrange(self.n_functions), "@%p1 " if guard else "")
        return f"{self.condition()}\n{text}" if guard else text

    def direct(self, k: int, guard: str = "") -> str:
        if self.in_registers[k]:
            return f"{guard}call (%r3), f{k}, (%r1, %r3);"
        if self.random.random() < 0.5:  # registers for `.param` parameters
            before = "{ .param .b32 r; st.param.b32 [r], %r3;"
            return f"{before}\n{guard}call (r), f{k}, (%r1, %r2);\nld.param.b32 %r3, [r]; }}"
        return (
            "{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r1; st.param.b32 [b], %r3;\n"
            f"st.param.b32 [r], %r2;\n{guard}call (r), f{k}, (a, b);\nld.param.b32 %r3, [r]; }}"
        )

    def indirect(self, n_named: int) -> str:
        self.n_labels += 1
        return f"""rem.u32 %r8, %r3, {n_named}; mul.wide.u32 %d3, %r8, 8;
mov.u64 %d4, table; add.u64 %d3, %d4, %d3; ld.global.u64 %d3, [%d3];
{{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r1; st.param.b32 [b], %r2;
P{self.n_labels}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
call (r), %d3, (a, b), P{self.n_labels};
ld.param.b32 %r3, [r]; }}"""

    def branch(self, depth: int, n_named: int) -> str:
        self.n_labels += 1
        n = self.n_labels
        one, two = self.statement(depth - 1, n_named), self.statement(depth - 1, n_named)
        return f"{self.condition()}\n@%p1 bra A{n};\n{one}\nbra B{n};\nA{n}:\n{two}\nB{n}:"

    def loop(self, n_named: int) -> str:
        self.n_labels += 1
        n = self.n_labels
        count = 10 + n % 3  # loops do not nest, but calls inside must keep the counter
        body = self.statement(0, n_named)
        return (
            f"and.b32 %r{count}, %r3, 3;\nL{n}:\n{body}\nsetp.gt.u32 %p2, %r{count}, 0;\n"
            f"sub.u32 %r{count}, %r{count}, 1;\n@%p2 bra L{n};"
        )

    def leave(self) -> str:
        what = "exit;" if self.random.random() < 0.15 else f"{self.give}\n@%p1 ret;"
        return f"{self.condition()}\n@%p1 {what}"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32), fuel=st.integers(0, 2))
def test_programs_of_functions(seed: int, fuel: int) -> None:
    text = Writer(seed).program()
    kernel = parse(text, "random.ptx").kernels["k"]
    outputs = []
    for run in (run_reference, ptxsim.run, ptxsim.launch):
        out = np.zeros(THREADS, np.uint32)
        run(kernel, 1, THREADS, [out, fuel])
        outputs.append(out.tolist())
    assert outputs[1] == outputs[0]
    assert outputs[2] == outputs[0]
