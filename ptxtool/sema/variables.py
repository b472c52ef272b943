"""Declarations of variables, registers and parameters: types, sizes, alignment, initial values, by state space.

For PTX; PTXPlus files declare what their converter prints. Names declared twice are found elsewhere (`sema/verify.py`).

Reference: PTX ISA, sections 5.1 (state spaces), 5.4 (variables); the rest was asked of ptxas 13.0.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import takewhile

from ptxtool.base.diag import Diagnostic, Fix, Note
from ptxtool.ir import nodes
from ptxtool.ir.constants import constant
from ptxtool.ir.names import diagnostic_at, names
from ptxtool.isa.special import special
from ptxtool.isa.types import TYPES
from ptxtool.parse.operands import fold
from ptxtool.sema.operands.type_fit import FLOATS, INTEGERS
from ptxtool.sema.version_fix import raised_version

OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_WIDEST_VECTOR = 128
_OF_PTXPLUS = {"bb64": "b64", "bb128": "b128", "ff64": "f64"}
_NARROW = {"u8": "b8", "s8": "b8", "u16": "b16", "s16": "b16", "pred": "b32"}
_POINTED_AT = frozenset({"global", "const", "shared", "local"})
_OF_TEX = frozenset({"u32", "u64"})
_MOST_REGISTERS = 2**32 - 1
_MOST_CONSTANT_BYTES = 65536
_ADDRESSES = frozenset({"u32", "u64", "s32", "s64", "b32"})  # ptxas refuses '.b64'
_MASKS = frozenset(0xFF << 8 * byte for byte in range(8))
_SINCE_MASKS = (7, 1)
_SINCE_OPAQUE = (1, 5)


def declaration_problems(
    module: nodes.Module,
    item: nodes.Declaration,
    place: str,
    *,
    has_body: bool = True,
    is_used: bool = True,
) -> Iterator[Diagnostic]:
    """What is wrong with a declaration; `place` is "module", "body", "entry" (its parameters) or "func".

    `has_body`: whether the function of a parameter is defined here; `is_used`: whether something can call it, for
    ptxas drops the others before it looks at what they pass.
    """
    check = _Check(module, item, place, has_body, is_used)
    yield from check.space_problems()
    if place in ("entry", "func"):
        yield from check.parameter_problems()
    yield from check.type_problems()
    for declarator in item.declarators:
        yield from check.size_problems(declarator)
        if declarator.value is not None and (found := check.value_problem(declarator, declarator.value)):
            yield found


def is_narrow(item: nodes.Declaration) -> bool:
    """Whether a parameter's type is one that functions do not pass."""
    return item.type in _NARROW


def redeclaration_problems(module: nodes.Module) -> Iterator[Diagnostic]:
    """An `.extern` variable whose definition has another type or size, or no linkage."""
    external: dict[str, nodes.Declaration] = {}
    for item in module.declarations():
        for declarator in item.declarators:
            if "extern" in item.linkage:
                external.setdefault(declarator.name, item)
                continue
            before = external.get(declarator.name)
            if before is None:
                continue
            name = declarator.name
            note = Note("first declared here", module.source, before.start, before.end)
            sizes = {d.name: d.dimensions for d in before.declarators}[declarator.name]
            kinds = {(each.type, each.vector, each.space) for each in (before, item)}
            if len(kinds) > 1 or (sizes != declarator.dimensions and sizes[:1] != (None,)):
                message, help = f"'{name}' has another type than before", "declare it alike in both places"
                yield diagnostic_at("E212", message, module.source, item, name, help, note)
            elif not item.linkage:
                message = f"'{name}' is '.extern' before and has no linkage here"
                help = "write '.visible' before it"
                yield diagnostic_at("E212", message, module.source, item, name, help, note)


def bank_problems(module: nodes.Module) -> Iterator[Diagnostic]:
    """Constants that do not fit their bank of 64 KB; reported where it overflows."""
    total = 0
    for item in module.declarations():
        if item.space != "const" or "extern" in item.linkage or item.type not in TYPES:
            continue
        width = TYPES[item.type].bytes * max(item.vector, 1)
        for declarator in item.declarators:
            total += width * n_elements(declarator)  # ptxas packs them
            if total > _MOST_CONSTANT_BYTES:
                name = declarator.name
                message = f"the '.const' variables up to '{name}' take {total} bytes, there are 65536"
                help = "declare large tables in '.global'"
                yield diagnostic_at("E212", message, module.source, item, name, help)
                return


def n_elements(declarator: nodes.Declarator) -> int:
    """The number of elements of a variable, from its sizes or its initial values."""
    sizes = list(declarator.dimensions)
    if sizes and sizes[0] is None:
        sizes[0] = len(declarator.value.items) if isinstance(declarator.value, nodes.Vector) else 0
    return math.prod(size or 0 for size in sizes)


class _Check:
    """One declaration and where it stands."""

    def __init__(
        self, module: nodes.Module, item: nodes.Declaration, place: str, has_body: bool, is_used: bool
    ):
        self.module, self.item, self.place = module, item, place
        self.has_body, self.is_used = has_body, is_used
        self.space = item.space.partition("[")[0]
        self.name = item.declarators[0].name if item.declarators else ""

    def problem(self, message: str, help: str, word: str = "", better: str = "") -> Diagnostic:
        """An error at a word of the declaration, which `better` replaces where nothing else can be meant."""
        found = diagnostic_at("E212", message, self.module.source, self.item, word or self.name, help)
        return replace(found, fix=Fix(found.start, found.end, better)) if better else found

    def space_problems(self) -> Iterator[Diagnostic]:
        name, space, item = self.name, self.space, self.item
        if found := self._space_problem():
            yield found
        if "common" in item.linkage and space != "global":
            message = f"'.common' variable '{name}' is in '.{space}'"
            yield self.problem(message, "only '.global' variables are common")
        if "attribute(.managed)" in item.qualifiers and space != "global":
            message = f"managed variable '{name}' is in '.{space}'"
            yield self.problem(message, "only '.global' variables are managed")

    def _space_problem(self) -> Diagnostic | None:
        """A variable or parameter that cannot stand where it does, or has a name that is taken."""
        name, space, item, place = self.name, self.space, self.item, self.place
        version = self.module.version
        if item.type in OPAQUE and place == "body":
            message = f"'{name}' is a '.{item.type}' inside a function"
            return self.problem(message, "declare it at module scope")
        if item.type in OPAQUE and place == "module" and space != "global":
            return self.problem(f"'{name}' is a '.{item.type}' in '.{space}'", "write '.global' in its place")
        if item.type == "samplerref" and version >= (1, 5) and not _is_independent(self.module):
            help = "write 'texmode_independent' after '.target', or take the sampler out of the texture"
            return self.problem(f"sampler '{name}' in unified texturing mode", help)
        if space == "tex" and place == "body":
            return self.problem(f"texture '{name}' inside a function", "declare it at module scope")
        if space == "tex" and place == "module" and version < (1, 5) and item.type not in _OF_TEX:
            help = "it holds the address of a texture: write '.u32' or '.u64'"
            return self.problem(f"texture '{name}' is '.{item.type}'", help, f".{item.type}")
        if space == "tex" and version >= (1, 5):
            return self.problem("'.tex' ended with PTX 1.5", f"write '.global .texref {name};'")
        if item.space.startswith("const[") and version >= (2, 2):
            help = "write '.const'; all of them are in one bank of 64 KB"
            return self.problem(f"'.{item.space}': banks of constants ended with PTX 2.2", help)
        if name == "WARP_SZ" or (place == "module" and special(name) is not None):
            return self.problem(f"'{name}' means something already", "give the variable another name")
        if place == "module" and space == "param":
            return self.problem(f"parameter '{name}' at module scope", "parameters belong to a function")
        if place == "module" and space in ("reg", "local") and version >= (3, 0):
            help = "since PTX 3.0 they belong into functions: move it into the body"
            return self.problem(f"'.{space}' variable '{name}' at module scope", help)
        if place == "entry" and space != "param":
            message = f"parameter '{name}' of a kernel is in '.{space}'"
            return self.problem(message, "kernels take '.param' alone")
        if place == "func" and space not in ("param", "reg"):
            return self.problem(f"parameter '{name}' is in '.{space}'", "functions take '.param' and '.reg'")
        return None

    def parameter_problems(self) -> Iterator[Diagnostic]:
        """What a parameter or result of a function may not be besides; declarations alone are not held to it."""
        item, name = self.item, self.name
        is_array = any(d.dimensions for d in item.declarators)
        passes = item.type not in _NARROW or is_array or (item.type == "pred" and self.space != "reg")
        passes = passes or item.vector > 1 or not self.is_used
        if self.place == "func" and self.has_body and not passes and self.module.version >= (2, 0):
            help = f"write '.{_NARROW[item.type]}' in its place"
            message = f"'{name}' is '.{item.type}', which functions do not pass"
            yield self.problem(message, help, f".{item.type}", f".{_NARROW[item.type]}")
        if "ptr" in item.qualifiers:
            word = item.qualifiers[item.qualifiers.index("ptr") + 1 :][:1]
            if self.place == "func":
                help = "it tells about pointers that the host passes: remove it"
                yield self.problem(f"'.ptr' at '{name}' of a function", help, ".ptr")
            elif word and word[0] not in _POINTED_AT:
                help = "write '.global', '.const', '.shared' or '.local' after '.ptr', or nothing"
                yield self.problem(f"'.ptr .{word[0]}': no memory to point into", help, f".{word[0]}")

    def type_problems(self) -> Iterator[Diagnostic]:
        item, name = self.item, self.name
        if item.type in OPAQUE and self.module.version < _SINCE_OPAQUE:
            message, word = f"'.{item.type}' needs '.version 1.5'", f".{item.type}"
            found = diagnostic_at("W205", message, self.module.source, item, word, "raise '.version'")
            yield replace(found, fix=raised_version(self.module, message))
        if item.type in _OF_PTXPLUS:
            help = f"write '.{_OF_PTXPLUS[item.type]}'; it belongs to PTXPlus ('.version 1.4+')"
            better = f".{_OF_PTXPLUS[item.type]}"
            yield self.problem(f"'.{item.type}' is no type of PTX", help, f".{item.type}", better)
        if item.type == "f16x2" and self.space == "param":
            help = "write '.b32' in its place"
            yield self.problem(f"parameter '{name}' is '.f16x2'", help, ".f16x2", ".b32")
        if item.type == "pred" and self.space != "reg" and (self.has_body or self.place != "func"):
            message = f"predicate '{name}' is in '.{self.space}'"
            yield self.problem(message, "predicates live in '.reg' alone", ".pred")
        if item.vector > 1:
            bits = TYPES[item.type].bits if item.type in TYPES else 0
            shown = f"'.v{item.vector} .{item.type}'"
            if item.type == "pred":
                yield self.problem(f"{shown}: a vector of predicates", "declare one by one", ".pred")
            elif item.vector * bits > _WIDEST_VECTOR or item.vector > 4:
                message = f"{shown} has {item.vector * bits} bits"
                yield self.problem(message, "a vector variable has at most 128 bits")
            elif self.space == "param" and (self.has_body or self.place == "entry"):
                help = f"write '.align {item.vector * bits // 8} .b8 {name}[{item.vector * bits // 8}]'"
                yield self.problem(f"parameter '{name}' is a vector", help)
        if item.align is not None and (item.align <= 0 or item.align & (item.align - 1)):
            message = f"'.align {item.align}': an alignment is a power of two"
            yield self.problem(message, "write 1, 2, 4, 8, 16, ...", ".align")

    def size_problems(self, declarator: nodes.Declarator) -> Iterator[Diagnostic]:
        sizes, name = declarator.dimensions, declarator.name
        if declarator.count is not None and declarator.count > _MOST_REGISTERS:
            yield self.problem(f"'{name}<{declarator.count}>' is too many registers", "write fewer", name)
        if not sizes:
            return
        if self.space == "reg":
            message = f"'{name}' is an array of registers"
            yield self.problem(message, f"write '{name}<{sizes[0] or 4}>' for {name}0, {name}1, ...", name)
        elif 0 in sizes[1:]:
            message = f"'{name}' is an array of arrays of size 0"
            yield self.problem(message, "give every dimension a size", name)
        elif not sizes[0] and declarator.value is None and "extern" not in self.item.linkage:
            if self.place == "entry":
                yield self.problem(f"parameter '{name}' has no size", "write the number of elements", name)
            elif self.place != "func":
                help = "write the number of elements, or '.extern' before it for memory sized at the launch"
                yield self.problem(f"'{name}' has no size", help, name)

    # ---- initial values

    def value_problem(self, declarator: nodes.Declarator, value: nodes.Operand) -> Diagnostic | None:
        """The first thing that is wrong with an initial value."""
        name, type_ = declarator.name, self.item.type
        if self.space not in ("global", "const"):
            store = "'mov' it" if self.space == "reg" else f"store it with 'st.{self.space}'"
            message = f"'{name}' in '.{self.space}' has an initial value"
            return self.problem(message, f"{store} at the start", name)
        if "extern" in self.item.linkage:
            message = f"'.extern' variable '{name}' has an initial value"
            return self.problem(message, "its definition has it", name)
        if type_ in OPAQUE:
            return None
        if type_ in ("f16", "f16x2", "pred"):
            help = "declare it as '.b8' or '.b16' elements and write their bits"
            return self.problem(f"'.{type_}' variable '{name}' has an initial value", help, name)
        sizes = [*declarator.dimensions, *([self.item.vector] if self.item.vector > 1 else [])]
        return self._elements(name, value, sizes)

    def _elements(self, name: str, value: nodes.Operand, sizes: list[int | None]) -> Diagnostic | None:
        if not sizes:
            return self._element(name, value)
        if not isinstance(value, nodes.Vector):
            message = f"'{name}' is an array, its initial value is none"
            return self.problem(message, "write '{' and '}' around it", name)
        size = sizes[0]
        is_vector = self.item.vector > 1 and len(sizes) == 1
        if size and (len(value.items) > size or (is_vector and len(value.items) != size)):
            message = f"'{name}' has {len(value.items)} initial values for {size} elements"
            help = "count them again" if is_vector else "remove some, or raise the size"
            return self.problem(message, help, name)
        problems = (self._elements(name, item, sizes[1:]) for item in value.items)
        return next(filter(None, problems), None)

    def _element(self, name: str, value: nodes.Operand) -> Diagnostic | None:
        type_ = self.item.type
        if isinstance(value, nodes.Vector):
            return self.problem(f"'{name}' has more initial values than elements", "remove the braces", name)
        mentioned = [n.text for n in names(value) if n.text != "WARP_SZ"]
        if mentioned and special(mentioned[0]) is not None and mentioned[0] not in self.module.variables:
            message = f"the initial value of '{name}' is the special register '{mentioned[0]}'"
            return self.problem(message, "it is known at run time only: 'mov' it in a kernel", mentioned[0])
        if mentioned:
            return self._address(name, value, mentioned[0])
        try:
            number = constant(value, _worth).number
        except ValueError as reason:
            wrong = f"is no constant: {reason}"
            help = "fractions and whole numbers do not mix; '%', '~', '!', '&&' and shifts are for whole ones"
            if "zero" in str(reason):
                wrong, help = "divides by zero", "write another divisor"
            return self.problem(f"the initial value of '{name}' {wrong}", help, name)
        if isinstance(number, int) and type_ in FLOATS:
            help = "write a fraction ('1.0') or bits ('0f3f800000')"
            return self.problem(f"'{name}' is '.{type_}', its initial value an integer", help, name)
        if isinstance(number, float) and type_ in INTEGERS:
            help = "write a whole number, or declare it with a '.b' or '.f' type"
            return self.problem(f"'{name}' is '.{type_}', its initial value a fraction", help, name)
        return None

    def _address(self, name: str, value: nodes.Operand, other: str) -> Diagnostic | None:
        """An initial value that is the address of another variable or function."""
        type_ = self.item.type
        declared = self.module.variables.get(other)
        function = self.module.functions.get(other)
        is_known = declared is not None or function is not None
        mask = value.function if isinstance(value, nodes.Apply) and value.function != "generic" else ""
        fitting = _ADDRESSES | {"u8"} if mask else _ADDRESSES
        if declared is not None and declared.space.partition("[")[0] not in ("global", "const"):
            message = f"the initial value of '{name}' is the address of '{other}' in '.{declared.space}'"
            return self.problem(message, "only '.global' and '.const' variables have fixed addresses", other)
        if is_known and other not in self._above:
            help = f"declare the {'function' if function else 'variable'} in a statement before it"
            return self.problem(f"'{other}' is declared below its use", help, other)
        if is_known and type_ not in fitting:
            help = "addresses are '.u64' (or '.u32' with '.address_size 32'); '0xff(x)' is a byte of one, for '.u8'"
            return self.problem(f"'{name}' is '.{type_}', its initial value an address", help, name)
        if mask and fold(nodes.Immediate(mask)) not in _MASKS:
            help = "a mask takes one byte: '0xff', '0xff00', '0xff0000' and so on; an address is 'generic(x)'"
            return self.problem(f"'{mask}' is no mask of a byte of '{other}'", help, mask)
        if mask and self.module.version < _SINCE_MASKS:
            message = f"'{mask}({other})' needs '.version {_SINCE_MASKS[0]}.{_SINCE_MASKS[1]}'"
            return diagnostic_at("W205", message, self.module.source, self.item, mask, "raise '.version'")
        return None

    @cached_property
    def _above(self) -> frozenset[str]:
        """What the statements above declare: variables and functions, which need not have a value or body there."""
        found: set[str] = set()
        for item in takewhile(lambda i: i.start < self.item.start, self.module.items):
            if isinstance(item, nodes.Function):
                found.add(item.name)
            elif isinstance(item, nodes.Declaration):
                found.update(d.name for d in item.declarators)
        return frozenset(found)


def _is_independent(module: nodes.Module) -> bool:
    return "texmode_independent" in (module.directive("target") or "")


def _worth(operand: nodes.Operand) -> int:
    """A name in a constant that has no address: the size of a warp."""
    if isinstance(operand, nodes.Name) and operand.text == "WARP_SZ":
        return 32
    raise ValueError("it is no number")
