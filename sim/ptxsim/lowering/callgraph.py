"""Which functions a kernel can reach, where each begins in the program, and how their frames stack up.

A call through a register may reach what its `.calltargets` list names, or every function of its prototype whose address
is taken, in code that is reached or in an initialiser. Functions follow the kernel in the program in the order in which
they are found. A function that can be active twice, because it reaches itself, is *recursive*: its calls put its live
registers aside, and the stack of a thread has `stack_bytes` more than the longest chain of different functions takes.

Reference: NVIDIA, "Parallel Thread Execution ISA", section 9.7.12 (call), 11.2 (.calltargets, .callprototype).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ptxsim.base.options import STACK_BYTES
from ptxsim.lowering.frames import Formals, FunctionFrame, formals_of, frame_of, prototype
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Directive, Function, Group, Instruction, Label, Name, Operand
from ptxtool.ir.variables import round_up

STACK_WORDS = 8
"""Words of 64 bits, for each byte of a thread's stack, in which a warp puts its registers and SIMT stacks aside."""

BUILTINS = frozenset({"vprintf", "__assertfail", "malloc", "free"})
"""Functions that the simulator has itself."""

_NO_FALL = frozenset({"ret", "exit", "bra", "brx", "trap"})


class Call(NamedTuple):
    """The parts of a call instruction."""

    results: tuple[Operand, ...]
    target: Operand
    arguments: tuple[Operand, ...]
    prototype: Operand | None


def parts(instruction: Instruction) -> Call | None:
    """The parts of a call, None where the operands make none."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    arguments: tuple[Operand, ...] = ()
    if len(operands) > 1 and isinstance(operands[0], Group):
        results = operands[0].items
        del operands[0]
    if not operands or not isinstance(operands[0], Name):
        return None
    target = operands.pop(0)
    if operands and isinstance(operands[0], Group):
        arguments = operands[0].items
        del operands[0]
    return Call(results, target, arguments, operands[0] if operands else None)


def calls_in(function: Function) -> Iterator[tuple[int, Call]]:
    """The calls of a function, by instruction index."""
    for i, instruction in enumerate(function.instructions):
        if instruction.opcode.base == "call":
            call = parts(instruction)
            if call is not None:
                yield i, call


def directive_at(function: Function, label: str) -> Directive | None:
    """The directive after a label: a prototype or a list of targets."""
    for statement, following in pairwise(function.body or ()):
        if isinstance(statement, Label) and statement.name == label and isinstance(following, Directive):
            return following
    return None


@dataclass
class CallGraph:
    """A kernel and the functions it reaches."""

    kernel: Function
    kernel_local_bytes: int = 0  # its `.local` variables lie at the start of its frame
    stack_bytes: int = STACK_BYTES
    functions: tuple[Function, ...] = ()
    targets: dict[tuple[str, int], tuple[Function, ...]] = field(default_factory=dict)
    """By function and instruction."""

    def __post_init__(self) -> None:
        self._aliases = _aliases(self.kernel)
        self._defined = {
            n: f for n, f in self.kernel.module.functions.items() if f.kind == "func" and f.body is not None
        }
        self._formals = {name: formals_of(f) for name, f in self._defined.items()}
        self._find()

    def _find(self) -> None:
        """Follow calls and addresses until nothing new is reached."""
        module = self.kernel.module
        in_tables = {
            name
            for declaration in module.declarations()
            for declarator in declaration.declarators
            if declarator.value is not None
            for name in _texts(declarator.value)
        }
        reached = {self.kernel.name: self.kernel}
        moved: dict[str, set[str]] = {}
        calls: dict[str, list[tuple[int, Call]]] = {}
        while True:
            for name in reached.keys() - moved.keys():
                moved[name], calls[name] = _moved(reached[name]), list(calls_in(reached[name]))
            taken = in_tables.union(*moved.values())
            self.targets = {
                (f.name, i): tuple(self._candidates(f, i, call, taken))
                for f in reached.values()
                for i, call in calls[f.name]
            }
            found = reached | {t.name: t for targets in self.targets.values() for t in targets}
            if len(found) == len(reached):
                break
            reached = found
        self.functions = tuple(reached.values())

    def function(self, name: str) -> Function | None:
        """The defined function that a name means."""
        return self._defined.get(self._aliases.get(name, name))

    def _candidates(self, caller: Function, i: int, call: Call, taken: set[str]) -> Iterator[Function]:
        """What a call may reach."""
        name = call.target.text if isinstance(call.target, Name) else ""
        if caller.registers.resolve_index(name, i) < 0:
            target = self.function(name)
            if target is not None:
                yield target
            return
        expected, listed = self.expected(caller, call)
        for candidate in listed if listed is not None else self._defined:
            target = self.function(candidate)
            if target is None or (listed is None and candidate not in taken):
                continue
            if expected is None or self._formals[target.name].shape == expected.shape:
                yield target

    def expected(self, caller: Function, call: Call) -> tuple[Formals | None, list[str] | None]:
        """What a call through a register says of its target: its prototype, or a list of names."""
        label = call.prototype.text if isinstance(call.prototype, Name) else ""
        directive = directive_at(caller, label)
        if directive is None:  # the name of a table of functions
            declaration = caller.module.variables.get(label)
            values = [d.value for d in declaration.declarators if d.name == label] if declaration else []
            return None, [n for v in values if v is not None for n in _texts(v)]
        if directive.name == "callprototype":
            return prototype(directive), None
        return None, [word.strip() for word in directive.text.split(",")]

    def formals(self, function: Function) -> Formals:
        return self._formals[function.name]

    # ---- the program

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """Where each function begins in the program."""
        starts: dict[str, int] = {}
        n = 0
        for function in self.functions:
            starts[function.name] = n
            n += len(function.instructions) + self.has_end(function)
        return starts

    def has_end(self, function: Function) -> bool:
        """Whether an instruction is added that ends a function whose text runs off its end."""
        if len(self.functions) == 1:
            return False
        instructions = function.instructions
        if not instructions or len(instructions) in function.labels.values():
            return True
        last = instructions[-1]
        return last.guard is not None or last.opcode.base not in _NO_FALL

    # ---- frames

    @cached_property
    def _frames(self) -> Mapping[str, FunctionFrame]:
        start = self.kernel_local_bytes
        return {f.name: frame_of(f, start if f is self.kernel else None) for f in self.functions}

    def frame(self, function: Function) -> FunctionFrame:
        return self._frames[function.name]

    def frame_bytes(self, function: Function) -> int:
        """How far a callee's frame lies above a function's own."""
        alignment = max(frame.alignment for frame in self._frames.values())
        return round_up(self.frame(function).size, alignment)

    @cached_property
    def callees(self) -> Mapping[str, tuple[Function, ...]]:
        found: dict[str, dict[str, Function]] = {f.name: {} for f in self.functions}
        for (caller, _), targets in self.targets.items():
            found[caller].update({t.name: t for t in targets})
        return {name: tuple(targets.values()) for name, targets in found.items()}

    @cached_property
    def _reached(self) -> Mapping[str, frozenset[str]]:
        """Per function, what its calls lead to."""
        found: dict[str, frozenset[str]] = {}
        for function in self.functions:
            left, seen = [function.name], set[str]()
            while left:
                for callee in self.callees[left.pop()]:
                    if callee.name not in seen:
                        seen.add(callee.name)
                        left.append(callee.name)
            found[function.name] = frozenset(seen)
        return found

    def returns_to(self, function: Function, targets: tuple[Function, ...]) -> bool:
        """Whether a call may lead back to its own function."""
        return any(t is function or function.name in self._reached[t.name] for t in targets)

    @cached_property
    def is_recursive(self) -> bool:
        return any(name in reached for name, reached in self._reached.items())

    @cached_property
    def _allocating(self) -> frozenset[str]:
        """The functions that have an `alloca`."""
        found = (f for f in self.functions if any(i.opcode.base == "alloca" for i in f.instructions))
        return frozenset(f.name for f in found)

    def may_allocate(self, targets: tuple[Function, ...]) -> bool:
        """Whether a call may lead to an `alloca`."""
        return any(self._allocating & {t.name, *self._reached[t.name]} for t in targets)

    def _cycle(self, function: Function) -> frozenset[str]:
        """The functions that a function calls and is called by, directly or not; itself for one."""
        mutual = (n for n in self._reached[function.name] if function.name in self._reached[n])
        return frozenset({function.name, *mutual})

    def longest(self, weight: Mapping[str, int]) -> int:
        """The largest sum of a weight over a chain of calls from the kernel; of a cycle, each function counts once."""
        done: dict[frozenset[str], int] = {}

        def below(function: Function) -> int:
            cycle = self._cycle(function)
            if cycle not in done:
                outside = {c.name: c for name in cycle for c in self.callees[name] if c.name not in cycle}
                own = sum(weight[name] for name in cycle)
                done[cycle] = own + max(map(below, outside.values()), default=0)
            return done[cycle]

        return below(self.kernel)

    @cached_property
    def static_bytes(self) -> int:
        """Local memory of the longest chain."""
        return self.longest({f.name: self.frame_bytes(f) for f in self.functions})

    @property
    def frame_end(self) -> int:
        """Where the frames' part of local memory ends, and that of `alloca` begins."""
        return self.static_bytes + (self.stack_bytes if self.is_recursive else 0)

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread."""
        return self.frame_end + (self.stack_bytes if self._allocating else 0)

    def stack_words(self, entry_words: int) -> int:
        """Words a warp needs to put SIMT stacks of `entry_words` (and registers) aside; 0 without calls."""
        if len(self.functions) == 1:
            return 0
        depth = self.longest(dict.fromkeys((f.name for f in self.functions), 1))
        return depth * entry_words + (self.stack_bytes * STACK_WORDS if self.is_recursive else 0)


def _aliases(kernel: Function) -> dict[str, str]:
    """`.alias NAME, FUNCTION;`."""
    found: dict[str, str] = {}
    for item in kernel.module.items:
        if isinstance(item, Directive) and item.name == "alias":
            name, _, target = (word.strip() for word in item.text.partition(","))
            found[name] = target
    return found


def _moved(function: Function) -> set[str]:
    """The names in instructions other than calls."""
    moves = (i for i in function.instructions if i.opcode.base != "call")
    return {name for i in moves for operand in i.operands for name in _texts(operand)}


def _texts(operand: Operand) -> Iterator[str]:
    return (name.text for name in names(operand))
