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
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile

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
_SHORT_FORM = re.compile(r"[\w.]+ \$r(?:[1-5]?\d|6[0-3])(?:, \$r(?:[1-5]?\d|6[0-3]))*;")
_LONE_LABEL = re.compile(r"(l0x\w+: )\s+")
_MEMORY = ("\t.shared", "\t.local")
_REGISTER = re.compile(r"\$[vrp]\d+")


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
    for name in {*_REGISTER.findall(text)}:
        number = int(name[2:])
        if number > highest[name[1]]:
            highest[name[1]] = number
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
        label = ""
        if pending:
            label = f"{pending[0]}: "
            pending.clear()
        yield f"\t{label}{line if line.opcode != 'bra' else _named(line, names)}"
    if pending:
        yield f"\t{pending[0]}: nop;"


def _named(code: Code, names: Mapping[str, str]) -> Code:
    """A branch to the name of its label."""
    return Code(code.opcode, (names[code.operands[0]],), code.guard)


def label_names(kernel: KernelCode) -> dict[str, str]:
    """What each label is called: what its address were if no instruction were short."""
    names: dict[str, str] = {}
    number = 0
    for line in kernel.lines:
        if isinstance(line, Code):
            number += 1
        elif line.label in kernel.labels:
            names[kernel.labels[line.label]] = f"l0x{8 * number:08x}"
    return names


# ---- the text after allocation


def final_text(text: str, kernels: Sequence[Sequence[int]]) -> str:
    """The converter's layout again: declarations, one instruction on a line, labels before their instructions.

    `kernels` has in the order of the text, per instruction, the number of its instruction over virtual registers, -1
    for none. Encodings are chosen, and labels named by their addresses.
    """
    result: list[str] = []
    lines = iter(text.split("\n"))
    remaining = iter(kernels)
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
        result += ("\t", *_encoded(body.split("\n"), next(remaining)), "}")
    return "\n".join(result)


def _encoded(lines: Sequence[str], origins: Sequence[int]) -> Iterator[str]:
    """The lines of a body, each with an instruction or empty, with encodings and names of labels."""
    texts: list[str] = []
    labels: dict[str, int] = {}
    for line in lines:
        text = line[1:]
        if ": " in text:
            *before, text = text.split(": ")
            labels |= dict.fromkeys(before, len(texts))
        if text:
            texts.append(text)
    short = _short(texts, origins, frozenset(labels.values()))
    names = _addresses(labels, short)
    new = {place: f"{_SHORT[text[0]]} {text[2]}" for place in short for text in [texts[place].partition(" ")]}
    place = 0
    for line in lines:
        has_label = ": " in line
        if place in new or has_label or "bra " in line:
            *before, text = line[1:].split(": ")
            text = new.get(place, text)
            opcode, _, target = text.rpartition(" ")
            if opcode.endswith("bra"):
                text = f"{opcode} {names[target[:-1]]};"
            line = f"\t{''.join([f'{names.get(label, label)}: ' for label in before])}{text}"
        yield line
        place += len(line) > 1


def _short(texts: Sequence[str], origins: Sequence[int], labelled: Collection[int]) -> list[int]:
    """The instructions of the allocated text that are encoded in 4 bytes, none that allocation has inserted."""
    short: list[int] = []
    waiting = -1
    for place, (text, origin) in enumerate(zip(texts, origins, strict=True)):
        if place in labelled:
            waiting = -1
        if origin < 0:
            continue
        if text.partition(" ")[0] not in _SHORT or not _SHORT_FORM.fullmatch(text):
            waiting = -1
        elif waiting < 0 or waiting != place - 1:
            waiting = place
        else:
            short += (waiting, place)
            waiting = -1
    return short


def _addresses(labels: Mapping[str, int], short: Sequence[int]) -> dict[str, str]:
    """The names of labels by their addresses, but for that of the end.

    Two labels have one address where the copies between them were dropped; the name of the second ends in a number.
    """
    found: dict[str, str] = {}
    n_known: Counter[str] = Counter()
    for label, index in labels.items():
        if label == _END:
            continue
        name = f"l0x{8 * index - 4 * bisect_left(short, index):08x}"
        found[label] = f"{name}_{n_known[name]}" if n_known[name] else name
        n_known[name] += 1
    return found
