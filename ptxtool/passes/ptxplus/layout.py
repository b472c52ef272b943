"""The text of a lowered module, as the converter of GPGPU-Sim lays it out.

Header, constant segment, variables, kernels; labels are the byte address of what they stand before, eight bytes for an
instruction and four for one with `.half`. Declared are the registers that the code names, from 0 to the highest.

`.half` marks the 4-byte encoding. Short instructions come in pairs, since long ones are aligned to 8 bytes: two
neighbours are marked that both have a short form, with no label before the second. Short forms are `mov`, `add`, `mul`
and `rcp` of whole registers below 64, without guard, condition code, rounding or constant.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Label, Name
from ptxtool.ir.variables import alignment_of, declared_size
from ptxtool.passes.ptxplus.code import BranchTarget, Code, KernelCode
from ptxtool.passes.ptxplus.places import ModuleVariables, initial_bytes

_SHORT = {
    "mov.u32": "mov.half.u32",
    "add.u32": "add.half.u32",
    "add.f32": "add.half.f32",
    "mul.f32": "mul.half.f32",
    "rcp.f32": "rcp.half.f32",
}
_HEADER = ("//HEADER", ".version 1.4+", ".target sm_10, map_f64_to_f32")
_AFTER_HEADER = ("//END HEADER", "", "", "//INSTRUCTIONS", "")
_END = "l_exit"
"""The label of a kernel's last instruction."""
_WHOLE = re.compile(r"\$r\d+")
_LONE_LABEL = re.compile(r"(l0x\w+: )\s+")
_MEMORY = ("\t.shared", "\t.local")
_NUMBER = re.compile(r"\$([vrp])(\d+)")


def module_text(variables: ModuleVariables, kernels: Sequence[KernelCode]) -> str:
    """The module over virtual registers."""
    lines = [*_HEADER, *(f".tex .u64 {name};" for name in variables.textures), *_AFTER_HEADER]
    lines += _constants(variables)
    lines += _globals(variables)
    n_local = max((k.local_bytes for k in kernels), default=0)
    if n_local:
        lines += [f".local .b8 l0[{-(-n_local // 4) * 4}];"]
    lines.append("")
    for kernel in kernels:
        lines += _kernel(kernel)
    lines.append("//END INSTRUCTIONS")
    return "\n".join(lines) + "\n"


def _constants(variables: ModuleVariables) -> Iterator[str]:
    words = variables.constant_words()
    if words:
        yield f".const .u32 {variables.segment}[{len(words)}] = {{"
        for k in range(0, len(words), 4):
            row = ", ".join(f"0x{w:08x}" for w in words[k : k + 4])
            yield f"          {row}{', ' if k + 4 < len(words) else ''}"
        yield "};"
        yield ""


def _globals(variables: ModuleVariables) -> Iterator[str]:
    for _, declaration, declarator in variables.in_space("global"):
        n_bytes = declared_size(declaration, declarator)
        memory = initial_bytes(declaration, declarator) if declarator.value is not None else b""
        if memory and n_bytes % 4 == 0:
            numbers = (int.from_bytes(memory[k : k + 4], "little") for k in range(0, n_bytes, 4))
            values = ", ".join(f"0x{n:08x}" for n in numbers)
            head = f".global .align {max(4, alignment_of(declaration))} .u32"
            yield f"{head} {declarator.name}[{n_bytes // 4}] = {{{values}}};"
        else:
            values = f" = {{{', '.join(map(str, memory))}}}" if memory else ""
            align = "" if not values else f".align {alignment_of(declaration)} "
            yield f".global {align}.b8 {declarator.name}[{n_bytes}]{values};"
    yield ""
    for place, declaration, declarator in variables.in_space("const"):
        yield f".const .b8 {declarator.name}[{declared_size(declaration, declarator)}];"
        yield f".constptr {declarator.name}, {variables.segment}, {place.address};"
    yield ""


def _kernel(kernel: KernelCode) -> Iterator[str]:
    yield f".entry  {kernel.name}{' (' if kernel.parameters else ''}"
    for k, parameter in enumerate(kernel.parameters, 1):
        yield f"\t{parameter} {')' if k == len(kernel.parameters) else ','}"
    yield "{"
    lines = "\n".join(code_lines(kernel))
    yield from _registers(lines)
    if kernel.shared:
        yield from (*(f"\t{line}" for line in kernel.shared), "")
    yield "\t"
    yield from (lines, "") if lines else ("",)
    yield f"\t{_END}: exit;"
    yield "}"


def _registers(text: str) -> Iterator[str]:
    """The declarations of the registers that instructions name."""
    highest = {"v": -1, "r": -1, "p": 3}
    for file, number in {*_NUMBER.findall(text)}:
        highest[file] = max(highest[file], int(number))
    for file, type_ in (("r", "u32"), ("v", "u32"), ("p", "pred")):
        if highest[file] >= 0:
            yield f"\t.reg .{type_} ${file}<{highest[file] + 1}>;"
    yield ""
    if "$o127" in text:
        yield from ("\t.reg .u32 $o127;", "")


def code_lines(kernel: KernelCode) -> Iterator[str]:
    """The instructions, with labels."""
    names = label_names(kernel)
    pending: list[str] = []
    for line in kernel.lines:
        if isinstance(line, BranchTarget):
            if line.label in kernel.labels:
                pending.append(names[kernel.labels[line.label]])
            continue
        label = f"{pending[0]}: " if pending else ""
        yield f"\t{label}{_named(line, names)}"
        pending.clear()
    if pending:
        yield f"\t{pending[0]}: nop;"


def _named(code: Code, names: dict[str, str]) -> str:
    if code.base != "bra":
        return str(code)
    return str(Code(code.opcode, (names[code.operands[0]],), code.guard))


def label_names(kernel: KernelCode) -> dict[str, str]:
    """What each label is called: its address, as far as that is known, or what it was if no instruction were short."""
    names: dict[str, str] = {}
    number = 0
    for line in kernel.lines:
        if isinstance(line, Code):
            number += 1
        elif line.label in kernel.labels:
            name = f"l0x{8 * number:08x}"
            names[kernel.labels[line.label]] = kernel.addresses.get(name, name)
    return names


# ---- the text after allocation


def encode(kernel: KernelCode, allocated: Function, origins: Sequence[int]) -> list[TextEdit]:
    """Choose encodings and name the labels by their addresses, now that registers are known.

    The code notes both; the edits put them into the allocated text.
    """
    kept = {origin: number for number, origin in enumerate(origins) if origin >= 0}
    short: list[int] = []  # instructions of the allocated text
    waiting: tuple[int, Code] | None = None
    number = -1
    for line in kernel.lines:
        if isinstance(line, BranchTarget):
            if line.label in kernel.labels:
                waiting = None
            continue
        number += 1
        if number not in kept:
            continue
        place = kept[number]
        if not _has_short_form(line, allocated, place):
            waiting = None
        elif waiting is None or waiting[0] != place - 1:
            waiting = place, line
        else:
            for code in (waiting[1], line):
                code.opcode = _SHORT[code.opcode]
            short += (place - 1, place)
            waiting = None
    kernel.addresses = _addresses(allocated, short)
    nodes = [allocated.instructions[place] for place in short]
    opcodes = [(node.start, node.opcode.text) for node in nodes]  # no guard stands before them
    edits = [TextEdit(start, start + len(text), _SHORT[text]) for start, text in opcodes]
    return [*edits, *_renamed_labels(allocated, kernel.addresses)]


def _renamed_labels(function: Function, names: Mapping[str, str]) -> Iterator[TextEdit]:
    """The edits that give labels, and the branches to them, other names."""
    for _, statement in function.other_statements:
        if type(statement) is Label and statement.name in names:
            start = statement.start
            yield TextEdit(start, start + len(statement.name), names[statement.name])
    for i in function.at_bases("bra"):
        node = function.instructions[i]
        (target,) = node.operands
        if isinstance(target, Name):
            end = node.end - len(";")
            yield TextEdit(end - len(target.text), end, names[target.text])


def _addresses(allocated: Function, short: Sequence[int]) -> dict[str, str]:
    """The names of labels by their addresses, but for that of the end.

    Two labels have one address where the copies between them were dropped; the name of the second ends in a number.
    """
    found: dict[str, str] = {}
    n_known: Counter[str] = Counter()
    for label, index in allocated.labels.items():
        if label == _END:
            continue
        name = f"l0x{8 * index - 4 * bisect_left(short, index):08x}"
        found[label] = f"{name}_{n_known[name]}" if n_known[name] else name
        n_known[name] += 1
    return found


def _has_short_form(code: Code, allocated: Function, place: int) -> bool:
    """Whether an instruction can be encoded in 4 bytes."""
    if code.guard or code.opcode not in _SHORT:
        return False
    operands = allocated.instructions[place].operands
    return all(
        isinstance(o, Name) and not o.part and _WHOLE.fullmatch(o.text) and int(o.text[2:]) < 64
        for o in operands
    )


def tidied(text: str) -> str:
    """The converter's layout again: declarations, one instruction on a line, labels before their instructions."""
    result: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        result.append(line)
        if line != "{":
            continue
        declared = [d for d in takewhile(lambda x: x != "\t", lines) if d.startswith(_MEMORY)]
        body = _LONE_LABEL.sub(r"\1", "\n".join(takewhile(lambda x: x != "}", lines)))
        body = body.replace("; ", ";\n\t")
        result += _registers(body)
        if declared:
            result += (*declared, "")
        result += ("\t", body, "}")
    return "\n".join(result)
