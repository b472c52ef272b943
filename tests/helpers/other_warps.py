"""Makes the sharing of extended registers real, for runs of what `split-registers` gives.

To PTX extended registers keep their values between two regions; in a pool another warp may have had the section
meanwhile. `overwritten` writes a poison value to every extended register at every acquire mark, except to one that has
a unit of the base set too.
"""

from clobber import places

from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.marks import ACQUIRE_EXTENDED, EXTENDED, mark_words
from ptxtool.ir.nodes import Directive, Function, Module
from ptxtool.parse import parse

_POISON = {16: "0x7B7A", 32: "0x7B7A7978", 64: "0x7B7A797877767574"}


def overwritten(module: Module, base: int) -> Module:
    """The module with poison in the registers from unit `base` on, at every acquire mark."""
    edits = [edit for kernel in module.kernels.values() for edit in _edits(kernel, base)]
    return parse(splice(module.source.text, edits), module.source.name)


def _edits(kernel: Function, base: int) -> list[TextEdit]:
    general, _ = places(kernel)
    bits = {r.name: r.bits for r in kernel.registers}
    extended = [name for name, units in general.items() if units.start >= base]
    lines = "".join(
        f" mov.b{bits[name]} {name}, {_POISON[bits[name]]};" for name in extended if bits[name] in _POISON
    )
    marks = [
        s
        for s in kernel.body or ()
        if isinstance(s, Directive) and ACQUIRE_EXTENDED in mark_words(s, EXTENDED)
    ]
    return [TextEdit(s.end, s.end, lines) for s in marks]
