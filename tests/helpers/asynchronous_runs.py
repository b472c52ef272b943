"""Kernels of asynchronous code with a fault, and without it, for the checks of `ptxsim.run(check=...)`.

A case is one body for both: lines with `// -` belong to the faulty kernel only, those with `// +` to the right one
only. `// E410` or `// - E410` marks where the fault must be reported, `// note` the other place. The prologue has the
parameters in %d1 (`out`) and %d2 (`in`), the generic address of a tensor map in %d3, %tid.x in %r1, the number of the
warp in %r2, the address of `tile` in %r3, and %p1 is thread 0. `gate` is an mbarrier; OPEN lets it
expect one arrival.
"""

import re
from typing import Any

import numpy as np

import ptxsim
import ptxtool
from ptxtool.base.diag import Diagnostic, PtxError

HEAD = """.version 8.6
.target {target}
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in{map})
{bounds}{{
	.reg .pred %p<8>;
	.reg .b32 %r<60>;
	.reg .f32 %f<8>;
	.reg .b64 %d<20>;
	.shared .align 1024 .b8 tile[8192];
	.shared .align 8 .b64 gate;
	.shared .b32 place;
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	mov.u32 %r3, tile;
	setp.eq.u32 %p1, %r1, 0;
{more}"""
OPEN = """
	@%p1 mbarrier.init.shared.b64 [gate], 1;
	bar.sync 0;
"""


def wait(name: str = "LOOP", parity: int = 0, mark: str = "") -> str:
    """Wait for a phase of `gate`."""
    return f"""
{name}:{mark}
	mbarrier.try_wait.parity.shared.b64 %p2, [gate], {parity};{mark}
	@!%p2 bra {name};{mark}
"""


def texts(body: str, target: str = "sm_90a", has_map: bool = False, bounds: str = "") -> tuple[str, str]:
    """The faulty kernel and the right one."""
    map_ = ", .param .align 64 .b8 map[128]" if has_map else ""
    more = "\tmov.b64 %d3, map;\n\tcvta.param.u64 %d3, %d3;\n" if has_map else ""
    lines = (HEAD.format(target=target, map=map_, more=more, bounds=bounds) + body + "\tret;\n}\n").split(
        "\n"
    )
    wrong, right = ([line for line in lines if left_out not in line] for left_out in ("// +", "// -"))
    return "\n".join(wrong), "\n".join(right)


def problems(
    text: str, threads: int = 32, grid: int = 1, map_: Any = None, **options: Any
) -> tuple[Diagnostic, ...]:
    """What all checks report; a fault or a deadlock counts."""
    kernel = ptxtool.parse(text, name="k.ptx").kernels["k"]
    out, in_ = np.zeros(2048, np.uint32), np.arange(2048, dtype=np.uint32)
    args = [out, in_] if map_ is None else [out, in_, map_]
    try:
        return ptxsim.run(
            kernel, grid, threads, args, check=("all",), names=["out", "in", "map"][: len(args)], **options
        ).problems
    except PtxError as problem:
        return problem.diagnostics


def marked(text: str, mark: str) -> list[int]:
    """The lines with a mark."""
    return [n for n, line in enumerate(text.split("\n"), 1) if re.search(rf"// (- )?{mark}\b", line)]


def assert_found(body: str, says: str, target: str = "sm_90a", more: str = "", **how: Any) -> None:
    """The faulty kernel is reported where it is marked, in words that contain `says`, and the right one is not.

    `more`: the code of a consequence that ends the run, such as a deadlock.
    """
    wrong, right = texts(body, target, how.get("map_") is not None, how.pop("bounds", ""))
    found = problems(wrong, **how)
    shown = "\n".join(map(str, found))
    expected = {
        code for code in ("E404", "E405", "E406", "E407", "E410", "E412", "E419") if marked(wrong, code)
    }
    assert {d.code for d in found} - {more} == expected, shown
    for code in expected:
        assert sorted({d.line for d in found if d.code == code}) == marked(wrong, code), shown
    assert any(says in d.message for d in found), shown
    assert all(d.help for d in found)
    notes = {d.note.source.line(d.note.start) for d in found if d.note}
    assert sorted(notes) == marked(wrong, "note"), shown
    clean = problems(right, **how)
    assert clean == (), "\n".join(map(str, clean))
