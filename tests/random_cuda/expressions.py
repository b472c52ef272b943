"""Random expressions of CUDA C++ whose values are the same on a GPU and on the host.

Every type has its expressions: arithmetic that wraps (by way of unsigned types), guarded divisions and shifts, floats
with one rounding per operation, conversions, conditions, and the functions of `portable.h`. They have no side effects.
"""

import random
from dataclasses import dataclass, field

WIDTH = {"u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64}
INTS = tuple(WIDTH)
TYPES = (*INTS, "u32", "i32", "u32", "f32", "f64")

_OF_BYTES = (
    "add4 sub4 add2 sub2 absdiff4 absdiff2 avg4 havg2 min4 max4 min2 max2 addus4 addss4 subus2 subss2 eq4 gts4 leu2 "
    "setlt2 setne4 sad4 mulhi_u32 umul24 hadd_u32 rhadd_u32 add_half2 max_half2"
)
_OF_FLOATS = (
    "add_rz add_ru sub_rd mul_rz mul_rd div_ru div_rz fmodf fdimf remainderf min_f32 max_f32 nextafterf"
)
_OF_FLOAT = "sqrtf fabsf rintf floorf ceilf truncf roundf sqrt_rd sqrt_ru rcp_rz saturate"
_OF_DOUBLES = "min_f64 max_f64 add_ru sub_rz mul_rd div_rz fmod"
_OF_DOUBLE = "sqrt fabs rint floor ceil trunc round sqrt_ru"
FORMS = {
    "u32": (
        *(f"{name}({{u32}}, {{u32}})" for name in _OF_BYTES.split()),
        *(
            f"{name}({{u32}}, {{u32}}, {{u32}})"
            for name in ["permute", "shf_l", "shf_r", "shf_lc", "shf_rc", "udot4", "fma_half2"]
        ),
        *("popc32({u32})", "popc64({u64})", "clz32({u32})", "clz64({u64})", "ffs32({u32})", "ffs64({u64})"),
        *("brev32({u32})", "bits({f32})", "u32_rd({f32})", "u32_rn({f64})", "(u32)less_half({u16}, {u16})"),
        *("sad_i32({i32}, {i32}, {u32})", "sad_u32({u32}, {u32}, {u32})"),
    ),
    "i32": (
        *(
            "mulhi_i32({i32}, {i32})",
            "mul24({i32}, {i32})",
            "hadd_i32({i32}, {i32})",
            "rhadd_i32({i32}, {i32})",
        ),
        *("dot4({i32}, {i32}, {i32})", "dot2_lo({i32}, {i32}, {i32})", "dot2_hi({i32}, {i32}, {i32})"),
        *("i32_rz({f32})", "i32_rn({f32})", "i32_rz({f64})", "i32_of_half({u16})"),
    ),
    "u64": (
        *("brev64({u64})", "mulhi_u64({u64}, {u64})", "bits({f64})", "u64_ru({f32})", "u64_rz({f64})"),
        *("(u64)(((u128){u64} * {u64}) >> ({u32} & 127))", "(u64)(((u128){u64} + {i64}) >> 7)"),
        *(f"(u64)(((u128){{u64}} << 64 | {{u64}}) {op} ({{u64}} | 1))" for op in "/%"),
    ),
    "i64": (
        *("mulhi_i64({i64}, {i64})", "i64_rz({f32})", "i64_rd({f64})"),
        "(i64)((i128){i64} * {i64} >> ({u32} & 127))",
    ),
    "u16": (
        *(
            f"{name}({{u16}}, {{u16}})"
            for name in ["add_half", "sub_half", "mul_half", "min_half", "add_brain", "mul_brain"]
        ),
        *("fma_half({u16}, {u16}, {u16})", "fma_brain({u16}, {u16}, {u16})"),
        *("half_rn({f32})", "half_rn({f64})", "half_of_i32({i32})", "brain_rn({f32})"),
    ),
    "f32": (
        *(f"{name}({{f32}}, {{f32}})" for name in _OF_FLOATS.split()),
        *(f"{name}({{f32}})" for name in _OF_FLOAT.split()),
        *("fma32({f32}, {f32}, {f32})", "fma32_rz({f32}, {f32}, {f32})", "ldexpf({f32}, {i8})"),
        *(
            "f32_of({u32})",
            "f32_of_half({u16})",
            "f32_of_brain({u16})",
            "narrow_rz({f64})",
            "narrow_ru({f64})",
        ),
        *("f32_rz({i32})", "f32_ru({u64})"),
    ),
    "f64": (
        *(f"{name}({{f64}}, {{f64}})" for name in _OF_DOUBLES.split()),
        *(f"{name}({{f64}})" for name in _OF_DOUBLE.split()),
        *("fma64({f64}, {f64}, {f64})", "f64_of({u64})", "f64_rd({i64})", "ldexp({f64}, {i8})"),
    ),
}
"""Calls of functions of `portable.h` by the type of their result; `{type}` stands for an argument."""
_SPECIAL = [
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "1e30",
    "1e-30",
    "1e-42",
    "3.4e38",
    "16777217.0",
    "2147483648.0",
    "65504.0",
]


@dataclass
class Body:
    """The function that is being written."""

    values: list[tuple[str, str]] = field(default_factory=list)  # type, name: may be written
    arrays: list[tuple[str, str, int]] = field(default_factory=list)  # type, name, length (a power of two)
    pointers: list[tuple[str, int]] = field(
        default_factory=list
    )  # to u32 that are only read, and how many they are
    declarations: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    result: str | None = None
    n_counters: int = 0
    factor: int = 1  # how often the present statement runs
    cost: int = 1
    loops: int = 0  # how deep in loops


class Expressions:
    """Writes expressions of what the present function knows."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.tables: list[tuple[str, str, int]] = []  # type, name, length: read by everyone
        self.body = Body()

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def literal(self, kind: str) -> str:
        r = self.random
        if kind in WIDTH:
            n, bits = WIDTH[kind], r.choice((3, 8, 16, 32, 64))
            near = (1 << r.randrange(n)) - r.randrange(2)
            value = r.choice((r.getrandbits(min(n, bits)), near, ~r.randrange(4)))
            return f"({kind}){hex(value & ((1 << n) - 1))}{'ull' if n == 64 else 'u'}"
        special = [
            v for v in _SPECIAL if kind == "f32" or float(v) < 1e18
        ]  # nvcc folds `ceil(1e30)` to -2^63
        common = f"{r.uniform(-100, 100):.6g}e{r.choice((0, 0, 0, 3, 9, -5))}"
        text = r.choice(special) if self.one_in(3) else common
        return f"({kind}){text}"

    def index(self, n: int) -> str:
        names = [name for t, name in self.body.values if t in WIDTH]
        if not names or self.one_in(3):
            return str(self.random.randrange(n))
        return f"({self.random.choice(names)} & {n - 1})"

    def leaf(self, kind: str) -> str:
        r, body = self.random, self.body
        own = [name for t, name in body.values if t == kind]
        if own and r.random() < 0.6:
            return r.choice(own)
        if r.random() < 0.15:
            return self.literal(kind)
        places: list[tuple[str, str]] = list(body.values)
        places += [(t, f"{name}[{self.index(n)}]") for t, name, n in body.arrays + self.tables]
        places += [("u32", f"{name}[{self.index(n)}]") for name, n in body.pointers]
        t, text = r.choice([p for p in places if p[0] == kind] or places)
        return self.convert(kind, t, text)

    def convert(self, kind: str, t: str, text: str) -> str:
        if t == kind:
            return text
        if t in WIDTH or kind not in WIDTH:
            return f"({kind}){text}"
        way = self.random.choice(("bits({})", "i32_rz({})", "i64_rz({})" if t == "f32" else "i64_rd({})"))
        return f"({kind}){way.format(text)}"

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression of the given type."""
        r = self.random
        if depth <= 0 or r.random() < 0.15:
            return self.leaf(kind)
        pick = r.random()
        if pick < 0.12:
            other = r.choice(TYPES)
            return self.convert(kind, other, self.whole(other, depth - 1))
        if pick < 0.2:
            return f"({self.condition(depth - 1)} ? {self.value(kind, depth - 1)} : {self.value(kind, depth - 1)})"
        if pick < 0.45 and kind in FORMS:
            return self.fill(r.choice(FORMS[kind]), depth - 1)
        return self._integer(kind, depth) if kind in WIDTH else self._floating(kind, depth)

    def whole(self, kind: str, depth: int) -> str:
        return f"({self.value(kind, depth)})"

    def fill(self, form: str, depth: int) -> str:
        """A form with an expression for every `{type}`."""
        pieces, rest = [], form
        while "{" in rest:
            before, _, rest = rest.partition("{")
            kind, _, rest = rest.partition("}")
            pieces += [before, self.whole(kind, depth)]
        return "".join([*pieces, rest])

    def _integer(self, kind: str, depth: int) -> str:
        a, b = self.whole(kind, depth - 1), self.whole(kind, depth - 1)
        wide = "u64" if WIDTH[kind] == 64 else "u32"
        shift = f"({self.whole(self.random.choice(INTS), depth - 1)} & {WIDTH[kind] - 1})"
        choices = [f"({kind})(({wide}){a} {op} ({wide}){b})" for op in "+-*+-*"]
        choices += [f"({kind})({a} {op} {b})" for op in "&|^"]
        choices += [
            f"({kind})(({wide})({kind.replace('i', 'u')}){a} << {shift})",
            f"({kind})({a} >> {shift})",
        ]
        choices += [f"{name}<{kind}>({a}, {b})" for name in ("divide", "remain", "least", "most")]
        choices += [f"({kind})(0 - ({wide}){a})", f"({kind})~{a}", f"({kind}){self.condition(depth - 1)}"]
        return self.random.choice(choices)

    def _floating(self, kind: str, depth: int) -> str:
        a, b = self.whole(kind, depth - 1), self.whole(kind, depth - 1)
        return self.random.choice((*(f"({a} {op} {b})" for op in "+-*/+-*"), f"(-{a})"))

    def condition(self, depth: int) -> str:
        r = self.random
        pick = r.random()
        if depth > 0 and pick < 0.25:
            return f"({self.condition(depth - 1)} {r.choice(('&&', '||'))} {self.condition(depth - 1)})"
        if pick < 0.3:
            return f"(!{self.condition(depth - 1)})"
        if pick < 0.45:
            return f"(({self.value('u32', depth - 1)}) >> {r.randrange(32)} & 1)"
        kind = r.choice(TYPES)
        op = r.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"({self.whole(kind, depth - 1)} {op} {self.whole(kind, depth - 1)})"
