"""unroll-decls: one declaration per register, so that each can be reordered by itself.

`.reg .u32 $r<27>;` becomes `.reg .u32 $r0;` to `.reg .u32 $r26;`, and `.reg .f32 %a, %b;` two declarations, in the same
order and so with the same sequence numbers, one per line in the indentation of the first. Comments inside a declaration
and everything outside stay as they are, byte for byte.

Pre: a module without errors. Post: every register declaration inside a function body declares one register; only
register declarations have changed (checked by `ptxtool.validate.declarations`). Idempotent.
Not handled: parameters in register space, which cannot be ranges; ranges of more than a million registers (E301),
whose text would not fit into memory.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through register sharing, section 5.2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ptxtool.base.diag import error
from ptxtool.base.phrases import counted
from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.validate.declarations import check_only_declarations_changed


@dataclass(frozen=True)
class UnrollDecls:
    """Declare every register by itself, one per line."""

    name: ClassVar[str] = "unroll-decls"

    def run(self, module: Module) -> PassResult:
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        for item in module.items:
            if not isinstance(item, Function) or item.body is None:
                continue
            packed = [d for d in register_declarations(item) if declares_several(d)]
            if not packed:
                continue
            n = 0
            for declaration in packed:
                edits += _unroll(module.source, declaration)
                n += sum(1 if d.count is None else d.count for d in declaration.declarators)
            message = f"{counted(len(packed), 'declaration')} unrolled into {n}"
            remarks.append(Remark(self.name, message, item.name, module.source.line(packed[0].start)))
        if not edits:
            remarks.append(Remark(self.name, "nothing to do: every declaration declares one register"))
        return PassResult(tuple(edits), tuple(remarks), check_only_declarations_changed)


def register_declarations(function: Function) -> Iterator[Declaration]:
    """The register declarations of a function's body, nested blocks included, in textual order."""
    return (s for s in function.body or () if isinstance(s, Declaration) and s.space == "reg")


def declares_several(declaration: Declaration) -> bool:
    """True for a range or a list: what this pass takes apart."""
    return len(declaration.declarators) > 1 or any(d.count is not None for d in declaration.declarators)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"(?:\s*\.\w+|\s+\d+)+\s*")  # `.reg .v2 .f32 `
_RANGE = re.compile(r"\s*<[^>]*>")
_GAP = re.compile(r"\s*,\s*")


def _unroll(source: Source, declaration: Declaration) -> Iterator[TextEdit]:
    """The edits that take one declaration apart: its ranges and commas change, comments stay where they are."""
    start, end = declaration.start, declaration.end
    # without its comments, every other character at its old place
    bare = _COMMENT.sub(lambda hit: re.sub(r"[^\n]", " ", hit.group()), source.text[start:end])
    line = source.line(start)
    line_text = source.line_text(line)
    indent = line_text[: len(line_text) - len(line_text.lstrip())]
    next_line = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
    newline = "\r\n" if source.text.endswith("\r\n", start, next_line) else "\n"
    head_hit = _HEAD.match(bare)
    assert head_hit is not None, "a declaration starts with its space"
    head = " ".join(head_hit.group().split()) + " "
    following = f";{newline}{indent}{head}"
    position, prefix = head_hit.end(), ""
    for declarator in declaration.declarators:
        if declarator.count == 0:
            what = f"'{declarator.name}<0>' declares no register"
            raise error("E301", what, source, start + position, end, help="delete the declaration")
        assert bare.startswith(declarator.name, position), "declarators follow one another"
        stop = position + len(declarator.name)
        names = declarator.name
        if declarator.count is not None:
            hit = _RANGE.match(bare, stop)
            assert hit is not None, "a range has brackets"
            names = following.join(f"{declarator.name}{i}" for i in range(declarator.count))
            stop = hit.end()
        if prefix or declarator.count is not None:
            yield TextEdit(start + position, start + stop, prefix + names)
        gap = _GAP.match(bare, stop)
        if gap is None:
            continue
        if source.text[start + stop : start + gap.end()] == gap.group():
            yield TextEdit(start + stop, start + gap.end(), following)
            prefix = ""
        else:  # a comment stands between: it keeps its place, and the next name gets its own head
            comma = bare.index(",", stop)
            yield TextEdit(start + comma, start + comma + 1, ";")
            prefix = head
        position = gap.end()
