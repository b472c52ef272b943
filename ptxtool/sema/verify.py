"""Check what the grammar cannot: names are declared, once; instructions are known; operands fit their places.

For `check`, and for the pass pipeline, which refuses modules with errors and verifies after every pass. Errors are
what no tool could give a meaning (E201 undeclared register or variable, E202 undeclared label, E204 declared twice,
E206 wrong operand). An instruction outside the table passes through with a warning (W201), so does a PTXPlus hardware
register nobody declared (W202).

Names are resolved as the language scopes them: a `{ }` block sees its own declarations, from where they stand, and
those around it; labels are seen in their whole block. An undeclared name is reported once per function.

Not checked: types of operands against the instruction's type, argument lists of calls, array bounds.
PTXPlus as its tools print it leaves some memory segments undeclared (`c0[..]`, `ce1c1[..]`, `l0[..]`): no error.

Reference: PTX ISA, sections 4.4 (identifiers), 5 (state spaces, declarations), 9 (instructions).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.ir.marks import RELEASES, misspelt
from ptxtool.ir.names import names, operand_parts, span_of_word
from ptxtool.ir.nodes import (
    Declaration,
    Directive,
    Function,
    Immediate,
    Instruction,
    Label,
    Memory,
    Module,
    Name,
    Operand,
    ScopeClose,
    ScopeOpen,
    Statement,
)
from ptxtool.ir.scopes import Scopes
from ptxtool.ir.symbols import hardware_register
from ptxtool.isa.conditions import CONDITIONS, condition
from ptxtool.isa.special import special, special_registers
from ptxtool.isa.table import Match, table
from ptxtool.sema.explain import explain
from ptxtool.sema.undeclared import Undeclared

# PTXPlus: registers every thread has, and segments its tools leave undeclared
_HARDWARE_SEGMENT = re.compile(r"s|g|l[0-9]*|c[0-9]+|ce[0-9]+c[0-9]+|constant[0-9]\w*")

_Placed = Instruction | Declaration | Label | Directive


def verify(module: Module) -> tuple[Diagnostic, ...]:
    """Everything wrong or unknown in a module, in textual order."""
    found = list(module_declarations(module))
    for item in module.items:
        if isinstance(item, Function):
            found += FunctionCheck(item).run()
    return tuple(sorted(found, key=lambda d: (d.start, d.end, d.code)))


class _Place(NamedTuple):
    """The place of an operand: its role in the table, and whether any register may stand there.

    `right` are other operands, by identity, that were found right there for good: equal texts share their node.
    """

    role: str
    takes_registers: bool
    right: set[int]


class FunctionCheck:
    """The checks of one function, statement by statement. `ptxtool.check` adds its own."""

    def __init__(self, function: Function):
        self.function = function
        self.module = function.module
        self.is_ptxplus = self.module.is_ptxplus
        self.registers = function.registers
        self.labels = function.label_table
        self.label_names = {s.name for _, s in function.other_statements if type(s) is Label}
        self.variables = Scopes[Declaration]()
        self.block_labels: list[dict[str, Label]] = [{}]
        self.reported: set[str] = set()
        self.undeclared = Undeclared(function)
        self.found: list[Diagnostic] = []
        self._right_guards: set[int] = set()  # by identity
        self._places: dict[str, _Place] = {}  # by role
        self._forms: dict[tuple[str, int], tuple[_Place, ...]] = {}  # by opcode and number of operands

    def run(self) -> list[Diagnostic]:
        function = self.function
        for declaration in (*function.returns, *function.params):
            self._declare(declaration)
        for directive in function.directives:
            if directive.name == "tex":  # PTXPlus: textures named in the kernel's head
                name = directive.text.split()[-1]
                texture = Declaration(directive.start, directive.end, (), "tex", (), None, ())
                self.variables.declare(name, texture)
        for duplicate in self.registers.duplicates:
            self._twice(duplicate.name, duplicate.declaration, self.registers[duplicate.first].declaration)
        done = 0
        for n, statement in function.other_statements:
            if done < n:
                self._instructions(done, n)
                done = n
            self._statement(statement, n)
        self._instructions(done, len(function.instructions))
        return self.found

    def _statement(self, statement: Statement, n: int) -> None:
        """Anything but an instruction; `n` is the instruction that follows."""
        match statement:
            case Declaration():
                self._declare(statement)
                self._scope_changed()
            case Label():
                first = self.block_labels[-1].setdefault(statement.name, statement)
                if first is not statement:
                    self._twice(statement.name, statement, first)
            case Directive(name="pragma"):
                word = misspelt(statement)
                if word:
                    help = did_you_mean(word, RELEASES)
                    self._report("W210", f"pragma '{word}' releases nothing", statement, word, help)
            case Directive(name="branchtargets"):
                for word in statement.text.split(","):
                    self._label(word.strip(), n, statement)
            case ScopeOpen():
                self.variables.enter()
                self.block_labels.append({})
                self._scope_changed()
            case ScopeClose():
                self.variables.leave()
                self.block_labels.pop()
                self._scope_changed()
            case _:
                pass

    def _scope_changed(self) -> None:
        """From here on names may mean something else."""

    def _declare(self, declaration: Declaration) -> None:
        if declaration.space == "reg":
            return
        for declarator in declaration.declarators:
            first = self.variables.here(declarator.name)
            if first is not None and declarator.name != "_":
                self._twice(declarator.name, declaration, first)
            self.variables.declare(declarator.name, declaration)

    # ---- instructions

    def _instructions(self, first: int, end: int) -> None:
        """Check instructions that stand side by side: nearly all operands are registers, or have been seen."""
        guards, forms = self._right_guards, self._forms
        everywhere, specials = self.registers.everywhere, special_registers()
        for n, node in enumerate(self.function.instructions[first:end], first):
            if node.guard is not None and id(node.guard) not in guards:
                n_found = len(self.found)
                self._guard(node, n)
                if len(self.found) == n_found and self._lasts(node.guard.name):
                    guards.add(id(node.guard))
            form = forms.get((node.opcode.text, len(node.operands)))
            if form is None:
                match = table().match(node.opcode.text, len(node.operands), self.is_ptxplus)
                form = self._form(node, match)
                if match is None:
                    self._unknown(node)
                else:
                    forms[node.opcode.text, len(node.operands)] = form
            for operand, place in zip(node.operands, form, strict=True):
                _, takes_registers, right = place
                word = operand.text if type(operand) is Name and takes_registers else ""
                if (not word or not everywhere[word] or word in specials) and id(operand) not in right:
                    self._operand(operand, place, node, n)

    def _instruction(self, node: Instruction, n: int) -> None:
        """The same of one instruction, for checks of more than this."""
        if node.guard is not None:
            self._guard(node, n)
        match = table().match(node.opcode.text, len(node.operands), self.is_ptxplus)
        if match is None:
            self._unknown(node)
        self._operands(node, match, n)

    def _operands(self, node: Instruction, match: Match | None, n: int) -> None:
        for operand, place in zip(node.operands, self._form(node, match), strict=True):
            if id(operand) not in place.right:
                self._operand(operand, place, node, n)

    def _form(self, node: Instruction, match: Match | None) -> tuple[_Place, ...]:
        """The places of an instruction's operands."""
        specs = match.form.operands if match is not None else ()
        roles = [specs[k].role if k < len(specs) else "" for k in range(len(node.operands))]
        return tuple(
            [self._places.setdefault(role, _Place(role, role not in ("l", "m"), set())) for role in roles]
        )

    def _operand(self, operand: Operand, place: _Place, node: Instruction, n: int) -> None:
        if place.role == "l":
            if type(operand) is Name:
                self._label(operand.text, n, node)
            else:
                self._no_label(node, operand)
            return
        n_found, everywhere = len(self.found), self.registers.everywhere
        mentioned = [name for name in names(operand) if not everywhere[name.text]]  # others are registers
        for name in mentioned:
            self._name(name, n, node, operand)
        if place.role:
            self._fits(place.role, operand, node)
        if len(self.found) == n_found and all(self._lasts(name.text) for name in mentioned):
            place.right.add(id(operand))

    def _lasts(self, name: str) -> bool:
        """Whether what a name means here, if it means anything, it means in all that follows too, or something else."""
        if self.registers.everywhere[name] is None:
            return False
        return name not in self.variables or self.variables.is_outermost(name)

    def _guard(self, node: Instruction, n: int) -> None:
        guard = node.guard
        assert guard is not None
        register = self.registers.resolve(guard.name, n)
        if register is None:
            n_found = len(self.found)
            self._name(Name(guard.name), n, node, None)
            is_silent = len(self.found) == n_found and guard.name not in self.reported
            if is_silent and not self.is_ptxplus and not guard.condition:
                help = "a guard is a '.pred' register, which 'setp' writes"
                self._report("E206", f"guard '{guard.name}' is no register", node, guard.name, help)
        elif not register.is_predicate:
            message = f"guard '{guard.name}' is a '.{register.type}' register"
            self._report(
                "E206",
                message,
                node,
                guard.name,
                f"declare it as '.reg .pred', or compare it with '{'set' if self.is_ptxplus else 'setp'}' first",
            )
        if guard.condition and not self.is_ptxplus:
            word = f"{guard.name}.{guard.condition}"
            help = "PTX guards are '@p' and '@!p'; conditions belong to PTXPlus ('.version 1.4+')"
            self._report("E206", f"condition '.{guard.condition}' of a guard in PTX", node, word, help)
        elif guard.condition and condition(guard.condition) is None:
            word = f"{guard.name}.{guard.condition}"
            known = [name for known in CONDITIONS for name in known.names]
            help = did_you_mean(guard.condition, known, "'.ne' and '.equ' are the usual ones", mark=".")
            self._report("E206", f"no condition '.{guard.condition}'", node, word, help)

    def _name(self, name: Name, n: int, node: Instruction, operand: Operand | None) -> None:
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
                *most, last = [f"'.{part}'" for part in found.parts] or [""]
                help = f"it has {', '.join(most)} and {last}" if most else f"write '{text}'"
                self._report(
                    "E206", f"'{text}' has no part '.{name.part}'", node, f"{text}.{name.part}", help
                )
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
        if self.undeclared.is_told(text):
            return
        what = "register" if text[0] in "%$" and not text.startswith("$L") else "name"
        help = self.undeclared.help(text, node, operand, lambda: self._visible(n))
        if not self.is_ptxplus and self._is_segment(text, operand):
            help = f"memory is named '{text}[...]' in PTXPlus only: its files say '.version 1.4+'"
        self._report("E201", f"{what} '{text}' is not declared", node, text, help)

    @staticmethod
    def _is_segment(text: str, operand: Operand | None) -> bool:
        """True for the symbol of a memory operand that PTXPlus leaves undeclared."""
        if operand is None or not _HARDWARE_SEGMENT.fullmatch(text):
            return False
        pending: list[Operand] = [operand]
        while pending:
            item = pending.pop()
            if type(item) is Memory and item.symbol == text:
                return True
            pending += operand_parts(item)
        return False

    def _other_symbols(self) -> set[str]:
        """Names that directives bring in."""
        words: set[str] = set()
        for item in self.module.items:
            if isinstance(item, Directive) and item.name in ("alias", "constptr"):
                words.add(item.text.split(",")[0].strip())
        return words

    def _visible(self, n: int) -> list[str]:
        """What a misspelt name may have meant."""
        declared = [r.name for r in self.registers[:4096] if self.registers.visible_from(r.index) <= n]
        return [
            *declared,
            *self.variables,
            *self.module.variables,
            *self.module.functions,
            *special_registers(),
        ]

    def _label(self, text: str, n: int, node: Instruction | Directive) -> None:
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

    def _fits(self, role: str, operand: Operand, node: Instruction) -> None:
        """What no register allocation could make right: a constant as destination, an address without brackets."""
        if role in ("w", "rw", "p") and type(operand) is Immediate:
            message = f"'{node.opcode.text}' cannot write to the constant '{operand.text}'"
            self._report("E206", message, node, operand.text, "the first operand is the destination")
        elif role in ("w", "rw", "p") and type(operand) is Name and special(operand.text) is not None:
            message = f"'{operand.text}' cannot be written"
            self._report("E206", message, node, operand.text, "special registers are read only")
        elif role == "m" and isinstance(operand, Immediate | Name) and self._is_bare(operand):
            message = f"'{node.opcode.text}' needs an address in brackets, not '{operand.text}'"
            self._report("E206", message, node, operand.text, f"write '[{operand.text}]'")

    def _is_bare(self, operand: Immediate | Name) -> bool:
        """Whether what stands in the place of an address lacks its brackets; in PTXPlus only registers do."""
        return not self.is_ptxplus or operand.text.startswith(("$r", "$ofs"))

    def _no_label(self, node: Instruction, operand: Operand) -> None:
        written = operand.text if isinstance(operand, Immediate) else ""
        message = f"'{node.opcode.text}' needs a label" + (f", not '{written}'" if written else "")
        self._report("E206", message, node, written, "name a label of this function")

    def _unknown(self, node: Instruction) -> None:
        message, help, _ = explain(node.opcode.text, len(node.operands), self.is_ptxplus)
        width = len(node.opcode.text)
        self._report("W201", f"{message}, passed through", node, node.opcode.base, help, width=width)

    # ---- reports

    def _twice(self, name: str, node: Declaration | Label, first: Declaration | Label) -> None:
        help = "rename one, or put it into a '{ }' block"
        self.found.append(
            _again(self.function.source, name, (node.start, node.end), (first.start, first.end), help)
        )

    def _report(
        self, code: str, message: str, node: _Placed, word: str, help: str, *, width: int | None = None
    ) -> None:
        source = self.function.source
        start, end = span_of_word(source.text, node.start, node.end, word)
        self.found.append(Diagnostic(code, message, source, start, start + width if width else end, help))


def module_declarations(module: Module) -> Iterator[Diagnostic]:
    """Names declared twice at module scope, and names that initialisers use."""
    seen: dict[str, Declaration | Function] = {}
    for item in module.items:
        if isinstance(item, Function):
            before = seen.get(item.name)
            if isinstance(before, Declaration) or (
                before is not None and before.body is not None and item.body is not None
            ):
                yield _again(module.source, item.name, _span(item), _span(before))
            if before is None or item.body is not None:
                seen[item.name] = item
        elif isinstance(item, Declaration):
            for declarator in item.declarators:
                before = seen.get(declarator.name)
                external = not isinstance(before, Function) and (
                    "extern" in item.linkage or (before is not None and "extern" in before.linkage)
                )
                if before is not None and not external:
                    yield _again(module.source, declarator.name, _span(item), _span(before))
                seen[declarator.name] = item
                if declarator.value is not None:
                    yield from _initialiser(module, item, declarator.value)


def _span(item: Declaration | Function) -> tuple[int, int]:
    """Where a declaration, or the head of a function, stands."""
    return item.start, item.body_start if isinstance(item, Function) else item.end


def _again(
    source: Source,
    name: str,
    second: tuple[int, int],
    first: tuple[int, int],
    help: str = "rename or remove one of them",
) -> Diagnostic:
    """A name declared twice, and where it was declared first (a place in another statement)."""
    start, end = span_of_word(source.text, *second, name)
    note = (
        Note("first declared here", source, *span_of_word(source.text, *first, name))
        if first != second
        else None
    )
    return Diagnostic("E204", f"'{name}' is declared twice", source, start, end, help, note)


def _initialiser(module: Module, item: Declaration, value: Operand) -> Iterator[Diagnostic]:
    for name in dict.fromkeys(n.text for n in names(value)):
        if name not in module.variables and name not in module.functions and special(name) is None:
            known = [*module.variables, *module.functions]
            help = did_you_mean(name, known, "declare it at module scope")
            place = span_of_word(module.source.text, item.start, item.end, name)
            yield Diagnostic("E201", f"name '{name}' is not declared", module.source, *place, help)
