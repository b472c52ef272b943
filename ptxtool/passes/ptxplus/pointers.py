"""The state space that a generic address surely points to.

For `memory.py`: PTXPlus has no generic accesses, and compilers leave some where the space follows from how the address
was computed. A variable's address has its space, `cvta` names one, a kernel's pointer parameter points to global
memory; sums and copies keep it. What is loaded from memory is unknown; two spaces are no space.
"""

from collections.abc import Iterable, Mapping

from ptxtool.ir.nodes import Name
from ptxtool.passes.ptxplus.flatten import FlatItem, InlinedInstruction, ParameterCopy, Refusal, ValueKey
from ptxtool.passes.ptxplus.places import KernelVariables

_UNKNOWN, _GLOBAL = frozenset({"unknown"}), frozenset({"global"})
_COPIES = frozenset(["mov", "selp", "cvta"])
_SUMS = frozenset(["add", "sub", "mad", "and", "or"])
_TELLING = _COPIES | _SUMS | {"ld"}
"""Instructions whose results are addresses, or may be."""
_SPACES = frozenset({"global", "shared", "local", "const"})


def pointer_spaces(
    items: Iterable[FlatItem], variables: KernelVariables
) -> Mapping[ValueKey, frozenset[str]]:
    """The spaces that each value may point to, as far as it is an address."""
    graph = _SpaceGraph(variables)
    for item in items:
        if isinstance(item, ParameterCopy):
            other = item.at.key_of(item.operand)
            if other is not None:
                source, target = (other, item.piece) if item.is_store else (item.piece, other)
                graph.edges.setdefault(source, []).append((target, True))
        elif isinstance(item, InlinedInstruction) and item.instruction.opcode.base in _TELLING:
            graph.add(item)
    return graph.solved()


class _SpaceGraph:
    """The spaces known of each value, and the edges from operand to result, with whether the edge is a copy."""

    def __init__(self, variables: KernelVariables) -> None:
        self._variables = variables
        self._found: dict[ValueKey, frozenset[str]] = {}
        self.edges: dict[ValueKey, list[tuple[ValueKey, bool]]] = {}

    def _add(self, key: ValueKey, spaces: frozenset[str]) -> None:
        self._found[key] = self._found.get(key, frozenset()) | spaces

    def add(self, inlined: InlinedInstruction) -> None:
        """The facts and edges of one of the instructions that are `_TELLING`."""
        opcode, operands = inlined.instruction.opcode, inlined.instruction.operands
        base = opcode.base
        target = inlined.key_of(operands[0]) if operands else None
        if target is None or target.bits < 32:
            return
        if base == "ld":
            is_parameter = any(m.startswith("param") for m in opcode.modifiers)
            self._add(target, _GLOBAL if is_parameter else _UNKNOWN)
        elif base == "cvta":
            named = next(m.partition("::")[0] for m in opcode.modifiers if m != "to")
            if named in _SPACES:
                self._add(target, frozenset({named}))
        else:
            is_copy = base in _COPIES
            for operand in operands[1:]:
                if type(operand) is Name:
                    self._add_operand(inlined, operand, target, is_copy)

    def _add_operand(
        self, inlined: InlinedInstruction, operand: Name, target: ValueKey, is_copy: bool
    ) -> None:
        key = inlined.activation.key(operand.text, inlined.index)
        if key is not None:
            edges = self.edges.get(key)
            if edges is None:
                self.edges[key] = [(target, is_copy)]
            else:
                edges.append((target, is_copy))
            return
        try:
            variable = self._variables.find(operand.text, inlined.activation.function)
        except Refusal:  # reported where the instruction is lowered
            return
        if variable is not None and variable.space in _SPACES:
            self._add(target, frozenset({variable.space}))

    def solved(self) -> Mapping[ValueKey, frozenset[str]]:
        """The fixed point: spaces follow the edges; unknown ones only copies."""
        pending = list(self._found)
        while pending:
            source = pending.pop()
            from_source = self._found[source]
            for target, is_copy in self.edges.get(source, ()):
                passed = from_source if is_copy else from_source - _UNKNOWN
                if not passed <= self._found.get(target, frozenset()):
                    self._add(target, passed)
                    pending.append(target)
        return self._found
