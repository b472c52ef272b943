"""Check what the grammar cannot: names are declared, once; instructions are known; operands fit their places.

For `check`, and for the pass pipeline, which refuses modules with errors and verifies after every pass. Errors are
what no tool could give a meaning (E201 undeclared register or variable, E202 undeclared label, E204 declared twice,
E206 wrong operand). An instruction outside the table passes through with a warning (W201), as does an undeclared
PTXPlus hardware register (W202).

Names are resolved as the language scopes them: a `{ }` block sees its own declarations, from where they stand, and
those around it; labels are seen in their whole block. An undeclared name is reported once per function.

Not checked: types of operands against the instruction's type, argument lists of calls, array bounds.
PTXPlus as its tools print it leaves some memory segments undeclared (`c0[..]`, `ce1c1[..]`, `l0[..]`): no error.

Reference: PTX ISA, sections 4.4 (identifiers), 5 (state spaces, declarations), 9 (instructions).
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic
from ptxtool.base.kept import kept
from ptxtool.base.phrases import did_you_mean, series
from ptxtool.base.source import Source
from ptxtool.ir import nodes
from ptxtool.ir.defuse import is_plain_address
from ptxtool.ir.marks import MARKS, misspelt
from ptxtool.ir.names import diagnostic_at, names, note_at, operand_parts, span_of_word
from ptxtool.ir.scopes import Scopes
from ptxtool.ir.symbols import hardware_register
from ptxtool.isa.conditions import CONDITIONS, condition
from ptxtool.isa.special import special, special_registers
from ptxtool.isa.table import table
from ptxtool.sema.hints.name_hints import NameHints
from ptxtool.sema.hints.newer import (
    explain_newer,
    is_newer,
    may_be_special,
    newer_declarations,
    next_step,
    not_in_table,
)

if TYPE_CHECKING:
    from ptxtool.sema.hints.repair import Explanation

# PTXPlus: registers every thread has, and segments its tools leave undeclared
_HARDWARE_SEGMENT = re.compile(r"s|g|l[0-9]*|c[0-9]+|ce[0-9]+c[0-9]+|constant[0-9]\w*")

MOST_REGISTERS = 1 << 18
"""Of a function that is analysed, rewritten or run."""

_NO_REGISTERS = frozenset({"l", "m"})
"""Roles of operands that a plain register cannot have: labels and addresses in brackets."""
_NO_CONSTANTS = _NO_REGISTERS | {"w", "rw", "p"}
"""Those that a number cannot have."""


@cache
def _form(opcode_text: str, n_operands: int, is_ptxplus: bool) -> tuple[tuple[bool, bool, str], ...] | None:
    """Per operand whether it may be a register, whether it may be a number, and its role; None for unknown opcodes."""
    match = table().match(opcode_text, n_operands, is_ptxplus)
    if match is None:
        return None
    roles = [spec.role for spec in match.form.operands[:n_operands]]
    roles += [""] * (n_operands - len(roles))
    return tuple((role not in _NO_REGISTERS, role not in _NO_CONSTANTS, role) for role in roles)


@kept
def verify(module: nodes.Module) -> tuple[Diagnostic, ...]:
    """Everything wrong or unknown in a module, in textual order."""
    found = [*module_declarations(module), *newer_declarations(module, needs_sizes=True)]
    for item in module.items:
        if isinstance(item, nodes.Function):
            found += FunctionCheck(item).run()
            found += _too_many_registers(item)
    return tuple(sorted(found, key=lambda d: (d.start, d.end, d.code)))


def _too_many_registers(function: nodes.Function) -> Iterator[Diagnostic]:
    """E212 where a function declares more registers than analyses and the simulator have room for.

    ptxas takes as many as a number has; `ptxtool check` accepts what ptxas does.
    """
    if len(function.registers) > MOST_REGISTERS:
        declaration = function.registers.declaration_of(MOST_REGISTERS)
        name = declaration.declarators[0].name
        message = f"'{function.name}' declares {len(function.registers)} registers"
        help = f"declare those that are used: at most {MOST_REGISTERS} can be analysed"
        yield diagnostic_at("E212", message, function.module.source, declaration, name, help)


class FunctionCheck:
    """The checks of one function, statement by statement. `ptxtool.check` adds its own."""

    def __init__(self, function: nodes.Function):
        self.function = function
        self.module = function.module
        self.is_ptxplus = self.module.is_ptxplus
        self.is_newer = is_newer(self.module)
        self.registers = function.registers
        self.labels = function.label_table
        self.label_names = {s.name for _, s in function.other_statements if type(s) is nodes.Label}
        self.variables = Scopes[nodes.Declaration]()
        self.block_labels: list[dict[str, nodes.Label]] = [{}]
        self.reported: set[str] = set()
        self.hints = NameHints(function)
        self.found: list[Diagnostic] = []
        self._registers_everywhere: set[str] = set()
        # operands and guards ("@") without mistakes in these blocks, by role and identity: equal texts share their node
        self._right: dict[str, set[int]] = defaultdict(set)

    def run(self) -> list[Diagnostic]:
        """Check the whole function; its diagnostics, in the order of the text."""
        function = self.function
        for declaration in (*function.returns, *function.params):
            self._declare(declaration)
        for directive in function.directives:
            if directive.name == "tex":  # PTXPlus: textures named in the kernel's head
                name = directive.text.split()[-1]
                texture = nodes.Declaration(directive.start, directive.end, (), "tex", (), None, ())
                self.variables.declare(name, texture)
        for duplicate in self.registers.duplicates:
            self._twice(duplicate.name, duplicate.declaration, self.registers[duplicate.first].declaration)
        done = 0
        for n, statement in function.other_statements:
            self._instructions(done, n)
            done = n
            self._statement(statement, n)
        self._instructions(done, len(function.instructions))
        return self.found

    def _instructions(self, first: int, end: int) -> None:
        check = self._operands
        for n, node in enumerate(self.function.instructions[first:end], first):
            if node.guard is not None:
                self._guard_once(node, n)
            check(node, n)

    def _statement(self, statement: nodes.Statement, n: int) -> None:
        """Anything but an instruction; `n` is the instruction that follows."""
        match statement:
            case nodes.Declaration():
                self._declare(statement)
                self._scope_changed()
            case nodes.Label():
                first = self.block_labels[-1].setdefault(statement.name, statement)
                if first is not statement:
                    self._twice(statement.name, statement, first)
            case nodes.Directive(name="pragma"):
                if word := misspelt(statement):
                    message = f"pragma '{word}' has no effect"
                    self._report("W210", message, statement, word, did_you_mean(word, MARKS))
            case nodes.Directive(name="branchtargets"):
                for word in statement.text.split(","):
                    self._label(word.strip(), n, statement)
            case nodes.ScopeOpen():
                self.variables.enter()
                self.block_labels.append({})
                self._scope_changed()
            case nodes.ScopeClose():
                self.variables.leave()
                self.block_labels.pop()
                self._scope_changed()
            case _:
                pass

    def _scope_changed(self) -> None:
        """Names may mean something else from here on."""
        self._right.clear()

    def _declare(self, declaration: nodes.Declaration) -> None:
        if declaration.space == "reg":
            return
        for declarator in declaration.declarators:
            first = self.variables.here(declarator.name)
            if first is not None and declarator.name != "_":
                self._twice(declarator.name, declaration, first)
            self.variables.declare(declarator.name, declaration)

    # ---- instructions

    def _guard_once(self, node: nodes.Instruction, n: int) -> None:
        guard = node.guard
        if guard is not None and id(guard) not in self._right["@"]:
            n_found = len(self.found)
            self._guard(node, n)
            if len(self.found) == n_found:
                self._right["@"].add(id(guard))

    def _operands(self, node: nodes.Instruction, n: int) -> None:
        """Check that the instruction is known, and its operands: nearly all are registers, or have been seen."""
        operands = node.operands
        form = _form(node.opcode.text, len(operands), self.is_ptxplus)
        if form is None:
            self._unknown(node)
            form = ((True, True, ""),) * len(operands)
        known = self._registers_everywhere
        for operand, (may_be_register, may_be_number, role) in zip(operands, form):  # noqa: B905  (as long)
            kind = type(operand)
            if kind is nodes.Name:
                text = operand.text  # type: ignore[union-attr]
                if may_be_register and (text in known or self._is_register(text)):
                    continue
            elif kind is nodes.Immediate:
                if may_be_number:
                    continue
            elif kind is nodes.Memory and role != "l" and self._is_plain(operand):  # type: ignore[arg-type]
                continue
            if id(operand) not in self._right[role]:
                self._operand(operand, role, node, n)

    def _is_plain(self, address: nodes.Memory) -> bool:
        """Whether an address is a register, perhaps with a number: nearly all."""
        base = address.base
        if type(base) is not nodes.Name or address.symbol or not is_plain_address(address):
            return False
        return base.text in self._registers_everywhere or self._is_register(base.text)

    def _is_register(self, name: str) -> bool:
        """Whether a name means the same register at every instruction, and is no special register."""
        found = bool(self.registers.everywhere[name]) and name not in special_registers()
        if found:
            self._registers_everywhere.add(name)
        return found

    def _operand(self, operand: nodes.Operand, role: str, node: nodes.Instruction, n: int) -> None:
        if role == "l":
            if type(operand) is nodes.Name and operand.part and not self.is_ptxplus:
                word = f"{operand.text}.{operand.part}"
                self._report("E206", f"'{word}' is no label", node, word, "a label has no parts")
            elif type(operand) is nodes.Name:
                self._label(operand.text, n, node)
            else:
                self._no_label(node, operand)
            return
        n_found = len(self.found)
        if type(operand) is nodes.Memory and operand.symbol and not self.is_ptxplus:
            self._indexed(operand, n, node)
        for name in names(operand):
            self._name(name, n, node, operand)
        if role:
            self._fits(role, operand, node)
        if len(self.found) == n_found:
            self._right[role].add(id(operand))

    def _guard(self, node: nodes.Instruction, n: int) -> None:
        guard = node.guard
        assert guard is not None
        register = self.registers.resolve(guard.name, n)
        if register is None:
            n_found = len(self.found)
            self._name(nodes.Name(guard.name), n, node, None)
            is_silent = len(self.found) == n_found and guard.name not in self.reported
            if is_silent and not self.is_ptxplus and not guard.condition:
                help = "a guard is a '.pred' register, which 'setp' writes"
                self._report("E206", f"guard '{guard.name}' is no register", node, guard.name, help)
        elif not register.is_predicate:
            message = f"guard '{guard.name}' is a '.{register.type}' register"
            compare = "set" if self.is_ptxplus else "setp"
            help = f"declare it as '.reg .pred', or compare it with '{compare}' first"
            self._report("E206", message, node, guard.name, help)
        if guard.condition and not self.is_ptxplus:
            word = f"{guard.name}.{guard.condition}"
            help = "PTX guards are '@p' and '@!p'; conditions belong to PTXPlus ('.version 1.4+')"
            self._report("E206", f"condition '.{guard.condition}' of a guard in PTX", node, word, help)
        elif guard.condition and condition(guard.condition) is None:
            word = f"{guard.name}.{guard.condition}"
            known = [name for known in CONDITIONS for name in known.names]
            help = did_you_mean(guard.condition, known, "'.ne' and '.equ' are the usual ones", mark=".")
            self._report("E206", f"no condition '.{guard.condition}'", node, word, help)

    def _name(self, name: nodes.Name, n: int, node: nodes.Instruction, operand: nodes.Operand | None) -> None:
        """A name must be a register, a variable, a label, a function or a special register."""
        text = name.text
        if self.registers.everywhere[text]:
            return
        if self.registers.resolve_index(text, n) >= 0 or text == "_" or text in self.reported:
            return
        if text in self.variables:
            return
        if text in self.module.variables or text in self.module.functions or text in self.label_names:
            return
        found = special(text)
        if found is not None:
            if not found.has_part(name.part) or (name.part.isdigit() and not self.is_ptxplus):
                parts = [f"'.{part}'" for part in found.parts]
                help = f"it has {series(parts, 'and')}" if parts else f"write '{text}'"
                message = f"'{text}' has no part '.{name.part}'"
                self._report("E206", message, node, f"{text}.{name.part}", help)
            return
        if text in self._other_symbols():
            return
        if self.is_ptxplus:
            if self._is_segment(text, operand):
                return
            if hardware_register(text) is not None:
                self.reported.add(text)
                help = "the hardware has it, and GPGPU-Sim creates it on first use; declare it to be safe"
                self._report("W202", f"register '{text}' is not declared", node, text, help)
                return
        self.reported.add(text)
        if self.hints.is_reported(text):
            return
        if self.is_newer and may_be_special(text, node, operand):
            self._report("W201", not_in_table(f"'{text}'"), node, text, next_step(self.module))
            return
        what = "register" if text[0] in "%$" and not text.startswith("$L") else "name"
        help = self.hints.help(text, node, operand, lambda: self._visible(n))
        if not self.is_ptxplus and self._is_segment(text, operand):
            help = f"memory is named '{text}[...]' in PTXPlus only: its files say '.version 1.4+'"
        unknown = diagnostic_at(
            "E201", f"{what} '{text}' is not declared", self.function.source, node, text, help
        )
        self.found.append(replace(unknown, fix=self.hints.fix))

    @staticmethod
    def _is_segment(text: str, operand: nodes.Operand | None) -> bool:
        """True for the symbol of a memory operand that PTXPlus leaves undeclared."""
        if operand is None or not _HARDWARE_SEGMENT.fullmatch(text):
            return False
        pending: list[nodes.Operand] = [operand]
        while pending:
            item = pending.pop()
            if type(item) is nodes.Memory and item.symbol == text:
                return True
            pending += operand_parts(item)
        return False

    def _other_symbols(self) -> set[str]:
        """Names that directives declare."""
        return {
            item.text.split(",")[0].strip()
            for item in self.module.items
            if isinstance(item, nodes.Directive) and item.name in ("alias", "constptr")
        }

    def _visible(self, n: int) -> list[str]:
        """What a misspelt name may have meant."""
        declared = [r.name for r in self.registers[:4096] if self.registers.visible_from(r.index) <= n]
        named = chain(self.variables, self.module.variables, self.module.functions, special_registers())
        return [*declared, *named]

    def _label(self, text: str, n: int, node: nodes.Instruction | nodes.Directive) -> None:
        if text in self.reported or self.labels.resolve(text, n) is not None:
            return
        if self.registers.resolve_index(text, n) >= 0:
            self._report("E206", f"'{text}' is a register, not a label", node, text, "a branch needs a label")
            return
        self.reported.add(text)
        if text in self.label_names:
            help = "it stands in a '{ }' block that this place is not in"
        else:
            help = did_you_mean(text, self.label_names, f"add '{text}:' before the target")
        self._report("E202", f"label '{text}' is not declared", node, text, help)

    def _fits(self, role: str, operand: nodes.Operand, node: nodes.Instruction) -> None:
        """What no register allocation could make right: a constant as destination, an address without brackets."""
        if role in ("w", "rw", "p") and type(operand) is nodes.Immediate:
            message = f"'{node.opcode.text}' cannot write to the constant '{operand.text}'"
            self._report("E206", message, node, operand.text, "the first operand is the destination")
        elif role in ("w", "rw", "p") and type(operand) is nodes.Name and special(operand.text) is not None:
            message = f"'{operand.text}' cannot be written"
            self._report("E206", message, node, operand.text, "special registers are read only")
        elif role == "m" and isinstance(operand, nodes.Immediate | nodes.Name):
            if self.is_ptxplus and not operand.text.startswith(("$r", "$ofs")):
                return  # of what lacks its brackets, PTXPlus takes all but registers
            message = f"'{node.opcode.text}' needs an address in brackets, not '{operand.text}'"
            self._report("E206", message, node, operand.text, f"write '[{operand.text}]'")

    def _indexed(self, operand: nodes.Memory, n: int, node: nodes.Instruction) -> None:
        """`%r1 [x]` reads like an element of an array and is two operands without their comma."""
        symbol = operand.symbol
        if self.registers.resolve_index(symbol, n) >= 0:
            help = f"is a ',' missing after '{symbol}'? an address stands in brackets whole: '[{symbol}+4]'"
            self._report("E206", f"'{symbol}' is a register, not an array", node, symbol, help)

    def _no_label(self, node: nodes.Instruction, operand: nodes.Operand) -> None:
        written = operand.text if isinstance(operand, nodes.Immediate) else ""
        message = f"'{node.opcode.text}' needs a label" + (f", not '{written}'" if written else "")
        self._report("E206", message, node, written, "name a label of this function")

    def _unknown(self, node: nodes.Instruction) -> None:
        message, help, _, _ = self._explain(node)
        source = self.function.source
        start, _ = span_of_word(source.text, node.start, node.end, node.opcode.base)
        end = start + len(node.opcode.text)
        self.found.append(Diagnostic("W201", f"{message}, passed through", source, start, end, help))

    def _explain(self, node: nodes.Instruction) -> "Explanation":
        """Why no form of the table fits an instruction."""
        from ptxtool.sema.hints.explain import explain  # few texts have such an instruction

        if self.is_newer:
            return explain_newer(self.module, node.opcode.text, len(node.operands))
        return explain(node.opcode.text, len(node.operands), self.is_ptxplus)

    # ---- reports

    def _twice(self, name: str, node: nodes.Statement, first: nodes.Statement) -> None:
        help = "rename one, or put it into a '{ }' block"
        self.found.append(_again(self.function.source, name, node, first, help))

    def _report(self, code: str, message: str, node: nodes.Statement, word: str, help: str) -> None:
        self.found.append(diagnostic_at(code, message, self.function.source, node, word, help))


def module_declarations(module: nodes.Module) -> Iterator[Diagnostic]:
    """Names declared twice at module scope, and names that initialisers use."""
    seen: dict[str, nodes.Declaration | nodes.Function] = {}
    for item in module.items:
        if isinstance(item, nodes.Function):
            before = seen.get(item.name)
            both = isinstance(before, nodes.Function) and before.body is not None and item.body is not None
            if before is not None and (both or isinstance(before, nodes.Declaration)):
                yield _again(module.source, item.name, item, before)
            if before is None or item.body is not None:
                seen[item.name] = item
        elif isinstance(item, nodes.Declaration):
            for declarator in item.declarators:
                before = seen.get(declarator.name)
                is_extern = isinstance(before, nodes.Declaration) and "extern" in (
                    *item.linkage,
                    *before.linkage,
                )
                if before is not None and not is_extern:
                    yield _again(module.source, declarator.name, item, before)
                seen[declarator.name] = item
                if declarator.value is not None:
                    yield from _initialiser(module, item, declarator.value)


_Declared = nodes.Statement | nodes.Function


def _again(
    source: Source, name: str, second: _Declared, first: _Declared, help: str = "rename or remove one of them"
) -> Diagnostic:
    """A name declared twice, and where it is declared first (if that is another statement)."""
    note = note_at("first declared here", source, first, name) if first is not second else None
    return diagnostic_at("E204", f"'{name}' is declared twice", source, second, name, help, note)


def _initialiser(module: nodes.Module, item: nodes.Declaration, value: nodes.Operand) -> Iterator[Diagnostic]:
    for name in dict.fromkeys(n.text for n in names(value)):
        if name not in module.variables and name not in module.functions and special(name) is None:
            known = [*module.variables, *module.functions]
            help = did_you_mean(name, known, "declare it at module scope")
            yield diagnostic_at("E201", f"name '{name}' is not declared", module.source, item, name, help)
