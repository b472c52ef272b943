"""The bodies of instruction_forms.py as programs: chains of instructions that rows alone do not show.

Each is a block of its own with the registers that it expects. Left out: what depends on where the windows of memory
lie, on which lane writes last, and PTXPlus.
"""

from functools import cache

import numpy as np
from form_kernels import PTX, inputs
from instruction_forms import GROUPS, MEMORY, WARP
from walk_kernels import LANES, Item

from ptxtool.isa.table import table

_WIDTHS = {16: "f16", 32: "f32", 64: "f64"}
_HEAD = """{ .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>;
	ld.global.u64 %d1, [%data+IN+0];
	ld.global.u64 %d2, [%data+IN+1024];
	ld.global.u64 %d3, [%data+IN+2048];
	mov.u64 %d10, %start; mov.u64 %d12, %cells; mov.u32 %r10, %lane;
	mov.u64 %d0, 0; mov.u32 %r0, 0; mov.u32 %r4, 0; mov.u16 %h0, 0;
"""
_TAIL = "\n\tst.global.u64 [%to+OUT+0], %d0; }"
_SETUP = "\n".join(line for line in PTX.splitlines() if line.startswith(("\tcvt.", "\tsetp.")))


def _is_comparable(body: str) -> bool:
    return "[tile" not in body and "add.u64 %d4, %d4, 5" not in body and "%warpid" not in body


@cache
def body_items() -> tuple[Item, ...]:
    """Every body that a GPU can be asked about; each belongs to the row of its first instruction."""
    assert LANES * 8 == 1024
    found = []
    groups = [
        (bodies, kind, width) for is_ptxplus, bodies, kind, width, _ in GROUPS.values() if not is_ptxplus
    ]
    for bodies, kind, width in [*groups, (WARP, "b", 0), (MEMORY, "b", 0)]:
        data = np.ascontiguousarray(inputs(kind).T)
        for body in filter(_is_comparable, bodies):
            opcode, _, rest = body.partition(";")[0].removeprefix("@%p3 ").partition(" ")
            n = (
                rest.count(",") + 1 - rest.count(",", rest.find("{"), rest.find("}"))
                if "{" in rest
                else rest.count(",") + 1
            )
            match = next(iter(table().matches(opcode, n, False)))
            text = f"{_HEAD}{_SETUP}\nbar.sync 0;\n{body}\nbar.sync 0;{_TAIL}"
            found.append(Item(body, match, text, (_WIDTHS.get(width, "b"),), data=data))
    return tuple(found)
