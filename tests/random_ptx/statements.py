"""The statements of a random body: straight code, branches, loops, scopes, calls, in any nesting.

Branches may differ from thread to thread. Loops end after at most five rounds, whatever their data. What needs all
threads together stands only where they surely are: outside of branches and loops that data decides, and before
the first exit of a single thread.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from random_ptx import templates
from random_ptx.registers import Registers

_KINDS = {
    name: templates.lines_of(getattr(templates, name))
    for name in ("ARITHMETIC", "CHAINS", "MEMORY", "ADDRESSED", "KERNEL_ONLY", "CONVERGENT")
}
_WORDS = (0, 1, 2, 7, 31, 255, 256, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000)
_FLOATS = ("0f00000000", "0f3F800000", "0fC0490FDB", "0f7F7FFFFF", "0f00000001", "1.5", "-0.25")


_NOT_LOWERABLE = ("cc.u64", "cvta.local", "max.u64")


@dataclass(frozen=True)
class Style:
    """What programs do without.

    `whole`: no register gets its first value under a guard, no value is there for some threads only. `lowerable`: what
    PTXPlus has no instructions for.
    """

    whole: bool = False
    lowerable: bool = False


PLAIN = Style()


@dataclass(frozen=True)
class Signature:
    """A device function: its parameters' and results' types, in registers or by the calling convention."""

    name: str
    params: tuple[str, ...]
    results: tuple[str, ...]
    in_registers: bool
    has_address: bool
    is_recursive: bool


@dataclass
class Body:
    """Writes one body. `callees` may be called from it; `is_kernel` says whether threads meet and `out` is known."""

    random: random.Random
    prefix: str
    callees: list[Signature]
    is_kernel: bool
    out: str = ""
    leave: str = "exit;"
    style: Style = PLAIN
    regs: Registers = field(init=False)
    lines: list[str] = field(default_factory=list)
    together: bool = field(init=False)
    calls_left: int = field(init=False)
    n_labels: int = 0
    n_loops: int = 0

    def __post_init__(self) -> None:
        self.regs = Registers(self.random)
        self.together = self.is_kernel
        self.calls_left = 4 if self.is_kernel else 1

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def label(self) -> str:
        self.n_labels += 1
        return f"{self.prefix}{self.n_labels}"

    def templates(self, kind: str) -> list[str]:
        found = _KINDS[kind]
        if self.style.lowerable:
            return [t for t in found if not any(part in t for part in _NOT_LOWERABLE)]
        return list(found)

    # ---- operands

    def read(self, type_: str, avoid: set[str] | frozenset[str] = frozenset()) -> str:
        """A register with a value of the type; where there is none, it gets one."""
        choice = [n for n in self.regs.readable(type_) if n not in avoid]
        if choice and self.random.random() < 0.97:
            return self.random.choice(choice)
        name = self.regs.target(type_, set(avoid))
        if type_ == "pred":
            other = self.read("b32", avoid)
            self.emit(f"setp.gt.s32 {name}, {other}, {self.random.choice((0, 5, 1000))};")
        else:
            self.emit(f"mov.{type_} {name}, {self.immediate(type_)};")
        self.regs.defined.add(name)
        return name

    def immediate(self, type_: str) -> str:
        r = self.random
        if type_ == "f32":
            return r.choice(_FLOATS)
        if type_ == "f64":
            return r.choice(("0d3FF0000000000000", "0dC000000000000000", "0.125"))
        if type_ == "b16":
            return str(r.choice((0, 1, 3, 255, 0x7FFF, r.randrange(1 << 15))))
        if type_ == "b64":
            return str(r.choice((0, 1, 12345678901, 0xFFFFFFFFFFFF, r.randrange(1 << 40))))
        return str(r.choice(_WORDS) if r.random() < 0.5 else r.randrange(100))

    def place(self, what: str) -> str:
        """A byte offset: `at16` into `data`, `in4` into `mine`, `slot8` into a thread's results."""
        kind, size = re.match(r"([a-z]+)(\d+)", what).groups()  # type: ignore[union-attr]
        most = {"at": 240, "in": 48, "slot": 112}[kind]
        return str(self.random.randrange(0, most + 1, int(size)))

    def fill(self, template: str) -> tuple[str, list[str]]:
        """A template with registers in its holes, and the registers that have a value after it."""
        bound: dict[str, str] = {"out": self.out}
        used: set[str] = set()
        for type_, name in re.findall(r"<(\w+)~(\w+)>", template):
            bound[name] = self.regs.temporary(type_, used)
            used.add(bound[name])
        pieces = re.split(r"(<[^>]+>)", template)
        for k in range(1, len(pieces), 2):  # sources first: a result is no source of its own instruction
            hole = pieces[k][1:-1]
            if hole in bound:
                pieces[k] = bound[hole]
            elif re.fullmatch(r"(at|in|slot)\d+", hole):
                pieces[k] = self.place(hole)
            elif "~" in hole:
                pieces[k] = bound[hole.split("~")[1]]
            elif "!" not in hole:
                type_ = hole.removesuffix("i")
                literal = hole.endswith("i") and self.random.random() < 0.4
                pieces[k] = self.immediate(type_) if literal else self.read(type_, used)
        written: list[str] = []
        for k in range(1, len(pieces), 2):
            if "!" in pieces[k]:
                type_ = pieces[k][1:].split("!")[0]
                pieces[k] = self.regs.target(type_, used)
                used.add(pieces[k])
                written.append(pieces[k])
        return "".join(pieces), written

    # ---- statements

    def statements(self, n: int, depth: int) -> None:
        for _ in range(n):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        simple: list[tuple[int, Callable[[], None]]] = [
            (30, lambda: self.guarded("ARITHMETIC")),
            (8, lambda: self.guarded("MEMORY")),
            (4, lambda: self.plain("ADDRESSED")),
            (3, lambda: self.plain("CHAINS")),
            (2, self.swap),
        ]
        if not self.style.whole:
            simple.append((2, self.either))
        if self.is_kernel:
            simple.append((4, lambda: self.guarded("KERNEL_ONLY")))
            if self.together:
                simple.append((3, lambda: self.plain("CONVERGENT")))
        if self.callees and self.calls_left and (self.is_kernel or not self.n_loops):
            simple.append((5, self.call))
        if depth:
            simple += [
                (4, lambda: self.branch(depth)),
                (4, lambda: self.loop(depth)),
                (2, lambda: self.scope(depth)),
                (2, lambda: self.switch(depth)),
                (1, self.go),
            ]
            if not self.style.whole:
                simple.append((2, lambda: self.correlated(depth)))
        weights, choices = zip(*simple, strict=True)
        self.random.choices(choices, weights)[0]()

    def plain(self, kind: str) -> None:
        text, written = self.fill(self.random.choice(self.templates(kind)))
        self.emit(text)
        self.regs.defined |= set(written)

    def guarded(self, kind: str) -> None:
        """One instruction, now and then under a guard: then what it writes may stay as it was."""
        guard = f"@{self.random.choice(('', '!'))}{self.read('pred')} " if self.random.random() < 0.15 else ""
        text, written = self.fill(self.random.choice(self.templates(kind)))
        if self.style.whole and not self.regs.defined >= set(written):
            guard = ""
        self.emit(guard + text)
        if not guard:
            self.regs.defined |= set(written)

    def swap(self) -> None:
        type_ = self.random.choice(("b32", "b32", "b64", "f32", "pred"))
        free = [n for n in self.regs.readable(type_) if n not in self.regs.locked]
        if len(free) < 2:
            return self.guarded("ARITHMETIC")
        names = self.random.sample(free, min(len(free), self.random.randint(2, 3)))
        spare = self.regs.target(type_, set(names))
        for to, source in zip([spare, *names], [*names, spare], strict=True):
            self.emit(f"mov.{type_} {to}, {source};")
        self.regs.defined.add(spare)

    def either(self) -> None:
        """One of two moves writes."""
        type_ = self.random.choice(("b16", "b32", "b64", "f32", "f64"))
        guard = self.read("pred")
        one, two = self.read(type_), self.read(type_)
        to = self.regs.target(type_, {one, two})
        self.emit(f"@{guard} mov.{type_} {to}, {one};")
        self.emit(f"@!{guard} mov.{type_} {to}, {two};")
        self.regs.defined.add(to)

    def correlated(self, depth: int) -> None:
        """A value where a predicate holds, read where the same predicate holds."""
        guard, value = self.read("pred"), self.read("b32")
        to = self.regs.fresh("b32")
        kept = {guard, to} - self.regs.locked
        self.regs.locked |= kept
        self.emit(f"@{guard} add.u32 {to}, {value}, 1;")
        self.statements(self.random.randint(1, 4), depth - 1)
        goal = self.read("b32", self.regs.locked)
        self.emit(f"@{guard} xor.b32 {goal}, {goal}, {to};")
        self.regs.locked -= kept

    def apart(self) -> "_Apart":
        return _Apart(self)

    def branch(self, depth: int) -> None:
        guard = self.read("pred")
        end, other = self.label(), self.label()
        before = set(self.regs.defined)
        with self.apart():
            if self.random.random() < 0.35:
                self.emit(f"@!{guard} bra {end};")
                self.statements(self.random.randint(1, 4), depth - 1)
                self.regs.defined &= before
            else:
                uni = self.random.choice(("bra", "bra", "bra.uni"))
                self.emit(f"@{guard} bra {other};")
                self.statements(self.random.randint(1, 4), depth - 1)
                self.emit(f"{uni} {end};")
                one = self.regs.defined
                self.regs.defined = before
                self.emit(f"{other}:")
                self.statements(self.random.randint(1, 4), depth - 1)
                self.regs.defined &= one
        self.emit(f"{end}:")

    def switch(self, depth: int) -> None:
        index = self.read("b32")
        choice = self.regs.temporary("b32", {index})
        n = self.random.randint(2, 4)
        arms, end, table = [self.label() for _ in range(n)], self.label(), self.label()
        self.emit(f"rem.u32 {choice}, {index}, {n};")
        self.emit(f"{table}: .branchtargets {', '.join(arms)};")
        self.emit(f"brx.idx {choice}, {table};")
        before, after = set(self.regs.defined), None
        with self.apart():
            for arm in arms:
                self.regs.defined = set(before)
                self.emit(f"{arm}:")
                self.statements(self.random.randint(1, 2), depth - 1)
                if self.random.random() < 0.8 or arm == arms[-1]:
                    self.emit(f"bra {end};")
                    after = self.regs.defined if after is None else after & self.regs.defined
                else:
                    before &= self.regs.defined  # falls into the next
            self.regs.defined = after or set()
        self.emit(f"{end}:")

    def loop(self, depth: int) -> None:
        """A loop that counts down, tested at its end or at its head, with ways out in the middle."""
        r, regs = self.random, self.regs
        counter, go_on = regs.fresh("b32"), regs.fresh("pred")
        by_data = r.random() < 0.5
        if by_data:
            self.emit(f"and.b32 {counter}, {self.read('b32')}, 3;")
        else:
            self.emit(f"mov.u32 {counter}, {r.randint(1, 3)};")
        regs.defined.add(counter)
        regs.locked |= {counter, go_on}
        head, end = self.label(), self.label()
        at_head, has_break, level = r.random() < 0.4, r.random() < 0.4, regs.depth
        kept, regs.kept = regs.kept, regs.kept | regs.defined
        self.emit(f"{head}:")
        leaving: list[set[str]] = []
        self.n_loops += 1
        with self.apart() if by_data or has_break else _Nothing():
            if at_head:
                self.emit(f"setp.eq.u32 {go_on}, {counter}, 0;\n@{go_on} bra {end};")
                regs.defined.add(go_on)
                leaving.append(set(regs.defined))
            self.statements(r.randint(1, 4), depth - 1)
            if has_break:
                self.break_out(end, level, leaving, depth)
                self.statements(r.randint(0, 2), depth - 1)
            if at_head:
                self.emit(f"sub.u32 {counter}, {counter}, 1;\nbra {head};")
                regs.defined = set.intersection(*leaving)
            else:
                self.emit(f"setp.gt.u32 {go_on}, {counter}, 1;\nsub.u32 {counter}, {counter}, 1;")
                if by_data:
                    self.emit(f"setp.lt.and.u32 {go_on}, {counter}, 9, {go_on};")
                self.emit(f"@{go_on} bra {head};")
                regs.defined = set.intersection(regs.defined, *leaving)
        self.emit(f"{end}:")
        regs.kept = kept
        self.n_loops -= 1
        regs.locked -= {counter, go_on}

    def break_out(self, end: str, level: int, leaving: list[set[str]], depth: int) -> None:
        guard = self.read("pred")
        if self.random.random() < 0.5:
            self.emit(f"@{guard} bra {end};")
            leaving.append(self.regs.leaves(level))
            return
        skip = self.label()  # something is done on the way out
        before = set(self.regs.defined)
        self.emit(f"@{guard} bra {skip};")
        self.statements(self.random.randint(1, 2), depth - 1)
        self.emit(f"bra {end};")
        leaving.append(self.regs.leaves(level))
        self.regs.defined = before
        self.emit(f"{skip}:")

    def scope(self, depth: int) -> None:
        with self.regs.scope() as declarations:
            self.emit("{")
            for line in declarations:
                self.emit(line)
            cell = self.random.choice(("", "cell", "mine"))
            if cell:
                self.emit(f".local .align 16 .b8 {cell}[64];")
                value = self.read("b32")
                zeros = f"{{{value}, {value}, {value}, {value}}}"
                self.emit(" ".join(f"st.local.v4.b32 [{cell}+{k}], {zeros};" for k in range(0, 64, 16)))
            self.statements(self.random.randint(1, 5), depth - 1)
            if cell:
                self.emit(f"ld.local.b32 {self.into('b32')}, [{cell}+{self.place('in4')}];")
            self.emit("}")

    def into(self, type_: str) -> str:
        """A register that the next instruction writes."""
        name = self.regs.target(type_, set())
        self.regs.defined.add(name)
        return name

    def go(self) -> None:
        """Some threads leave."""
        self.emit(f"{self.random.choice(('@', '@!'))}{self.read('pred')} {self.leave}")
        self.together = False

    # ---- calls

    def call(self) -> None:
        callee = self.random.choice(self.callees)
        self.calls_left -= 1
        self.call_of(callee, str(self.random.randint(0, 2)))

    def call_of(self, callee: Signature, fuel: str) -> None:
        """A call; what it passes first says how deep the function may call itself."""
        r = self.random
        args = [self.read(t) for t in callee.params[1:]]
        guard = f"@{self.read('pred')} " if r.random() < 0.15 and not self.style.whole else ""
        amount = self.regs.temporary("b32", set(args))
        self.emit(f"mov.u32 {amount}, {fuel};")
        if callee.in_registers:
            used = {amount, *args}
            into: list[str] = []
            for t in callee.results:
                into.append(self.regs.target(t, used))
                used.add(into[-1])
            self.emit(f"{guard}call ({', '.join(into)}), {callee.name}, ({', '.join([amount, *args])});")
            if not guard:
                self.regs.defined |= set(into)
            return
        names = [f"a{k}" for k in range(len(callee.params))]
        self.emit("{")
        for name, t, value in zip(names, callee.params, [amount, *args], strict=True):
            self.emit(f".param .{t} {name};\nst.param.{t} [{name}], {value};")
        kind = callee.results[0]
        self.emit(f".param .{kind} r;")
        if guard:
            self.emit(f"st.param.{kind} [r], {self.read(kind)};")
        if callee.has_address and r.random() < 0.3:
            pointer, proto = self.regs.temporary("b64", set()), self.label()
            given = ", ".join(f".param .{t} _" for t in callee.params)
            self.emit(f"{proto}: .callprototype (.param .{kind} _) _ ({given});")
            self.emit(f"mov.u64 {pointer}, {callee.name};")
            self.emit(f"{guard}call (r), {pointer}, ({', '.join(names)}), {proto};")
        else:
            self.emit(f"{guard}call (r), {callee.name}, ({', '.join(names)});")
        self.emit(f"ld.param.{kind} {self.into(kind)}, [r];\n}}")


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _Apart(_Nothing):
    """Threads may diverge inside; after it they are together again unless some have exited."""

    def __init__(self, body: Body):
        self.body = body

    def __enter__(self) -> None:
        self.before = self.body.together
        self.body.together = False
        self.n_left = sum("exit;" in line for line in self.body.lines)

    def __exit__(self, *_: object) -> None:
        left = sum("exit;" in line for line in self.body.lines) > self.n_left
        self.body.together = self.before and not left
