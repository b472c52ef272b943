"""Random functions of CUDA C++: control flow, calls by name, by pointer and through virtual tables, recursion.

Locals are declared first, so that gotos, which go anywhere, cross no initialisation; every backward one uses up `gas`.
Loops have a bound each, and a function that would run too long is not called.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from random_cuda.expressions import TYPES, Body, Expressions

MOST_COST = 3000
"""Statements of a function that run, roughly; calls that would make it more are left out."""


@dataclass(frozen=True)
class Callee:
    """A function that later ones may call; `form` has a field for each argument."""

    result: str
    form: str
    cost: int


class Functions(Expressions):
    """Writes functions, each of which may call those before it."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.callees: list[Callee] = []
        self.structured: list[Callee] = []  # those that take the structure `s` by value
        self.fields: list[tuple[str, str]] = []  # of the structure `S`: type and name
        self.n_watched = 0

    # ---- statements

    def place(self) -> tuple[str, str]:
        """Something that can be assigned to: its type and text."""
        body = self.body
        if body.arrays and self.one_in(4):
            kind, name, n = self.random.choice(body.arrays)
            return kind, f"{name}[{self.index(n)}]"
        return self.random.choice(body.values)

    def set(self, place: str, value: str) -> str:
        """An assignment, which `-DWATCH=thread` prints on both sides."""
        self.n_watched += 1
        return f"{place} = {value}; SHOW({self.n_watched}, {place});"

    def assign(self) -> str:
        kind, place = self.place()
        return self.set(place, self.value(kind))

    def call(self) -> str:
        body = self.body
        usable = [c for c in self.callees if c.cost * body.factor + body.cost < MOST_COST]
        arrays = [name for t, name, _ in body.arrays if t == "u32"]
        usable = [c for c in usable if arrays or "{array}" not in c.form]
        if not usable:
            return self.assign()
        callee = self.random.choice(usable)
        body.cost += callee.cost * body.factor
        form = callee.form
        if arrays:
            form = form.replace("{array}", self.random.choice(arrays))
        kind, place = self.place()
        return self.set(place, self.convert(kind, callee.result, f"({self.fill(form, 1)})"))

    def block(self, depth: int) -> str:
        return "{ " + " ".join(self.statement(depth) for _ in range(self.random.randint(1, 3))) + " }"

    def statement(self, depth: int) -> str:
        body, r = self.body, self.random
        body.cost += body.factor
        choices: list[Callable[[], str]] = [self.assign] * 4
        choices += [self.call] * 2 if self.callees else []
        if depth > 0:
            choices += [lambda: self.branch(depth)] * 3 + [lambda: self.loop(depth)] * 2
            choices += [lambda: self.switch(depth)]
        if body.loops:
            choices += [lambda: f"if ({self.condition(1)}) {r.choice(('break', 'continue'))};"]
        if self.one_in(25):
            return f"if ({self.condition(1)} && gas-- > 0) goto {r.choice([*body.labels, 'end'])};"
        if self.one_in(25) and body.result is not None:
            return f"if ({self.condition(2)}) return {self.value(body.result, 1)};"
        if self.one_in(25):
            body.labels.append(f"L{len(body.labels)}")
            return f"{body.labels[-1]}:;"
        return r.choice(choices)()

    def branch(self, depth: int) -> str:
        text = f"if ({self.condition(2)}) {self.block(depth - 1)}"
        return text + (f" else {self.block(depth - 1)}" if self.one_in(2) else "")

    @contextmanager
    def repeated(self, times: int) -> Iterator[None]:
        body = self.body
        body.factor *= times
        body.loops += 1
        yield
        body.loops -= 1
        body.factor //= times

    def loop(self, depth: int) -> str:
        r, body = self.random, self.body
        body.n_counters += 1
        c, most = f"c{body.n_counters}", r.choice((2, 3, 5, 8))
        body.declarations.append(f"int {c} = 0;")
        times = str(most) if self.one_in(2) else f"(int)({self.value('u32', 1)} % {most + 1})"
        with self.repeated(most):
            inside = self.block(depth - 1)
            way = r.randrange(3)
            if way == 0:
                return f"{c} = 0; while ({c} < {times} && {c}++ < {most}) {inside}"
            if way == 1:
                return f"{c} = 0; do {inside} while (++{c} < {most} && {self.condition(1)});"
            return f"for ({c} = 0; {c} < {most} && {self.condition(1)}; {c}++) {inside}"

    def switch(self, depth: int) -> str:
        r = self.random
        n, step = r.choice((3, 5, 8, 12)), r.choice((1, 1, 1, 3, 1000))
        selector = f"({self.value('u32', 1)}) % {n + 2}u * {step}u"
        self.body.loops, kept = 0, self.body.loops  # neither break nor continue of a loop around it
        ends = [" break;" if r.random() < 0.8 else "" for _ in range(n)]
        cases = [f"case {k * step}u: {self.statement(depth - 1)}{end}" for k, end in enumerate(ends)]
        r.shuffle(cases)
        last = f" default: {self.statement(depth - 1)}" if self.one_in(2) else ""
        self.body.loops = kept
        return f"switch ({selector}) {{ {' '.join(cases)}{last} }}"

    # ---- functions

    def variables(self, n: int) -> None:
        body = self.body
        for k in range(n):
            kind = self.random.choice(TYPES)
            given = self.value(kind, 2) if body.values else self.literal(kind)
            body.declarations.append(f"{kind} v{k} = {given};")
            body.values.append((kind, f"v{k}"))

    def local_arrays(self) -> None:
        """Arrays in local memory, and a pointer to one of them or to a table."""
        r, body = self.random, self.body
        for k in range(r.randrange(3)):
            kind, n = r.choice(("u32", "u32", *TYPES)), r.choice((2, 4, 8, 16))
            given = ", ".join(self.value(kind, 1) for _ in range(r.randint(1, n)))
            body.declarations.append(f"{kind} a{k}[{n}] = {{{given}}};")
            body.arrays.append((kind, f"a{k}", n))
        mine = [(name, n) for t, name, n in body.arrays if t == "u32"]
        fixed = [(name, n) for t, name, n in self.tables if t == "u32"]
        if mine and fixed and self.one_in(2):
            (a, m), (b, n) = r.choice(mine), r.choice(fixed)
            body.declarations.append(f"const u32 *q = {self.condition(1)} ? {a} : {b};")
            body.pointers.append(("q", min(m, n)))

    def statements(self, n: int, depth: int) -> str:
        inside = " ".join(self.statement(depth) for _ in range(n))
        return "\n    ".join(["int gas = 6; (void)gas;", *self.body.declarations, inside, "goto end; end:;"])

    def know_structure(self) -> None:
        """Make the members of `s` usable."""
        body = self.body
        body.values += [(kind, f"s.{name}") for kind, name in self.fields]
        body.values += [("u32", "s.word"), ("i16", "s.half[1]")]
        body.arrays += [("u32", "s.row", 4), ("u8", "s.byte", 4)]

    def function(self, k: int) -> str:
        r = self.random
        self.body = body = Body()
        body.result = result = r.choice(TYPES)
        kinds = [r.choice(TYPES) for _ in range(r.randint(1, 4))]
        parameters = [f"{kind} x{n}" for n, kind in enumerate(kinds)]
        form = [f"{{{kind}}}" for kind in kinds]
        body.values = [(kind, f"x{n}") for n, kind in enumerate(kinds)]
        if self.one_in(3):
            parameters.append("u32 *w")
            form.append("{array}")
            body.arrays.append(("u32", "w", 2))
        by_value = self.one_in(4)
        if by_value:
            parameters.append("S s")
            form.append("s")
            self.know_structure()
        more = [p.split()[-1].lstrip("*") for p in parameters[len(kinds) :]]
        recursive = self.one_in(4)
        if recursive:
            parameters.append("int deep")
            form.append(str(r.randint(1, 5)))
        self.variables(r.randint(1, 3))
        self.local_arrays()
        text = self.statements(r.randint(2, 4), 2)
        if recursive:
            again = ", ".join([*(self.value(kind, 1) for kind in kinds), *more, "deep - 1"])
            text += f"\n    if (deep > 0 && {self.condition(1)}) return f{k}({again});"
        way = "FN_CALL" if recursive or r.random() < 0.7 else "FN"
        text += f"\n    return {self.value(result, 2)};"
        cost = body.cost * (6 if recursive else 1)
        known = self.structured if by_value else self.callees
        known.append(Callee(result, f"f{k}({', '.join(form)})", cost))
        return f"{way} {result} f{k}({', '.join(parameters)}) {{\n    {text}\n}}"

    def small(self, head: str) -> str:
        """A function of `u32 x, u32 y` that gives a u32 and calls nothing."""
        self.body = Body(values=[("u32", "x"), ("u32", "y")], result="u32")
        kept, self.callees = self.callees, []
        text = self.statements(self.random.randint(1, 3), 1) + f"\n    return {self.value('u32', 2)};"
        self.callees = kept
        return f"{head} {{\n    {text}\n}}"

    def by_pointer(self) -> str:
        """Functions in a table."""
        n = self.random.choice((2, 4, 8))
        each = [self.small(f"FN_CALL u32 g{k}(u32 x, u32 y)") for k in range(n)]
        names = ", ".join(f"g{k}" for k in range(n))
        table = f"typedef u32 (*Pointer)(u32, u32);\nGLOBAL Pointer pointers[{n}] = {{{names}}};"
        self.callees.append(Callee("u32", f"pointers[{{u32}} & {n - 1}]({{u32}}, {{u32}})", 10))
        self.callees.append(Callee("u32", f"({{u32}} & 4 ? g0 : g{n - 1})({{u32}}, {{u32}})", 10))
        return "\n".join([*each, table])

    def virtual(self) -> str:
        """A class hierarchy, and a function that calls a method of one of its objects."""
        n = self.random.randint(2, 3)
        base = "METHOD Base(u32 n) : k(n) {} METHOD virtual u32 go(u32 x, u32 y) const { return x + y * k; }"
        lines = [f"struct Base {{ u32 k; {base} }};"]
        for c in range(n):
            method = self.small("    METHOD u32 go(u32 x, u32 y) const override")
            made = f"u32 more; METHOD D{c}(u32 n) : Base(n ^ {c}), more(n * 3) {{}}"
            lines.append(f"struct D{c} : Base {{ {made}\n{method} }};")
        makes = " ".join(f"D{c} d{c}(n);" for c in range(n))
        pick = " : ".join([*(f"x % {n + 1} == {c} ? (const Base *)&d{c}" for c in range(n)), "&base"])
        inside = f"Base base(n); {makes} const Base *o = {pick}; return o->go(x, y);"
        lines.append(f"FN u32 dispatch(u32 n, u32 x, u32 y) {{ {inside} }}")
        self.callees.append(Callee("u32", "dispatch({u32}, {u32}, {u32})", 12))
        return "\n".join(lines)
