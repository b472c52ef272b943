"""The registers of one random body, and which may be read: programs read only registers that were written.

A body has pools of names per type, which are redefined again and again. `defined` are the names that have a value on
every path to the point that is being written; a branch intersects what its arms leave, a loop what its exits leave.
Addresses are no data, since passes may move variables: a register that held one is not defined afterwards.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

TYPES = {"b16": "b16", "b32": "b32", "b64": "b64", "f32": "f32", "f64": "f64", "pred": "pred"}
_PREFIXES = ("%r", "%rd", "%rs", "%f", "%fd", "%p", "%x", "%rq", "%h", "$t", "_v", "%rb", "%r_", "%p1_")
_MOST_OF_A_POOL = {"b16": 5, "b32": 14, "b64": 6, "f32": 6, "f64": 3, "pred": 10}


class Registers:
    """Names by type, with what is known about them at the point of writing."""

    def __init__(self, random: random.Random):
        self.random = random
        prefixes = random.sample(_PREFIXES, len(TYPES))
        self.prefix = dict(zip(TYPES, prefixes, strict=True))
        self.names: dict[str, list[str]] = {
            t: [f"{self.prefix[t]}{n}" for n in range(random.randint(2, most))]
            for t, most in _MOST_OF_A_POOL.items()
        }
        self.n_of_pool = {t: len(names) for t, names in self.names.items()}
        self.given: set[str] = set()  # of the head: declared there
        self.defined: set[str] = set()
        self.locked: set[str] = set()  # not to be written
        self.kept: set[str] = set()  # not to be used for addresses: what an enclosing loop read before
        self._shadows: list[dict[str, bool]] = []

    def declarations(self) -> list[str]:
        """The declarations of a body: pools as ranges, what came later by name."""
        lines = [f".reg .{t} {self.prefix[t]}<{n}>;" for t, n in self.n_of_pool.items()]
        for type_, names in self.names.items():
            extra = [n for n in names[self.n_of_pool[type_] :] if n not in self.given]
            if extra:
                lines.append(f".reg .{type_} {', '.join(extra)};")
        self.random.shuffle(lines)
        return lines

    def give(self, type_: str, name: str) -> None:
        """A register that the function's head declares, with a value."""
        self.names[type_].append(name)
        self.given.add(name)
        self.defined.add(name)

    def fresh(self, type_: str) -> str:
        """A new name."""
        name = f"{self.prefix[type_]}n{len(self.names[type_])}"
        self.names[type_].append(name)
        return name

    def readable(self, type_: str) -> list[str]:
        return [n for n in self.names[type_] if n in self.defined]

    def target(self, type_: str, avoid: set[str]) -> str:
        """A register to write: of the pool, or now and then a new one."""
        free = [n for n in self.names[type_] if n not in self.locked and n not in avoid]
        if not free or self.random.random() < 0.08:
            return self.fresh(type_)
        return self.random.choice(free)

    def temporary(self, type_: str, avoid: set[str]) -> str:
        """A register for an address: what it held is lost."""
        name = self.target(type_, avoid | self.kept)
        self.defined.discard(name)
        return name

    # ---- paths

    @contextmanager
    def scope(self) -> Iterator[list[str]]:
        """A nested block whose declarations hide some names; yields the declarations."""
        hidden: dict[str, bool] = {}
        lines: list[str] = []
        for type_, names in self.names.items():
            free = [n for n in names if n not in self.locked and n not in self.kept]
            if free and self.random.random() < 0.4:
                chosen = self.random.sample(free, self.random.randint(1, min(3, len(free))))
                hidden |= {n: n in self.defined for n in chosen}
                lines.append(f".reg .{type_} {', '.join(chosen)};")
        self._shadows.append(hidden)
        self.defined -= hidden.keys()
        yield lines
        self.defined = self._outside(self.defined, len(self._shadows) - 1)
        self._shadows.pop()

    @property
    def depth(self) -> int:
        """The number of scopes around."""
        return len(self._shadows)

    def _outside(self, defined: set[str], depth: int) -> set[str]:
        """The registers of the outer scope that are defined here."""
        found = set(defined)
        for hidden in reversed(self._shadows[depth:]):
            for name, was_defined in hidden.items():
                (found.add if was_defined else found.discard)(name)
        return found

    def leaves(self, depth: int) -> set[str]:
        """What a jump out of inner scopes finds defined."""
        return self._outside(self.defined, depth)
